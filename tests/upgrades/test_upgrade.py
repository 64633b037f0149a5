"""The objects of the earlier release under today's functions, and back: nothing that runs is touched.

Everything that the earlier release ships as an example runs first under its own functions and definitions, then under
today's, then under the earlier ones again. The other programs (Crossplane, providers, operators) stay the same.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.support import rendered
from tests.upgrades import judge, released
from tests.upgrades.judge import Meant
from tests.upgrades.plane import Plane
from tests.upgrades.released import Release

MEANT: Final = (
    Meant("InferenceCluster", "status.admissions[].workload", "which change of a replica its pods may survive"),
    Meant("ModelEndpoint", "metadata.labels.modelplane.ai/*", "labels of the cluster, by which services select"),
    Meant("InferenceCluster", "status.stack", "the decision that nothing is installed where nobody asked for it"),
    Meant("InferenceCluster", "status.conditions[[]].message", "StackReady names spec.stack.install"),
    Meant("InferenceGateway", "status.clientCertificate", "the decision that a gateway of before shows no certificate"),
    Meant("InferenceGateway", "status.features", "features that are new"),
    Meant("InferenceGateway", "status.type", "the type that the gateway was made with, which stays"),
    Meant("ClientTrafficPolicy", "spec.headers", "headers of routers inside a cluster, which no client may send"),
    Meant("LLMInference", "status.gpu", "the size that was derived"),
    Meant("LLMInference", "status.nodes", "the size that was derived"),
    Meant("ModelDeployment", "metadata.annotations.modelplane.ai/size", "keeps the derived size where models change"),
)
"""The differences that today's release makes in a world of the earlier one. A row that no world shows is removed."""

LOST: Final = {
    "InferenceCluster: status.admissions[].workload",
    "InferenceCluster: status.stack",
    "InferenceGateway: status.clientCertificate",
    "InferenceGateway: status.type",
    "LLMInference: status.gpu",
    "LLMInference: status.nodes",
}
"""The fields that the earlier definitions drop from a world that uses nothing new. Today's functions write them."""

SHOWING: Final = ("devices", "simple")
"""Worlds that show every meant difference, and every loss."""

QUICK: Final = {*SHOWING, "quickstart", "backends/kserve", "backends/native"}
WORLDS: Final = tuple(
    name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in released.fleets()
)


def ran(unpacked: Path, name: str, release: Release) -> Plane:
    """Return the settled world of an example of the earlier release."""
    plane = Plane(rendered.written(unpacked / "examples" / name, release.definitions), release)
    plane.settle()
    assert plane.refusals() == []
    return plane


@pytest.mark.parametrize("is_restarted", [False, True], ids=["crossplane-stays", "crossplane-restarts"])
@pytest.mark.parametrize("name", WORLDS)
def test_up_and_down_again(unpacked: Path, earlier: Release, today: Release, name: str, *, is_restarted: bool) -> None:
    plane = ran(unpacked, name, earlier)
    before, asked = plane.objects(), set(plane.asked)

    plane.install(today, is_restarted=is_restarted)
    assert plane.lost == set(), "today's definitions know every field of the earlier ones"
    assert plane.invalid() == []
    calls = plane.settle()
    after = plane.objects()
    found = judge.differences(before, after)
    assert judge.noticed(found) == []
    assert judge.unmeant(found, MEANT) == []
    assert plane.record.deletions == []
    assert plane.refusals() == []
    assert plane.invalid() == []
    assert plane.asked == asked, "rights on kinds that the earlier release did not ask for come after the upgrade"
    assert calls <= 6 * len(list(plane.composites())), "a status that is written anew ends"

    plane.install(earlier, is_restarted=is_restarted)
    assert plane.lost <= LOST
    assert plane.invalid() == []
    plane.settle()
    assert list(map(str, judge.differences(before, plane.objects()))) == []
    assert plane.record.deletions == []
    assert plane.refusals() == []

    plane.install(today, is_restarted=is_restarted)
    plane.settle()
    assert list(map(str, judge.differences(after, plane.objects()))) == []


@pytest.mark.parametrize("first", ["functions", "definitions"])
@pytest.mark.parametrize("name", WORLDS)
def test_functions_and_definitions_arrive_at_different_times(
    unpacked: Path, earlier: Release, today: Release, name: str, first: str
) -> None:
    plane = ran(unpacked, name, earlier)
    before = plane.objects()
    for release in (today, earlier):
        steps = [plane.run, plane.define]
        for install in steps if first == "functions" else reversed(steps):
            install(release)
            plane.settle()
            found = judge.differences(before, plane.objects())
            assert judge.noticed(found) == []
            assert judge.unmeant(found, MEANT) == []
    assert list(map(str, judge.differences(before, plane.objects()))) == []
    assert plane.record.deletions == []
    assert plane.refusals() == []


def test_every_meant_difference_is_one(unpacked: Path, earlier: Release, today: Release) -> None:
    found, lost = [], set[str]()
    for name in SHOWING:
        plane = ran(unpacked, name, earlier)
        before = plane.objects()
        plane.install(today)
        plane.settle()
        found += judge.differences(before, plane.objects())
        plane.install(earlier)
        lost |= plane.lost
    assert [row for row in MEANT if judge.unmeant(found, tuple({*MEANT} - {row})) == []] == []
    assert lost == LOST
