"""The time that a person waits for: help, completion, the memory of a model. CPU seconds of a process of its own."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from modelplane_cli import __main__ as main
from tests.bench import files

ROOT = Path(__file__).parents[3]
QUICKSTART = str(ROOT / "examples" / "quickstart")
FIT, INSTANT = 0.3, 0.1
TRIES = 5


def least(*arguments: str) -> float:
    """Return the CPU seconds of the fastest of some runs: what else a machine does can only add to them."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    took = []
    for _ in range(TRIES):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, "-m", "modelplane_cli", *arguments]
        subprocess.run(command, check=True, capture_output=True, env=environment, cwd=ROOT)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return min(took)


@pytest.mark.slow
@pytest.mark.parametrize("command", main.COMMANDS)
def test_help_is_instant(command: str) -> None:
    assert least(command, "--help") < INSTANT


@pytest.mark.slow
@pytest.mark.parametrize("model", ["Qwen3-8B", "DeepSeek-V3"])
def test_fit_takes_less_than_a_third_of_a_second(model: str) -> None:
    assert least("fit", model, "--context", "32k", QUICKSTART) < FIT


@pytest.mark.slow
@pytest.mark.parametrize("line", ["modelplane ex", f"modelplane explain {QUICKSTART} ", "modelplane fit Qwen3-8"])
def test_completion_is_instant(line: str) -> None:
    assert least("__complete", line) < INSTANT


@pytest.mark.slow
def test_completion_is_instant_in_a_fleet_of_hundreds_of_files(tmp_path: Path) -> None:
    assert files.main([str(tmp_path), "--clusters", "400", "--deployments", "100"]) == 0
    assert least("__complete", f"modelplane explain {tmp_path} md/") < INSTANT
