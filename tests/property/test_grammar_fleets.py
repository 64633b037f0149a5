"""Laws of the whole request grammar over fleets: what clusters admit, their allocators serve, whatever happened.

After each admission the pods of each pool arrive in an order drawn by chance, and the copy of the allocator serves
their rendered claims. A pod takes the fullest node in use with room, as rendered pods ask for. It takes any node where
devices are shared, or parts of several kinds are asked for.
"""

# Seeded shuffles need no cryptography.
# ruff: noqa: S311

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from modelplane.devices.model import NodeClass
from modelplane.placement.snapshot import Holding, Pool
from tests.support import device_questions as grammar
from tests.support import grammar_fleets, laws
from tests.support.allocator import allocation, profiles
from tests.support.allocator.allocation import Allocation
from tests.support.allocator.claims import Allocated, Claim, Use
from tests.support.grammar_fleets import Wanted

STEPS = 16


@dataclass(frozen=True)
class Pod:
    """A pod: its rendered claim, what the ledger counts of it, and its gang, whose members stand on different nodes."""

    claim: Claim
    counted: tuple[tuple[str, int], ...]
    consumed: tuple[tuple[str, int], ...]
    gang: str


def arrive(world: grammar_fleets.World, name: str) -> None:
    """Let the pods of a cluster come in an order drawn by chance, and see each served what the ledger counts."""
    for pool in world.base[name].pools:
        pods = [
            pod
            for one in world.admitted(name)
            for held in one.replica.holdings
            if held.pool == pool.name
            for pod in pods_of(held, one.wanted, pool, one.name)
        ]
        world.chance.shuffle(pods)
        _fill(world.chance, pool, pods)


def _fill(chance: random.Random, pool: Pool, pods: list[Pod]) -> None:
    assert pool.node_class is not None
    nodes = [Allocated() for _ in range(pool.nodes.usable)]
    gangs: list[set[str]] = [set() for _ in nodes]
    loads = [0 for _ in nodes]
    anywhere = _is_any_node_promised(pool.node_class, pods)
    for pod in pods:
        served = [
            (at, found)
            for at, has in enumerate(nodes)
            if pod.gang not in gangs[at] and (found := serves(pool.node_class, has, pod)) is not None
        ]
        assert served, (pod, pool, nodes, len(pods))
        fullest = max(loads[at] for at, _ in served)
        at, found = chance.choice([one for one in served if anywhere or loads[one[0]] == fullest])
        nodes[at] = found
        gangs[at].add(pod.gang)
        loads[at] += sum(count for _, count in pod.counted)


def _is_any_node_promised(node_class: NodeClass, pods: list[Pod]) -> bool:
    """Return whether a place is promised on any node. Parts of one kind alone are counted as whole devices are."""
    asked = {name for pod in pods for name, _ in pod.counted}
    parts = [kind for kind in node_class.devices if kind.draws and kind.name in asked]
    return len(parts) > 1 or any(kind.is_shared for kind in node_class.devices)


def pods_of(held: Holding, wanted: Wanted, pool: Pool, key: str) -> Iterator[Pod]:
    """Yield the pods of one holding, as they are rendered for what it was placed for."""
    assert pool.node_class is not None
    part = wanted.part(held.role)
    option = grammar_fleets.option_of(held, wanted, pool.node_class)
    claim = grammar.claim_of(grammar.bound(pool.node_class, part.requests, part.constraints, option))
    for at in range(held.pods):
        gang = f"{key}/{held.role}/{at // held.nodes_per_worker}"
        yield Pod(claim, option.counted, option.consumed, gang)


def serves(node_class: NodeClass, has: Allocated, pod: Pod) -> Allocated | None:
    """Return what is allocated on a node once it serves the pod, None where the allocator finds nothing."""
    profile = profile_of(node_class)
    there = replace(node_class, devices=tuple(one for one in node_class.devices if not one.unpublished))
    found = allocation.allocate(replace(grammar.inventory(there), allocated=has), [pod.claim], profile)
    if not isinstance(found, Allocation):
        return None
    devices = found.claims[0].devices
    taken = Counter(grammar_fleets.kind_of(one.device.device, node_class) for one in devices)
    assert tuple(sorted(taken.items())) == pod.counted
    assert grammar.consumed(found) == pod.consumed
    uses = tuple(Use(one.device, one.consumed) for one in devices if one.shared)
    return Allocated(has.devices | {one.device for one in devices if not one.shared}, (*has.shared, *uses))


def profile_of(node_class: NodeClass) -> profiles.Profile:
    if node_class.lists_are_on:
        return profiles.LISTS["1.36"]
    return profiles.PROFILES[f"1.{node_class.kubernetes_minor}"]


@settings(
    laws.LAW,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
@given(grammar_fleets.fleets(), st.integers(0, 2**32))
def test_what_clusters_admit_is_served_through_races_edits_and_drains(drawn: grammar_fleets.Drawn, seed: int) -> None:
    world = grammar_fleets.World(drawn.clusters, drawn.wanted, random.Random(seed))
    for _ in range(STEPS):
        name = world.step(drawn.edits)
        if name is not None:
            arrive(world, name)
    world.propose_all()
    for name in world.base:
        world.admit(name)
        arrive(world, name)
