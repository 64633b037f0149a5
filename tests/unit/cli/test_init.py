"""`modelplane init`: asked on a terminal, from options alone, never over a file."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from modelplane_cli.planning import first_fleet
from tests.support import planning as given

Json = Any
COMMAND = (sys.executable, "-m", "modelplane_cli", "init")


def documents(folder: Path) -> list[Json]:
    return [one for name in ("fleet", "model") for one in yaml.safe_load_all((folder / f"{name}.yaml").read_text())]


def asked(folder: Path, *answers: str, options: tuple[str, ...] = ()) -> tuple[int, str]:
    """Return the exit code and the questions of a run on a terminal that gives these answers and then ends."""
    ours, theirs = pty.openpty()
    arguments = (*COMMAND, str(folder), *options)
    with subprocess.Popen(arguments, stdin=theirs, stderr=theirs, stdout=subprocess.PIPE, text=True) as process:
        os.close(theirs)
        os.write(ours, "".join(f"{answer}\n" for answer in answers).encode() + b"\x04")
        said = bytearray()
        try:
            while chunk := os.read(ours, 4096):
                said += chunk
        except OSError:
            pass  # Linux says so when the last writer has closed the terminal
        assert process.stdout is not None
        process.stdout.read()
    os.close(ours)
    return process.returncode, said.decode()


def test_questions_with_defaults_lead_to_a_fleet_that_serves(tmp_path: Path) -> None:
    code, said = asked(tmp_path / "f", "Qwen3-32B", "h100", "", "", "", "eu", "chat", "")
    assert code == 0, said
    assert "Which model? (a Hugging Face repository) [Qwen/Qwen3-8B]" in said
    node_class, cluster, gateway, model = documents(tmp_path / "f")
    assert node_class["spec"]["devices"][0]["capacity"] == {"memory": {"value": "81559Mi"}}
    assert cluster["metadata"]["labels"] == {"modelplane.ai/region": "eu"}
    assert gateway["kind"] == "InferenceGateway"
    assert model["metadata"] == {"name": "chat", "namespace": "ml-team"}
    assert model["spec"] == {"model": "Qwen/Qwen3-32B"}
    assert given.run("validate", str(tmp_path / "f")).code == 0
    assert given.run("plan", str(tmp_path / "f")).code == 0


def test_a_wrong_answer_is_asked_again_and_an_unknown_model_needs_a_number(tmp_path: Path) -> None:
    code, said = asked(tmp_path, "acme/own-7b", "V9", "A100", "A100 40GB", "four", "4", "1", "2", "", "", "", "")
    assert code == 0, said
    assert "GPU 'A100' may mean A100 40GB, A100 80GB" in said
    assert "'four' must be a whole number from 1 to 64" in said
    assert documents(tmp_path)[-1]["spec"] == {"model": "acme/own-7b", "gpu": 2}


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        pytest.param(("Qwen3-8B",), "the answers ended; nothing was written", id="the terminal is closed"),
        pytest.param(("Qwen3-8B", "a", "b", "c"), "GPU 'c' is not known", id="three wrong answers"),
    ],
)
def test_without_an_answer_nothing_is_written(tmp_path: Path, answers: tuple[str, ...], said: str) -> None:
    code, told = asked(tmp_path, *answers)
    assert code == 2
    assert said in told
    assert list(tmp_path.iterdir()) == []


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run((*COMMAND, *arguments), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


def test_options_alone_ask_nothing(tmp_path: Path) -> None:
    ran = run(str(tmp_path / "f"), "--model", "Qwen/Qwen3-8B", "--gpu", "L40S", "--gpus-per-node", "1", "--nodes", "3")
    assert ran.returncode == 0, ran.stderr
    assert "?" not in ran.stderr
    assert "ml-team/qwen3-8b" in ran.stdout
    node_class, cluster, _, _ = documents(tmp_path / "f")
    assert node_class["metadata"]["name"] == cluster["spec"]["nodePools"][0]["className"] == "l40s-48gb-1x"
    assert cluster["spec"]["nodePools"][0]["nodeCount"] == 3


@pytest.mark.parametrize(
    ("options", "said"),
    [
        pytest.param((), "give --model and --gpu", id="nothing is said"),
        pytest.param(("--model", "Qwen3-8B"), "give --gpu", id="no GPU"),
        pytest.param(("--model", "Qwen3-88B", "--gpu", "L4"), "did you mean", id="a name that is not in the catalogue"),
        pytest.param(("--model", "a/b", "--gpu", "L4"), "give --gpus", id="an unknown model"),
        pytest.param(("--model", "a/b", "--gpu", "L4", "--gpus", "17"), "from 1 to 16", id="too many GPUs"),
        pytest.param(
            ("--model", "a/b", "--gpu", "MI300X", "--gpus", "1"), "is not known", id="an image of another vendor"
        ),
        pytest.param(("--model", "Kimi-K2", "--gpu", "L4"), "spec.gpu: is required", id="a model that fits on none"),
        pytest.param(
            ("--model", "a/b", "--gpu", "L4", "--gpus", "1", "--cluster", "x: {y}\n---"), "metadata.name", id="no YAML"
        ),
        pytest.param(("--model", "a b/c", "--gpu", "L4", "--gpus", "1"), "spec.model", id="no repository"),
        pytest.param(("--model", "a/b", "--gpu", "L4", "--gpus", "1", "-n", "Up"), "namespace", id="no namespace"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    ran = run(str(tmp_path / "f"), *options)
    assert ran.returncode == 2
    assert said in ran.stderr
    assert "Traceback" not in ran.stderr
    assert not (tmp_path / "f").exists()


@pytest.mark.parametrize("name", ["fleet.yaml", "model.yaml"])
@pytest.mark.parametrize("is_link", [False, True], ids=["a file", "a link to nothing"])
def test_no_file_is_overwritten(tmp_path: Path, name: str, is_link: bool) -> None:  # noqa: FBT001 - a table's column
    if is_link:
        (tmp_path / name).symlink_to(tmp_path / "elsewhere")
    else:
        (tmp_path / name).write_text("mine\n")
    ran = run(str(tmp_path), "--model", "Qwen3-8B", "--gpu", "L40S")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert f"{name} exists" in ran.stderr
    assert sorted(one.name for one in tmp_path.iterdir()) == [name]
    assert is_link or (tmp_path / name).read_text() == "mine\n"


def test_a_directory_that_cannot_be_made_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ran = run(str(tmp_path / "file" / "f"), "--model", "Qwen3-8B", "--gpu", "L40S")
    assert ran.returncode == 2
    assert "Not a directory" in ran.stderr


@pytest.mark.parametrize(
    ("repository", "name"),
    [("Qwen/Qwen3-8B", "qwen3-8b"), ("x/70B_chat", "model-70b-chat"), ("x/___", "model"), ("x/" + "a" * 99, "a" * 40)],
)
def test_the_name_of_a_service(repository: str, name: str) -> None:
    assert first_fleet.name_of(repository) == name
