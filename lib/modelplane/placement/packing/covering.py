"""The most nodes that some pods can make useless for another pod.

A bound from above: what it says cannot be surpassed, and with pods of one size it is reached.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from modelplane.placement.packing.load import Vector


def weights(loads: Sequence[Vector], counts: Vector) -> tuple[Fraction, ...]:
    """Return a weight per kind by which every load weighs at least one, and all that there is as little as can be.

    `loads` are counts of each kind that are in the way together, `counts` is how many of each there are. So no more
    loads can be made of them than they weigh. Cost: a linear program with a row per kind, in exact numbers.
    """
    program = _Program(loads, counts)
    program.run()
    return program.prices()


def weigh(prices: Sequence[Fraction], counts: Vector) -> Fraction:
    """Return the weight of so many of each kind."""
    return sum((price * number for price, number in zip(prices, counts, strict=True)), Fraction(0))


class _Program:
    """As many loads as can be made of what there is, fractions of a load allowed: the simplex method, by Bland's rule.

    Its prices at the optimum are the weights.
    """

    def __init__(self, loads: Sequence[Vector], counts: Vector) -> None:
        kinds = range(len(counts))
        self._free = len(loads)
        self._rows = [
            [Fraction(one[kind]) for one in loads]
            + [Fraction(int(kind == other)) for other in kinds]
            + [Fraction(counts[kind])]
            for kind in kinds
        ]
        self._basis = [self._free + kind for kind in kinds]
        self._gain = [Fraction(-1)] * len(loads) + [Fraction(0)] * (len(counts) + 1)

    def run(self) -> None:
        """Improve until nothing improves. It ends, since Bland's rule never returns to a basis."""
        while True:
            column = next((index for index, gain in enumerate(self._gain[:-1]) if gain < 0), None)
            if column is None:
                return
            # Every load has something of some kind, so some row bounds it.
            _, _, row = min(
                (row[-1] / row[column], self._basis[index], index)
                for index, row in enumerate(self._rows)
                if row[column] > 0
            )
            self._pivot(row, column)

    def _pivot(self, row: int, column: int) -> None:
        by = self._rows[row][column]
        chosen = self._rows[row] = [cell / by for cell in self._rows[row]]
        for index, other in enumerate(self._rows):
            if index != row and other[column]:
                self._rows[index] = _less(other, chosen, other[column])
        self._gain = _less(self._gain, chosen, self._gain[column])
        self._basis[row] = column

    def prices(self) -> tuple[Fraction, ...]:
        """Return the gain of one more of each kind."""
        return tuple(self._gain[self._free : -1])


def _less(row: list[Fraction], other: list[Fraction], times: Fraction) -> list[Fraction]:
    return [cell - times * less if less else cell for cell, less in zip(row, other, strict=True)]
