"""What tests of the command share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import commands


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> commands.Run:
    """Return a runner of the command in a folder of the test's own."""
    monkeypatch.chdir(tmp_path)
    return commands.runner(capsys, tmp_path)
