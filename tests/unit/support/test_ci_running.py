"""A run on a machine that only pretends: which suites start, when, and what is said at the end."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.support.ci import record, steps
from tests.support.ci.choice import Choice, Chosen, LeftOut
from tests.support.ci.programs import Background
from tests.support.ci.running import UNHURRIED, Clock, Run
from tests.support.ci.steps import Ended, Here
from tests.support.ci.suites import Suite

PASSED = record.success("test", 1)
FAILED = record.failure("test", "broken", 1)
ALWAYS = (("lint", ("lint",), 5.0), ("tests", ("tests",), 30.0))
HANGS = 10_000


@dataclass
class Pretended:
    """A machine whose clock goes as its commands say: minutes, exit code, reports of tests."""

    takes: dict[str, tuple[float, int, tuple[record.Json, ...]]]
    then: dict[str, tuple[float, int, tuple[record.Json, ...]]] = field(default_factory=dict)
    """How second attempts go, where otherwise than first ones."""
    clock: float = 0
    ran: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    commands: list[tuple[str, ...]] = field(default_factory=list)

    def minutes(self) -> float:
        return self.clock

    def say(self, line: str) -> None:
        self.said.append(line)

    def run(self, name: str, command: Sequence[str], limit_seconds: float) -> Ended:
        takes = {**self.takes, **self.then} if name in self.ran else self.takes
        minutes, code, reports = takes.get(name, (1, 0, (PASSED,)))
        took = min(minutes, limit_seconds / 60)
        self.clock += took
        self.ran.append(name)
        self.commands.append(tuple(command))
        return Ended(None if minutes > took else code, took * 60, reports)


@dataclass
class Compiler:
    """Programs that are there from a minute on."""

    machine: Pretended
    ready: dict[str, float] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    stopped: bool = False

    def start(self, names: Sequence[str]) -> None:
        self.asked = list(names)

    def missing(self, names: Iterable[str]) -> tuple[str, ...]:
        return tuple(name for name in names if self.ready.get(name, 0) > self.machine.minutes())

    def wait(self, seconds: float) -> None:
        assert seconds >= 1, "no busy waiting"
        self.machine.clock += seconds / 60

    def stop(self) -> None:
        self.stopped = True


def suite(name: str, *programs: str, limit: float = 20, minutes: float = 1) -> Suite:
    return Suite(name, (name, "--seed", "{seed}"), (f"{name}/",), 0, minutes, limit, programs)


def run_of(
    machine: Pretended,
    suites: Sequence[Suite],
    ready: dict[str, float] | None = None,
    clock: Clock | None = None,
    again: dict[str, tuple[str, ...]] | None = None,
) -> Run:
    made = Run(machine, Compiler(machine, ready or {}), clock or Clock(), seed=20260102, again=again or {})
    chosen = Choice(tuple(Chosen(one, "touched") for one in suites), (LeftOut("other", "not touched"),))
    made.all(ALWAYS, chosen)
    return made


def left_out(run: Run) -> dict[str, str]:
    return {one.name: one.why for one in run.left_out}


OUTCOMES: tuple[tuple[str, dict[str, tuple[float, int, tuple[record.Json, ...]]], list[str], str], ...] = (
    ("all pass", {}, [], ""),
    ("a test fails", {"a": (1, 1, (PASSED, FAILED))}, ["a"], "FAILED: exit code 1"),
    ("it ends badly and no test says so", {"a": (1, 3, ())}, ["a"], "FAILED: exit code 3"),
    ("a test fails and the code hides it", {"a": (1, 0, (FAILED,))}, ["a"], "FAILED: a test failed"),
    ("it hangs", {"a": (HANGS, 0, ())}, ["a"], "FAILED: stopped after 20 minutes"),
    ("it hangs after some tests", {"a": (HANGS, 0, (PASSED,))}, ["a"], "FAILED: stopped after 20 minutes"),
    ("lint fails", {"lint": (1, 1, ())}, ["lint"], "FAILED: exit code 1"),
    ("two fail", {"lint": (1, 1, ()), "b": (1, 1, (FAILED,))}, ["lint", "b"], "FAILED: exit code 1"),
)


@pytest.mark.parametrize(("takes", "failed", "words"), [pytest.param(*row[1:], id=row[0]) for row in OUTCOMES])
def test_what_fails_is_said_and_hides_nothing_after_it(
    takes: dict[str, tuple[float, int, tuple[record.Json, ...]]], failed: list[str], words: str
) -> None:
    machine = Pretended(takes)
    run = run_of(machine, [suite("a"), suite("b")])
    assert machine.ran == ["lint", "tests", "a", "b"], "every step runs"
    assert run.failed == failed
    assert record.failed(run.reports) == bool(failed), "pytest counts what the run counts"
    summary = "\n".join(run.summary())
    assert words in summary
    assert all(f"    {name}: FAILED" in summary for name in failed)
    assert "    other: not touched" in summary


AGAIN: dict[str, tuple[str, ...]] = {"a": ("a", "--last-failed")}


def test_what_passes_at_the_second_attempt_is_unstable_and_says_which_test() -> None:
    machine = Pretended({"a": (1, 1, (PASSED, FAILED))}, {"a": (1, 0, (PASSED,))})
    run = run_of(machine, [suite("a"), suite("b")], again=AGAIN)
    assert machine.commands[2:] == [("a", "--seed", "20260102"), ("a", "--last-failed"), ("b", "--seed", "20260102")]
    assert not run.failed
    assert not record.failed(run.reports)
    assert len(run.reports) == 5, "each test counts once"
    summary = "\n".join(run.summary())
    assert "    a: .ci/run::test" in summary.partition("=== unstable")[2]
    assert "a: passed at the second attempt (unstable: .ci/run::test) in 2:00" in summary


SECOND: tuple[tuple[str, tuple[float, int, tuple[record.Json, ...]], float, list[str]], ...] = (
    ("it fails again", (1, 1, (FAILED,)), 0, ["a", "a", "b"]),
    ("no test is left that failed", (1, 5, ()), 0, ["a", "a", "b"]),
    ("it hangs then", (HANGS, 0, ()), 0, ["a", "a", "b"]),
    ("no time is left for another", (1, 0, (PASSED,)), 49, ["a", "b"]),
)


@pytest.mark.parametrize(("then", "late", "ran"), [pytest.param(*row[1:], id=row[0]) for row in SECOND])
def test_a_second_attempt_that_does_not_pass_is_a_failure(
    then: tuple[float, int, tuple[record.Json, ...]], late: float, ran: list[str]
) -> None:
    machine = Pretended({"a": (18, 1, (FAILED,))}, {"a": then}, clock=late)
    run = run_of(machine, [suite("a"), suite("b")], again=AGAIN)
    assert machine.ran[2:] == ran
    assert run.failed == ["a"]
    assert record.failed(run.reports)
    assert not run.unstable
    assert machine.minutes() <= 85


def test_what_hung_and_what_computes_alone_has_one_attempt() -> None:
    machine = Pretended({"a": (HANGS, 0, ()), "b": (1, 1, (FAILED,))})
    assert run_of(machine, [suite("a"), suite("b")], again=AGAIN).failed == ["a", "b"]
    assert machine.ran == ["lint", "tests", "a", "b"]


def test_the_seed_is_put_into_the_command() -> None:
    machine = Pretended({})
    run_of(machine, [suite("a")])
    assert machine.commands[-1] == ("a", "--seed", "20260102")


def test_no_suite_starts_after_minute_70() -> None:
    machine = Pretended({"a": (66, 0, (PASSED,)), "b": (5, 0, (PASSED,))})
    run = run_of(machine, [suite("a", limit=99), suite("b"), suite("c"), suite("d")])
    assert machine.ran == ["lint", "tests", "a", "b"]
    assert left_out(run) == {
        "other": "not touched",
        "c": "no suite starts after minute 70",
        "d": "no suite starts after minute 70",
    }
    assert not run.failed, "what there was no time for has not failed"


def test_a_suite_that_would_be_stopped_is_left_out_and_shorter_ones_go_on() -> None:
    """Stopped, it would have failed the run without any fault."""
    machine = Pretended({"a": (60, 0, (PASSED,))})
    run = run_of(machine, [suite("a", limit=99), suite("long", minutes=20), suite("short", minutes=5)])
    assert machine.ran == ["lint", "tests", "a", "short"]
    assert left_out(run)["long"].startswith("it takes 20 minutes on a quiet machine, and could exceed minute 84")
    assert not run.failed


@pytest.mark.parametrize("begins", [40, 55, 69.9])
def test_a_suite_that_hangs_never_costs_the_ninety_minutes(begins: float) -> None:
    machine = Pretended({"a": (HANGS, 0, ()), "b": (HANGS, 0, ())}, clock=begins - 2)
    run = run_of(machine, [suite("a", limit=30), suite("b", limit=30)])
    assert machine.minutes() <= 85
    assert run.failed[0] == "a"


def test_a_suite_waits_for_its_programs_and_others_go_before_it() -> None:
    machine = Pretended({})
    run = run_of(machine, [suite("a", "slow"), suite("b"), suite("c", "slow", "fast")], {"slow": 30})
    assert machine.ran == ["lint", "tests", "b", "a", "c"]
    assert 30 <= machine.minutes() <= 34
    assert run.builder.asked == ["slow", "fast"]  # type: ignore[attr-defined]  # ours


def test_a_program_that_is_not_built_in_time_leaves_its_suite_out_by_name() -> None:
    machine = Pretended({})
    run = run_of(machine, [suite("a", "never", "soon"), suite("b", "soon")], {"never": 999, "soon": 20})
    assert machine.ran == ["lint", "tests", "b"]
    assert left_out(run)["a"] == "no suite starts after minute 70, and never not built yet"
    assert machine.minutes() < 72


def test_without_a_clock_all_run_however_long_it_takes() -> None:
    machine = Pretended({"a": (100, 0, (PASSED,))})
    run_of(machine, [suite("a", limit=200), suite("b", "late")], {"late": 300}, UNHURRIED)
    assert machine.ran == ["lint", "tests", "a", "b"]


# --- on this machine, with commands of a second -----------------------------------------------------------------------


def python(text: str) -> tuple[str, ...]:
    return (sys.executable, "-c", text)


@pytest.mark.parametrize("processes", ["0", "1"])
def test_reports_of_a_suite_are_counted_again_by_pytest(tmp_path: Path, processes: str) -> None:
    (tmp_path / "test_some.py").write_text(
        "import pytest\n"
        "def test_good(): pass\n"
        "def test_bad(): assert 1 == 2\n"
        "def test_left(): pytest.skip('why')\n"
        "@pytest.fixture\ndef torn(): yield; raise OSError('torn')\n"
        "def test_torn(torn): pass\n"
    )
    (tmp_path / "test_unread.py").write_text("import nowhere\n")
    repository = Path(__file__).resolve().parents[3]
    machine = Here(repository, tmp_path / "records", time.time())
    pytest_here = (
        sys.executable,
        "-m",
        "pytest",
        "-c",
        "/dev/null",
        "-q",
        "-n",
        processes,
        "--continue-on-collection-errors",
    )
    ended = machine.run("some", (*pytest_here, f"--rootdir={tmp_path}", str(tmp_path)), 60)
    assert ended.code == 1
    reports = json.dumps(ended.reports)
    code = f"from tests.support.ci import record; import json,sys; sys.exit(record.replay(json.loads({reports!r})))"
    shown = subprocess.run(python(code), cwd=repository, capture_output=True, text=True, check=False)
    assert shown.returncode == 1
    last = shown.stdout.strip().splitlines()[-1]
    assert last.startswith("1 failed, 2 passed, 1 skipped, 2 errors in "), shown.stdout
    assert "assert 1 == 2" in shown.stdout, "what failed is shown once more"


def test_reports_of_passes_alone_end_well(tmp_path: Path) -> None:
    code = "from tests.support.ci import record; import sys; sys.exit(record.replay([record.success('lint', 1)]))"
    repository = Path(__file__).resolve().parents[3]
    shown = subprocess.run(python(code), cwd=repository, capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stdout + shown.stderr
    assert shown.stdout.strip().startswith("1 passed in "), shown.stdout


def test_a_command_that_hangs_is_stopped(tmp_path: Path) -> None:
    ended = Here(tmp_path, tmp_path / "records", time.time()).run("hangs", python("import time; time.sleep(600)"), 0.2)
    assert ended.code is None
    assert ended.seconds < steps.GRACE_SECONDS


def test_what_is_stopped_may_clean_up(tmp_path: Path) -> None:
    text = (
        "import pathlib, time\n"
        "try: pathlib.Path('begun').touch(); time.sleep(600)\n"
        "except KeyboardInterrupt: pathlib.Path('cleaned').touch()"
    )
    process = subprocess.Popen(python(text), cwd=tmp_path, start_new_session=True)
    until = time.monotonic() + 60
    while not (tmp_path / "begun").exists() and time.monotonic() < until:
        time.sleep(0.05)
    steps.stop(process)
    assert (tmp_path / "cleaned").exists()


def test_a_program_that_cannot_be_built_is_left_to_its_suite(tmp_path: Path) -> None:
    said: list[str] = []
    builder = Background(Path(__file__).resolve().parents[3], tmp_path / "no cache yet" / "log", said.append)
    builder._folder = tmp_path  # no module tests.conformance.tools is there, so every build fails at once
    builder.start(["one", "two"])
    until = time.monotonic() + 60
    while builder.missing(["one", "two"]) and time.monotonic() < until:
        builder.wait(1)
    builder.stop()
    assert builder.missing(["one", "two"]) == ()
    assert ["could not be built" in line for line in said] == [True, True]
