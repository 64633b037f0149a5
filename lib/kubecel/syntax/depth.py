"""Room on the stack for expressions that are nested as deeply as Kubernetes allows."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Final, TypeVar

from kubecel.errors import InvalidExpression

Result = TypeVar("Result")

_FRAMES_MAX: Final = 20_000


def with_room(again: Callable[[], Result]) -> Result:
    """Return the result of `again`, with room for the 250 levels an expression may be nested.

    The limit stays raised: lowering it could fail another thread in the middle of such an expression.
    """
    if sys.getrecursionlimit() >= _FRAMES_MAX:
        raise InvalidExpression("the expression is nested too deeply to be handled")
    sys.setrecursionlimit(_FRAMES_MAX)
    return again()
