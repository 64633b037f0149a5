"""What `modelplane validate -o json` answers."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from modelplane_cli.output.models.base import Part


class Problem(Part):
    """One thing that is wrong with a document."""

    file: str
    """The file as it was named; `-` is standard input."""
    line: int
    """The line of the field; 0 where the file has none."""
    document: int
    """The document in the file; the first is 1, and 0 is the file as a whole."""
    object_: str = Field(alias="object")
    """Kind and name of the object; empty where they cannot be read."""
    path: str
    """The field; empty where the whole document is meant."""
    message: str
    """What is wrong, and what to write instead."""
    severity: Literal["error", "warning"]
    """Only errors make the command fail."""


class Validation(Part):
    """What the API server or a function would refuse."""

    problems: list[Problem]
    """By file, line and field."""
