"""The cache of serialized Structs, by the plain data that they hold.

Most of an answer is what the last answer was: the same children with the same status. To write plain data into protobuf
value by value takes six to ten times as long as to look its serialized form up and to parse that.
"""

from __future__ import annotations

import marshal
import threading
from collections.abc import Callable
from typing import Final

from google.protobuf.message import DecodeError
from google.protobuf.struct_pb2 import Struct

from modelplane_functions.exchange import Resource

LONGEST_BYTES: Final = 256 * 1024
_WITHOUT_REFERENCES: Final = 2
"""The version of marshal whose output depends on the value alone; later ones write which parts are the same object."""


class Structs:
    """The serialized Structs. Threads may share one. It is emptied at its bound, which counts keys and Structs."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        self._known: dict[bytes, bytes] = {}
        self._lock = threading.Lock()

    def write(self, struct: Struct, source: Resource, fill: Callable[[Struct], None]) -> None:
        """Write `source` into an empty Struct. `fill` writes unknown data. Raises: the errors of `fill`."""
        key = _key(source)
        text = None if key is None else self._known.get(key)
        if text is not None:
            struct.MergeFromString(text)
            return
        fill(struct)
        if key is not None and len(key) <= min(LONGEST_BYTES, self._most_bytes):
            self._keep(key, struct.SerializeToString())

    def _keep(self, key: bytes, text: bytes) -> None:
        try:
            Struct.FromString(text)
        except DecodeError:
            return  # protobuf writes deeper data than it reads
        size = len(key) + len(text)
        with self._lock:
            if self._bytes + size > self._most_bytes:
                self._known.clear()
                self._bytes = 0
            if key not in self._known:
                self._known[key] = text
                self._bytes += size


def _key(source: Resource) -> bytes | None:
    """Return bytes that are equal only for equal data of the same types, None for data that marshal does not write."""
    try:
        return marshal.dumps(source, _WITHOUT_REFERENCES)  # type: ignore[arg-type]  # of other mappings it raises
    except ValueError:
        return None
