"""Typed access to the fields of a JSON document, with their paths.

The API server validates and defaults most documents, but composed and offline ones are read here too. A required field
that is missing, or a field of a wrong type, is the author's fault: it is refused with its full path, never a KeyError.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias, TypeVar

from modelplane import units
from modelplane.errors import InvalidInput, InvalidQuantity

Json: TypeAlias = Any
Path: TypeAlias = tuple[str | int, ...]
Choice = TypeVar("Choice", bound=StrEnum)
# Nearly all are dicts, and whether something is a Mapping takes three times as long to find out.
_OBJECT = (dict, Mapping)
_TEXTS = frozenset({str})
_SHOWN_BELOW = 10**20


@dataclass(slots=True)
class Field:
    """A value and its path. `value` is None if the field is absent. A field is never changed.

    The class is not frozen, and the path is built only on demand, because a large fleet needs a hundred thousand fields
    and takes a third of the time this way.
    """

    value: Json
    _tail: Path = ()
    _above: Field | None = None

    @property
    def path(self) -> Path:
        """Return the path from the root of the document."""
        return self._tail if self._above is None else (*self._above.path, *self._tail)

    @property
    def is_set(self) -> bool:
        """Return whether the document has the field."""
        return self.value is not None

    def at(self, *keys: str) -> Field:
        """Return the field below; it is absent if a step of the way is missing."""
        # Every document of a fleet is read through here, so the steps on the way make no Field of their own.
        value = self.value
        for key in keys:
            if value is None:
                break
            if not isinstance(value, _OBJECT):
                raise self._no_object(keys)
            value = value.get(key)
        return Field(value, keys, self)

    def text_at(self, key: str, default: str | None = None) -> str:
        """Return `at(key).text(default)`. If the text is present no Field is made, which matters for a large fleet."""
        if type(self.value) is dict:
            value = self.value.get(key)
            if value and type(value) is str:
                return value
        return self.at(key).text(default)

    def integer_at(self, key: str, default: int | None = None) -> int:
        """Return `at(key).integer(default)`. If the integer or a default is present no Field is made."""
        if type(self.value) is dict:
            value = self.value.get(key, default)
            if type(value) is int:
                return value
        return self.at(key).integer(default)

    def texts(self) -> tuple[str, ...]:
        """Return the strings of a list, none if absent. Raises: InvalidInput for an empty string or another type."""
        value = self.value
        if type(value) is list and set(map(type, value)) <= _TEXTS and "" not in value:
            return tuple(value)
        return tuple([entry.text() for entry in self.items()])

    def members(self) -> Mapping[str, Json]:
        """Return the object, empty if absent. Raises: InvalidInput for another type."""
        if self.value is None:
            return {}
        if not isinstance(self.value, _OBJECT):
            raise self.wrong("must be an object")
        return self.value

    def items(self) -> Iterator[Field]:
        """Return the elements of a list, none if absent. Raises: InvalidInput for another type."""
        if self.value is None:
            return iter(())
        if not isinstance(self.value, (list, tuple)):
            raise self.wrong("must be a list")
        return iter([Field(value, (index,), self) for index, value in enumerate(self.value)])

    def text(self, default: str | None = None) -> str:
        """Return a string; `default` replaces an absent or empty one. Raises: InvalidInput if there is neither."""
        if self.value is None or self.value == "":
            if default is None:
                raise self.wrong("is required")
            return default
        if not isinstance(self.value, str):
            raise self.wrong("must be a string")
        return self.value

    def quantity(self) -> str:
        """Return the text of a quantity, which a document may write as an integer. Raises: InvalidInput."""
        is_integer = isinstance(self.value, int) and not isinstance(self.value, bool)
        text = str(self.value) if is_integer else self.text()
        try:
            units.quantity(text)
        except InvalidQuantity as error:
            raise error.under(*self.path) from None
        return text

    def optional(self) -> str | None:
        """Return a string, None if it is absent or empty."""
        return self.text("") or None

    def integer(self, default: int | None = None) -> int:
        """Return an integer, `default` if absent. Raises: InvalidInput if there is neither."""
        if self.value is None:
            if default is None:
                raise self.wrong("is required")
            return default
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            raise self.wrong("must be an integer")
        return self.value

    def count(self, default: int | None = None, *, least: int, most: int) -> int:
        """Return an integer from `least` to `most`, the bounds of the definition; `default` if absent.

        A document that was not validated must not cost time and memory by a large number. Raises: InvalidInput, as
        `integer`, and for an integer out of bounds.
        """
        value = self.integer(default)
        if value < least:
            raise self.wrong(f"must be at least {least}, not {_shown(value)}")
        if value > most:
            raise self.wrong(f"must be at most {most}, not {_shown(value)}")
        return value

    def flag(self, *, default: bool) -> bool:
        """Return a boolean, `default` if absent."""
        if self.value is None:
            return default
        if not isinstance(self.value, bool):
            raise self.wrong("must be true or false")
        return self.value

    def choice(self, kinds: type[Choice], default: Choice | None = None) -> Choice:
        """Return the member of `kinds`, `default` if absent or empty. Raises: InvalidInput for any other value."""
        if default is not None and (self.value is None or self.value == ""):
            return default
        text = self.text()
        try:
            return kinds(text)
        except ValueError:
            raise self.wrong(f"{text!r} is not one of {', '.join(kind.value for kind in kinds)}") from None

    def _no_object(self, keys: tuple[str, ...]) -> InvalidInput:
        """Return the error about the first step on the way to `keys` that is no object."""
        value, way = self.value, 0
        while isinstance(value, Mapping):
            value, way = value[keys[way]], way + 1
        return Field(value, keys[:way], self).wrong("must be an object")

    def wrong(self, message: str) -> InvalidInput:
        """Return an error about this field."""
        return InvalidInput(message, path=self.path)


def _shown(value: int) -> str:
    """Return the number as text; of one that is longer than any message only how long it is."""
    return str(value) if abs(value) < _SHOWN_BELOW else f"a number of {value.bit_length()} bits"
