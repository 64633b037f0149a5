"""Ranges of sizes and costs, and the facts that an estimate knows about the parts of a call.

Source: checker/cost.go of cel-go v0.26.0. Numbers saturate at 2**64 - 1 as there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from kubecel.check.typesystem import Type

MAX: Final = (1 << 64) - 1
_TWO_64: Final = 18446744073709551616.0

Path = tuple[str, ...]


class Range(NamedTuple):
    """The least and the most of a size or a cost. Arithmetic saturates.

    Estimates create many ranges, and a named tuple is created three times as fast as a frozen dataclass.
    """

    minimum: int
    maximum: int

    @classmethod
    def of(cls, value: int) -> Range:
        """Return the range of one value."""
        return cls(value, value)

    def __add__(self, other: Range) -> Range:  # type: ignore[override]  # added, never joined
        if other is FREE:
            return self
        if self is FREE:
            return other
        least, most = self[0] + other[0], self[1] + other[1]
        return _new(Range, (least if least < MAX else MAX, most if most < MAX else MAX))

    def __mul__(self, other: Range) -> Range:  # type: ignore[override]  # as above
        return Range(min(MAX, self.minimum * other.minimum), min(MAX, self.maximum * other.maximum))

    def scaled(self, factor: float) -> Range:
        """Return both ends times a factor, rounded up."""
        return Range(_scaled(self.minimum, factor), _scaled(self.maximum, factor))

    def union(self, other: Range) -> Range:
        """Return the range that holds both."""
        return Range(min(self.minimum, other.minimum), max(self.maximum, other.maximum))


def _scaled(value: int, factor: float) -> int:
    number = float(value)
    if number > 0 and factor > 0 and number > _TWO_64 / factor:
        return MAX
    product = math.ceil(number * factor)
    return MAX if product >= _TWO_64 else product


_new: Final = tuple.__new__  # every call of an estimate adds ranges; this leaves out one call of Python's
FREE: Final = Range(0, 0)
ONE: Final = Range(1, 1)
UNKNOWN: Final = Range(0, MAX)


class Operand(NamedTuple):
    """A target or argument: its type, its size if it is known, the path to it, and its value if it is a literal."""

    type: Type
    size: Range | None
    path: Path
    literal: Any
    is_literal: bool
    declared: Callable[[Path], Range | None]

    def sized(self) -> Range:
        """Return the size. An unknown size has the full range."""
        return self.size or self.declared(self.path) or UNKNOWN

    def known_or_unknown(self) -> Range:
        """Return the size that was computed before. Declarations are not read again."""
        return self.size or UNKNOWN

    def element(self) -> Operand | None:
        """Return the type of the elements of a list, None for any other type."""
        if not self.type.params:
            return None
        path = (*self.path, "@items") if self.path else ()
        return Operand(self.type.params[0], None, path, None, False, self.declared)  # noqa: FBT003 - no literal

    def whole_number(self, default: int) -> int:
        """Return the value of a literal integer, at least zero, else `default`."""
        if not self.is_literal or type(self.literal) is not int:
            return default
        return max(0, self.literal)


class Call(NamedTuple):
    """One overload of a call with its operands."""

    function: str
    overload: str
    target: Operand | None
    args: tuple[Operand, ...]
    costs: tuple[Range, ...]

    def argument_cost(self) -> Range:
        """Return the cost of evaluating all arguments."""
        total = FREE
        for cost in self.costs:
            total += cost
        return total


class Found(NamedTuple):
    """The cost of a call, and the size of its result if it is known."""

    cost: Range
    size: Range | None = None
