"""What `modelplane cel -o json` answers."""

from __future__ import annotations

from typing import Literal, TypeAlias

from modelplane_cli.output.models.base import Part


class Evaluation(Part):
    """One expression on one device."""

    id: str
    """Of a batch the id of the case; else empty."""
    expression: str
    """The selector."""
    device: str
    """The device it was evaluated on."""
    result: Literal["true", "false", "error", "compile_error", "non_bool"]
    """An error is not "no match": on a cluster it ends the scheduling of the pod. `non_bool` is reserved."""
    error: str | None
    """What is wrong; null where the result is true or false."""
    estimated_cost: int | None
    """The worst case by which the API server admits; null where it has no bound or nothing compiles."""
    actual_cost: int | None
    """What the evaluation cost; null where nothing compiles."""
    api_server_accepts: bool
    """The API server would admit the expression."""


Evaluations: TypeAlias = Evaluation | list[Evaluation]
"""One object for one device, a list for several and for a batch."""
