"""Reports of tests, written down by the pytest of one suite and counted again by the one that closes a run.

`-p tests.support.ci.record` writes them to the file that MODELPLANE_CI_RECORD names.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest

Json: TypeAlias = Any
VARIABLE = "MODELPLANE_CI_RECORD"
PLUGIN = "tests.support.ci.record"


class Recorder:
    """Writes a line for each test, and one for each set-up or clean-up that went wrong."""

    def __init__(self, config: pytest.Config, path: Path) -> None:
        self._config = config
        self._path = path

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or not report.passed:
            if report.passed:
                report.sections = []
            self._write(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._write(report)

    def _write(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        data.pop("node", None)  # the process of xdist that ran it is not there when reports are counted
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(data, default=str) + "\n")


def pytest_configure(config: pytest.Config) -> None:
    """Record where reports come together; a pytest that a test starts is none of this run."""
    path = os.environ.pop(VARIABLE, None)
    os.environ["PYTEST_ADDOPTS"] = os.environ.get("PYTEST_ADDOPTS", "").replace(f"-p {PLUGIN}", "").strip()
    if path and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Recorder(config, Path(path)), "reports for the end of the run")


class _Replay:
    """A session without tests of its own that is told of those of others."""

    def __init__(self, reports: Iterable[Json]) -> None:
        self._reports = list(reports)

    def pytest_collection(self, session: pytest.Session) -> bool:
        session.items = []
        session.testscollected = len(self._reports)
        return True

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        hook = session.config.hook
        for data in self._reports:
            report = hook.pytest_report_from_serializable(config=session.config, data=data)
            if isinstance(report, pytest.TestReport):
                hook.pytest_runtest_logreport(report=report)
            else:
                hook.pytest_collectreport(report=report)
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """Count what passed or was skipped without a dot."""
        if report.when == "call" and report.passed:
            return "passed", "", ""
        return ("skipped", "", "") if report.skipped and not hasattr(report, "wasxfail") else None


def replay(reports: Iterable[Json]) -> int:
    """Return what pytest returns for the reports of all suites, after it printed failures and its summary."""
    options = ["-q", "--tb=short", "-p", "no:cacheprovider", "-p", "no:randomly", "--override-ini=addopts="]
    return int(pytest.main(options, plugins=[_Replay(reports)]))


def read(path: Path) -> Iterator[Json]:
    """Yield the reports of a suite; a line that was cut off when it was stopped is none."""
    if not path.exists():
        return
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            return


def failure(name: str, words: str, seconds: float) -> Json:
    """Return the report of a step that failed as a whole."""
    return {"$report_type": "TestReport", **_report(name, words, seconds)}


def success(name: str, seconds: float) -> Json:
    """Return the report of a step that is no test and passed."""
    return {"$report_type": "TestReport", **_report(name, None, seconds), "outcome": "passed"}


def failed(reports: Iterable[Json]) -> bool:
    """Return whether any report is of a failure."""
    return any(report.get("outcome") == "failed" for report in reports)


def names_of_failed(reports: Iterable[Json]) -> list[str]:
    """Return the names of the tests that failed, each once."""
    return list(dict.fromkeys(str(report.get("nodeid")) for report in reports if failed([report])))


def _report(name: str, words: str | None, seconds: float) -> Json:
    return {
        "nodeid": f".ci/run::{name}",
        "location": [".ci/run", 0, name],
        "keywords": {},
        "outcome": "failed",
        "longrepr": words,
        "when": "call",
        "user_properties": [],
        "sections": [],
        "duration": seconds,
        "start": 0,
        "stop": seconds,
    }
