"""What is wrong with a document, where, and what to write instead."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

Path: TypeAlias = tuple[str | int, ...]


class Severity(StrEnum):
    """Whether the API server would refuse the document."""

    ERROR = "error"
    WARNING = "warning"


class Cause(StrEnum):
    """Why a value is refused; the API server's own classes of field errors, and the two it reports elsewhere."""

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
    """One finding; `path` leads from the root of the document to the field, by keys and list indexes."""

    path: Path
    message: str
    severity: Severity = Severity.ERROR
    cause: Cause = Cause.INVALID
