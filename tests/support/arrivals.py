"""Pods that come to equal nodes one by one and are never moved, with the freedom that kube-scheduler has.

Nothing of the ledger is used. `strands` tries every order of pods and every choice of nodes; `Nodes` plays one of them.
"""

# Seeded chance needs no cryptography.

from __future__ import annotations

import random
from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple, TypeAlias

Vector: TypeAlias = tuple[int, ...]


class Freedom(Enum):
    """The nodes that a pod may be put on, of those that have room for it."""

    ANY = "any"
    IN_USE = "any that carries a pod, and an empty one where none of those has room"
    FULLEST = "the one with least left"


class Pod(NamedTuple):
    """One pod; those of one gang, where it has one, stand on different nodes."""

    size: Vector
    gang: str = ""


class Nodes:
    """Equal nodes with the pods on them."""

    def __init__(self, capacity: Vector, nodes: int) -> None:
        self.capacity = capacity
        self.pods: list[list[Pod]] = [[] for _ in range(nodes)]

    def free(self, node: int) -> Vector:
        """Return what is left of a node."""
        taken = [pod.size for pod in self.pods[node]]
        return tuple(have - sum(size[axis] for size in taken) for axis, have in enumerate(self.capacity))

    def choices(self, pod: Pod, freedom: Freedom) -> list[int]:
        """Return the nodes that the pod may be put on."""
        able = [node for node in range(len(self.pods)) if self._has_room(node, pod)]
        if freedom is Freedom.IN_USE:
            return [node for node in able if self.pods[node]] or able
        if freedom is Freedom.FULLEST and able:
            least = min(self.free(node) for node in able)
            return [node for node in able if self.free(node) == least]
        return able

    def by_score(self, pod: Pod, dice: random.Random) -> int | None:
        """Return the node that kube-scheduler's default scores prefer, None where there is none.

        The affinity of rendered pods counts the pods that are there, in proportion to the most on any node with room,
        and twice; LeastAllocated goes the other way. Of equal nodes kube-scheduler takes one by chance.
        """
        able = self.choices(pod, Freedom.ANY)
        if not able:
            return None
        most = max(len(self.pods[node]) for node in able) or 1
        scores = {}
        for node in able:
            left = min(have / all_ for have, all_ in zip(self.free(node), self.capacity, strict=True))
            scores[node] = 200 * len(self.pods[node]) // most + int(100 * left)
        best = max(scores.values())
        return dice.choice([node for node in able if scores[node] == best])

    def _has_room(self, node: int, pod: Pod) -> bool:
        if pod.gang and any(other.gang == pod.gang for other in self.pods[node]):
            return False
        return all(want <= have for want, have in zip(pod.size, self.free(node), strict=True))

    def state(self) -> tuple[tuple[tuple[Pod, int], ...], ...]:
        """Return the nodes without their names."""
        return tuple(sorted(tuple(sorted((pod, node.count(pod)) for pod in set(node))) for node in self.pods))


def pods(rows: Iterable[tuple[Vector, int, int]]) -> list[Pod]:
    """Return the pods of rows of a size, a number of pods and the size of their gangs."""
    found = []
    for row, (size, number, span) in enumerate(rows):
        found += [Pod(size, f"{row}/{index // span}" if span > 1 else "") for index in range(number)]
    return found


def strands(capacity: Vector, nodes: int, wanted: Iterable[Pod], freedom: Freedom) -> bool:
    """Return whether some order and some choices leave a pod without a node."""
    there = Nodes(capacity, nodes)
    seen: set[object] = set()

    def go(left: tuple[Pod, ...]) -> bool:
        key = (left, there.state())
        if key in seen:
            return False
        seen.add(key)
        for pod in sorted(set(left)):
            able = there.choices(pod, freedom)
            if not able:
                return True
            rest = list(left)
            rest.remove(pod)
            for node in able:
                there.pods[node].append(pod)
                found = go(tuple(rest))
                there.pods[node].remove(pod)
                if found:
                    return True
        return False

    return go(tuple(sorted(wanted)))
