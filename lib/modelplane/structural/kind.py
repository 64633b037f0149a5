"""Kind of a CustomResourceDefinition: the stored form of its documents, and every reason to refuse one.

The check is offline and complete for any structural schema: unknown fields, types, bounds, enums, patterns, required
fields, list types, CEL rules and metadata. It reads no files and no YAML. Paths are tuples of keys and indexes, so that
a caller can find the line. Cost: linear in the document. Source: apiextensions-apiserver v0.36; the conformance suite
compares both on the same documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane.structural import defaults, metadata, rules, schema, values
from modelplane.structural.problem import BLOCKING, Cause, Path, Problem, Severity
from modelplane.structural.schema import Schema

__all__ = ["Cause", "Kind", "Path", "Problem", "Severity", "kind_of"]

Json: TypeAlias = Any

_RULES_SKIPPED = "rules were not checked because of the errors above; correct them to see the rest"


@dataclass(frozen=True, slots=True)
class Kind:
    """A version of a kind, from a CustomResourceDefinition."""

    api_version: str
    kind: str
    namespaced: bool
    schema: Schema

    def stored(self, document: Mapping[str, Json]) -> dict[str, Json]:
        """Return the document in the form that the server stores: without unknown fields, with defaults."""
        pruned = defaults.Pruning().root(document, self.schema)
        return defaults.defaulted_object(pruned, self.schema)

    def problems(self, document: Mapping[str, Json], old: Mapping[str, Json] | None = None) -> tuple[Problem, ...]:
        """Return the problems of a new document, or of an update of `old` to it; defaults need not be set."""
        return self.judged(document, old)[1]

    def judged(
        self, document: Mapping[str, Json], old: Mapping[str, Json] | None = None
    ) -> tuple[dict[str, Json], tuple[Problem, ...]]:
        """Return the document as `stored` does, together with its `problems`."""
        pruning = defaults.Pruning()
        stored = defaults.defaulted_object(pruning.root(document, self.schema), self.schema)
        before = None if old is None else self.stored(old)
        return stored, (*pruning.unknown, *_problems(self, stored, before))


def kind_of(definition: Mapping[str, Json], version: str = "") -> Kind:
    """Return the kind of a CustomResourceDefinition in `version`, or in the storage version."""
    spec = definition["spec"]
    found = next(entry for entry in spec["versions"] if (entry["name"] == version if version else entry.get("storage")))
    return Kind(
        api_version=f"{spec['group']}/{found['name']}",
        kind=spec["names"]["kind"],
        namespaced=spec["scope"] == "Namespaced",
        schema=schema.read(found["schema"]["openAPIV3Schema"]),
    )


def _problems(kind: Kind, stored: Mapping[str, Json], before: Mapping[str, Json] | None) -> Iterator[Problem]:
    if wrong := tuple(_type_problems(kind, stored)):
        yield from wrong
        return
    found = (
        *metadata.problems(stored, namespaced=kind.namespaced),
        *values.problems(stored, kind.schema, ()),
    )
    yield from found
    if not any(problem.cause in BLOCKING for problem in found):
        yield from rules.problems(stored, kind.schema, (), before)
    elif kind.schema.has_rules:
        yield Problem((), _RULES_SKIPPED, Severity.WARNING)


def _type_problems(kind: Kind, stored: Mapping[str, Json]) -> Iterator[Problem]:
    for key, wanted in (("apiVersion", kind.api_version), ("kind", kind.kind)):
        if stored.get(key) != wanted:
            yield Problem((key,), f"must be {wanted}, not {values.shown(stored.get(key))}")
