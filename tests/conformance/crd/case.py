"""What one refused document is, and how a table says it in a line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from modelplane.structural import Cause
from tests.conformance.crd.documents import Path, document

Json = Any
Change = tuple[Path, Json]


@dataclass(frozen=True, slots=True)
class Case:
    """One refused document: where, by which class of error, and (for rules) with which words."""

    id: str
    kind: str
    changes: tuple[Change, ...]
    path: str
    says: str | Cause
    old: tuple[Change, ...] | None = None

    def document(self) -> dict[str, Json]:
        """Return the document."""
        return document(self.kind, *self.changes)

    def previous(self) -> dict[str, Json] | None:
        """Return the document it replaces, None where it is new."""
        return None if self.old is None else document(self.kind, *self.old)


def one(
    name: str, kind: str, path: Path, value: Json, says: str | Cause, *, at: str | None = None, old: Json = None
) -> Case:
    """Return a case that changes one field; the error is expected there, or at `at`."""
    shown = dotted(path) if at is None else at
    return Case(name, kind, ((path, value),), shown, says, None if old is None else ((path, old),))


def dotted(path: Path) -> str:
    """Return a path in the form both validators are compared in: keys and indexes joined by dots."""
    return ".".join(str(part) for part in path)


@dataclass(frozen=True, slots=True)
class Fine:
    """One document that must be accepted."""

    id: str
    kind: str
    changes: tuple[Change, ...] = ()
    old: tuple[Change, ...] | None = None
