"""An API server with kube-scheduler and the controllers that DRA needs; nodes are objects and run nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conformance.scheduler import fleets, grammar, hardware
from tests.support import controlplane, live

# A new Node is tainted as not ready until its kubelet reports, and no kubelet runs here.
_READY = "--disable-admission-plugins=TaintNodesByCondition"
_GATES = "--feature-gates=DRADeviceTaintRules=true,DRAListTypeAttributes=true"
_TABLES = pytest.StashKey[list[str]]()
_RULES = "--runtime-config=resource.k8s.io/v1beta2=true"


@pytest.fixture(scope="session")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[controlplane.Plane]:
    """The programs as they are by default."""
    with _plane(tmp_path_factory.mktemp("scheduler")) as plane:
        classes = [one for seed in range(200) for one in fleets.documents(seed) if one["kind"] == "InferenceClass"]
        for document in hardware.device_classes(classes):
            plane.api.create(document)
        yield plane


@pytest.fixture(scope="module")
def newest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[controlplane.Plane]:
    """The programs with the feature gates of DeviceTaintRules and of attributes that are lists."""
    with _plane(tmp_path_factory.mktemp("newest"), (_GATES, _RULES), (_GATES,)) as plane:
        yield plane


@pytest.fixture
def tables(pytestconfig: pytest.Config) -> list[str]:
    """What is printed when all suites have ended."""
    return pytestconfig.stash.setdefault(_TABLES, [])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the tables."""
    for one in terminalreporter.config.stash.get(_TABLES, []):
        terminalreporter.write_line(one)


@contextmanager
def _plane(
    folder: Path, apiserver: tuple[str, ...] = (), scheduler: tuple[str, ...] = ()
) -> Iterator[controlplane.Plane]:
    live.needs("scheduler", "go")
    with controlplane.running(folder, arguments=(_READY, *apiserver)) as plane:
        for document in grammar.device_classes():
            plane.api.create(document)
        plane.controller_manager("resourceclaim-controller", "garbage-collector-controller")
        plane.scheduler(*scheduler)
        yield plane
