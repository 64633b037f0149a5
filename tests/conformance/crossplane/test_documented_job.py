"""The job of docs/pull-requests.md, run as it stands there: both programs are built, and both commands succeed."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.support import controlplane, crossplane, gobinaries, live

PAGE = gobinaries.REPOSITORY / "docs" / "pull-requests.md"
FUNCTIONS = Path("examples", "render", "functions.yaml")
PORTS = ("9443", "9080")
MINUTES = 15
_BLOCK = re.compile(r"^```bash\n(set -e\n.*?)^```$", re.MULTILINE | re.DOTALL)


def _script() -> str:
    (found,) = _BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    return str(found)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return what the job reads of a checkout, with `modelplane` on a path of its own."""
    live.needs("crossplane-core", "go", "curl")
    for folder in ("apis", "examples", "tests/conformance/crossplane/core", "tests/conformance/crossplane/cli"):
        shutil.copytree(gobinaries.REPOSITORY / folder, tmp_path / "checkout" / folder)
    program = tmp_path / "path" / "modelplane"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m modelplane_cli "$@"\n')
    program.chmod(0o755)
    return tmp_path / "checkout"


def test_the_documented_job_succeeds(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = _script()
    # Other ports, because others may use those of the page.
    for documented, free in zip(PORTS, controlplane.free_ports(len(PORTS)), strict=True):
        script = script.replace(documented, str(free))
        file = checkout / FUNCTIONS
        file.write_text(file.read_text().replace(documented, str(free)))
    monkeypatch.setenv("PATH", str(checkout.parent / "path"), prepend=":")
    monkeypatch.setenv("GOFLAGS", "-mod=readonly -buildvcs=false")
    log = checkout.parent / "log"
    with log.open("w") as out:
        done = subprocess.run(
            ["bash", "-c", script], cwd=checkout, timeout=60 * MINUTES, check=False, stdin=subprocess.DEVNULL,
            stdout=out, stderr=subprocess.STDOUT,
        )  # fmt: skip
    assert done.returncode == 0, log.read_text()[-4000:]
    rendered = [one for one in yaml.safe_load_all((checkout / "rendered.yaml").read_text()) if one]
    assert [one["kind"] for one in rendered] == ["ModelDeployment", "ModelReplica", "ModelReplica"]
    totals = re.findall(r"Total (\d+) resources: 0 missing schemas, (\d+) success cases, 0 failure", log.read_text())
    assert len(totals) == 2, log.read_text()[-4000:]
    assert all(int(total) == int(accepted) > 0 for total, accepted in totals)


def test_the_command_is_no_core() -> None:
    """As the page says: `--crossplane-binary` with the command itself ends with words that do not tell."""
    live.needs("crossplane-core", "go")
    done = subprocess.run([str(crossplane.cli()), "internal", "render"], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "unexpected argument internal" in done.stdout + done.stderr
