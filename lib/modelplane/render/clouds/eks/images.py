"""Images of nodes, by what their instance type is.

Source: EKS API reference, Nodegroup, amiType; EC2 user guide, "Instance type naming conventions" (a "g" behind the
generation is a Graviton processor; trn and inf have Neuron devices in place of GPUs).
"""

from __future__ import annotations

import re

OFFERED = (
    "AL2023_x86_64_STANDARD", "AL2023_x86_64_NVIDIA", "AL2023_x86_64_NEURON", "AL2023_ARM_64_STANDARD",
    "AL2023_ARM_64_NVIDIA", "BOTTLEROCKET_x86_64", "BOTTLEROCKET_x86_64_NVIDIA", "BOTTLEROCKET_ARM_64",
    "BOTTLEROCKET_ARM_64_NVIDIA",
)  # fmt: skip
"""The families of images that are offered, of those that EKS has for Linux."""

_ARM = re.compile(r"[a-z]+[0-9]+[a-z]*g[a-z]*|.*-gb[0-9]+")
_NEURON = re.compile(r"(trn|inf)[0-9].*")


def is_arm(instance_type: str) -> bool:
    """Return whether the instance type has ARM processors."""
    return _ARM.fullmatch(_family(instance_type)) is not None


def has_neuron(instance_type: str) -> bool:
    """Return whether the instance type has Neuron devices."""
    return _NEURON.fullmatch(_family(instance_type)) is not None


def default(instance_type: str, *, has_gpus: bool) -> str:
    """Return the image family for an instance type: Amazon Linux 2023, with the driver of its devices."""
    if has_neuron(instance_type):
        return "AL2023_x86_64_NEURON"
    return f"AL2023_{'ARM_64' if is_arm(instance_type) else 'x86_64'}_{'NVIDIA' if has_gpus else 'STANDARD'}"


def _family(instance_type: str) -> str:
    return instance_type.partition(".")[0]
