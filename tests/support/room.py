"""Devices against nodes by arithmetic of its own: whether new replicas have room beside what runs.

Nothing here asks the library. Pods are counted from the specs of ModelReplicas, nodes from the pools that the platform
declared and the devices of their classes (`tests.support.nodes`). Of devices that are parted by counters the memory is
summed over the nodes, which every placement has to keep.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from tests.support import nodes
from tests.support.nodes import Ask

Json = Any
Place = tuple[str, str]
"""A cluster and a pool of it."""
_COUNTER = "memory"


def lacking(new: Sequence[Json], standing: Sequence[Json], store: Sequence[Json]) -> Iterator[str]:
    """Yield a line for each pool that lacks room for `new` replicas beside those that stand there already.

    `store` has the InferenceClusters and the InferenceClasses. Pools on which nothing new stands are nobody's fault.
    """
    asked: dict[Place, list[tuple[Ask, ...]]] = {}
    wanted = {place for replica in new for place, _ in _pods(replica)}
    for replica in (*standing, *new):
        for place, asks in _pods(replica):
            asked.setdefault(place, []).append(asks)
    for place in sorted(wanted):
        pods = [asks for asks in asked[place] if asks]
        if not pods:
            continue
        found = _pool(place, store)
        if found is None:
            yield f"a replica is placed on pool {'/'.join(place)}, which is not declared"
        elif not _holds(*found, pods):
            yield f"pool {'/'.join(place)} of {found[1]} nodes holds no {len(pods)} pods that ask for {_told(pods)}"


def _told(pods: Sequence[tuple[Ask, ...]]) -> str:
    return ", ".join(str(sum(ask.count for ask in asks)) for asks in pods[:20])


def _pods(replica: Json) -> Iterator[tuple[Place, tuple[Ask, ...]]]:
    """Yield the pool of each pod of a replica, and what the pod asks of its node."""
    spec = replica["spec"]
    for role in (spec, spec.get("prefill")):
        if not role:
            continue
        topology = role["workers"].get("topology") or {}
        nodes_across = _number(topology, "pipeline") * (_number(topology, "data") // _number(topology, "dataLocal"))
        for _ in range(_number(role["workers"], "count") * nodes_across):
            yield (spec["clusterName"], role["pool"]), tuple(map(_ask, role.get("devices") or ()))


def _number(fields: Json, name: str) -> int:
    value = fields.get(name)
    return 1 if value is None else int(value)


def _ask(request: Json) -> Ask:
    parts = tuple(sorted((key, nodes.amount(value)) for key, value in (request.get("consumes") or {}).items()))
    return Ask(request["count"], parts=parts, name=request["device"])


def _pool(place: Place, store: Sequence[Json]) -> tuple[Json, int] | None:
    """Return the class of a pool and its nodes, None where it is not declared. One that grows has its largest size."""
    cluster = _named(store, "InferenceCluster", place[0])
    pools = [one for one in cluster["spec"]["nodePools"] if one["name"] == place[1]] if cluster else []
    node_class = _named(store, "InferenceClass", pools[0]["className"]) if pools else None
    if node_class is None:
        return None
    return node_class, max(pools[0].get("nodeCount", 0), pools[0].get("maxNodeCount", 0))


def _named(store: Sequence[Json], kind: str, name: str) -> Json | None:
    return next((one for one in store if one["kind"] == kind and one["metadata"]["name"] == name), None)


def _holds(node_class: Json, count: int, pods: Sequence[tuple[Ask, ...]]) -> bool:
    if node_class["spec"].get("sharedCounters"):
        return _holds_parted(node_class, count, pods)
    # No more nodes are used than there are pods.
    return nodes.hold([nodes.devices(node_class) for _ in range(min(count, len(pods)))], pods)


def _holds_parted(node_class: Json, count: int, pods: Sequence[tuple[Ask, ...]]) -> bool:
    spec = node_class["spec"]
    has = sum(_memory(one["counters"]) * one.get("count", 1) for one in spec["sharedCounters"]) * count
    whole = {one["name"]: _memory(one["counters"]) for one in spec["sharedCounters"]}
    takes: dict[str, Fraction] = {}
    for device in spec["devices"]:
        used = device.get("consumesCounters") or ()
        takes[device["name"]] = sum(
            (_memory(one["counters"]) if "counters" in one else whole[one["counterSet"]] for one in used), Fraction(0)
        )
    return bool(sum(takes.get(ask.name, Fraction(0)) * ask.count for asks in pods for ask in asks) <= has)


def _memory(counters: Mapping[str, Json]) -> Fraction:
    return nodes.amount(counters.get(_COUNTER, {}).get("value", 0))
