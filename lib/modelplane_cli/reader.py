"""The reader of an answer: a pager on a terminal, or somebody who watches it change.

Only the standard library is imported, so that nothing waits for it.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TextIO

from modelplane_cli import exits

COMMANDS = frozenset({"plan", "status", "explain", "free", "top"})
"""The commands that have a reader; their parsers add `parsers.reader`."""
_LOOK_SECONDS = 0.5
_CLEAR = "\x1b[H\x1b[2J\x1b[3J"
_LESS = "FRX"  # as git: no pager for what fits the screen, colours, and the text stays after it

_State = dict[str, tuple[int, int]]


def run(name: str, words: Sequence[str], once: Callable[[], int]) -> int:
    """Return the exit code of the command after its answer is shown to whoever reads it."""
    if "--watch" not in words:
        with _paged(words):
            return once()
    if "-" in words:
        print(f"modelplane {name}: --watch cannot read standard input again; give files or --context", file=sys.stderr)
        return exits.BAD_INPUT
    options, _ = importlib.import_module(f"modelplane_cli.parsers.{name}").parser().parse_known_args(list(words))
    with contextlib.suppress(KeyboardInterrupt):
        _watch(words, once, options.interval if options.context is not None else None)
    return exits.INTERRUPTED


# --- again and again --------------------------------------------------------------------------------------------------


def _watch(words: Sequence[str], once: Callable[[], int], interval: float | None) -> None:
    """Show the answer whenever files change, and each `interval`, until somebody interrupts it."""
    shown = ""
    while True:
        seen = _state(words)
        answer = _caught(once)
        if answer != shown:
            shown = answer
            sys.stdout.write(_CLEAR + answer if sys.stdout.isatty() else answer)
            sys.stdout.flush()
        waited = 0.0
        while _state(words) == seen and (interval is None or waited < interval):
            time.sleep(_LOOK_SECONDS)
            waited += _LOOK_SECONDS


def _caught(once: Callable[[], int]) -> str:
    """Return what the command says, on both streams, as one text in their order."""
    said = _Caught(sys.stdout)
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        if once() == exits.INTERRUPTED:
            raise KeyboardInterrupt
    return said.getvalue()


def _state(words: Sequence[str]) -> _State:
    """Return the time and the size of every file that the words name, files of folders too."""
    found: _State = {}
    for word in (part for given in words for part in (given, given.partition("=")[2])):
        if word and os.path.isdir(word):
            for folder, _, files in os.walk(word):
                _add(found, *(os.path.join(folder, file) for file in files))
        elif word and os.path.exists(word):
            _add(found, word)
    return found


def _add(found: _State, *paths: str) -> None:
    for path in paths:
        with contextlib.suppress(OSError):  # it went meanwhile, which the next look sees
            about = os.stat(path)
            found[path] = (about.st_mtime_ns, about.st_size)


# --- page by page -----------------------------------------------------------------------------------------------------


class _Caught(io.StringIO):
    """A text that is a terminal where the stream behind it is one, so that it has a width and colours."""

    def __init__(self, behind: TextIO) -> None:
        super().__init__()
        self._behind = behind

    def isatty(self) -> bool:
        """Return whether the stream behind is a terminal."""
        return self._behind.isatty()


@contextlib.contextmanager
def _paged(words: Sequence[str]) -> Iterator[None]:
    """Show what is written to standard output with the reader's pager, where there is one."""
    pager = None if "--no-pager" in words else _pager()
    if pager is None:
        yield
        return
    said = _Caught(sys.stdout)
    try:
        with contextlib.redirect_stdout(said):
            yield
    finally:
        _show(pager, said.getvalue())


def _pager() -> list[str] | None:
    """Return the words of the pager, None without a terminal or where nobody wants one. No shell reads them."""
    ours = sys.__stdout__
    if ours is None or sys.stdout is not ours or not ours.isatty() or os.environ.get("TERM") == "dumb":
        return None
    try:
        words = shlex.split(os.environ.get("PAGER", "less"))
    except ValueError:
        return None  # a quotation that does not end
    return words if words and words != ["cat"] and shutil.which(words[0]) else None


def _show(pager: Sequence[str], text: str) -> None:
    if not text:
        return
    environment = {"LESS": _LESS, "LV": "-c", **os.environ}
    try:
        process = subprocess.Popen(pager, stdin=subprocess.PIPE, text=True, env=environment)  # noqa: S603 - the reader's own
    except OSError:
        sys.stdout.write(text)
        return
    with contextlib.suppress(BrokenPipeError):  # the reader has seen enough
        process.communicate(text)
    while process.poll() is None:
        with contextlib.suppress(KeyboardInterrupt):  # it is the pager's to answer
            process.wait()
