"""Nodes and their devices by arithmetic of their own: whole devices, parts of shared ones, and all of a node."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Json = Any
_UNITS = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "": 1}


@dataclass(frozen=True, slots=True)
class Ask:
    """One request of a pod: so many devices, or all of its node; of each the parts, or the whole of it without any."""

    count: int
    is_all: bool = False
    parts: tuple[tuple[str, Fraction], ...] = ()
    name: str = ""
    """The devices of its class that it asks for, empty for any."""


@dataclass
class Device:
    """A device of one node. `left` has what nobody took of each capacity; one that is taken whole has None."""

    is_shared: bool
    capacity: Mapping[str, Fraction]
    left: dict[str, Fraction] | None
    name: str = ""

    @property
    def is_unused(self) -> bool:
        return self.left == self.capacity

    def gives(self, parts: Mapping[str, Fraction]) -> bool:
        """Return whether nobody has what is asked for; a capacity that is not named is taken whole."""
        if not self.is_shared or not parts:
            return self.is_unused
        return self.left is not None and all(
            self.left[key] >= parts.get(key, all_) for key, all_ in self.capacity.items()
        )

    def take(self, parts: Mapping[str, Fraction]) -> None:
        if not self.is_shared or not parts or self.left is None:
            self.left = None
        else:
            self.left = {key: left - parts.get(key, self.capacity[key]) for key, left in self.left.items()}

    @property
    def room(self) -> Fraction:
        return sum((self.left or {}).values(), Fraction(0))


def of_request(request: Json) -> Ask:
    """Return what a request of a ResourceClaim asks for."""
    exactly = request.get("exactly") or request["firstAvailable"][0]
    parts = ((exactly.get("capacity") or {}).get("requests") or {}).items()
    amounts = tuple(sorted((key, amount(value)) for key, value in parts))
    return Ask(exactly.get("count", 1), exactly.get("allocationMode") == "All", amounts)


def devices(node_class: Json) -> list[Device]:
    """Return the devices of a node of a class."""
    found = []
    for one in node_class["spec"]["devices"]:
        capacity = {key: amount(given["value"]) for key, given in (one.get("capacity") or {}).items()}
        is_shared = bool(one.get("allowMultipleAllocations"))
        found += [Device(is_shared, capacity, dict(capacity), one["name"]) for _ in range(one.get("count", 1))]
    return found


def amount(text: str | int) -> Fraction:
    """Return a quantity."""
    said = str(text)
    unit = next(unit for unit in _UNITS if said.endswith(unit))
    return Fraction(said.removesuffix(unit)) * _UNITS[unit]


def hold(nodes: list[list[Device]], pods: Iterable[tuple[Ask, ...]]) -> bool:
    """Return whether the nodes hold the pods: each on the first that takes it, the largest first.

    That is exact where sizes divide each other, as those of the attacks do.
    """
    for asks in sorted(pods, key=_size, reverse=True):
        index = next((index for index, node in enumerate(nodes) if _after(node, asks) is not None), None)
        if index is None:
            return False
        nodes[index] = _after(nodes[index], asks) or []
    return True


def _size(asks: tuple[Ask, ...]) -> tuple[bool, int, Fraction]:
    whole = sum(ask.count for ask in asks if not ask.parts)
    return any(ask.is_all for ask in asks), whole, sum((size for ask in asks for _, size in ask.parts), Fraction(0))


def _after(node: list[Device], asks: tuple[Ask, ...]) -> list[Device] | None:
    """Return the devices of the node with one pod more, None where it does not fit."""
    left = copy.deepcopy(node)
    for ask in asks:
        parts = dict(ask.parts)
        named = [one for one in left if ask.name in ("", one.name)]
        giving = sorted((one for one in named if one.gives(parts)), key=lambda one: one.room)
        wanted = len(named) if ask.is_all else ask.count
        if len(giving) < wanted:
            return None
        for one in giving[:wanted]:
            one.take(parts)
    return left
