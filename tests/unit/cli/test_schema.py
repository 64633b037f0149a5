"""`modelplane schema` as a person and an editor meet it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from modelplane.api import catalogue
from modelplane_cli.__main__ import COMMANDS
from modelplane_cli.output import models


@pytest.mark.parametrize("word", ["ModelDeployment", "modeldeployments", "md", "MD", "modeldeployments.modelplane.ai"])
def test_a_kind_has_the_names_that_kubectl_takes(run: Any, word: str) -> None:
    done = run("schema", word)
    assert (done.code, json.loads(done.out)["title"], done.err) == (0, "ModelDeployment", "")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(["modeldeploymnt"], "no kind modeldeploymnt; did you mean ModelDeployment?", id="misspelt kind"),
        pytest.param(["Pod"], f"no kind Pod; there are {', '.join(catalogue.kinds())}", id="other kind"),
        pytest.param(["--output", "plans"], "did you mean plan?", id="misspelt command"),
        pytest.param(["--output", "serve"], f"there are {', '.join(models.ANSWERS)}", id="a command without answer"),
        pytest.param(["--directory", "file/x"], "file/x: cannot be written: ", id="no directory"),
        pytest.param(["md", "--output", "plan"], "give one of", id="two questions"),
    ],
)
def test_a_mistake_is_corrected(run: Any, arguments: list[str], said: str) -> None:
    done = run("schema", *arguments, files={"file": ""})
    assert (done.code, done.out) == (2, "")
    assert said in done.err


@pytest.mark.parametrize("command", models.ANSWERS)
def test_every_answer_has_a_schema(run: Any, command: str) -> None:
    done = run("schema", "--output", command)
    assert done.code == 0
    assert json.loads(done.out) == models.schema(command)


def test_every_command_that_knows_json_has_a_schema(run: Any) -> None:
    with_json = {name for name in COMMANDS if name not in ("serve", "schema") and "json" in run(name, "--help").out}
    assert with_json == set(models.ANSWERS)


def test_a_directory_holds_each_kind_and_all_of_them(run: Any, tmp_path: Path) -> None:
    done = run("schema", "--directory", "a/b")
    assert (done.code, done.err) == (0, "")
    found = {path.name: json.loads(path.read_text()) for path in (tmp_path / "a" / "b").iterdir()}
    kinds = {f"{kind.lower()}_v1alpha1.json": json.loads(run("schema", kind).out) for kind in catalogue.kinds()}
    assert done.out.splitlines() == sorted(f"a/b/{name}" for name in found)
    assert found == {**kinds, "modelplane.json": json.loads(run("schema").out)}


@pytest.mark.parametrize(
    ("arguments", "loaded"),
    [
        pytest.param(["schema", "md"], False, id="a kind"),
        pytest.param(["schema", "--output", "plan"], True, id="an answer"),
        pytest.param(["validate", "nothing.yaml"], False, id="another command"),
    ],
)
def test_pydantic_is_loaded_for_answers_alone(arguments: list[str], loaded: bool) -> None:  # noqa: FBT001
    code = f"""
import sys
from modelplane_cli.__main__ import main
main({arguments!r})
print([name for name in sys.modules if name == 'pydantic'], file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.splitlines()[-1] == ("['pydantic']" if loaded else "[]")
