"""The most nodes that some pods can make useless for another pod.

A bound from above: what it says cannot be surpassed, and with pods of one size it is reached.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from kubecel import interruption
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

    Its prices at the optimum are the weights. The rows are whole numbers over one denominator, the last pivot, which
    divides them without a rest. That is some ten times as fast as a table of fractions.
    """

    def __init__(self, loads: Sequence[Vector], counts: Vector) -> None:
        kinds = range(len(counts))
        self._free = len(loads)
        self._rows = [
            [*(one[kind] for one in loads), *(int(kind == other) for other in kinds), counts[kind]] for kind in kinds
        ]
        self._basis = [self._free + kind for kind in kinds]
        self._gain = [-1] * len(loads) + [0] * (len(counts) + 1)
        self._denominator = 1

    def run(self) -> None:
        """Improve until nothing improves. It ends, since Bland's rule never returns to a basis."""
        while True:
            interruption.checkpoint()
            column = next((index for index, gain in enumerate(self._gain[:-1]) if gain < 0), None)
            if column is None:
                return
            # Every load has something of some kind, so some row bounds it.
            _, _, row = min(
                (Fraction(row[-1], row[column]), self._basis[index], index)
                for index, row in enumerate(self._rows)
                if row[column] > 0
            )
            self._pivot(row, column)

    def _pivot(self, row: int, column: int) -> None:
        chosen, before = self._rows[row], self._denominator
        for index, other in enumerate(self._rows):
            if index != row:
                self._rows[index] = _less(other, chosen, column, before)
        self._gain = _less(self._gain, chosen, column, before)
        self._basis[row] = column
        self._denominator = chosen[column]

    def prices(self) -> tuple[Fraction, ...]:
        """Return the gain of one more of each kind."""
        return tuple(Fraction(gain, self._denominator) for gain in self._gain[self._free : -1])


def _less(row: list[int], chosen: list[int], column: int, before: int) -> list[int]:
    """Return the row without its part of the pivot's column, over the pivot instead of `before`."""
    by, times = chosen[column], row[column]
    if not times:
        return row if by == before else [cell * by // before for cell in row]
    return [(cell * by - times * less) // before for cell, less in zip(row, chosen, strict=True)]
