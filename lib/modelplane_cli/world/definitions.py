"""What an API server knows of a kind: its scope, its defaults and what it refuses.

A `Definition` is one composite kind with its Composition. The offline world takes them as data, so that tests may bring
their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

Json: TypeAlias = Any
Path: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Refusal:
    """One thing the API server would refuse (severity "error") or warn of ("warning")."""

    path: Path
    message: str
    severity: str = "error"


class Schema(Protocol):
    """The structural schema of one kind."""

    def defaulted(self, document: Mapping[str, Json]) -> dict[str, Json]:
        """Return the document with defaults filled in."""

    def problems(self, document: Mapping[str, Json], old: Mapping[str, Json] | None = None) -> Sequence[Refusal]:
        """Return what is wrong with a defaulted document, and with replacing `old` by it."""


@dataclass(frozen=True, slots=True)
class Definition:
    """One composite kind: the CompositeResourceDefinition and the Composition that serves it (None: there is none)."""

    api_version: str
    kind: str
    is_namespaced: bool
    schema: Schema
    composition: Mapping[str, Json] | None

    @property
    def group(self) -> str:
        """Return the API group."""
        return self.api_version.partition("/")[0]


class Definitions:
    """All composite kinds of a world, by group and kind."""

    def __init__(self, definitions: Sequence[Definition]) -> None:
        self._by_kind = {(definition.group, definition.kind): definition for definition in definitions}

    def __iter__(self) -> Any:
        """Yield the definitions, sorted by kind."""
        return iter(self._by_kind[kind] for kind in sorted(self._by_kind))

    def find(self, group: str, kind: str) -> Definition | None:
        """Return the definition of a kind, None where it is not a composite of this world."""
        return self._by_kind.get((group, kind))
