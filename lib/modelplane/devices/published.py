"""Published memory of well-known devices, beside the nominal size in the product name.

A nominal size is in other units than those of Kubernetes, and firmware reserves a part. A class with the nominal size
promises memory that no node has. Source: public ResourceSlice and nvidia-smi output; the catalogue of classes names
each source.
"""

from __future__ import annotations

from dataclasses import dataclass

from modelplane import units
from modelplane.devices.model import Device
from modelplane.units import Quantity

MEMORY = "memory"

_NVIDIA = "gpu.nvidia.com"
_AMD = "gpu.amd.com"


@dataclass(frozen=True, slots=True)
class Product:
    """A product: the words in its name, its nominal memory and its published memory.

    `profile` is that of a MIG slice, empty for a whole device.
    """

    driver: str
    word: str
    architecture: str
    nominal_gigabytes: int
    publishes: str
    profile: str = ""

    @property
    def title(self) -> str:
        """Return the common name of the product."""
        return f"{self.word} {self.profile}".rstrip()


PRODUCTS: tuple[Product, ...] = (
    Product(_NVIDIA, "L4", "Ada Lovelace", 24, "23034Mi"),
    Product(_NVIDIA, "A10G", "Ampere", 24, "23028Mi"),
    Product(_NVIDIA, "A100", "Ampere", 40, "40960Mi"),
    Product(_NVIDIA, "A100", "Ampere", 80, "81920Mi"),
    Product(_NVIDIA, "L40S", "Ada Lovelace", 48, "46068Mi"),
    Product(_NVIDIA, "H100", "Hopper", 80, "81559Mi"),
    Product(_NVIDIA, "H100 NVL", "Hopper", 94, "95830Mi"),
    Product(_NVIDIA, "H200", "Hopper", 141, "143771Mi"),
    Product(_NVIDIA, "B200", "Blackwell", 180, "183359Mi"),
    Product(_NVIDIA, "B200", "Blackwell", 192, "183359Mi"),
    Product(_NVIDIA, "B300", "Blackwell", 288, "275040Mi"),
    Product(_NVIDIA, "H100", "Hopper", 10, "9984Mi", "1g.10gb"),
    Product(_NVIDIA, "H100", "Hopper", 10, "9984Mi", "1g.10gb+me"),
    Product(_NVIDIA, "H100", "Hopper", 20, "20096Mi", "1g.20gb"),
    Product(_NVIDIA, "H100", "Hopper", 20, "20096Mi", "2g.20gb"),
    Product(_NVIDIA, "H100", "Hopper", 40, "40448Mi", "3g.40gb"),
    Product(_NVIDIA, "H100", "Hopper", 40, "40448Mi", "4g.40gb"),
    Product(_NVIDIA, "H100", "Hopper", 80, "81152Mi", "7g.80gb"),
    Product(_AMD, "MI300X", "", 192, "196592Mi"),
)


@dataclass(frozen=True, slots=True)
class Nominal:
    """The finding that a device declares the nominal memory of a product."""

    product: str
    declared: str
    publishes: str


def nominal_memory(device: Device) -> Nominal | None:
    """Return the finding for a device that declares a nominal memory size, None for every other device.

    If several products have that nominal size, the product name decides, then the architecture. If neither is declared,
    a size that one of the products publishes is accepted.
    """
    declared = dict(device.capacity).get(MEMORY)
    if declared is None:
        return None
    amount = units.quantity(declared)
    candidates = tuple(product for product in PRODUCTS if product.driver == device.driver)
    suspects = tuple(
        product for product in candidates if _is_nominal(amount, product.nominal_gigabytes) and _may_be(product, device)
    )
    if not suspects or any(amount == units.quantity(product.publishes) for product in suspects):
        return None
    return Nominal(suspects[0].title, declared, suspects[0].publishes)


def _is_nominal(amount: Quantity, gigabytes: int) -> bool:
    return amount in (units.quantity(f"{gigabytes}Gi"), units.quantity(f"{gigabytes}G"))


def _may_be(product: Product, device: Device) -> bool:
    attributes = dict(device.attributes)
    name, architecture = attributes.get("productName"), attributes.get("architecture")
    profile = attributes.get("profile")
    if product.profile != ("" if profile is None else profile.value):
        return False
    if name is not None:
        words = str(name.value).replace("_", " ").replace("-", " ").split()
        return set(product.word.split()) <= set(words)
    return architecture is None or architecture.value == product.architecture
