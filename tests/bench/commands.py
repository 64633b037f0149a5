"""Prints what `plan`, `explain` and `validate` cost on fleets of files: CPU seconds from files to the answer.

Each command is a process of its own, as a person starts it; the fleets are those of `tests.bench.files`.
"""

from __future__ import annotations

import contextlib
import io
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence

from tests.bench import arguments, files

DEPLOYMENTS = 100
COMMANDS = (
    ("validate",),
    ("plan", "-o", "json"),
    ("explain", "md/model-00003", "-n", files.NAMESPACES[0], "-o", "json"),
)


def main(given: Sequence[str] | None = None) -> int:
    """Print the table; return 0, since a slow machine is no failure."""
    made = arguments.parser("commands", __doc__, example="100 1000")
    arguments.add_sizes(made, default=[100, 1000])
    sizes: list[int] = made.parse_args(given).sizes
    print(f"{'clusters':>8} {'deployments':>11} {'command':<10} {'cpu s':>7} {'rss MB':>7}")
    for clusters in sizes:
        with tempfile.TemporaryDirectory() as folder:
            with contextlib.redirect_stdout(io.StringIO()):
                files.main([folder, "--clusters", str(clusters), "--deployments", str(DEPLOYMENTS)])
            for name, *options in COMMANDS:
                seconds, memory = _measured([name, folder, *options])
                print(f"{clusters:>8} {DEPLOYMENTS:>11} {name:<10} {seconds:>7.1f} {memory:>7.0f}", flush=True)
    return 0


def _measured(line: Sequence[str]) -> tuple[float, float]:
    """Return the CPU seconds of one run, and the most memory in MB of any run so far."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-m", "modelplane_cli", *line]
    done = subprocess.run(command, capture_output=True, check=False, env=environment)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr.decode())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return seconds, after.ru_maxrss / 1024


if __name__ == "__main__":
    raise SystemExit(main())
