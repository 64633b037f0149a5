"""What the command does as a process: interrupted, cut off, in a narrow terminal, beside other programs."""

from __future__ import annotations

import io
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from modelplane_cli import __main__ as main
from modelplane_cli.output import table
from tests.bench import files
from tests.support import planning as given

COMMAND = (sys.executable, "-m", "modelplane_cli")
# It says when its work begins: until then an interrupt ends Python itself, with the code of the signal.
ANNOUNCED = """
import importlib, sys
from modelplane_cli.__main__ import main
command = importlib.import_module(f"modelplane_cli.commands.{sys.argv[1]}")
work = command.main
def announced(arguments):
    print("begins", file=sys.stderr, flush=True)
    return work(arguments)
command.main = announced
sys.exit(main())
"""
QUICKSTART = str(Path(__file__).parents[3] / "examples" / "quickstart")


@pytest.mark.parametrize("way", [("plan",), ("simulate", "--headroom")], ids=" ".join)
def test_an_interrupted_command_says_nothing(tmp_path: Path, way: tuple[str, ...]) -> None:
    files.main([str(tmp_path), "--clusters", "60", "--deployments", "60"])
    arguments = (sys.executable, "-c", ANNOUNCED, way[0], str(tmp_path), *way[1:])
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "begins\n"
        time.sleep(0.3)
        assert process.poll() is None, "it is still at work"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "")


@pytest.mark.parametrize("command", ["render", "plan", "validate"])
def test_a_reader_that_goes_away_is_no_error(command: str) -> None:
    with subprocess.Popen((*COMMAND, command, QUICKSTART), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.close()
        _, err = process.communicate(timeout=60)
    assert b"Traceback" not in err
    assert b"Broken" not in err


@pytest.mark.parametrize("command", [("render",), ("plan",), ("explain", "md/qwen3-8b")], ids=" ".join)
def test_what_is_piped_has_no_colour_and_no_width(monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]) -> None:
    wide = given.run(command[0], QUICKSTART, *command[1:])
    monkeypatch.setenv("COLUMNS", "40")
    narrow = given.run(command[0], QUICKSTART, *command[1:])
    assert narrow == wide
    assert "\033" not in wide.out + wide.err


def test_wide_and_combining_characters_keep_the_columns() -> None:
    found = table.lines(("NAME", "WHAT"), [("模型", "x"), ("cafe\u0301", "y"), ("plain", "z")])
    assert found == ["NAME   WHAT", "模型   x", "cafe\u0301   y", "plain  z"]


@pytest.mark.parametrize("columns", [80, 100, 132, 200])
@pytest.mark.parametrize(
    "command",
    [
        ("render",),
        ("plan", "--all"),
        ("simulate", "--drain", "a"),
        ("simulate", "--headroom"),
        ("simulate", "--headroom", "--by", "modelplane.ai/region"),
        ("simulate", "--headroom", "--by", "class"),
        ("explain",),
        ("explain", "md/llama"),
        ("explain", "ic/a"),
        ("status",),
        ("free",),
        ("free", "--by", "region"),
        ("free", "--by", "pool"),
        ("top",),
        ("top", "--by", "namespace"),
    ],
    ids=" ".join,
)
def test_no_line_of_a_terminal_is_wider_than_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], columns: int
) -> None:
    names = [f"production-eu-west-1-{letter}" for letter in "ab"]
    objects = [
        given.node_class(price="10.50"),
        *(given.cluster(name) for name in names),
        given.deployment(replicas=6, tensor=8),
    ]
    arguments = [one.replace("ic/a", f"ic/{names[0]}") if one != "a" else names[0] for one in command[1:]]
    found = seen(monkeypatch, columns, command[0], given.written(tmp_path, "now", *objects), *arguments)
    bare = re.sub("\033\\[[0-9]*m", "", found)
    assert [line for line in bare.splitlines() if len(line) > columns] == []
    piped = given.run(command[0], str(tmp_path), *arguments).out
    for heading in set(re.findall(r"\b[A-Z]{2,}\b", piped)):
        assert re.search(rf"\b{heading}\b", bare), f"{heading} is in one piece"


@pytest.mark.parametrize("columns", [80, 100, 132, 200])
@pytest.mark.parametrize("model", ["Qwen3-8B", "DeepSeek-V3", "gpt-oss-120b"])
def test_no_line_of_fit_is_wider_than_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, columns: int
) -> None:
    classes = [given.node_class(name, price="98.32") for name in ("h100-8x", "production-eu-west-1-h100-8x")]
    clusters = [
        given.cluster(f"production-{one['metadata']['name']}", class_name=one["metadata"]["name"]) for one in classes
    ]
    file = given.written(tmp_path, "now", *classes, *clusters)
    for arguments in (("fit", model), ("fit", model, "--context", "32k", file)):
        bare = re.sub("\033\\[[0-9]*m", "", seen(monkeypatch, columns, *arguments))
        assert bare
        assert [line for line in bare.splitlines() if len(line) > columns] == []
        for heading in set(re.findall(r"\b[A-Z]{2,}\b", given.run(*arguments).out)):
            assert re.search(rf"\b{heading}\b", bare), f"{heading} is in one piece"


@pytest.mark.parametrize("columns", [40, 80, 200])
@pytest.mark.parametrize("example", ["quickstart", "quota", "mig"])
def test_no_line_of_the_tree_is_wider_than_a_terminal(
    monkeypatch: pytest.MonkeyPatch, example: str, columns: int
) -> None:
    """Nothing is lost by folding: the words are those of the pipe, in their order."""
    folder = str(Path(QUICKSTART).parent / example)
    bare = re.sub("\033\\[[0-9]*m", "", seen(monkeypatch, columns, "render", folder))
    assert [line for line in bare.splitlines() if len(line) > columns] == []
    folded, piped = ("".join(re.sub("[│├└─ \n]", "", text)) for text in (bare, given.run("render", folder).out))
    assert folded == piped


def test_what_has_no_place_is_painted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    objects = [given.node_class(), given.cluster("a"), given.deployment(replicas=3, tensor=8)]
    file = given.written(tmp_path, "now", *objects)
    assert "\033[31mNOT PLACED\033[0m" in seen(monkeypatch, 200, "plan", file)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\033" not in seen(monkeypatch, 200, "plan", file)


def seen(monkeypatch: pytest.MonkeyPatch, columns: int, *arguments: str) -> str:
    """Return what a terminal of so many columns shows of standard output."""
    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setenv("COLUMNS", str(columns))
    main.main([*arguments])
    return screen.getvalue()


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_very_long_name_is_refused_with_its_limit(tmp_path: Path) -> None:
    file = given.written(tmp_path, "now", given.node_class(), given.cluster("a"), given.deployment("m" * 300))
    ran = given.run("plan", file)
    assert (ran.code, ran.out) == (2, "")
    assert "metadata.name" in ran.err
    assert "Traceback" not in ran.err
