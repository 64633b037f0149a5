"""Answers of real components: asked live where that is wanted, else as they were recorded.

An answer is recorded with a digest of what was asked, so that a stale one is noticed.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

Json = Any

LIVE = os.environ.get("MODELPLANE_CONFORMANCE") == "live"


def digest(value: Json) -> str:
    """Return what a question is, in short."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


def answers(recorded: Path, ask: Callable[[], dict[str, Json]]) -> dict[str, Json]:
    """Return fresh answers where MODELPLANE_CONFORMANCE is "live", else the recorded ones."""
    if LIVE:
        return ask()
    found: dict[str, Json] = json.loads(recorded.read_text())
    return found
