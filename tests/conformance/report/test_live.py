"""The served page in a real browser: it follows its sources, and keeps what its reader chose."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.support import planning as given
from tests.support.browser import Sheet

Json = Any
PATIENCE_MS = 60_000


class Served:
    """`modelplane report --serve` as a process of its own."""

    def __init__(self, *arguments: str, **environment: str) -> None:
        command = [sys.executable, "-m", "modelplane_cli", "report", "--serve", "--listen", "127.0.0.1:0", *arguments]
        settings = {**os.environ, **environment}
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=settings)
        assert self.process.stderr is not None
        said = ""
        for line in self.process.stderr:
            said += line
            found = re.search(r"http://\S+", line)
            if found is not None:
                self.url = found[0]
                return
        raise AssertionError(said)

    def stop(self) -> int:
        self.process.terminate()
        return self.process.wait(30)


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    folder = tmp_path / "fleet"
    folder.mkdir()
    given.written(folder, "base", given.node_class(), given.cluster("a"), given.cluster("b"))
    given.written(folder, "models", given.deployment(replicas=1))
    return folder


def test_the_page_follows_files_and_keeps_the_view(sheet: Sheet, fleet: Path) -> None:
    served = Served(str(fleet))
    try:
        page = sheet.open(served.url)
        page.locator("#picture .run").first.click()
        name = page.locator("#details h2").inner_text()
        page.select_option("#by", "deployment")
        expect(page.locator("#picture .run")).to_have_count(1)
        given.written(fleet, "models", given.deployment(replicas=3))
        expect(page.locator("#picture .run")).to_have_count(3, timeout=PATIENCE_MS)
        assert page.locator("#details h2").inner_text() == name
        assert page.locator("#by").input_value() == "deployment"
        (fleet / "models.yaml").write_text("a: [")
        expect(page.get_by_role("alert")).to_contain_text("cannot be read", timeout=PATIENCE_MS)
        expect(page.locator("#picture .run")).to_have_count(3)
        given.written(fleet, "models", given.deployment(replicas=2))
        expect(page.locator("#picture .run")).to_have_count(2, timeout=PATIENCE_MS)
        expect(page.get_by_role("alert")).to_have_count(0)
        assert sheet.told == []
    finally:
        served.stop()
    expect(page.get_by_role("alert")).to_contain_text("does not answer", timeout=PATIENCE_MS)
    assert all(url.startswith(served.url) for url in sheet.asked)


def test_the_page_follows_a_control_plane(sheet: Sheet, fleet: Path, tmp_path: Path) -> None:
    """kubectl is a program that prints what is in a file, and a watch that ends a line when told to."""
    state, changed = tmp_path / "state.json", tmp_path / "changed"
    program = tmp_path / "bin" / "kubectl"
    program.parent.mkdir()
    program.write_text(
        '#!/bin/sh\ncase "$*" in\n'
        '*api-resources*) printf "modelreplicas.modelplane.ai\\n";;\n'
        f"*--watch-only*) while [ ! -e {changed} ]; do sleep 0.1; done; echo modelreplica/a; exec sleep 600;;\n"
        f'*"-o json") cat {state};;\n*) echo "unexpected: $*" >&2; exit 1;;\nesac\n'
    )
    program.chmod(0o755)
    state.write_text(given.run("render", str(fleet), "-o", "json").out)
    served = Served("--context", "prod", PATH=f"{program.parent}:{os.environ['PATH']}")
    try:
        page = sheet.open(served.url)
        expect(page.locator("header")).to_contain_text("As the control plane's objects say it.")
        expect(page.locator("#picture .run")).to_have_count(1)
        given.written(fleet, "models", given.deployment(replicas=2))
        state.write_text(given.run("render", str(fleet), "-o", "json").out)
        changed.write_text("")
        expect(page.locator("#picture .run")).to_have_count(2, timeout=PATIENCE_MS)
        assert sheet.told == []
    finally:
        served.stop()
