"""Classes of GPUs that are parted by MIG, by the geometry of their products.

Source: NVIDIA MIG User Guide r580, `nvidia-smi mig -lgip` and `-lgipp`: places of each profile in memory slices, and
how many of the GPU's compute slices it takes. Engines of which there are few are left out.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Final

from modelplane.devices import partitions, physical
from modelplane.devices.model import Attribute, AttributeKind, CounterSet, Device, Draw, NodeClass

DRIVER = "gpu.nvidia.com"
_COMPUTE = "compute-slices"
_SEVEN: Final = (0, 1, 2, 3, 4, 5, 6)
_EVEN: Final = (0, 2, 4, 6)

# Profile, compute slices, memory slices, first memory slice of each place; the whole GPU is the last.
_Row = tuple[str, int, int, tuple[int, ...]]


def _of_seven(*memory: str) -> tuple[_Row, ...]:
    one, double, two, half, whole = memory
    return (
        (f"1g.{one}", 1, 1, _SEVEN),
        (f"1g.{double}", 1, 2, _EVEN),
        (f"2g.{two}", 2, 2, (0, 2, 4)),
        (f"3g.{half}", 3, 4, (0, 4)),
        (f"4g.{half}", 4, 4, (0,)),
        (f"7g.{whole}", 7, 8, (0,)),
    )


_PROFILES: Final[dict[str, tuple[_Row, ...]]] = {
    "A30": (("1g.6gb", 1, 1, (0, 1, 2, 3)), ("2g.12gb", 2, 2, (0, 2)), ("4g.24gb", 4, 4, (0,))),
    "A100-40GB": _of_seven("5gb", "10gb", "10gb", "20gb", "40gb"),
    "A100-80GB": _of_seven("10gb", "20gb", "20gb", "40gb", "80gb"),
    "H100": _of_seven("10gb", "20gb", "20gb", "40gb", "80gb"),
    "H200": _of_seven("18gb", "35gb", "35gb", "71gb", "141gb"),
    "B200": _of_seven("23gb", "45gb", "45gb", "90gb", "180gb"),
}
PRODUCTS: Final = tuple(_PROFILES)


@cache
def node_class(product: str, gpus: int) -> NodeClass:
    """Return a node of so many GPUs; a device that is the whole GPU comes first."""
    rows = _PROFILES[product]
    _, compute, memory, _ = rows[-1]
    slices = tuple(f"memory-slice-{number}" for number in range(memory))
    counters = ((_COMPUTE, str(compute)), *((name, "1") for name in slices))
    found = [_device("gpu", "whole", Draw("gpu", counters))]
    for profile, takes, wide, starts in rows:
        places = tuple(slices[start : start + wide] for start in starts)
        name = "mig-" + profile.replace(".", "-")
        found.append(_device(name, profile, Draw("gpu", ((_COMPUTE, str(takes)),), places)))
    made = NodeClass(product.lower(), tuple(found), counter_sets=(CounterSet("gpu", gpus, counters),))
    (family,) = physical.of(made)
    counted = tuple(replace(one, count=partitions.most(family, kind)) for kind, one in enumerate(made.devices))
    return replace(made, devices=counted)


def _device(name: str, profile: str, draw: Draw) -> Device:
    attributes = (("profile", Attribute(AttributeKind.STRING, profile)),)
    return Device(name, DRIVER, 1, device_class="mig.nvidia.com", attributes=attributes, draws=(draw,))
