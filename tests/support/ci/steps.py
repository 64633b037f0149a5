"""Commands run one after another against a clock, and what became of each."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from tests.support.ci import record

GRACE_SECONDS = 60
"""What a suite that is stopped has to stop its servers."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended; `code` is None where it was stopped."""

    code: int | None
    seconds: float
    reports: tuple[record.Json, ...]


class Machine(Protocol):
    """What steps run on; a test has one of its own."""

    def minutes(self) -> float:
        """Return the minutes since the run began."""

    def run(self, name: str, command: Sequence[str], limit_seconds: float) -> Ended:
        """Return how a command ended, after at most so long."""

    def say(self, line: str) -> None:
        """Print a line."""


@dataclass(frozen=True, slots=True)
class Here:
    """This machine. `began` is the time of the clock at which the run began."""

    folder: Path
    records: Path
    began: float
    now: Callable[[], float] = time.time

    def minutes(self) -> float:
        return (self.now() - self.began) / 60

    def say(self, line: str) -> None:
        print(line, flush=True)  # noqa: T201 - a run is read while it goes on

    def run(self, name: str, command: Sequence[str], limit_seconds: float) -> Ended:
        path = self.records / f"{name.replace(' ', '-')}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        begun = time.monotonic()
        process = subprocess.Popen(
            list(command),
            cwd=self.folder,
            env=_environment(os.environ, self.folder, path),
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            code: int | None = process.wait(limit_seconds)
        except subprocess.TimeoutExpired:
            code = None
            stop(process)
        except BaseException:
            stop(process)
            raise
        return Ended(code, time.monotonic() - begun, tuple(record.read(path)))


def _environment(outer: Mapping[str, str], folder: Path, path: Path) -> dict[str, str]:
    """Return the environment of a step, in which every pytest writes down its reports."""
    inner = {key: value for key, value in outer.items() if not key.startswith("HATCH_ENV")}
    inner["PYTEST_ADDOPTS"] = f"{outer.get('PYTEST_ADDOPTS', '')} -p {record.PLUGIN}".strip()
    inner["PYTHONPATH"] = os.pathsep.join(filter(None, [str(folder), outer.get("PYTHONPATH", "")]))
    inner["PATH"] = os.pathsep.join([str(folder / ".venv" / "bin"), outer.get("PATH", "")])
    return inner | {record.VARIABLE: str(path)}


def stop(process: subprocess.Popen[bytes]) -> None:
    """Interrupt, so that pytest stops the servers it started; kill what does not end."""
    for sign, seconds in ((signal.SIGINT, GRACE_SECONDS), (signal.SIGKILL, GRACE_SECONDS)):
        try:
            os.killpg(process.pid, sign)
            process.wait(seconds)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue
        else:
            return
