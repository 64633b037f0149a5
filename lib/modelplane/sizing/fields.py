"""Fields of a config.json, read with their types and bounds.

A config.json comes from anywhere. Every field that is missing or wrong is an error with its path, never a guess.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane.errors import InvalidInput

Json: TypeAlias = Any

SIZE_MAX = 2**24
"""The limit of a width, a number of heads or of experts; published models stay below 2**20."""
LAYERS_MAX = 4096
CONTEXT_MAX = 2**30
_SHOWN_MAX = 40


@dataclass(frozen=True, slots=True)
class Fields:
    """The members of one object of a config.json, and where it stands in the file."""

    data: Mapping[str, Json]
    path: tuple[str | int, ...] = ()

    def size(self, *names: str, default: int | None = None, least: int = 1, most: int = SIZE_MAX) -> int:
        """Return the whole number of the first name that has a value.

        Raises: InvalidInput where it is missing without a default, or out of bounds.
        """
        for name in names:
            value = self.data.get(name)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
                raise self.wrong(f"must be a whole number from {least} to {most}, not {shown(value)}", name)
            return value
        if default is None:
            others = f" (or {' or '.join(names[1:])})" if names[1:] else ""
            raise self.wrong(f"is missing{others}; the memory cannot be computed without it", names[0])
        return default

    def flag(self, name: str, *, default: bool) -> bool:
        """Return the boolean. Raises: InvalidInput for another type."""
        value = self.data.get(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self.wrong(f"must be true or false, not {shown(value)}", name)
        return value

    def text(self, name: str, default: str = "") -> str:
        """Return the text. Raises: InvalidInput for another type."""
        value = self.data.get(name)
        if value is None:
            return default
        if not isinstance(value, str):
            raise self.wrong(f"must be text, not {shown(value)}", name)
        return value

    def items(self, name: str) -> list[Json] | None:
        """Return the list, None where there is none. Raises: InvalidInput for another type."""
        value = self.data.get(name)
        if value is None:
            return None
        if not isinstance(value, list):
            raise self.wrong(f"must be a list, not {shown(value)}", name)
        return value

    def has(self, name: str) -> bool:
        """Return whether the field has a value."""
        return self.data.get(name) is not None

    def inner(self, name: str) -> Fields | None:
        """Return the object of that name, None where there is none. Raises: InvalidInput for another type."""
        value = self.data.get(name)
        if value is None:
            return None
        if not isinstance(value, Mapping):
            raise self.wrong(f"must be an object, not {shown(value)}", name)
        return Fields(value, (*self.path, _written(name)))

    def wrong(self, message: str, *names: str | int) -> InvalidInput:
        """Return the error at a field."""
        return InvalidInput(message, path=(*self.path, *(_written(name) for name in names)))


def shown(value: Json) -> str:
    """Return a value of any size as a few characters."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, int):
        return str(value) if -(10**20) < value < 10**20 else f"a number of {_digits(value)} digits"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list):
        return "a list"
    text = repr(value)
    return text if len(text) <= _SHOWN_MAX else f"{text[:_SHOWN_MAX]}..."


def _written(name: str | int) -> str | int:
    """Return the name of a field as it can stand in a line: a key of a file may be any text."""
    return name if isinstance(name, int) or name.isidentifier() else shown(name)


def _digits(value: int) -> int:
    # Python refuses to write numbers of more than 4300 digits
    return value.bit_length() * 30103 // 100000 + 1
