"""The caches of the process. Each has a name and a bound.

A cache belongs to a pure function. Its key is the value of all arguments, so it never changes an answer. Callers share
a cached answer and never change it. `tests/bench/caches.py` measures each cache; a cache without a gain is removed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from typing import Any, Final, ParamSpec, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")
K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

CACHES: Final[dict[str, Any]] = {}
"""The caches that live as long as the process, by the dotted name of the function or the table."""

VERSIONS_MAX: Final = 64
"""The bound of a table that is built once per version of Kubernetes or per kind. There are fewer of both."""


def kept(entries: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Return a decorator that caches the last `entries` answers of a function. The least recently used goes first."""

    def keeping(function: Callable[P, T]) -> Callable[P, T]:
        found = bounded(function, entries)
        CACHES[f"{function.__module__}.{function.__qualname__}"] = found
        return found

    return keeping


def bounded(function: Callable[P, T], entries: int) -> Callable[P, T]:
    """Return the function with a cache that lives as long as the function does, for example as a bound method."""
    return cast("Callable[P, T]", functools.lru_cache(maxsize=entries)(function))


class Answers(dict[K, V]):
    """A cache that its user looks up with `get`. Keys longer than `longest` are not cached. Threads may share one.

    It is emptied at its bound. Answers that are in use come back soon, and no order of use has to be kept.
    """

    __slots__ = ("entries", "longest")

    def __init__(self, entries: int, *, longest: int | None = None, name: str = "") -> None:
        """Hold at most `entries`. `name` is given to a cache that lives as long as the process."""
        super().__init__()
        self.entries, self.longest = entries, longest
        if name:
            CACHES[name] = self

    def keep(self, asked: K, answer: V) -> V:
        """Add an answer, and return it."""
        if self.longest is not None and len(asked) > self.longest:  # type: ignore[arg-type]
            return answer
        if len(self) >= self.entries:
            self.clear()
        if self.entries:
            self[asked] = answer
        return answer
