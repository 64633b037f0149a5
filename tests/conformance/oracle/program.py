"""The oracle as a process: questions in, the answers of Kubernetes' own code out.

The program is one; go.mod pins it to Kubernetes 1.36, and `versions/1.N.mod` to each other minor version that we know.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

MODULE = Path(__file__).parent
CACHE = MODULE.parents[2] / ".cache" / "go-bin"
LATEST = 36
MINORS = (34, 35, LATEST, 37)
# Build tags for what tells a version from 1.36: its feature gates, and lists among attributes.
TAGS = {34: "before36,before35", 35: "before36", 37: "from37"}
BUILD_SECONDS = 1800
ASK_SECONDS = 600


def ask(questions: Iterable[dict[str, Any]], minor: int = LATEST) -> list[dict[str, Any]]:
    """Return one answer of Kubernetes 1.`minor` per question, in their order.

    Raises: RuntimeError with the words of the compiler or of the program.
    """
    lines = "".join(json.dumps(question) + "\n" for question in questions)
    done = subprocess.run(
        [str(_built(minor))], input=lines, capture_output=True, text=True, timeout=ASK_SECONDS, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"the oracle of 1.{minor} ended with {done.returncode}: {done.stderr[-2000:]}")
    return [json.loads(line) for line in done.stdout.split("\n") if line]


def _built(minor: int) -> Path:
    """Return the program for a version, built; the compiler's own cache makes this cheap when nothing changed."""
    binary = CACHE / ("selector-oracle" if minor == LATEST else f"selector-oracle-1.{minor}")
    pinned = [] if minor == LATEST else [f"-modfile=versions/1.{minor}.mod"]
    done = subprocess.run(
        ["go", "build", "-trimpath", *pinned, f"-tags={TAGS.get(minor, '')}", "-o", str(binary), "."],
        cwd=MODULE,
        env={**os.environ, "GOFLAGS": "-mod=readonly -buildvcs=false"},
        capture_output=True,
        text=True,
        timeout=BUILD_SECONDS,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"go build of the oracle of 1.{minor} ended with {done.returncode}: {done.stderr[-4000:]}")
    return binary
