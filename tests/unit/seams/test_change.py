"""A change added from outside: one class with `apply` and `describe`, entered for the reason that it takes away."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from modelplane.placement.decision import Change, Reason, World
from modelplane.placement.diagnosis import counterfactual
from modelplane.placement.scheduling import filters
from modelplane.placement.scheduling.filters import Refusal
from modelplane.placement.snapshot import Cluster, Intent
from tests.support import planning as given

Json = Any
DARK = Reason("TooDark", order=75, distance=5)


@dataclass(frozen=True, slots=True)
class Lamps(Change):
    """The cluster has so many lamps."""

    count: int

    def apply(self, world: World) -> World:
        labels = {**world.cluster.labels, "lamps": str(self.count)}
        return replace(world, cluster=replace(world.cluster, labels=labels))

    def describe(self, *, roles: int) -> str:
        return f"it had {self.count} lamps"


@pytest.fixture
def _dark(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every cluster be too dark that has fewer than two lamps."""
    asked = filters.refusal

    def refusal(cluster: Cluster, intent: Intent) -> Refusal | None:
        lamps = int(cluster.labels.get("lamps", 0))
        return Refusal(DARK, f"it has {lamps} lamps", "too dark") if lamps < 2 else asked(cluster, intent)

    monkeypatch.setattr(filters, "refusal", refusal)


def _closest(tmp_path: Path, nodes: int = 2) -> Json:
    objects = [given.node_class(), given.cluster("a", nodes=nodes), given.deployment(replicas=1, tensor=8)]
    file = given.written(tmp_path, "now", *objects)
    return given.run("explain", file, "md/llama", "-n", "ml-team", "-o", "json").json["closest"]


@pytest.mark.usefixtures("_dark")
def test_it_is_made_checked_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(counterfactual.STEPS, DARK, lambda _board, _name: Lamps(2))
    closest = _closest(tmp_path)
    assert (closest["wouldFitIf"], closest["misses"]) == ("it had 2 lamps", ["TooDark: it has 0 lamps"])
    assert closest["change"] == []
    assert closest["notInDocuments"] == ["no change of a document is known for it: it had 2 lamps"]


@pytest.mark.usefixtures("_dark")
def test_it_stands_beside_the_changes_that_are_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(counterfactual.STEPS, DARK, lambda _board, _name: Lamps(2))
    assert _closest(tmp_path, nodes=0)["wouldFitIf"] == "it had 2 lamps and pool gpu had 1 more free node"


@pytest.mark.usefixtures("_dark")
def test_one_that_does_not_help_is_not_claimed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(counterfactual.STEPS, DARK, lambda _board, _name: Lamps(1))
    assert _closest(tmp_path) is None
