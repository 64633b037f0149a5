"""The composite kinds of a world: what an API server knows of each, and the Composition that serves it.

The offline world takes them as data, so that tests may bring their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from modelplane import structural
from modelplane.api import catalogue

Json: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class Definition:
    """One composite kind; `composition` None means that nothing composes it."""

    served: structural.Kind
    composition: Mapping[str, Json] | None
    reported: structural.Kind = field(init=False, compare=False)
    """The schema of the status alone. An object without its spec has the same problems there."""

    def __post_init__(self) -> None:
        """Derive what follows from the rest."""
        object.__setattr__(self, "reported", _reported(self.served))

    @property
    def group(self) -> str:
        """Return the API group."""
        return self.served.api_version.partition("/")[0]

    @property
    def api_version(self) -> str:
        """Return group and version."""
        return self.served.api_version

    @property
    def kind(self) -> str:
        """Return the kind."""
        return self.served.kind

    @property
    def is_namespaced(self) -> bool:
        """Return whether its objects live in namespaces."""
        return self.served.namespaced


def _reported(served: structural.Kind) -> structural.Kind:
    """Return the kind with nothing but its status, as it is where something is said of spec and status together."""
    schema = served.schema
    if schema.all_of or schema.any_of or schema.one_of or schema.not_ or any(rule.field_path for rule in schema.rules):
        return served
    status = {name: below for name, below in schema.properties.items() if name == "status"}
    has_rules = any(below.has_rules for below in status.values())
    return replace(served, schema=replace(schema, properties=status, required=(), rules=(), has_rules=has_rules))


class Definitions:
    """All composite kinds of a world, by group and kind."""

    def __init__(self, definitions: Sequence[Definition]) -> None:
        self._by_kind = {(definition.group, definition.kind): definition for definition in definitions}

    def __iter__(self) -> Iterator[Definition]:
        """Yield the definitions, sorted by kind."""
        return iter([self._by_kind[kind] for kind in sorted(self._by_kind)])

    def find(self, group: str, kind: str) -> Definition | None:
        """Return the definition of a kind, None where it is not a composite of this world."""
        return self._by_kind.get((group, kind))


def builtin() -> Definitions:
    """Return the kinds of this API, as they are installed with the package."""
    return Definitions(
        [Definition(catalogue.structural_kind(kind), catalogue.composition(kind)) for kind in catalogue.kinds()]
    )
