"""The answer of `modelplane cel -o json`."""

from __future__ import annotations

from typing import Literal, TypeAlias

from modelplane_cli.output.models.base import Part


class Evaluation(Part):
    """One expression on one device."""

    id: str
    """The id of the case in a batch, otherwise empty."""
    expression: str
    """The selector."""
    device: str
    """The device that the selector was evaluated on."""
    result: Literal["true", "false", "error", "compile_error", "non_bool"]
    """An error is not "no match": on a cluster it ends the scheduling of the pod. `non_bool` is reserved."""
    error: str | None
    """The error. Null when the result is true or false."""
    estimated_cost: int | None
    """The worst-case cost, by which the API server admits. Null when it is unbounded or nothing compiles."""
    actual_cost: int | None
    """The cost of the evaluation. Null when the selector does not compile."""
    api_server_accepts: bool
    """True when the API server would admit the expression."""


Evaluations: TypeAlias = Evaluation | list[Evaluation]
"""One object for one device, a list for several and for a batch."""
