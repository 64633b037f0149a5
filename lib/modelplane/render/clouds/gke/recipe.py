"""Recipe of a GKE node pool: spec.provisioning.gke of a class, completed by the facts of its machine type."""

from __future__ import annotations

from dataclasses import dataclass

from modelplane.errors import InvalidInput
from modelplane.render.clouds.gke import machines
from modelplane.render.clouds.gke.machines import Facts
from modelplane.render.provisioning import PoolSpec

DRIVERS = {"Default": "DEFAULT", "Latest": "LATEST", "Disabled": "INSTALLATION_DISABLED"}
"""The words of GKE for the driver that it installs, by those of the API."""

COMPACT = "Compact"
NVIDIA = "gpu.nvidia.com"
DRANET = "dra.net"


@dataclass(frozen=True, slots=True)
class Recipe:
    """The recipe as it is rendered: `device_type` is empty without devices, `ssds` zero without local SSDs."""

    machine: str
    facts: Facts | None
    device_type: str
    devices: int
    ssds: int
    disk_type: str
    is_spot: bool
    is_flex: bool
    reservation: str
    is_compact: bool
    profile: str


def wrong(pool: PoolSpec, field: str, message: str) -> InvalidInput:
    """Return an error about a field of the recipe, at the pool that uses the class."""
    return pool.at.wrong(f"class {pool.class_name}: spec.provisioning.gke.{field} {message}")


def read(pool: PoolSpec) -> Recipe:
    """Return the recipe of a pool. Raises: InvalidInput for a field of another type, or without a machine type."""
    given = pool.recipe
    machine = given.at("machineType").text()
    facts = machines.MACHINES.get(machine)
    return Recipe(
        machine,
        facts,
        given.at("acceleratorType").text("" if facts is None else facts.device_type),
        given.at("acceleratorCount").integer(pool.devices if facts is None else facts.devices),
        given.at("localSsdCount").integer(0 if facts is None else facts.ssds[0]),
        given.at("diskType").text("" if facts is None else facts.disk),
        given.at("spot").flag(default=False),
        given.at("flexStart").flag(default=False),
        given.at("reservation").text(""),
        given.at("placementPolicy").text("None") == COMPACT,
        given.at("networkProfile").text(""),
    )
