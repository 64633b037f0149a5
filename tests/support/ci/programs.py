"""Programs compiled beside the suites, one at a time and at the lowest priority."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Protocol


class Builder(Protocol):
    """Builds programs in the background."""

    def start(self, names: Sequence[str]) -> None:
        """Begin to build, in this order."""

    def missing(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return those that are not built yet; one that could not be built is left to the suite, which says why."""

    def wait(self, seconds: float) -> None:
        """Return when another program is built, or after so long."""

    def stop(self) -> None:
        """Stop compiling."""


class Background:
    """Builds with `python -m tests.conformance.tools`, in a thread that waits for it."""

    def __init__(self, folder: Path, log: Path, say: Callable[[str], None]) -> None:
        self._folder, self._log, self._say = folder, log, say
        self._done: set[str] = set()
        self._changed = threading.Condition()
        self._compiler: subprocess.Popen[bytes] | None = None
        self._stopped = threading.Event()

    def start(self, names: Sequence[str]) -> None:
        # A clean clone has no cache folder yet.
        self._log.parent.mkdir(parents=True, exist_ok=True)
        self._log.unlink(missing_ok=True)
        threading.Thread(target=self._build, args=(tuple(names),), daemon=True).start()

    def missing(self, names: Iterable[str]) -> tuple[str, ...]:
        with self._changed:
            return tuple(name for name in names if name not in self._done)

    def wait(self, seconds: float) -> None:
        with self._changed:
            self._changed.wait(seconds)

    def stop(self) -> None:
        with self._changed:
            self._stopped.set()
            if self._compiler is not None and self._compiler.poll() is None:
                os.killpg(self._compiler.pid, signal.SIGTERM)

    def _build(self, names: Sequence[str]) -> None:
        for name in names:
            with self._log.open("ab") as log, self._changed:
                if self._stopped.is_set():
                    return
                self._compiler = subprocess.Popen(
                    ["nice", "-n", "19", sys.executable, "-m", "tests.conformance.tools", name],
                    cwd=self._folder,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            code = self._compiler.wait()
            if self._stopped.is_set():
                return
            if code:
                self._say(f"=== {name} could not be built ({code}); see {self._log.relative_to(self._folder)}")
            with self._changed:
                self._done.add(name)
                self._changed.notify_all()
