"""How long each suite took, at the end of a run."""

from __future__ import annotations

from collections import defaultdict
from pathlib import PurePosixPath

import pytest


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
            if parts[:2] != ("tests", "conformance"):
                continue
            seconds[suite] += report.duration
            if outcome in counts[suite]:
                counts[suite][outcome] += 1
    if seconds:
        terminalreporter.section("suites")
    for suite in sorted(seconds):
        told = ", ".join(f"{count} {outcome}" for outcome, count in counts[suite].items() if count)
        terminalreporter.write_line(f"{seconds[suite]:7.0f} s  {suite}: {told}")
