"""The numbers of protobuf, which are all doubles, made integers again where they are integral."""

from __future__ import annotations

from typing import Final

EXACT_INTEGER_MAX: Final = 2**53
"""The largest n for which a double holds every integer from 0 to n."""


def number(value: float) -> int | float:
    """Return an int for an integral number. A number that is too large to be exact stays a float."""
    if value.is_integer() and abs(value) <= EXACT_INTEGER_MAX:
        return int(value)
    return value
