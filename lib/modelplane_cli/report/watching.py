"""Watches of the sources of a live page: files, and a control plane."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterable, Iterator, Sequence

from modelplane_cli.documents import live

LOOK_SECONDS = 1.0
"""The time between two looks at files."""
CALM_SECONDS = 0.5
"""The time that must pass without a change before the sources are read: changes come in groups."""
LATEST_SECONDS = 5.0
"""The time after which they are read although changes go on."""
AGAIN_SECONDS = 5.0
"""The time before a watch that ended is begun again."""


class Bell:
    """A bell that rings when something changed, and is heard once for several changes."""

    def __init__(self) -> None:
        self._rung, self._stopped = threading.Event(), threading.Event()

    def ring(self) -> None:
        """Say that something changed."""
        self._rung.set()

    def stop(self) -> None:
        """End every watch."""
        self._stopped.set()
        self._rung.set()

    def hear(self) -> bool:
        """Return True after something changed and calm returned, False when all is to end."""
        self._rung.wait()
        for _ in range(int(LATEST_SECONDS / CALM_SECONDS)):
            self._rung.clear()
            if self._stopped.is_set() or not self._rung.wait(CALM_SECONDS):
                break
        self._rung.clear()
        return not self._stopped.is_set()

    def rest(self, seconds: float) -> bool:
        """Wait, and return whether the watches go on."""
        return not self._stopped.wait(seconds)


def files(paths: Sequence[str], bell: Bell) -> threading.Thread:
    """Return a thread that rings the bell when a file below the paths changes."""
    return _started(_look, paths, tuple(_states(paths)), bell)


def _look(paths: Sequence[str], known: tuple[tuple[str, int, int], ...], bell: Bell) -> None:
    while bell.rest(LOOK_SECONDS):
        now = tuple(_states(paths))
        if now != known:
            known = now
            bell.ring()


def _states(paths: Iterable[str]) -> Iterator[tuple[str, int, int]]:
    for path in paths:
        if os.path.isdir(path):
            for folder, folders, names in os.walk(path):
                folders.sort()
                yield from (_state(os.path.join(folder, name)) for name in sorted(names))
        else:
            yield _state(path)


def _state(path: str) -> tuple[str, int, int]:
    try:
        found = os.stat(path)
    except OSError:
        return path, 0, -1
    return path, found.st_mtime_ns, found.st_size


def context(name: str, bell: Bell) -> list[threading.Thread]:
    """Return the threads, one for each kind of ours, that ring the bell when an object changes.

    Raises: InvalidInput where the control plane does not answer.
    """
    return [_started(_watch, name, kind, bell) for kind in live.kinds(name)]


def _watch(name: str, kind: str, bell: Bell) -> None:
    is_first = True
    while True:
        process = live.watch(name, kind)
        if not is_first:
            bell.ring()  # what changed between two watches was told to nobody
        is_first = False
        ender = threading.Thread(target=_end, args=(process, bell), daemon=True)
        ender.start()
        for _ in process.stdout or ():
            bell.ring()
        process.wait()
        if not bell.rest(AGAIN_SECONDS):
            return


def _end(process: subprocess.Popen[str], bell: Bell) -> None:
    while process.poll() is None:
        if not bell.rest(LOOK_SECONDS):
            process.terminate()
            return


def _started(target: object, *arguments: object) -> threading.Thread:
    made = threading.Thread(target=target, args=arguments, daemon=True)  # type: ignore[arg-type]  # one of ours
    made.start()
    return made
