"""The check that generated files are those of `apis/`: makes them again and looks for a difference."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]


def main() -> int:
    """Return 0 when nothing differs."""
    subprocess.run([sys.executable, "schemas/generate.py"], cwd=REPOSITORY, check=True)
    shown = ["git", "diff", "--exit-code", "--stat", "--", "schemas"]
    return subprocess.run(shown, cwd=REPOSITORY, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
