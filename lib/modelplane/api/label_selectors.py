"""Label selectors as authors write them, for every kind that has one."""

from __future__ import annotations

from modelplane.api.fields import Field
from modelplane.labels import LabelExpression, LabelOperator, LabelSelector


def decode(field: Field) -> LabelSelector:
    """Return a label selector; an absent one selects everything."""
    labels = field.at("matchLabels")
    return LabelSelector(
        match_labels=tuple((key, labels.at(key).text("")) for key in sorted(labels.members())),
        match_expressions=tuple(_expression(entry) for entry in field.at("matchExpressions").items()),
    )


def _expression(entry: Field) -> LabelExpression:
    return LabelExpression(
        key=entry.at("key").text(),
        operator=entry.at("operator").choice(LabelOperator),
        values=tuple(value.text("") for value in entry.at("values").items()),
    )
