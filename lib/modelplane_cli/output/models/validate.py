"""The answer of `modelplane validate -o json`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from modelplane_cli.output.models.base import Part


class Problem(Part):
    """A problem of a document."""

    file: str
    """The file as it was given. `-` is standard input."""
    line: int
    """The line of the field. 0 when the problem has no line."""
    document: int
    """Position of the document in the file. The first is 1. 0 is the file as a whole."""
    object_: str = Field(alias="object")
    """Kind and name of the object. Empty when they cannot be read."""
    path: str
    """The field. Empty when the problem concerns the whole document."""
    message: str
    """Description of the problem and of its correction."""
    severity: Literal["error", "warning"]
    """Severity of the problem. Only errors make the command fail."""


class Validation(Part):
    """The problems that the API server or a function would report."""

    problems: list[Problem]
    """The problems, sorted by file, line and field."""
