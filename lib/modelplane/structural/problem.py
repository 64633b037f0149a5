"""Problem of a document, with its path and a correction."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

Path: TypeAlias = tuple[str | int, ...]


class Severity(StrEnum):
    """The severity of a problem. The API server refuses a document with an ERROR."""

    ERROR = "error"
    WARNING = "warning"


class Cause(StrEnum):
    """The cause of a refused value: the types of field errors of the API server, and two that it reports otherwise."""

    UNKNOWN = "UnknownField"
    TYPE = "FieldValueTypeInvalid"
    REQUIRED = "FieldValueRequired"
    NOT_SUPPORTED = "FieldValueNotSupported"
    TOO_LONG = "FieldValueTooLong"
    TOO_MANY = "FieldValueTooMany"
    DUPLICATE = "FieldValueDuplicate"
    FORBIDDEN = "FieldValueForbidden"
    INVALID = "FieldValueInvalid"
    RULE = "Rule"


# With one of these the API server runs no rule at all, because rules may count on what the schema says.
BLOCKING = frozenset({Cause.TYPE, Cause.REQUIRED, Cause.NOT_SUPPORTED, Cause.TOO_LONG, Cause.TOO_MANY})


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem of a field. `path` has the keys and list indexes from the root of the document."""

    path: Path
    message: str
    severity: Severity = Severity.ERROR
    cause: Cause = Cause.INVALID
