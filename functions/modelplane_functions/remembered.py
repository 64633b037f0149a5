"""What was read out of a resource, kept with it while the same resource is seen again.

Every deployment reads every cluster and every class, and few of them change between two calls. An answer depends on the
request alone: what is kept belongs to one decoded text and goes with it.
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


class Remembered(dict[str, Json]):
    """A resource that calls share and nobody changes. A copy is a plain one, since it may be changed."""

    __slots__ = ("read",)

    def __init__(self, resource: Resource) -> None:
        super().__init__(resource)
        self.read: dict[str, Any] = {}

    def __copy__(self) -> dict[str, Json]:
        return dict(self)

    def __deepcopy__(self, memo: Memo) -> dict[str, Json]:
        return copy.deepcopy(dict(self), memo)


class Fetched(tuple[Resource, ...]):
    """Resources that were fetched together and are handed to one call after another, with what is read out of all."""

    read: dict[str, Any]

    def __new__(cls, resources: Iterable[Resource]) -> Fetched:
        """Return the resources in their order, nothing read yet."""
        made = super().__new__(cls, resources)
        made.read = {}
        return made


class Memory:
    """Resources by all that they say; those not seen for longest are forgotten first.

    Bounded by the bytes of what they say; decoded they take some ten times that. Threads share one.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        self._known: OrderedDict[bytes, Remembered] = OrderedDict()
        self._lock = threading.Lock()

    def recall(self, text: bytes, read: Callable[[], Resource]) -> Remembered:
        """Return the resource that says `text`, as `read` returns it where it was not seen before."""
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
    resource: Resource | tuple[Resource, ...], what: str, read: Callable[[], T], still: Callable[[T], bool] = _always
) -> T:
    """Return what `read` returns, from memory where the same was read before and `still` holds of the answer.

    Raises: what `read` raises; nothing is kept then.
    """
    if not isinstance(resource, Remembered | Fetched):
        return read()
    known: T | None = resource.read.get(what)
    if known is None or not still(known):
        known = resource.read[what] = read()
    return known
