"""What a reader on a terminal gets: a pager, and an answer that is shown again when files change."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.support import planning as given

COMMAND = (sys.executable, "-m", "modelplane_cli")
WATCHED = ("plan", "status", "explain", "free", "top")
SECONDS = 60


def fleet(folder: Path, *, replicas: int = 1) -> str:
    objects = [given.node_class(), given.cluster("a"), given.deployment(replicas=replicas, tensor=8)]
    return given.written(folder, "now", *objects)


def pager(folder: Path, body: str = "said = sys.stdin.read()") -> tuple[str, Path]:
    """Return a pager that writes what it gets into a file, and the file."""
    program, got = folder / "pager.py", folder / "got.txt"
    program.write_text(f"import os, sys\n{body}\nopen({str(got)!r}, 'w').write(said + os.environ['LESS'])\n")
    return f"'{sys.executable}' '{program}'", got


def on_a_terminal(*arguments: str, columns: int = 120, environment: Mapping[str, str]) -> tuple[int, str]:
    """Return the exit code, and what a terminal shows that is standard output and error of the command."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    known = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LESS", "NO_COLOR", "PAGER")}
    with subprocess.Popen(
        (*COMMAND, *arguments),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**known, "TERM": "xterm", **environment},
    ) as process:
        os.close(theirs)
        said = bytearray()
        with contextlib.suppress(OSError):  # Linux says so when the last writer has closed the terminal
            while chunk := os.read(ours, 65536):
                said += chunk
    os.close(ours)
    return process.returncode, said.decode()


def test_a_terminal_gets_the_answer_in_its_pager_with_its_width_and_colours(tmp_path: Path) -> None:
    words, got = pager(tmp_path)
    code, said = on_a_terminal("plan", fleet(tmp_path, replicas=3), columns=80, environment={"PAGER": words})
    assert code == 1, "the code is that of the answer"
    assert "NOT PLACED" not in said
    shown = got.read_text()
    assert "\x1b[31mNOT PLACED\x1b[0m" in shown
    assert shown.endswith("FRX")
    bare = re.sub("\x1b\\[[0-9]*m", "", shown)
    assert max(map(len, bare.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "environment"),
    [
        pytest.param(("--no-pager",), {}, id="--no-pager"),
        pytest.param((), {"PAGER": ""}, id="an empty PAGER"),
        pytest.param((), {"PAGER": "cat"}, id="cat"),
        pytest.param((), {"PAGER": "no-such-pager"}, id="a pager that is not there"),
        pytest.param((), {"PAGER": "'less"}, id="a quotation that does not end"),
        pytest.param((), {"TERM": "dumb"}, id="a dumb terminal"),
    ],
)
def test_nobody_gets_a_pager_who_wants_none(
    tmp_path: Path, arguments: tuple[str, ...], environment: dict[str, str]
) -> None:
    words, got = pager(tmp_path)
    code, said = on_a_terminal("plan", fleet(tmp_path), *arguments, environment={"PAGER": words, **environment})
    assert code == 0
    assert "ml-team/llama" in said
    assert not got.exists()


def test_a_pipe_gets_no_pager(tmp_path: Path) -> None:
    words, got = pager(tmp_path)
    ran = subprocess.run(
        (*COMMAND, "free", fleet(tmp_path)),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PAGER": words},
    )
    assert "FREE" in ran.stdout
    assert not got.exists()


def test_no_colour_reaches_the_pager_of_who_wants_none(tmp_path: Path) -> None:
    words, got = pager(tmp_path)
    on_a_terminal("plan", fleet(tmp_path, replicas=3), environment={"PAGER": words, "NO_COLOR": "1"})
    assert "NOT PLACED" in got.read_text()
    assert "\x1b" not in got.read_text()


def test_a_pager_that_is_left_early_is_no_error(tmp_path: Path) -> None:
    words, got = pager(tmp_path, "said = 'left'")
    code, said = on_a_terminal("plan", fleet(tmp_path), environment={"PAGER": words})
    assert (code, got.read_text()) == (0, "leftFRX")
    assert "Traceback" not in said


def test_no_shell_reads_the_name_of_the_pager(tmp_path: Path) -> None:
    words, got = pager(tmp_path)
    on_a_terminal("plan", fleet(tmp_path), environment={"PAGER": f"{words} ; touch {tmp_path}/owned"})
    assert got.exists()
    assert not (tmp_path / "owned").exists()


@contextlib.contextmanager
def watching(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        (*COMMAND, *arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def until(process: subprocess.Popen[str], word: str) -> str:
    """Return what a process says until a word comes."""
    assert process.stdout is not None
    said, end = "", time.monotonic() + SECONDS
    while word not in said:
        assert select.select([process.stdout], [], [], max(0.0, end - time.monotonic()))[0], said
        chunk = os.read(process.stdout.fileno(), 65536).decode()
        assert chunk, said
        said += chunk
    return said


@pytest.mark.parametrize("command", ["plan", "top"])
def test_an_answer_is_shown_again_when_a_file_changes(tmp_path: Path, command: str) -> None:
    folder = tmp_path / "fleet"
    folder.mkdir()
    fleet(folder, replicas=1)
    with watching(command, str(folder), "--watch") as process:
        until(process, "llama")
        time.sleep(1.2)  # several looks at files that do not change
        (folder / "new.yaml").write_text("kind: [\n")
        assert "new.yaml" in until(process, "new.yaml"), "a mistake is said, and is no end"
        (folder / "new.yaml").unlink()
        fleet(folder, replicas=2)
        shown = until(process, "llama-1" if command == "plan" else "2 of 2")
        assert "\x1b" not in shown, "a pipe is no screen to clear"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=SECONDS)
    assert (process.returncode, err) == (130, "")


@pytest.mark.parametrize("command", WATCHED)
def test_what_cannot_be_watched_is_said(command: str) -> None:
    ran = given.run(command, "-", "--watch")
    assert (ran.code, ran.out) == (2, "")
    assert "--watch cannot read standard input again" in ran.err


@pytest.mark.parametrize("interval", ["0", "-1", "nan", "x", "99999"])
def test_an_interval_that_is_none_is_said(interval: str) -> None:
    ran = given.run("plan", "x", "--watch", "--interval", interval)
    assert ran.code == 2
    assert "must be seconds from 0.1 to 3600" in ran.err
