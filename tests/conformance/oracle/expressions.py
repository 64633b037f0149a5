"""Expressions made up at random, each of a wanted type where the grammar knows how to make one."""

from __future__ import annotations

from tests.conformance.oracle.containers import Containers
from tests.conformance.oracle.exact_values import ExactValues
from tests.conformance.oracle.scalars import Scalars


class Expressions(Scalars, Containers, ExactValues):
    """Random expressions; the same for the same seed."""

    def selector(self) -> str:
        """Return one expression; most are of type bool."""
        kind = self._random.choice(["bool"] * 18 + ["any", "int"])
        return self.of(kind, self._random.choice((1, 2, 2, 3, 3, 4)))
