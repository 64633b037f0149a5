"""Generated fleets of any size: the same for the same arguments.

`fleet` is the hard case for a matcher that stops at the first pool that serves: only the last pool of each cluster
does. In `mixed` any pool may serve, several of a cluster or none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from modelplane.devices.model import Attribute, AttributeKind, Claim, Device, NodeClass, Request
from modelplane.placement.snapshot import (
    Allocation,
    Cluster,
    Demand,
    Fleet,
    NodeCounts,
    PodShape,
    Pool,
    RoleDemand,
)
from modelplane.workload.model import Role

NODES, POOLS, CLASSES = 64, 4, 40
OTHERS_PER_CLUSTER = 5
GPU = "gpu.nvidia.com"
ARCHITECTURES = ("Ada", "Ampere", "Hopper", "Blackwell")
MEMORY_MI = (23_034, 46_068, 81_559, 143_771, 183_359)
GBIT = (100, 200, 400)
SELECTORS = (
    f'device.attributes["{GPU}"].architecture in ["Hopper", "Blackwell"]',
    f'device.capacity["{GPU}"].memory.compareTo(quantity("75Gi")) >= 0',
)
NIC_SELECTORS = ('device.attributes["dra.net"].rdma', 'device.attributes["dra.net"].gbit >= 400')


class Draw:
    """A small deterministic sequence, so that a fleet needs no seeded generator of the library's version."""

    def __init__(self, seed: int) -> None:
        self._state = seed * 2_654_435_761 % 2**32 or 1

    def below(self, bound: int) -> int:
        """Return the next number below `bound`."""
        self._state ^= (self._state << 13) % 2**32
        self._state ^= self._state >> 17
        self._state ^= (self._state << 5) % 2**32
        return self._state % bound


def classes(count: int = CLASSES) -> tuple[NodeClass, ...]:
    """Return `count` classes of four device kinds each: GPU, NIC, a local disk and a synthetic fabric.

    Every fourth serves `demand`. The others miss it by the GPU's architecture or memory, most by the NIC too.
    """
    return tuple(_class(number, serves=number % POOLS == POOLS - 1) for number in range(count))


def _class(number: int, *, serves: bool) -> NodeClass:
    architecture = ARCHITECTURES[2 + number % 8 // 4 if serves else number % 3]
    memory = MEMORY_MI[2 + number % 3 if serves else number % 2 if architecture == "Hopper" else number % 5]
    text = AttributeKind.STRING
    gpu = Device(
        name="gpu",
        driver=GPU,
        count=8,
        device_class=GPU,
        attributes=(
            ("architecture", Attribute(text, architecture)),
            ("cudaComputeCapability", Attribute(AttributeKind.VERSION, "9.0.0")),
            ("productName", Attribute(text, f"GPU {number}")),
        ),
        capacity=(("memory", f"{memory}Mi"),),
    )
    nic = Device(
        name="nic",
        driver="dra.net",
        count=8,
        device_class="rdma.dra.net",
        attributes=(
            ("gbit", Attribute(AttributeKind.INT, GBIT[2 if serves else number % 2])),
            ("rdma", Attribute(AttributeKind.BOOL, value=serves or number % 2 == 0)),
        ),
    )
    disk = Device("disk", "disk.example.com", 4, device_class="disk.example.com", capacity=(("size", "3Ti"),))
    fabric = Device("fabric", "modelplane.ai", 1, Claim.SYNTHETIC)
    return NodeClass(
        name=f"class-{number}",
        devices=(gpu, nic, disk, fabric),
        cpu_millis=192_000,
        memory_bytes=2_000 * 2**30,
        cost_per_node_hour=str(20 + number),
    )


def fleet(clusters: int, seed: int = 1) -> Fleet:
    """Return a fleet of `clusters` with 4 pools of 64 nodes and 5 replicas of others on each.

    The last pool of every cluster serves `demand`, no other does.
    """
    draw, kinds = Draw(seed), classes()
    others = tuple(kind for number, kind in enumerate(kinds) if number % POOLS != POOLS - 1)
    ways = (*([others] * (POOLS - 1)), kinds[POOLS - 1 :: POOLS])
    return Fleet(tuple(_cluster(number, draw, ways) for number in range(clusters)))


def mixed(clusters: int, seed: int = 1) -> Fleet:
    """Return such a fleet in which any pool is of any class, so that several of a cluster may serve, or none."""
    draw, kinds = Draw(seed), classes()
    return Fleet(tuple(_cluster(number, draw, (kinds,) * POOLS) for number in range(clusters)))


def priced(fleet: Fleet, *, regions: int) -> Fleet:
    """Return the fleet in so many regions, each with classes of its own that differ in name and price alone."""
    known: dict[tuple[int, str], NodeClass] = {}

    def there(region: int, pool: Pool) -> Pool:
        found = pool.node_class
        if found is None:
            return pool
        made = replace(found, name=f"{found.name}-{region}", cost_per_node_hour=str(10 + region))
        return replace(pool, node_class=known.setdefault((region, found.name), made))

    return Fleet(
        tuple(
            replace(one, pools=tuple(there(number % regions, pool) for pool in one.pools))
            for number, one in enumerate(fleet.clusters)
        )
    )


def shrunk(fleet: Fleet) -> Fleet:
    """Return the fleet with one node left in every pool: what matches is too small for a worker of two nodes."""
    return _with_pools(fleet, lambda pool: replace(pool, nodes=NodeCounts(1, 1)))


def full(fleet: Fleet) -> Fleet:
    """Return the fleet with whole nodes taken by others until too few are left for a worker of two nodes."""
    taken = Allocation(PodShape((("gpu", 8), ("nic", 8)), 64_000, 512 * 2**30), NODES - 1)
    return _with_pools(fleet, lambda pool: replace(pool, allocations=(*pool.allocations, taken)))


def _with_pools(fleet: Fleet, changed: Callable[[Pool], Pool]) -> Fleet:
    return Fleet(tuple(replace(one, pools=tuple(changed(pool) for pool in one.pools)) for one in fleet.clusters))


def _cluster(number: int, draw: Draw, ways: tuple[tuple[NodeClass, ...], ...]) -> Cluster:
    """Return a cluster whose pool i is of one of the classes `ways[i]`."""
    held: dict[int, list[Allocation]] = {}
    for _ in range(OTHERS_PER_CLUSTER):
        devices = (1, 2, 4, 8)[draw.below(4)]
        shape = PodShape((("gpu", devices),), 4_000 * devices, 32 * 2**30 * devices)
        held.setdefault(draw.below(len(ways)), []).append(Allocation(shape, 1 + draw.below(4)))
    pools = []
    for index, kinds in enumerate(ways):
        node_class = kinds[draw.below(len(kinds))]
        entries = tuple(held.get(index, ()))
        pools.append(Pool(f"pool-{index}", node_class.name, node_class, NodeCounts(NODES, NODES), entries))
    region = f"region-{draw.below(12)}"
    return Cluster(f"cluster-{number:05d}", tuple(pools), labels={"modelplane.ai/region": region})


def demand() -> Demand:
    """Return a worker of two nodes with eight GPUs and eight NICs each, two selectors per request."""
    requests = (Request("gpu", 8, SELECTORS), Request("nic", 8, NIC_SELECTORS))
    return Demand((RoleDemand(Role.DECODE, 2, 2, requests, (), 64_000, 512 * 2**30),))
