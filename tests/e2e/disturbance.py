"""Programs of a fleet that are killed, started again late, or frozen for a while, as a schedule draws it."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

from tests.e2e.machine import Machine
from tests.support import kubeapi
from tests.support.controlplane import START_SECONDS, Plane, Process

# An interruption that is longer than any timeout of a client costs a run its time and shows nothing more.
MOST_SECONDS = 25
# With more at once nearly everything waits for something, and little happens.
_AT_MOST = 3


@dataclass
class _Interrupted:
    """A program that does not run at present, and the moment until which that is so."""

    plane: Plane
    process: Process
    until: float
    is_frozen: bool

    def end(self) -> None:
        """Let it run again."""
        if self.is_frozen:
            self.process.signal(signal.SIGCONT)
        elif not self.process.is_running:
            self.process.start()


@dataclass
class Disturbance:
    """What is interrupted now. It draws from the schedule's own generator and nothing else."""

    machine: Machine
    rng: random.Random
    _interrupted: list[_Interrupted] = field(default_factory=list)

    @property
    def is_most(self) -> bool:
        """Return whether as many programs are interrupted as may be at once."""
        return len(self._interrupted) >= _AT_MOST

    def begin(self) -> str:
        """Interrupt one program more and return what was done."""
        free = [(plane, process) for plane, process in self._programs() if not self._is_interrupted(process)]
        plane, process = self.rng.choice(free)
        seconds = self.rng.uniform(0.5, MOST_SECONDS)
        is_frozen = self.rng.random() < 0.4
        if is_frozen:
            process.signal(signal.SIGSTOP)
        else:
            process.stop(self.rng.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGTERM)))
        self._interrupted.append(_Interrupted(plane, process, time.monotonic() + seconds, is_frozen))
        word = "is frozen" if is_frozen else "is killed"
        return f"{process.name} of {plane.name} {word} for {seconds:.0f} s"

    def pass_time(self) -> list[str]:
        """End the interruptions whose time has come, start what ended by itself, and return what was done."""
        now = time.monotonic()
        over = [one for one in self._interrupted if one.until <= now]
        return [*self._ended(over), *self._restarted()]

    def end(self) -> None:
        """Let everything run, and wait until every API server answers."""
        self._ended(self._interrupted)
        for plane in self.machine.planes.values():
            what = f"the API server of {plane.name}"
            kubeapi.until(partial(self._is_up, plane), seconds=START_SECONDS, what=what)

    def _is_up(self, plane: Plane) -> bool:
        """Start what has ended, such as an API server that waited for etcd in vain; return whether one is ready."""
        self._restarted()
        return bool(plane.api.request("GET", "/readyz") == "ok")

    def answers(self, plane: Plane) -> bool:
        """Return whether nothing keeps the API server of a cluster from answering."""
        return not any(one.process in (plane.apiserver, plane.etcd) for one in self._interrupted)

    def _ended(self, over: list[_Interrupted]) -> list[str]:
        for one in over:
            one.end()
        self._interrupted = [one for one in self._interrupted if one not in over]
        return [f"{one.process.name} of {one.plane.name} goes on" for one in over]

    def _restarted(self) -> list[str]:
        """Start programs that gave up by themselves, as a kubelet does."""
        wanted = (process for _, process in self._programs() if not self._is_interrupted(process))
        ended = [process for process in wanted if not process.is_running]
        for process in ended:
            process.start()
        return [f"{process.name} had ended and is started" for process in ended]

    def _is_interrupted(self, process: Process) -> bool:
        return any(one.process is process for one in self._interrupted)

    def _programs(self) -> Iterator[tuple[Plane, Process]]:
        for plane in self.machine.planes.values():
            yield from ((plane, process) for process in (plane.etcd, plane.apiserver, *plane.others.values()))
