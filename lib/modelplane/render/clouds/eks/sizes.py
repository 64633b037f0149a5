"""Instance types with GPUs: their devices, their network cards, and how many Elastic Fabric Adapters they take.

Source: GPUs from Amazon's page "Specifications for accelerated computing instances"; the network
cards from amazon-vpc-cni-k8s v1.23.2 (pkg/vpc/vpc_ip_resource_limit.go, generated from DescribeInstanceTypes); how
interfaces are laid out on them from the EC2 user guide, "Maximize network bandwidth on Amazon EC2 instances with
multiple network cards". The first card of p6-b300.48xlarge takes no adapter: it has 17 cards and 16 adapters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

INTERFACE, FABRIC, FABRIC_ALONE = "interface", "efa", "efa-only"
_SLICES = 7


@dataclass(frozen=True, slots=True)
class Size:
    """One instance type. `fabric` is the largest number of Elastic Fabric Adapters; `first` the card of the first."""

    name: str
    gpus: int
    product: str
    fabric: int = 0
    first: int = 0

    @property
    def can_be_sliced(self) -> bool:
        """Return whether one GPU can be offered as up to seven devices (MIG)."""
        return self.product in ("A100", "H100", "H200", "B200", "B300")

    @property
    def most_devices(self) -> int:
        """Return the largest number of devices that its GPUs can be offered as."""
        return self.gpus * (_SLICES if self.can_be_sliced else 1)


@dataclass(frozen=True, slots=True)
class Attachment:
    """A network interface of a node: its card, its index on the card, and its type."""

    card: int
    index: int
    kind: str


def _family(name: str, product: str, rows: Mapping[str, tuple[int, int]]) -> Iterator[Size]:
    for size, (gpus, fabric) in rows.items():
        yield Size(f"{name}.{size}", gpus, product, fabric)


_SMALL = {"xlarge": (1, 0), "2xlarge": (1, 0), "4xlarge": (1, 0), "8xlarge": (1, 1)}
_LARGE = {"12xlarge": (4, 1), "16xlarge": (1, 1), "24xlarge": (4, 1), "48xlarge": (8, 1)}
_L40S = _SMALL | _LARGE | {"24xlarge": (4, 2), "48xlarge": (8, 4)}

SIZES: Mapping[str, Size] = MappingProxyType(
    {
        size.name: size
        for size in (
            *_family("g5", "A10G", _SMALL | _LARGE),
            *_family("g6", "L4", _SMALL | _LARGE),
            *_family("g6e", "L40S", _L40S),
            Size("p4d.24xlarge", 8, "A100", 4),
            Size("p4de.24xlarge", 8, "A100", 4),
            Size("p5.4xlarge", 1, "H100", 1),
            Size("p5.48xlarge", 8, "H100", 32),
            Size("p5e.48xlarge", 8, "H200", 32),
            Size("p5en.48xlarge", 8, "H200", 16),
            Size("p6-b200.48xlarge", 8, "B200", 8),
            Size("p6-b300.48xlarge", 8, "B300", 16, first=1),
        )
    }
)


def family(name: str) -> str:
    """Return the family of an instance type: the part before the dot."""
    return name.partition(".")[0]


def siblings(name: str) -> tuple[str, ...]:
    """Return the known instance types of the same family, sorted."""
    return tuple(sorted(one for one in SIZES if family(one) == family(name)))


def attachments(size: Size, adapters: int) -> tuple[Attachment, ...]:
    """Return the interfaces of a node with that many adapters, none if the subnet's default is enough.

    One adapter is the first interface itself, which also carries IP. Of several, the first interface is an ordinary
    one, and each adapter stands on a card of its own; only on the first card it stands beside the ordinary interface.
    """
    if adapters == 0:
        return ()
    if adapters == 1 and size.first == 0:
        return (Attachment(0, 0, FABRIC),)
    cards = range(size.first, size.first + adapters)
    return (
        Attachment(0, 0, INTERFACE),
        *(Attachment(card, 1 if card == 0 else 0, FABRIC_ALONE) for card in cards),
    )
