"""Words of messages: the first of many names, and how many more there are."""

from __future__ import annotations

from collections.abc import Sequence


def first(items: Sequence[object], most: int, separator: str = ", ") -> str:
    """Return at most so many items with the number of the others, for example `a, b and 3 more`; empty without any."""
    rest = len(items) - most
    joint = "" if separator == ", " else separator.rstrip()
    return separator.join(str(one) for one in items[:most]) + (f"{joint} and {rest} more" if rest > 0 else "")
