"""Completion: what is proposed, in real shells too, and that neither it nor help waits for what computes."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from modelplane.devices import selector
from modelplane.sizing import cache, precision
from modelplane_cli import __main__ as command
from modelplane_cli import shorts
from modelplane_cli.commands import plan
from modelplane_cli.completing import proposals, scripts, written
from modelplane_cli.completing.written import Written
from modelplane_cli.parsers import cel as of_cel
from modelplane_cli.parsers import completion as of_completion
from modelplane_cli.parsers import fit as of_fit
from modelplane_cli.parsers import free as of_free
from modelplane_cli.parsers import plan as of_plan
from modelplane_cli.parsers import render as of_render
from modelplane_cli.parsers import top as of_top
from modelplane_cli.planning import usage
from modelplane_cli.simulator import offline

ROOT = Path(__file__).parents[3]
FLEET = "examples/quickstart"
LISTED = list(command.COMMANDS)


@pytest.fixture(autouse=True)
def _at_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def proposed(line: str) -> list[str]:
    """Return the proposed words after a line."""
    return [one.word for one in proposals.of(proposals.read(line), command.COMMANDS)]


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        pytest.param("modelplane ex", ["explain"], id="a command"),
        pytest.param("modelplane --debug ex", ["explain"], id="a command after --debug"),
        pytest.param("modelplane help si", ["simulate"], id="a command after help"),
        pytest.param("modelplane nonsense ", [], id="an unknown command"),
        pytest.param("modelplane serve --metr", ["--metrics-address"], id="the flags of the server"),
        pytest.param("modelplane plan --ag", ["--against"], id="an option"),
        pytest.param("modelplane plan --all --al", [], id="an option that was given"),
        pytest.param(
            f"modelplane simulate {FLEET} --lose eks-eu --lose-",
            ["--lose-label", "--lose-nodes"],
            id="events may repeat",
        ),
        pytest.param("modelplane plan --exit-code d", ["disruption"], id="a value"),
        pytest.param("modelplane plan --exit-code=d", ["--exit-code=disruption"], id="a value after an equals sign"),
        pytest.param("modelplane plan -o m", ["markdown"], id="a value of a short option"),
        pytest.param(f"modelplane plan {FLEET} --against ", [], id="files are the shell's"),
        pytest.param("modelplane plan exam", [], id="paths are the shell's"),
        pytest.param("modelplane explain exam", [], id="a path that has no slash yet"),
        pytest.param("modelplane explain examples/q", [], id="a path is no subject"),
        pytest.param(
            f"modelplane explain {FLEET} ", ["ic/eks-eu", "ic/gke-us", "md/qwen3-8b", "ms/qwen3-8b"], id="all"
        ),
        pytest.param(f"modelplane explain {FLEET} md/", ["md/qwen3-8b"], id="the deployments"),
        pytest.param(f"modelplane explain {FLEET} md", ["md/qwen3-8b"], id="a kind without its slash"),
        pytest.param(f"modelplane explain {FLEET} ic/e", ["ic/eks-eu"], id="the beginning of a name"),
        pytest.param(f"modelplane explain {FLEET} md/qwen3-8b -n ", ["ml-team"], id="namespaces"),
        pytest.param(f"modelplane simulate {FLEET} --drain ", ["eks-eu", "gke-us"], id="clusters"),
        pytest.param(f"modelplane simulate {FLEET} --drain=g", ["--drain=gke-us"], id="clusters after an equals sign"),
        pytest.param(f"modelplane simulate {FLEET} --scale ml", ["ml-team/qwen3-8b="], id="what can be scaled"),
        pytest.param("modelplane schema ModelR", ["ModelReplica"], id="kinds"),
        pytest.param("modelplane schema ModelReplica ", [], id="one kind is enough"),
        pytest.param("modelplane fit Qwen3-8", ["Qwen3-8B"], id="models without their organisation"),
        pytest.param("modelplane fit --context 32k Qwen3-8", ["Qwen3-8B"], id="the value of an option is no model"),
        pytest.param("modelplane fit --all Qwen3-8", ["Qwen3-8B"], id="an option without a value takes none"),
        pytest.param("modelplane fit Qwen/Qwen3-8", ["Qwen/Qwen3-8B"], id="models with it"),
        pytest.param("modelplane fit Qwen3-8B --context ", [], id="of fit these are tokens"),
        pytest.param("modelplane completion ", ["bash", "zsh", "fish"], id="shells"),
        pytest.param("modelplane explain 'examples/quick", [], id="an open quotation"),
        pytest.param("modelplane plan /nowhere --namespace ", [], id="a path that is not there"),
    ],
)
def test_what_may_stand_next(line: str, wanted: list[str]) -> None:
    assert proposed(line) == wanted


def test_contexts_come_from_kubectl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "kubectl"
    program.write_text('#!/bin/sh\n[ "$*" = "config get-contexts --output=name" ] && printf "prod\\ndev\\n"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert proposed("modelplane status --context ") == ["dev", "prod"]
    assert proposed("modelplane status --context p") == ["prod"]
    program.write_text("#!/bin/sh\necho broken >&2; exit 1\n")
    assert proposed("modelplane status --context ") == []
    monkeypatch.setenv("PATH", "")
    assert proposed("modelplane status --context ") == []


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("kind: A\nmetadata:\n  name: b\n  namespace: c\n", [("A", "c", "b")]),
        ("metadata:\n    namespace: c\n    labels:\n        name: no\n    name: b\nkind: A\n", [("A", "c", "b")]),
        ("kind: 'A'\nmetadata: {name: \"b\", namespace: c}\n", [("A", "c", "b")]),
        ("kind: A\nmetadata:\n\n  # c\n  name: b\n---\nkind: B\nmetadata: {name: d}", [("A", "", "b"), ("B", "", "d")]),
        ("kind: A\nmetadata:\n  name: $(touch x)\n", []),
        ("kind: List\nitems:\n- kind: A\n  metadata:\n    name: b\n", []),
        ("kind: A\nspec:\n  name: b\n", []),
        ("\x00\xff not yaml: [", []),
        ("", []),
    ],
    ids=["plain", "other order", "flow and quotes", "two", "no name", "a list", "no metadata", "noise", "nothing"],
)  # fmt: skip
def test_objects_are_found_where_they_are_plainly_written(
    tmp_path: Path, text: str, wanted: list[tuple[str, str, str]]
) -> None:
    (tmp_path / "a.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "b.txt").write_text("kind: X\nmetadata: {name: x}\n")
    assert list(written.objects([str(tmp_path)])) == [Written(*one) for one in wanted]


def test_what_is_read_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        (tmp_path / f"{number}.yaml").write_text(f"kind: A\nmetadata: {{name: n{number}}}\n")
    os.mkfifo(tmp_path / "0.pipe.yaml")
    assert [one.name for one in written.objects([str(tmp_path)])] == ["n0", "n1", "n2", "n3", "n4"], "no pipe is read"
    monkeypatch.setattr(written, "FILES_MAX", 3)
    assert [one.name for one in written.objects([str(tmp_path)])] == ["n0", "n1", "n2"]
    monkeypatch.setattr(written, "BYTES_MAX", len("kind: A\nmetadata: {name: n0}\n"))
    assert [one.name for one in written.objects([str(tmp_path)])] == ["n0"]


# --- real shells ------------------------------------------------------------------------------------------------------


def _bash(line: str, folder: Path) -> list[str]:
    """Return what bash would propose: its own words of the line, then the function that the script registers."""
    program = """
        source <(modelplane completion bash)
        compopt() { :; }
        COMP_LINE=$1; COMP_POINT=${#COMP_LINE}; COMP_WORDS=("${@:2}"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _modelplane; printf '%s\\n' "${COMPREPLY[@]}"
    """
    words = [part for word in line.split(" ") for part in _breaks(word)]
    return _ran(["bash", "--norc", "-c", program, "bash", line, *words], folder)


def _breaks(word: str) -> list[str]:
    """Return a word as readline breaks it: an equals sign is a word of its own."""
    before, equals, after = word.partition("=")
    return [before, equals, *([after] if after else [])] if equals else [word]


def _fish(line: str, folder: Path) -> list[str]:
    program = "modelplane completion fish | source; complete --do-complete $argv[1]"
    return [one.partition("\t")[0] for one in _ran(["fish", "--no-config", "-c", program, line], folder)]


def _zsh(line: str, folder: Path) -> list[str]:
    """Return what the script hands to zsh's own menu."""
    program = """
        compdef() { :; }
        _files() { :; }
        _describe() { for one in "${words_with_help[@]}"; do print -r -- "${one%%:*}"; done; }
        source <(modelplane completion zsh)
        LBUFFER=$1; words=(${(z)1}); _modelplane
    """
    return _ran(["zsh", "-f", "-c", program, "zsh", line], folder)


def _ran(arguments: list[str], folder: Path) -> list[str]:
    (folder / "modelplane").write_text(f'#!/bin/sh\nexec {sys.executable} -m modelplane_cli "$@"\n')
    (folder / "modelplane").chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        arguments,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "PATH": path, "HOME": str(folder)},
        cwd=ROOT,
    )
    assert not done.stderr, done.stderr
    return [line for line in done.stdout.splitlines() if line]


SHELLS: dict[str, Any] = {"bash": _bash, "fish": _fish, "zsh": _zsh}


@pytest.mark.parametrize("shell", [pytest.param(one, id=one) for one in sorted(SHELLS)])
def test_a_real_shell_completes(shell: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    asked = SHELLS[shell]
    assert asked("modelplane ex", tmp_path) == ["explain"]
    assert asked(f"modelplane explain {FLEET} md/", tmp_path) == ["md/qwen3-8b"]
    assert asked(f"modelplane simulate {FLEET} --drain ", tmp_path) == ["eks-eu", "gke-us"]
    if shell == "bash":
        assert asked("modelplane plan --exit-code=d", tmp_path) == ["disruption"], "readline breaks at ="
    hostile = 'modelplane explain "$(touch owned)" `touch owned` ; touch owned; md/'
    asked(hostile, tmp_path)
    assert not (tmp_path / "owned").exists()
    assert not (ROOT / "owned").exists()


def test_every_shell_has_a_script(run: Any) -> None:
    assert tuple(scripts.SCRIPTS) == of_completion.SHELLS
    for shell in of_completion.SHELLS:
        done = run("completion", shell)
        assert (done.code, done.out) == (0, scripts.SCRIPTS[shell])
    assert run("completion", "tcsh").code == 2
    assert run("completion").code == 2


# --- what neither waits for -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [*((name, "--help") for name in LISTED), ("__complete", "modelplane explain examples/quickstart md/")],
    ids=lambda given: given[0],
)
def test_help_and_completion_load_no_library(arguments: tuple[str, ...]) -> None:
    code = "import sys, modelplane_cli.__main__ as m; m.main(sys.argv[1:]); print(*sys.modules)"
    made = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True, cwd=ROOT
    )
    loaded = set(made.stdout.splitlines()[-1].split())
    assert not loaded & {"yaml", "google.protobuf", "grpc", "pydantic", "re2", "modelplane", "kubecel"}


@pytest.mark.parametrize("name", LISTED)
def test_the_help_is_that_of_the_parser(run: Any, name: str) -> None:
    shown = run(name, "--help")
    assert shown.code == 0
    made = importlib.import_module(f"modelplane_cli.parsers.{shorts.module(name)}").parser()
    assert shown.out == made.format_help()
    assert "examples:" in shown.out


def test_what_parsers_offer_is_what_the_commands_know() -> None:
    assert list(of_render.ASSUMPTIONS) == [str(one) for one in offline.Assume]
    assert list(of_free.GROUPS) == [str(one) for one in usage.By]
    assert list(of_top.HOLDERS) == [str(one) for one in usage.Whose]
    assert tuple(plan.FAILS) == of_plan.FAILS
    assert of_fit.PRECISIONS == precision.ASKED
    assert tuple(cache.ELEMENT_BYTES) == of_fit.CACHES
    assert tuple(selector.PROFILES) == of_cel.VERSIONS
