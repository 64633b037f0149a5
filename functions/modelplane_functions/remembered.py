"""What was read out of a resource, kept with it while the same resource is seen again.

Every deployment reads every cluster and every class, and few of them change between two calls. An answer depends on the
request alone: what is kept belongs to one decoded text and goes with it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
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


def _always(_known: Any) -> bool:
    return True


def recall(resource: Resource, what: str, read: Callable[[], T], still: Callable[[T], bool] = _always) -> T:
    """Return what `read` returns, from memory where the resource was read before and `still` holds of the answer.

    Raises: what `read` raises; nothing is kept then.
    """
    if not isinstance(resource, Remembered):
        return read()
    known: T | None = resource.read.get(what)
    if known is None or not still(known):
        known = resource.read[what] = read()
    return known
