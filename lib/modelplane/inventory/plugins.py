"""Devices of nodes without slices: extended resources of device plugins, described by the labels beside them.

Known are the resources of accelerators and of their network cards. Another extended resource may be anything (a
license, a kernel module), so it is named and left out.

Source: labels of NVIDIA's GPU feature discovery v0.17, AMD's node labeller, GKE; resources of vendors' plugins, 2026.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from modelplane.devices.model import Attribute, AttributeKind, Claim, Device
from modelplane.inventory.model import Node

_DRIVERS: tuple[tuple[str, str], ...] = (
    (r"nvidia\.com/gpu", "gpu.nvidia.com"),
    (r"nvidia\.com/mig-.+", "gpu.nvidia.com"),
    (r"amd\.com/gpu", "gpu.amd.com"),
    (r"amd\.com/[a-z]px_nps[0-9]", "gpu.amd.com"),
    (r"google\.com/tpu", "tpu.google.com"),
    (r"gpu\.intel\.com/(i915|xe)", "gpu.intel.com"),
    (r"habana\.ai/gaudi", "gaudi.intel.com"),
    (r"aws\.amazon\.com/neuron", "neuron.aws.com"),
    (r"vpc\.amazonaws\.com/efa", "efa.amazonaws.com"),
    (r"rdma/.+", "rdma"),
    (r"nvidia\.com/(sriov|.*rdma|.*vf).*", "sriov.nvidia.com"),
)
"""The driver whose domain the attributes of a resource have."""
_MIG = re.compile(r"nvidia\.com/mig-(.+)")
_COUNT_MAX = 1024


def devices(node: Node) -> tuple[list[Device], list[str]]:
    """Return the devices that plugins of a node offer, and a line for each resource that is left out."""
    found, notes = [], []
    for resource, count in node.resources:
        driver = next((driver for pattern, driver in _DRIVERS if re.fullmatch(pattern, resource)), None)
        if count <= 0:
            continue
        if driver is None:
            notes.append(f"resource {resource} left out: it is no known device; a class may list it (DevicePlugin)")
        elif count > _COUNT_MAX:
            notes.append(
                f"resource {resource} left out: {count} on a node, and a class has at most {_COUNT_MAX} of a kind"
            )
        else:
            shares = _shares(resource, node.labels)
            if shares > 1:
                notes.append(
                    f"resource {resource}: each GPU is shared {shares} times, and no share has its memory; left out"
                )
            made = dict(_described(resource, node.labels))
            memory = _memory(resource, node.labels) if shares == 1 else ""
            found.append(
                Device(
                    name="",
                    driver=driver,
                    count=count,
                    claim=Claim.DEVICE_PLUGIN,
                    resource_name=resource,
                    attributes=tuple(sorted(made.items())),
                    capacity=(("memory", memory),) if memory else (),
                )
            )
    return found, notes


def _shares(resource: str, labels: Mapping[str, str]) -> int:
    return _number(labels.get("nvidia.com/gpu.replicas", "")) or 1 if resource.startswith("nvidia.com/") else 1


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None


def _described(resource: str, labels: Mapping[str, str]) -> Iterator[tuple[str, Attribute]]:
    mig = _MIG.fullmatch(resource)
    if mig or resource == "nvidia.com/gpu":
        yield from _nvidia(mig.group(1) if mig else "", labels)
    elif resource.startswith("amd.com/"):
        product = labels.get("amd.com/gpu.product-name") or labels.get("beta.amd.com/gpu.product-name")
        yield "type", _text("amdgpu" if resource == "amd.com/gpu" else "amdgpu-partition")
        if resource != "amd.com/gpu":
            yield "partitionProfile", _text(resource.rpartition("/")[2])
        if product:
            yield "productName", _text(product)
    elif resource == "google.com/tpu":
        for name in ("accelerator", "topology"):
            value = labels.get(f"cloud.google.com/gke-tpu-{name}")
            if value:
                yield name, _text(value)


def _nvidia(profile: str, labels: Mapping[str, str]) -> Iterator[tuple[str, Attribute]]:
    """Yield what labels say of a GPU, or of a MIG slice: with one profile on all GPUs, the product's name has it."""
    product = labels.get("nvidia.com/gpu.product", "").removesuffix("-SHARED")
    whole, _, single = product.partition("-MIG-")
    yield "type", _text("mig" if profile or single else "gpu")
    if profile or single:
        yield "profile", _text(profile or single)
    if whole:
        yield "productName", _text(whole)
    family = labels.get("nvidia.com/gpu.family")
    if family:
        yield "architecture", _text(" ".join(word.capitalize() for word in family.split("-")))
    major, minor = (_number(labels.get(f"nvidia.com/gpu.compute.{part}", "")) for part in ("major", "minor"))
    if major is not None and minor is not None:
        yield "cudaComputeCapability", Attribute(AttributeKind.VERSION, f"{major}.{minor}.0")


def _text(value: str) -> Attribute:
    return Attribute(AttributeKind.STRING, value)


def _memory(resource: str, labels: Mapping[str, str]) -> str:
    """Return the memory of one device as a quantity, empty if no label has it."""
    if _MIG.fullmatch(resource):
        number = _number(labels.get(f"{resource}.memory", ""))
        return f"{number}Mi" if number else ""
    if resource == "nvidia.com/gpu":
        number = _number(labels.get("nvidia.com/gpu.memory", ""))
        return f"{number}Mi" if number else ""
    if resource == "amd.com/gpu":
        sized = labels.get("amd.com/gpu.vram") or labels.get("beta.amd.com/gpu.vram") or ""
        match = re.fullmatch(r"([0-9]{1,6})([GM])", sized)
        return f"{match.group(1)}{match.group(2)}i" if match else ""
    return ""
