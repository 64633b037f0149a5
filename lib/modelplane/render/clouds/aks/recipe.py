"""Recipe of an AKS node pool: spec.provisioning.aks of a class, completed by the facts of its size."""

from __future__ import annotations

from dataclasses import dataclass

from modelplane.errors import InvalidInput
from modelplane.render.clouds.aks import sizes
from modelplane.render.clouds.aks.sizes import Facts
from modelplane.render.provisioning import NodeTaint, PoolSpec

SPOT = "Spot"
EPHEMERAL = "Ephemeral"
SPOT_TAINT = NodeTaint("kubernetes.azure.com/scalesetpriority", "spot", "NoSchedule")
"""The taint that AKS puts on spot capacity. Not rendered, it would be taken for a change of others."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """The recipe as it is rendered: `disk_gib` is zero where AKS chooses, a text is empty where there is nothing."""

    size: str
    facts: Facts | None
    os: str
    disk_gib: int
    disk_type: str
    driver: str
    is_spot: bool
    reservation: str
    proximity: str

    @property
    def is_amd(self) -> bool:
        """Return whether the devices are known to be those of AMD."""
        return self.facts is not None and self.facts.driver == sizes.AMD


def wrong(pool: PoolSpec, field: str, message: str) -> InvalidInput:
    """Return an error about a field of the recipe, at the pool that uses the class."""
    return pool.at.wrong(f"class {pool.class_name}: spec.provisioning.aks.{field} {message}")


def read(pool: PoolSpec) -> Recipe:
    """Return the recipe of a pool. Raises: InvalidInput for a field of another type, or without a size."""
    given = pool.recipe
    size = given.at("vmSize").text()
    facts = sizes.SIZES.get(size)
    own_driver = facts is None or facts.driver == sizes.NVIDIA
    return Recipe(
        size,
        facts,
        given.at("osSku").text("Ubuntu"),
        given.at("diskSizeGiB").integer(0),
        given.at("osDiskType").text("Managed"),
        given.at("gpuDriver").text("Install" if own_driver else "None"),
        is_spot(pool),
        given.at("capacityReservationGroupId").text(""),
        given.at("proximityPlacementGroupId").text(""),
    )


def is_spot(pool: PoolSpec) -> bool:
    """Return whether the nodes are spot capacity. Raises: InvalidInput for another type."""
    return pool.recipe.at("priority").text("Regular") == SPOT
