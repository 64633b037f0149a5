"""Stack for expressions that are nested as deeply as Kubernetes allows."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Final, TypeVar

from kubecel.errors import InvalidExpression

Result = TypeVar("Result")

_FRAMES_MAX: Final = 20_000


def with_room(again: Callable[[], Result]) -> Result:
    """Return the result of `again`, with stack for 250 levels of nesting.

    The limit stays raised, because another thread may evaluate such an expression.
    """
    if sys.getrecursionlimit() >= _FRAMES_MAX:
        raise InvalidExpression("the expression is nested too deeply to be handled")
    sys.setrecursionlimit(_FRAMES_MAX)
    return again()
