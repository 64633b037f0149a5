"""No program of a control plane outlives the tests that started it."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support import controlplane
from tests.support.controlplane import Plane, Process

SECONDS = 20
# A test session in small: it starts a program, says that it runs, and is then killed from outside.
SESSION = """
import sys, time
from pathlib import Path
from tests.support.controlplane import Process
one = Process("sleeper", ("sleep", "600"), Path(sys.argv[1]), outlives=sys.argv[2] == "outlives")
one.start()
print("started", flush=True)
time.sleep(600)
"""


def sleeper(folder: Path, name: str = "sleeper") -> Process:
    return Process(name, ("sleep", "600"), folder / f"{name}.log")


def await_end(process: Process) -> bool:
    end = time.monotonic() + SECONDS
    while process.is_running and time.monotonic() < end:
        time.sleep(0.05)
    return not process.is_running


@pytest.mark.parametrize("kind", ["dies", "outlives"])
def test_a_program_ends_with_a_session_that_is_killed(kind: str, tmp_path: Path) -> None:
    session = subprocess.Popen(
        [sys.executable, "-c", SESSION, str(tmp_path / "sleeper.log"), kind], stdout=subprocess.PIPE, text=True
    )
    try:
        assert session.stdout is not None
        assert session.stdout.readline() == "started\n"
        assert sleeper(tmp_path).is_running
    finally:
        session.kill()
        session.wait()
        session.stdout.close() if session.stdout is not None else None
    left = sleeper(tmp_path)
    try:
        assert left.is_running if kind == "outlives" else await_end(left)
    finally:
        left.stop()


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_what_goes_wrong_with_one_program_leaves_no_other(
    error: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, third = (sleeper(tmp_path, name) for name in ("etcd", "kube-apiserver", "manager"))
    for one in (first, second, third):
        one.start()

    def stop() -> None:
        raise error

    monkeypatch.setattr(third, "stop", stop)
    plane = Plane("test", tmp_path, "", None, first, second, others={"manager": third})  # type: ignore[arg-type]
    try:
        with pytest.raises(error):
            controlplane.stop(plane)
        assert (first.is_running, second.is_running, third.is_running) == (False, False, True)
    finally:
        monkeypatch.undo()
        third.stop()
