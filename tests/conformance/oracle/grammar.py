"""The grammar of random expressions: what every type has in common, and the names in scope.

A class that makes values of a type has a method `_<type>`, which returns the makers of such an expression. One of them
is chosen at random.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from tests.conformance.oracle.vocabulary import TYPES


class Grammar:
    """The choice of a maker for a wanted type, at random."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 - a test, not a secret
        self._scopes: list[tuple[str, str]] = []
        self._names = 0

    def of(self, kind: str, depth: int) -> str:
        """Return an expression of a type, `depth` calls deep."""
        if self._random.random() < 0.03:
            kind = self._random.choice(TYPES)
        local = [name for name, its in self._scopes if its == kind]
        if local and self._random.random() < 0.4:
            return self._random.choice(local)
        makers = getattr(self, f"_{kind}")(depth)
        return str(self._random.choice(makers)())

    def _pick(self, items: Any) -> str:
        return str(self._random.choice(list(items)))

    def _fresh(self) -> str:
        self._names += 1
        return self._pick("xyz") if self._random.random() < 0.7 else f"v{self._names}"

    def _in_scope(self, kind: str, make: Callable[[str], str]) -> str:
        name = self._fresh()
        self._scopes.append((name, kind))
        try:
            return make(name)
        finally:
            self._scopes.pop()

    def _common(self, kind: str, d: int) -> list[Callable[[], str]]:
        if d <= 0:
            return []
        return [
            lambda: f"({self.of('bool', d - 1)} ? {self.of(kind, d - 1)} : {self.of(kind, d - 1)})",
            lambda: self._bind(kind, d),
        ]

    def _bind(self, kind: str, d: int) -> str:
        init_kind = self._pick(("int", "string", "any", "quantity", "list_int", "map"))
        init = self.of(init_kind, d - 1)
        return self._in_scope(init_kind, lambda name: f"cel.bind({name}, {init}, {self.of(kind, d - 1)})")
