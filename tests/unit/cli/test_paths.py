"""The paths of docs/paths.md: each runs the commands that the page prints, and no other, and ends with an answer."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from modelplane_cli.documents import live
from tests.bench import files
from tests.support import examples
from tests.support import planning as given
from tests.unit.cli import test_inspection
from tests.unit.cli.test_status import unready

Json = Any
PAGE = Path(__file__).parents[3] / "docs" / "paths.md"
settled = test_inspection.settled


def commands(role: str) -> list[list[str]]:
    """Return the words of each command of the block under a heading, without the program."""
    _, _, section = PAGE.read_text(encoding="utf-8").partition(f"\n## {role}: ")
    (block,) = re.findall(r"```bash\n(.*?)```", section.partition("\n## ")[0], re.DOTALL)
    found = [shlex.split(line, comments=True) for line in block.splitlines()]
    assert all(words[0] == "modelplane" for words in found)
    return [words[1:] for words in found]


def walk(role: str, *codes: int) -> list[given.Run]:
    """Return what each command of a path says; the codes are those that its text promises."""
    ran = [given.run(*words) for words in commands(role)]
    assert [one.code for one in ran] == [*codes], [one.err for one in ran]
    return ran


def test_every_path_is_walked() -> None:
    roles = re.findall(r"^## (.*?): ", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert roles == ["ML engineer", "Platform engineer", "CI engineer", "SRE"]


def test_ml_engineer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    fit, init, render, plan = walk("ML engineer", 0, 0, 0, 0)
    assert re.search(r"H100 80GB\S* +8 x 79.6 GiB +2 +1 +tensor: 2 ", fit.out), fit.out
    assert sorted(one.name for one in (tmp_path / "fleet").iterdir()) == ["fleet.yaml", "model.yaml"]
    assert init.out == plan.out
    assert "1 pod x 2 gpu" in render.out
    assert re.search(r"ml-team/qwen3-32b +qwen3-32b-0 +new +first", plan.out), plan.out


@pytest.mark.slow
def test_platform_engineer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert files.main(["fleet", "--clusters", "60", "--nodes", "2", "--deployments", "6"]) == 0
    free, report, headroom = walk("Platform engineer", 0, 0, 0)
    regions = {one["group"] for one in given.run("free", "fleet", "--by", "region", "-o", "json").json["rows"]}
    assert len(regions) > 1
    assert all(re.search(rf"^{region} ", free.out, re.MULTILINE) for region in regions)
    assert report.err.startswith("fleet.html (")
    assert (tmp_path / "fleet.html").read_text().startswith("<!doctype html>")
    any_, largest = headroom.out.splitlines()[-2:]
    assert re.fullmatch(r"any \w+ clusters? may be lost", any_), headroom.out
    assert largest.startswith("the largest loss that fits: ")


@pytest.mark.parametrize(
    ("added", "gone", "answer"),
    [
        pytest.param(("canary",), "", (0, "0 interrupted, 0 lost"), id="a canary is added"),
        pytest.param((), "ModelDeployment", (1, "1 route NOT READY"), id="the deployment behind a URL is removed"),
    ],
)
def test_ci_engineer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, added: tuple[str, ...], gone: str, answer: tuple[int, str]
) -> None:
    code, said = answer
    shutil.copytree(examples.EXAMPLES / "quickstart", tmp_path / "base")
    for name in ("quickstart", *added):
        shutil.copytree(examples.EXAMPLES / name, tmp_path / "merged" / name)
    model = tmp_path / "merged" / "quickstart" / "model.yaml"
    model.write_text(yaml.safe_dump_all(one for one in yaml.safe_load_all(model.read_text()) if one["kind"] != gone))
    monkeypatch.chdir(tmp_path)
    _, comment = walk("CI engineer", 0, code)
    assert comment.out.startswith("<!-- modelplane plan -->\n### Modelplane plan\n")
    assert said in comment.out.splitlines()[3].replace("*", ""), comment.out


def test_sre(settled: list[Json], monkeypatch: pytest.MonkeyPatch) -> None:
    broken = json.dumps({"apiVersion": "v1", "kind": "List", "items": unready(settled)})
    asked: list[str] = []

    def text(context: str) -> str:
        asked.append(context)
        return broken

    monkeypatch.setattr(live, "text", text)
    status, explain = walk("SRE", 1, 1)
    assert asked == ["prod", "prod"]
    assert re.search(r"ms/chat +ml-team .* mr/llama-0 -n ml-team", status.out), status.out
    assert re.search(r"llama-0 +\w+ +no .* mr/llama-0 -n ml-team", explain.out), explain.out
    assert "ImagePullBackOff" in explain.out, explain.out
