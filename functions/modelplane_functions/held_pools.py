"""Pools that replicas hold and that the cluster does not declare any more.

Their nodes may be there under another name, with other labels, or as part of another pool; pods that run stay on a node
whatever its labels become. A declared pool with the same node selector counts what runs there. Without one, each pool
that may have got the nodes since counts it, until the replicas are gone or the pool is declared again beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from modelplane.api import pool_nodes
from modelplane.api.admissions import Record
from modelplane.api.fields import Field
from modelplane.devices.model import Claim, NodeClass
from modelplane.placement.snapshot import Holding, PodShape, Pool, ReplicaClaim
from modelplane_functions import cluster_gateway
from modelplane_functions.exchange import Observed

Json: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class HeldPools:
    """The claims as they are counted, and the messages about it.

    `counted_on` has the declared pools that count what holds a pool which is not declared. `copies` are the keys of
    the claims by which they do: names of no replica.
    """

    claims: list[ReplicaClaim]
    told: tuple[str, ...]
    counted_on: Mapping[str, tuple[str, ...]]
    copies: frozenset[str]


def read(observed: Observed, pools: tuple[Pool, ...], asked: list[ReplicaClaim]) -> HeldPools:
    """Return the claims on the declared pools."""
    declared = cluster_gateway.facts(observed).pool_node_selector
    published = pool_nodes.published_selectors(observed.status)
    held = sorted({holding.pool for claim in asked if claim.holds for holding in claim.holdings})
    named = {name: pool_nodes.same_nodes(name, declared, published) for name in held}
    moved = {name: other for name, other in named.items() if other is not None and other != name}
    counted_on = _heirs(observed, [name for name, other in named.items() if other is None])
    claims = [_on_their_nodes(claim, moved) for claim in asked] if moved else asked
    copies = list(_copies(claims, counted_on, {pool.name: pool for pool in pools}))
    told = [
        f'pool "{other}" counts the replicas of pool "{name}", which is not declared and had the same nodeSelector'
        for name, other in moved.items()
    ]
    told += [
        f'pool "{other}" counts the replicas of pool "{name}", which is not declared, because it may have the same '
        f'nodes; if it has others, declare pool "{name}" beside it until its replicas are gone'
        for name, others in counted_on.items()
        for other in others
    ]
    return HeldPools([*claims, *copies], tuple(told), counted_on, frozenset(claim.key for claim in copies))


def encode(
    observed: Observed, records: Iterable[Record], counted_on: Mapping[str, tuple[str, ...]]
) -> Iterator[dict[str, Json]]:
    """Yield an entry for each pool that is not declared and still held, by which its nodes are known again."""
    declared = cluster_gateway.facts(observed).pool_node_selector
    selectors = pool_nodes.published_selectors(observed.status)
    held = {holding.pool for record in records for holding in record.holdings}
    for name in sorted((held | counted_on.keys()) - declared.keys()):
        entry: dict[str, Json] = {"nodeSelector": selectors[name]} if name in selectors else {}
        if counted_on.get(name):
            entry["countedOn"] = list(counted_on[name])
        if entry:
            yield {"name": name, **entry}


def _heirs(observed: Observed, missing: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the declared pools that may have the nodes of each missing one: those that got nodes while it was held."""
    spec = Field(observed.spec, ("spec",))
    before = pool_nodes.published_heirs(observed.status)
    gained = pool_nodes.gaining(spec, observed.status)
    declared = cluster_gateway.facts(observed).pool_node_selector.keys()
    return {name: tuple(sorted(declared & (gained | set(before.get(name, ()))))) for name in missing}


def _on_their_nodes(claim: ReplicaClaim, moved: Mapping[str, str]) -> ReplicaClaim:
    if not claim.holds:
        return claim

    def counted(holdings: tuple[Holding, ...]) -> tuple[Holding, ...]:
        return tuple(replace(one, pool=moved.get(one.pool, one.pool)) for one in holdings)

    wants = None if claim.wants is None else counted(claim.wants)
    return replace(claim, holdings=counted(claim.holdings), wants=wants)


def _copies(
    claims: Iterable[ReplicaClaim], counted_on: Mapping[str, tuple[str, ...]], pools: Mapping[str, Pool]
) -> Iterator[ReplicaClaim]:
    """Yield a claim for each pool that counts a holding of another one. A space makes its key nobody's name."""
    for claim in claims:
        if not claim.holds:
            continue
        for index, holding in enumerate(claim.holdings):
            for name in counted_on.get(holding.pool, ()):
                there = replace(holding, pool=name, shape=_shape_on(holding.shape, pools[name].node_class))
                yield ReplicaClaim(f"{claim.key} {index} {name}", (there,), claim.priority, claim.created, holds=True)


def _shape_on(shape: PodShape, node_class: NodeClass | None) -> PodShape:
    """Return the shape as the class counts it: all devices of a node where it does not know one of the shape."""
    if node_class is None:
        return shape
    known = {device.name for device in node_class.devices if device.claim is not Claim.SYNTHETIC}
    if known.issuperset(name for name, _ in shape.devices):
        return shape
    counts = ((device.name, device.count) for device in node_class.devices if device.name in known)
    return shape._replace(devices=tuple(sorted(counts)), consumed=())
