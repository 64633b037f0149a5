"""Constraints of a claim, kept while its devices are chosen one by one.

`admit` is called for each device that is about to be taken and `dismiss` for each that is put back (or that a later
constraint did not admit); both say nothing about devices of requests the constraint does not name.

Source: k8s.io/dynamic-resource-allocation v0.36.2, structured allocator (incubating). Values are compared as they are
written: two versions that differ in build metadata differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

from modelplane.devices.model import Attribute, Device
from tests.support.allocator.claims import ClaimConstraint, Relation
from tests.support.allocator.profiles import Distinct as Rule

Names: TypeAlias = tuple[str, str]
"""A request and, where it has alternatives, the one being tried."""


class _Kept:
    """What every constraint has: its attribute, its requests, and how many devices it has admitted."""

    def __init__(self, constraint: ClaimConstraint) -> None:
        self._attribute = constraint.attribute
        self._requests = frozenset(constraint.requests)
        self._devices = 0

    def _concerns(self, names: Names) -> bool:
        request, alternative = names
        if not self._requests or request in self._requests:
            return True
        return bool(alternative) and f"{request}/{alternative}" in self._requests


class Match(_Kept):
    """All devices have the attribute with one value."""

    def __init__(self, constraint: ClaimConstraint) -> None:
        super().__init__(constraint)
        self._common: list[frozenset[Attribute]] = []
        """The values that all devices have, after each of them."""

    def admit(self, names: Names, device: Device) -> bool:
        """Return whether the device agrees with those admitted."""
        if not self._concerns(names):
            return True
        value = device.attribute(self._attribute)
        if value is None:
            return False
        common = value.values() if not self._devices else value.values() & self._common[-1]
        if not common:
            return False
        self._common.append(common)
        self._devices += 1
        return True

    def dismiss(self, names: Names) -> None:
        """Put the last device back."""
        if self._concerns(names):
            self._devices -= 1
            self._forget()

    def _forget(self) -> None:
        self._common.pop()


class NarrowedMatch(Match):
    """The same, by an allocator that keeps what devices had in common when one of them is put back.

    So a search that went back may refuse what it would have accepted at once.
    """

    def _forget(self) -> None:
        if not self._devices:
            self._common.clear()


class Distinct(_Kept):
    """All devices have the attribute with different values, as far as the allocator remembers them.

    It remembers one value per request, the last, and forgets even that when a device of the request is put back.
    So two of three devices of one request may agree, and a search that went back may accept what it would not have
    accepted at once.
    """

    def __init__(self, constraint: ClaimConstraint) -> None:
        super().__init__(constraint)
        self._last: dict[str, Attribute] = {}

    def admit(self, names: Names, device: Device) -> bool:
        """Return whether the device differs from what is remembered."""
        if not self._concerns(names):
            return True
        value = device.attribute(self._attribute)
        if value is None or (self._devices and any(_same(value, last) for last in self._last.values())):
            return False
        self._last[names[0]] = value
        self._devices += 1
        return True

    def dismiss(self, names: Names) -> None:
        """Put the last device back."""
        if self._concerns(names):
            self._last.pop(names[0], None)
            self._devices -= 1


class DistinctDevices(_Kept):
    """All devices have the attribute with different values."""

    def __init__(self, constraint: ClaimConstraint) -> None:
        super().__init__(constraint)
        self._values: list[Attribute] = []

    def admit(self, names: Names, device: Device) -> bool:
        """Return whether the device differs from those admitted."""
        if not self._concerns(names):
            return True
        value = device.attribute(self._attribute)
        if value is None or any(_same(value, one) for one in self._values):
            return False
        self._values.append(value)
        return True

    def dismiss(self, names: Names) -> None:
        """Put the last device back."""
        if self._concerns(names):
            self._values.pop()


class Unchecked(_Kept):
    """All devices have the attribute. Their values are not compared, since 1.34 compares where they are kept."""

    def admit(self, names: Names, device: Device) -> bool:
        """Return whether the device has the attribute."""
        return not self._concerns(names) or device.attribute(self._attribute) is not None

    def dismiss(self, names: Names) -> None:
        """Put the last device back."""


def _same(left: Attribute, right: Attribute | None) -> bool:
    return right is not None and not left.values().isdisjoint(right.values())


Agreement: TypeAlias = Match | Distinct | DistinctDevices | Unchecked
_DISTINCT: Final[Mapping[Rule, type[Distinct | DistinctDevices | Unchecked]]] = {
    Rule.UNCHECKED: Unchecked,
    Rule.BY_REQUEST: Distinct,
    Rule.BY_DEVICE: DistinctDevices,
}


def of(constraint: ClaimConstraint, rule: Rule, *, narrows: bool = False) -> Agreement:
    """Return the constraint with no device admitted yet; `rule` is how this version tells devices apart."""
    if constraint.relation is Relation.MATCH:
        return NarrowedMatch(constraint) if narrows else Match(constraint)
    return _DISTINCT[rule](constraint)
