"""Suites beside each other, each in one process, and how long each took at the end of a run."""

from __future__ import annotations

from collections import defaultdict
from pathlib import PurePosixPath

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

_HERE = ("tests", "conformance")


class BySuite(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    """Gives a process whole suites, each of which builds and starts its programs once; those of most tests first."""

    def _split_scope(self, nodeid: str) -> str:
        return "/".join(PurePosixPath(nodeid.split("::", maxsplit=1)[0]).parts[:3])


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> BySuite:
    """Return how tests are dealt out where several processes run (`-n 2`)."""
    return BySuite(config, log)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print one line per folder of this one: seconds with all set-up, and how many tests ended in which way."""
    seconds: dict[str, float] = defaultdict(float)
    counts: dict[str, dict[str, int]] = defaultdict(lambda: {"passed": 0, "failed": 0, "error": 0, "skipped": 0})
    # What has no outcome of its own (a set-up that went well) is filed under the empty name.
    for outcome, reports in terminalreporter.stats.items():
        for report in reports:
            if not isinstance(report, pytest.TestReport):
                continue
            parts = PurePosixPath(report.nodeid.split("::")[0]).parts
            suite = "/".join(parts[:3])
            if parts[:2] != _HERE:
                continue
            seconds[suite] += report.duration
            if outcome in counts[suite]:
                counts[suite][outcome] += 1
    if seconds:
        terminalreporter.section("suites")
    for suite in sorted(seconds):
        told = ", ".join(f"{count} {outcome}" for outcome, count in counts[suite].items() if count)
        terminalreporter.write_line(f"{seconds[suite]:7.0f} s  {suite}: {told}")
