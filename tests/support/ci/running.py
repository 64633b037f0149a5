"""A run: what always runs, then the chosen suites as their programs are built, then what was and was not run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tests.support.ci import record
from tests.support.ci.choice import Choice, Chosen, LeftOut
from tests.support.ci.programs import Builder
from tests.support.ci.steps import Ended, Machine
from tests.support.ci.suites import Suite

LAST_START_MINUTES = 70
LAST_END_MINUTES = 84
"""Where a suite is stopped that would make the run as a whole too long; the rest of it takes less than a minute."""
SLOWNESS = 1.5
"""How much longer than on a quiet machine a suite may take. One that would not end in time does not start."""


@dataclass(frozen=True, slots=True)
class Clock:
    """The minutes since the run began after which no suite starts, and at which the last one is stopped."""

    last_start: float = LAST_START_MINUTES
    last_end: float = LAST_END_MINUTES


UNHURRIED = Clock(last_start=float("inf"), last_end=float("inf"))


@dataclass
class Run:
    """A run in progress, and at its end the lines that say what was run."""

    machine: Machine
    builder: Builder
    clock: Clock
    seed: int
    again: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The commands of second attempts, by step."""
    done: list[str] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    reports: list[record.Json] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    unstable: list[str] = field(default_factory=list)
    """What failed once and then passed: the steps, each with its failed tests."""

    def all(self, always: Sequence[tuple[str, tuple[str, ...], float]], choice: Choice) -> None:
        """Run everything that time allows."""
        self.left_out += choice.left_out
        self.builder.start(_in_order_of_need(choice.run))
        for name, command, limit in always:
            self._step(name, command, limit, "always")
        waiting = list(choice.run)
        while waiting:
            if self.machine.minutes() >= self.clock.last_start:
                self.left_out += [self._late(one.suite) for one in waiting]
                return
            for one in [one for one in waiting if not self._ends(one.suite)]:
                waiting.remove(one)
                self.left_out.append(LeftOut(one.suite.name, self._no_time(one.suite)))
            ready = next((one for one in waiting if not self.builder.missing(one.suite.programs)), None)
            if ready is None and waiting:
                self.builder.wait(min(60.0, max(1.0, (self.clock.last_start - self.machine.minutes()) * 60)))
                continue
            if ready is not None:
                waiting.remove(ready)
                self._step(ready.suite.name, self._command(ready.suite), ready.suite.limit_minutes, ready.why)

    def summary(self) -> list[str]:
        """Return what was run and how it went, and what was left out and why, a line each."""
        lines = ["", "=== run", *self.done]
        lines += ["=== left out", *(f"    {one.name}: {one.why}" for one in self.left_out)] if self.left_out else []
        lines += ["=== unstable: failed once, and passed when it ran again", *self.unstable] if self.unstable else []
        failed = f"; FAILED: {', '.join(self.failed)}" if self.failed else ""
        minutes = f"{self.machine.minutes():.0f} minutes in all"
        lines.append(f"=== {minutes}{failed}; below, pytest counts the tests of all steps together")
        return lines

    def _command(self, suite: Suite) -> tuple[str, ...]:
        return tuple(word.replace("{seed}", str(self.seed)) for word in suite.command)

    def _ends(self, suite: Suite) -> bool:
        return self.machine.minutes() + SLOWNESS * suite.minutes <= self.clock.last_end

    def _no_time(self, suite: Suite) -> str:
        return (
            f"it takes {suite.minutes:g} minutes on a quiet machine, and could exceed minute {self.clock.last_end:g} "
            f"when started at minute {self.machine.minutes():.0f}"
        )

    def _late(self, suite: Suite) -> LeftOut:
        missing = self.builder.missing(suite.programs)
        unbuilt = f", and {', '.join(missing)} not built yet" if missing else ""
        return LeftOut(suite.name, f"no suite starts after minute {self.clock.last_start:g}{unbuilt}")

    def _step(self, name: str, command: Sequence[str], limit_minutes: float, why: str) -> None:
        self.machine.say(f"\n=== {name} ({why}), from minute {self.machine.minutes():.0f}: {' '.join(command)}")
        ended, wrong = self._run(name, command, limit_minutes)
        outcome = f"FAILED: {wrong}" if wrong else "passed"
        if wrong and self._may_run_again(name, ended):
            self.machine.say(f"=== {name}: {outcome}; once more: {' '.join(self.again[name])}")
            second, is_wrong = self._run(name, self.again[name], limit_minutes)
            if not is_wrong:
                told = ", ".join(record.names_of_failed(ended.reports)) or wrong
                self.unstable.append(f"    {name}: {told}")
                reports = (*(one for one in ended.reports if not record.failed([one])), *second.reports)
                ended, wrong = Ended(second.code, ended.seconds + second.seconds, reports), ""
                outcome = f"passed at the second attempt (unstable: {told})"
        self.reports += ended.reports
        if wrong and not record.failed(ended.reports):
            self.reports.append(record.failure(name, f"{name}: {wrong}; its output stands above", ended.seconds))
        elif not ended.reports:
            self.reports.append(record.success(name, ended.seconds))
        self.failed += [name] if wrong else []
        self.done.append(f"    {name}: {outcome} in {_time(ended.seconds)}{_count(ended)} ({why})")
        self.machine.say(f"=== {name}: {outcome} in {_time(ended.seconds)}")

    def _run(self, name: str, command: Sequence[str], limit_minutes: float) -> tuple[Ended, str]:
        """Return how a command ended, and what is wrong with that, empty for nothing."""
        limit = min(limit_minutes, max(1.0, self.clock.last_end - self.machine.minutes()))
        ended = self.machine.run(name, command, limit * 60)
        return ended, _wrong(ended, limit)

    def _may_run_again(self, name: str, ended: Ended) -> bool:
        """Return whether there is a second attempt, and time for as long as the first took. One that hung has none."""
        in_time = self.machine.minutes() + ended.seconds / 60 <= self.clock.last_end
        return name in self.again and ended.code is not None and in_time


def _wrong(ended: Ended, limit_minutes: float) -> str:
    if ended.code is None:
        return f"stopped after {limit_minutes:.0f} minutes"
    if ended.code:
        return f"exit code {ended.code}"
    return "a test failed, though the exit code is 0" if record.failed(ended.reports) else ""


def _in_order_of_need(chosen: Sequence[Chosen]) -> list[str]:
    return list(dict.fromkeys(name for one in chosen for name in one.suite.programs))


def _time(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def _count(ended: Ended) -> str:
    return f", {len(ended.reports)} tests" if ended.reports else ""
