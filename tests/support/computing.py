"""Computations that say when they begin, and callers that take results as the servicer does."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

from kubecel import interruption
from modelplane_functions.turns import Turns

T = TypeVar("T")
SOON = 10
"""Seconds within which a busy machine does what takes milliseconds."""


class Gate:
    """Work that says when it began and goes on when it is let."""

    def __init__(self) -> None:
        self.began = threading.Semaphore(0)
        self.go_on = threading.Event()

    def __call__(self) -> str:
        self.began.release()
        assert self.go_on.wait(SOON)
        return "done"


def asked(among: Turns, tenant: str, compute: Callable[[], T]) -> T:
    """Return the result of a call whose caller takes it, as the servicer does."""
    call = among.submit(tenant, compute)
    result = call.result.result(6 * SOON)
    among.answered(call)
    return result


def compute_until(seconds: float) -> float:
    """Compute for so much processor time, with checkpoints."""
    began = time.thread_time()
    while time.thread_time() < began + seconds:
        interruption.checkpoint()
    return time.thread_time() - began


def endless() -> None:
    """Compute without end, with checkpoints."""
    while True:
        interruption.checkpoint()
