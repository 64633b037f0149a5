"""The allocator as a process: claims in, the allocations of Kubernetes' own code out."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

MODULE = Path(__file__).parent
BINARY = MODULE.parents[2] / ".cache" / "go-bin" / "device-allocator"
SECONDS = 1800


def ask(questions: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return one answer per question, in their order.

    Raises: RuntimeError with the words of the compiler or of the program.
    """
    _run(["go", "build", "-trimpath", "-o", str(BINARY), "."])
    lines = "".join(json.dumps(question) + "\n" for question in questions)
    return [json.loads(line) for line in _run([str(BINARY)], lines).splitlines()]


def _run(command: list[str], text: str = "") -> str:
    done = subprocess.run(command, cwd=MODULE, input=text, capture_output=True, text=True, timeout=SECONDS, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]} ended with {done.returncode}: {done.stderr[-4000:]}")
    return done.stdout
