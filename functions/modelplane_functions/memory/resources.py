"""The cache of decoded resources, with what was derived from each.

Every deployment reads every cluster and every class, and few of them change between two calls. An answer depends on the
request alone: a derived value belongs to one serialized resource and is dropped with it.
"""

from __future__ import annotations

import copy
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias, TypeVar

from modelplane_functions.exchange import Json, Resource

T = TypeVar("T")
Memo: TypeAlias = dict[int, Any]
OWNERS_MAX = 4
"""The maximum number of objects with equal specs for which a derived value is cached."""


class Remembered(dict[str, Json]):
    """A resource that calls share and must not change. A copy is a plain dict, which may be changed."""

    __slots__ = ("read",)

    def __init__(self, resource: Resource) -> None:
        super().__init__(resource)
        self.read: dict[str, Any] = {}

    def __copy__(self) -> dict[str, Json]:
        return dict(self)

    def __deepcopy__(self, memo: Memo) -> dict[str, Json]:
        return copy.deepcopy(dict(self), memo)


class Fetched(tuple[Resource, ...]):
    """Resources that were fetched together, with the values derived from all of them. Calls share one."""

    read: dict[str, Any]

    def __new__(cls, resources: Iterable[Resource]) -> Fetched:
        """Return the resources in their order, without derived values."""
        made = super().__new__(cls, resources)
        made.read = {}
        return made


class Memory:
    """Resources by their serialized bytes. The least recently used is dropped first.

    The bound counts serialized bytes. A decoded resource takes about ten times as much. Threads share one.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        self._known: OrderedDict[bytes, Remembered] = OrderedDict()
        self._lock = threading.Lock()

    def recall(self, text: bytes, read: Callable[[], Resource]) -> Remembered:
        """Return the resource with the serialized form `text`. `read` decodes an unknown one."""
        with self._lock:
            known = self._known.get(text)
            if known is not None:
                self._known.move_to_end(text)
                return known
        resource = Remembered(read())
        with self._lock:
            if text not in self._known:
                self._known[text] = resource
                self._bytes += len(text)
            while self._bytes > self._most_bytes:
                self._bytes -= len(self._known.popitem(last=False)[0])
        return resource


def _always(_known: Any) -> bool:
    return True


def recall(
    resource: Resource | tuple[Resource, ...] | None,
    what: str,
    read: Callable[[], T],
    still: Callable[[T], bool] = _always,
) -> T:
    """Return the value that `read` returns, from the cache when it is there and `still` accepts it.

    Raises: the errors of `read`. Nothing is cached then.
    """
    if not isinstance(resource, Remembered | Fetched):
        return read()
    known: T | None = resource.read.get(what)
    if known is None or not still(known):
        known = resource.read[what] = read()
    return known


def recall_of(resource: Resource | None, what: str, owner: str, read: Callable[[], T]) -> T:
    """Return the value that `read` returns for an owner, from the cache when it is there.

    Objects with equal specs share one resource, and what is derived from it may differ by object. The values of the
    last `OWNERS_MAX` objects are cached.
    Raises: the errors of `read`. Nothing is cached then.
    """
    if not isinstance(resource, Remembered):
        return read()
    known: dict[str, T] = resource.read.get(what, {})
    if owner in known:
        return known[owner]
    made = read()
    # Another dictionary, since other threads may look into this one.
    resource.read[what] = dict([*known.items(), (owner, made)][-OWNERS_MAX:])
    return made
