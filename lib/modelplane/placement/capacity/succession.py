"""The holdings that count while a replica changes in place: pods from before may run beside those that replace them.

On each node the larger of both counts, because the pods of before end where others begin. Where neither is larger, both
count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

from modelplane.placement import snapshot
from modelplane.placement.packing.load import Vector
from modelplane.placement.packing.nodes import Places
from modelplane.placement.snapshot import Holding

Placed: TypeAlias = tuple[Holding, Places]
"""A holding and the node of each of its pods, empty where these are not known."""


def counted(
    before: Sequence[Placed], after: Sequence[Placed], charge: Callable[[Holding], Vector] | None
) -> tuple[Placed, ...]:
    """Return the holdings that count on one pool until the pods from before have ended.

    `charge` is what a pod of a holding takes of a node, None where the class is not known. Cost: linear in the pods.
    """
    if charge is None or any(len(places) != holding.pods for holding, places in (*before, *after)):
        return tuple((holding, ()) for holding in _larger([one for one, _ in before], [one for one, _ in after]))
    had, has = _loads(before, charge), _loads(after, charge)
    kept_before = {node for node, load in had.items() if node not in has or not _covers(has[node], load)}
    kept_after = {node for node, load in has.items() if node not in kept_before or not _covers(had[node], load)}
    return _merged((*_on(after, kept_after), *_on(before, kept_before)))


def _larger(before: Iterable[Holding], after: Sequence[Holding]) -> tuple[Holding, ...]:
    """Return the larger holding of each role, both where neither is."""
    held = tuple(before)
    new = [one for one in after if not snapshot.within((one,), held)]
    old = [one for one in held if not snapshot.within((one,), tuple(new))]
    return tuple(holding for holding, _ in _merged((one, ()) for one in (*new, *old)))


def _loads(placed: Iterable[Placed], charge: Callable[[Holding], Vector]) -> dict[int, Vector]:
    found: dict[int, Vector] = {}
    for holding, places in placed:
        vector = charge(holding)
        for node in places:
            load = found.get(node)
            found[node] = vector if load is None else tuple(a + b for a, b in zip(load, vector, strict=True))
    return found


def _covers(one: Vector, other: Vector) -> bool:
    return all(mine >= theirs for mine, theirs in zip(one, other, strict=True))


def _on(placed: Iterable[Placed], nodes: set[int]) -> Iterable[Placed]:
    for holding, places in placed:
        found = tuple(node for node in places if node in nodes)
        if found:
            yield replace(holding, pods=len(found)), found


def _merged(placed: Iterable[Placed]) -> tuple[Placed, ...]:
    """Return the holdings with those that differ in the number of pods alone as one, in the order of the first."""
    found: dict[Holding, Placed] = {}
    for holding, places in placed:
        alike = replace(holding, pods=0)
        had, stood = found.get(alike, (alike, ()))
        found[alike] = replace(holding, pods=had.pods + holding.pods), tuple(sorted((*stood, *places)))
    return tuple(found.values())
