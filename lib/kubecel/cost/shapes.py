"""The largest sizes that the data of an expression can have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shape:
    """The largest size of a value: its characters, elements or entries, and the shapes of what is in it.

    `any_field` says that every name leads to an element, as in a map whose keys are data.
    """

    size: int
    fields: Mapping[str, Shape] | None = None
    key: Shape | None = None
    element: Shape | None = None
    any_field: bool = False

    def follow(self, name: str) -> Shape | None:
        """Return the shape behind one step of a path, None where nothing is declared."""
        if name in ("@items", "@values"):
            return self.element
        if name == "@keys":
            return self.key
        found = (self.fields or {}).get(name)
        return self.element if found is None and self.any_field else found
