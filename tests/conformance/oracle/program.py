"""The oracle as a process: questions in, the answers of Kubernetes' own code out."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

MODULE = Path(__file__).parent
BINARY = MODULE.parents[2] / ".cache" / "go-bin" / "selector-oracle"
BUILD_SECONDS = 1800
ASK_SECONDS = 600


def available() -> bool:
    """Return whether the program can be built here."""
    return shutil.which("go") is not None


def ask(questions: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return one answer per question, in their order.

    Raises: RuntimeError with the words of the compiler or of the program.
    """
    _build()
    lines = "".join(json.dumps(question) + "\n" for question in questions)
    done = subprocess.run([str(BINARY)], input=lines, capture_output=True, text=True, timeout=ASK_SECONDS, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"the oracle ended with {done.returncode}: {done.stderr[-2000:]}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def _build() -> None:
    """Build the program; the compiler's own cache makes this cheap when nothing changed."""
    done = subprocess.run(
        ["go", "build", "-trimpath", "-o", str(BINARY), "."],
        cwd=MODULE,
        capture_output=True,
        text=True,
        timeout=BUILD_SECONDS,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"go build ended with {done.returncode}: {done.stderr[-4000:]}")
