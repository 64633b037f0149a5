"""Numbered nodes of a pool, each with what is left of it, filled pod by pod and never packed anew.

A cluster does not move a pod. So where pods have gone, what is left lies on the nodes of those that stay.
"""

from __future__ import annotations

from collections import Counter
from typing import TypeAlias

from modelplane.placement.packing import load
from modelplane.placement.packing.load import Item, Vector

Places: TypeAlias = tuple[int, ...]
"""The numbers of the nodes that some pods stand on, one for each pod, in ascending order."""


class Nodes:
    """Equal nodes of a pool, of which those in use are known with what is left of each."""

    def __init__(self, capacity: Vector, number: int, resting: int = 0) -> None:
        """Take `number` nodes for pods that come, and `resting` ones on which pods may only stay."""
        self.capacity, self.number, self.resting = capacity, number, resting
        self._free: dict[int, Vector] = {}
        """Free capacity of each node that has had a pod; one that has none any more is as good as an empty one."""

    def copy(self) -> Nodes:
        """Return the same nodes, which change independently."""
        made = Nodes(self.capacity, self.number, self.resting)
        made._free = dict(self._free)
        return made

    @property
    def suffice(self) -> bool:
        """Return whether the pool has as many nodes as are in use, and none carries more than it has."""
        in_use, there = len(self._free), self.number + self.resting
        return in_use <= there and all(have >= 0 for free in self._free.values() for have in free)

    def choose(self, item: Item, weights: Vector) -> Places | None:
        """Return the fullest nodes with room for the pods, pod by pod; None when one finds no room.

        An empty node is taken where no node in use has room. `weights` say what a node is full of. Cost: the pods
        times the nodes in use.
        """
        left, chosen = dict(self._free), Counter[int]()
        for _ in range(item.pods):
            able = [
                (load.fullness(free, weights), free, node)
                for node, free in left.items()
                if chosen[node] < item.per_node and load.times(free, item.vector, 1)
            ]
            if able:
                node = min(able)[-1]
            elif len(left) < self.number and load.times(self.capacity, item.vector, 1):
                node = next(one for one in range(self.number) if one not in left)
            else:
                return None
            chosen[node] += 1
            left[node] = load.minus(left.get(node, self.capacity), item.vector, 1)
        return tuple(sorted(chosen.elements()))

    def put(self, vector: Vector, places: Places) -> None:
        """Put a pod of this size on each of the places, whether there is room or not."""
        for node, more in Counter(places).items():
            self._free[node] = load.minus(self._free.get(node, self.capacity), vector, more)

    def take_away(self, vector: Vector, places: Places) -> None:
        """Take away pods that were put there."""
        for node, fewer in Counter(places).items():
            self._free[node] = load.minus(self._free[node], vector, -fewer)

    def room(self, vector: Vector, most: int) -> int:
        """Return how many pods of this size have room, at most `most` on a node."""
        empty = max(0, self.number - len(self._free)) * load.times(self.capacity, vector, most)
        return empty + sum(load.times(free, vector, most) for free in self._free.values())
