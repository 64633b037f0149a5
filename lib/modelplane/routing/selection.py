"""Label selectors with the semantics of Kubernetes. Source: apimachinery v0.36 `labels.Selector`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Operator(StrEnum):
    """The operator of an expression."""

    IN = "In"
    NOT_IN = "NotIn"
    EXISTS = "Exists"
    DOES_NOT_EXIST = "DoesNotExist"


@dataclass(frozen=True, slots=True)
class Expression:
    """A condition on one label."""

    key: str
    operator: Operator
    values: tuple[str, ...] = ()

    def holds(self, labels: Mapping[str, str]) -> bool:
        """Return whether `labels` satisfy the expression; NotIn matches an absent label."""
        match self.operator:
            case Operator.EXISTS:
                return self.key in labels
            case Operator.DOES_NOT_EXIST:
                return self.key not in labels
            case Operator.IN:
                return labels.get(self.key) in self.values
            case Operator.NOT_IN:
                return labels.get(self.key) not in self.values


@dataclass(frozen=True, slots=True)
class Selector:
    """A label selector: all of `labels` (sorted pairs) and all of `expressions` must match."""

    labels: tuple[tuple[str, str], ...] = ()
    expressions: tuple[Expression, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Return whether an object with `labels` is selected."""
        return all(labels.get(key) == value for key, value in self.labels) and all(
            expression.holds(labels) for expression in self.expressions
        )

    def text(self) -> str:
        """Return the selector in the syntax of `kubectl -l`; equal selectors have equal texts."""
        parts = [f"{key}={value}" for key, value in self.labels]
        for expression in self.expressions:
            values = ",".join(expression.values)
            match expression.operator:
                case Operator.EXISTS:
                    parts.append(expression.key)
                case Operator.DOES_NOT_EXIST:
                    parts.append(f"!{expression.key}")
                case Operator.IN:
                    parts.append(f"{expression.key} in ({values})")
                case Operator.NOT_IN:
                    parts.append(f"{expression.key} notin ({values})")
        return ",".join(parts)
