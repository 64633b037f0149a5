"""BackendRules, decoded into rules between backends.

Shape: the whole resource as plain JSON. A rule that cannot be read is left out and reported, because one rule must not
disturb another.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane.api.fields import Field
from modelplane.errors import InvalidInput
from modelplane.workload.rule import Rule

Json: TypeAlias = Any

KIND = "BackendRules"


def decode(resource: Mapping[str, Json]) -> tuple[tuple[Rule, ...], tuple[str, ...]]:
    """Return the rules that can be read, and a message for each of the others."""
    root = Field(resource)
    source = root.at("metadata").text_at("name")
    rules, faults = [], []
    try:
        entries = root.at("spec", "rules").items()
    except InvalidInput as error:
        return (), (f"BackendRules {source} cannot be read: {error}",)
    for entry in entries:
        try:
            rules.append(_rule(entry, source))
        except InvalidInput as error:
            faults.append(f"a rule of BackendRules {source} cannot be read: {error}")
    return tuple(rules), tuple(faults)


def _rule(entry: Field, source: str) -> Rule:
    return Rule(
        backend=entry.text_at("backend"),
        priority=entry.at("priority").integer(),
        when=entry.text_at("when"),
        text=entry.text_at("name"),
        source=source,
    )
