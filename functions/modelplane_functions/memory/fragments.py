"""A decoder of protobuf Structs that works on their bytes and decodes equal parts only once.

The clusters of a fleet agree in most fields. The same pool, label or condition occurs in hundreds of them. The decoder
looks a part up by its bytes before it decodes it. Decoded parts are shared and must not be changed. Reading the values
through protobuf's objects takes as long as decoding every part anew here, and three times as long when parts repeat.

Source: the encoding of protobuf (varints, length-delimited records) and google/protobuf/struct.proto. The input was
serialized by protobuf itself. Bytes that protobuf would not write for a Struct are refused with UnreadableError.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from struct import Struct
from typing import Any, Final, TypeAlias, TypeVar

from kubecel import interruption
from kubecel.caches import Answers
from modelplane_functions import numbers

Json: TypeAlias = Any
T = TypeVar("T")

# The longest part that is looked for and kept: a pool with what stands on it, but hardly a whole status, and so many of
# them. That is at most 16 MB of text, usually an eighth of it, and of 1,000 clusters all.
PART_BYTES: Final = 512
PARTS: Final = 16_384

# Tags: the number of a field, and whether a varint (0), eight bytes (1) or a length and as many bytes (2) follow.
_FIRST, _SECOND = 0x0A, 0x12  # field of Struct or element of ListValue, and key of a field; value of a field
_NULL, _NUMBER, _STRING, _BOOL, _STRUCT, _LIST = 0x08, 0x11, 0x1A, 0x20, 0x2A, 0x32
_NUMBER_BYTES: Final = 9
_ONE_BYTE: Final = 0x80  # lengths below it take one byte
_double = Struct("<d").unpack_from


class UnreadableError(ValueError):
    """Bytes that protobuf would not write for a Struct, for example fields of a later version."""


class Fragments:
    """The decoded parts. Threads may share one."""

    def __init__(self, *, parts: int = PARTS, part_bytes: int = PART_BYTES) -> None:
        """Keep at most `parts` fields and as many elements of lists, each of at most `part_bytes`."""
        self._fields = Answers[bytes, tuple[str, Json]](parts, longest=part_bytes)
        self._elements = Answers[bytes, Json](parts, longest=part_bytes)

    def struct(self, text: bytes) -> dict[str, Json]:
        """Return the members of a serialized Struct, with integral numbers as `int`. Raises: UnreadableError."""
        try:
            return self._struct(text)
        except IndexError:
            raise UnreadableError("the Struct is truncated") from None

    def _struct(self, text: bytes, start: int = 0) -> dict[str, Json]:
        interruption.checkpoint()
        return dict(self._read(text, start, self._fields, self._field))

    def _list(self, text: bytes, start: int) -> list[Json]:
        return self._read(text, start, self._elements, self._element)

    def _read(self, text: bytes, start: int, known: Answers[bytes, T], read: Callable[[bytes], T]) -> list[T]:
        """Return the decoded records of a Struct or a ListValue, in order. `read` decodes an unknown record."""
        found: list[T] = []
        size = len(text)
        while start < size:
            if text[start] != _FIRST:
                raise UnreadableError("neither a field of a Struct nor an element of a ListValue")
            length = text[start + 1]
            start += 2
            if length >= _ONE_BYTE:
                length, start = _varint(text, start - 1)
            part = text[start : start + length]
            start += length
            said = known.get(part)
            if said is None:
                said = known.keep(part, read(part))
            found.append(said)
        if start != size:
            raise UnreadableError("the Struct is truncated")
        return found

    def _element(self, text: bytes) -> Json:
        return self._value(text, 0)

    def _field(self, text: bytes) -> tuple[str, Json]:
        """Return the key and the value of one field."""
        length, start = text[1], 2
        if length >= _ONE_BYTE:
            length, start = _varint(text, 1)
        end = start + length
        if text[0] != _FIRST or text[end] != _SECOND:
            raise UnreadableError("not a key and a value")
        key = sys.intern(text[start:end].decode())
        length, start = text[end + 1], end + 2
        if length >= _ONE_BYTE:
            length, start = _varint(text, end + 1)
        if start + length != len(text):
            raise UnreadableError("more than a key and a value")
        return key, self._value(text, start) if length else None

    def _value(self, text: bytes, start: int) -> Json:
        """Return the value whose bytes are all of `text` from `start`."""
        size = len(text)
        if start == size:
            return None
        tag, length, inner = text[start], text[start + 1], start + 2
        if tag in _WITH_LENGTH:
            if length >= _ONE_BYTE:
                length, inner = _varint(text, start + 1)
            if inner + length != size:
                raise UnreadableError("more than one value")
            if tag == _STRING:
                return text[inner:].decode()
            return self._struct(text, inner) if tag == _STRUCT else self._list(text, inner)
        if tag == _NUMBER and size - start == _NUMBER_BYTES:
            return numbers.number(_double(text, start + 1)[0])
        if tag in _ONE_BIT and inner == size:
            return length == 1 if tag == _BOOL else None
        raise UnreadableError("not a value of JSON")


_WITH_LENGTH: Final = frozenset({_STRING, _STRUCT, _LIST})
_ONE_BIT: Final = frozenset({_BOOL, _NULL})


def _varint(text: bytes, start: int) -> tuple[int, int]:
    """Return the number at `start` and the position after it. Each byte holds seven bits, the lowest first."""
    found = shift = 0
    while True:
        byte = text[start]
        start += 1
        found |= (byte & 0x7F) << shift
        if byte < _ONE_BYTE:
            return found, start
        shift += 7
