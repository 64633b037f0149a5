"""Occupancy of a pool: which pods stand on which of its nodes, as its cluster recorded when it admitted them.

The ledger asks whether all pods can stand; it would pack anew what a cluster never moves. The occupancy asks whether
those that come can stand beside those that stay. It assumes that a pod takes the fullest node with room, as rendered
pods ask to; a cluster that takes another makes it an estimate, so it only ever refuses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from modelplane.placement.capacity.dimensions import Dimensions
from modelplane.placement.packing import load
from modelplane.placement.packing.load import Item, Vector
from modelplane.placement.packing.nodes import Nodes, Places
from modelplane.placement.snapshot import Holding

Key: TypeAlias = tuple[str, int]
"""A holding: the key of its replica, and its position among the holdings of that."""

PODS_MAX = 1024
"""The most pods of one holding whose nodes are recorded; the status has no room for those of many larger ones."""
UNKNOWN: Places = ()


class Occupancy:
    """The nodes of one pool while claims are judged.

    Nothing is known, and nothing refused, where a holding is too large to be recorded, where what is held finds no
    place by this way of choosing, and where devices are parts of physical ones, whose promise holds on any node.
    Which nodes are `resting` is not known: pods that were recorded stay on them, and none comes to an empty one.
    """

    def __init__(
        self, what: Dimensions, number: int, held: Mapping[Key, tuple[Holding, Places]], resting: int = 0
    ) -> None:
        self._what = what
        self._holdings = {key: holding for key, (holding, _) in held.items()}
        self._places: dict[Key, Places] = {}
        self._nodes = Nodes(what.capacity, number, resting)
        self.is_known = what.rules is None and all(one.pods <= PODS_MAX for one in self._holdings.values())
        if self.is_known:
            recorded = {key: places for key, (holding, places) in held.items() if len(places) == holding.pods}
            self.is_known = self._stand(recorded) or self._stand({})

    def copy(self) -> Occupancy:
        """Return the same occupancy, which changes independently."""
        made = Occupancy(self._what, self._nodes.number, {}, self._nodes.resting)
        made._holdings, made._places = dict(self._holdings), dict(self._places)
        made._nodes, made.is_known = self._nodes.copy(), self.is_known
        return made

    def places(self, key: Key) -> Places:
        """Return the nodes of a holding."""
        return self._places.get(key, UNKNOWN) if self.is_known else UNKNOWN

    def charge(self, holding: Holding) -> Vector:
        """Return the amounts that one pod of the holding takes of a node."""
        return self._what.charge(holding.shape)

    def add(self, key: Key, holding: Holding, before: Places = UNKNOWN) -> bool:
        """Put a holding on the fullest nodes with room, and return whether it found them.

        One that stood on the nodes `before` stays there where these have room.
        """
        self._holdings[key] = holding
        self.is_known = self.is_known and holding.pods <= PODS_MAX
        if not self.is_known:
            return True
        item, places = self._item(holding), before[: holding.pods]
        if len(places) < holding.pods or not self._has_room(item, places):
            found = self._nodes.choose(item, self._weights())
            if found is None:
                return False
            places = found
        self._put(key, places)
        return True

    def stay(self, key: Key, holding: Holding, before: Places) -> None:
        """Put a holding that takes no more than one that is gone where that one stood."""
        self.is_known = self.add(key, holding, before)

    def remove(self, key: Key) -> Places:
        """Take a holding away, and return the nodes it stood on."""
        holding, places = self._holdings.pop(key), self.places(key)
        if self._places.pop(key, None):
            self._nodes.take_away(self.charge(holding), places)
        return places

    def room(self, holding: Holding) -> int:
        """Return how many pods like those of the holding have room on the nodes as they are."""
        item = self._item(holding)
        return self._nodes.room(item.vector, item.per_node)

    def _stand(self, recorded: Mapping[Key, Places]) -> bool:
        """Put all holdings on nodes: the recorded ones where they are, then the others, the largest first."""
        self._nodes = Nodes(self._what.capacity, self._nodes.number, self._nodes.resting)
        self._places = {}
        for key, places in recorded.items():
            self._put(key, places)
        if not self._nodes.suffice:
            return False
        weights = self._weights()
        for key in self._largest_first(self._holdings.keys() - recorded.keys(), weights):
            chosen = self._nodes.choose(self._item(self._holdings[key]), weights)
            if chosen is None:
                return False
            self._put(key, chosen)
        return True

    def _largest_first(self, keys: Iterable[Key], weights: Vector) -> list[Key]:
        items = {key: self._item(self._holdings[key]) for key in keys}
        return sorted(
            sorted(items), key=lambda key: (load.fullness(items[key].vector, weights), items[key]), reverse=True
        )

    def _put(self, key: Key, places: Places) -> None:
        self._places[key] = places
        self._nodes.put(self.charge(self._holdings[key]), places)

    def _has_room(self, item: Item, places: Places) -> bool:
        if max(Counter(places).values()) > item.per_node:
            return False
        trial = self._nodes.copy()
        trial.put(item.vector, places)
        return trial.suffice

    def _weights(self) -> Vector:
        """Return what makes a node full: the dimensions that can run out first, as the promise of any order has it."""
        items = [Item(vector, 1, 1) for vector in sorted({self.charge(one) for one in self._holdings.values()})]
        kept = load.deciding_dimensions(self._what.capacity, items)
        weights = load.weights(self._what.capacity)
        return tuple(weight if axis in kept else 0 for axis, weight in enumerate(weights))

    def _item(self, holding: Holding) -> Item:
        return load.gang(self.charge(holding), holding.pods, holding.nodes_per_worker)
