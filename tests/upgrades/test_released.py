"""The archive of the earlier release: it is what git has, it is the last release, and it runs its own code."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.upgrades import released

_LOADED = """
import importlib, pkgutil, sys
for name in ("kubecel", "modelplane", "modelplane_functions"):
    for found in pkgutil.walk_packages(importlib.import_module(name).__path__, name + "."):
        importlib.import_module(found.name)
packages = ("kubecel", "modelplane", "modelplane_functions", "modelplane_schemas")
print(*(module.__file__ for name, module in sys.modules.items() if name.partition(".")[0] in packages))
"""


def test_it_is_the_last_tagged_release() -> None:
    tag = released.last_tag()
    if tag is None:
        pytest.skip("no tag is in this clone")
    assert released.commit() == tag, "a release was tagged since: run `hatch run python -m tests.upgrades`"


def test_it_is_what_git_has() -> None:
    content = released.archived(released.commit())
    if content is None:
        pytest.skip(f"this clone does not reach back to {released.commit()}")
    assert released.files(released.kept()) == released.files(content)


def test_its_server_imports_nothing_of_this_working_tree(unpacked: Path) -> None:
    said = subprocess.run(
        [sys.executable, "-c", _LOADED],
        env=released.environment(unpacked),
        cwd=unpacked,
        capture_output=True,
        check=True,
    )
    found = {str(path) for path in said.stdout.decode().split()}
    assert len(found) > 50
    assert {path for path in found if not path.startswith(str(unpacked))} == set()


def test_a_commit_that_git_does_not_have(capsys: pytest.CaptureFixture[str]) -> None:
    from tests.upgrades import __main__ as command  # noqa: PLC0415

    before = released.ARCHIVE.read_bytes()
    assert command.main(["f" * 40]) == 2
    assert "name a commit that this clone has" in capsys.readouterr().err
    assert released.ARCHIVE.read_bytes() == before
