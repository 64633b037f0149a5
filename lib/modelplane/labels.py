"""Label selectors with the semantics of Kubernetes. Source: apimachinery v0.36 `labels.Selector`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class LabelOperator(StrEnum):
    """The operator of a label expression."""

    IN = "In"
    NOT_IN = "NotIn"
    EXISTS = "Exists"
    DOES_NOT_EXIST = "DoesNotExist"


@dataclass(frozen=True, slots=True)
class LabelExpression:
    """An entry of matchExpressions."""

    key: str
    operator: LabelOperator
    values: tuple[str, ...] = ()

    def matches(self, value: str | None) -> bool:
        """Return whether the value of a label matches. NotIn and DoesNotExist match an absent label, None."""
        match self.operator:
            case LabelOperator.EXISTS:
                return value is not None
            case LabelOperator.DOES_NOT_EXIST:
                return value is None
            case LabelOperator.IN:
                return value in self.values
            case LabelOperator.NOT_IN:
                return value not in self.values

    def text(self) -> str:
        """Return the expression in the syntax of `kubectl -l`."""
        values = ",".join(self.values)
        match self.operator:
            case LabelOperator.EXISTS:
                return self.key
            case LabelOperator.DOES_NOT_EXIST:
                return f"!{self.key}"
            case LabelOperator.IN:
                return f"{self.key} in ({values})"
            case LabelOperator.NOT_IN:
                return f"{self.key} notin ({values})"


@dataclass(frozen=True, slots=True)
class LabelSelector:
    """A label selector. An empty one selects everything. `match_labels` are (key, value) pairs."""

    match_labels: tuple[tuple[str, str], ...] = ()
    match_expressions: tuple[LabelExpression, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Return whether an object with `labels` is selected."""
        return all(labels.get(key) == value for key, value in self.match_labels) and all(
            expression.matches(labels.get(expression.key)) for expression in self.match_expressions
        )

    def normal(self) -> LabelSelector:
        """Return the selector in sorted order. Normal selectors that ask the same in another order are equal."""
        expressions = (
            LabelExpression(one.key, one.operator, tuple(sorted(one.values))) for one in self.match_expressions
        )
        return LabelSelector(
            tuple(sorted(self.match_labels)),
            tuple(sorted(expressions, key=lambda one: (one.key, one.operator, one.values))),
        )

    def text(self) -> str:
        """Return the selector in the syntax of `kubectl -l`; equal selectors have equal texts."""
        pairs = [f"{key}={value}" for key, value in self.match_labels]
        return ",".join([*pairs, *(expression.text() for expression in self.match_expressions)])


EVERYTHING: Final = LabelSelector()
