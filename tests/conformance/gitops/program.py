"""The programs that read examples/gitops and examples/ci, as one process."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.support import gobinaries

SECONDS = 120


def ask(mode: str, path: Path, objects: Sequence[dict[str, Any]] = ()) -> subprocess.CompletedProcess[str]:
    """Return what the program says. Cost: some minutes for the first build. Raises: RuntimeError of the compiler."""
    binary = gobinaries.build(Path(__file__).parent, ".", "gitops")
    command = [str(binary), mode, str(path)]
    text = json.dumps(list(objects))
    return subprocess.run(command, input=text, capture_output=True, text=True, timeout=SECONDS, check=False)
