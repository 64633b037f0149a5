"""A reason added from outside: one row, given by a rule that only these tests know."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from modelplane.placement.decision import Reason, Telling
from modelplane.placement.scheduling import filters
from modelplane.placement.scheduling.filters import Refusal
from modelplane.placement.snapshot import Cluster, Intent
from tests.support import planning as given
from tests.support import rendering

Json = Any
AWAY = Reason("ToysAway", order=75, distance=5, telling=Telling.DETAIL, condition="NoToys")
SILENT = Reason("ToysAsleep", order=5, distance=200)


def _away(monkeypatch: pytest.MonkeyPatch, reasons: dict[str, Reason]) -> None:
    """Let the toys of some clusters be away, before anything else is asked of them."""
    asked = filters.refusal

    def refusal(cluster: Cluster, intent: Intent) -> Refusal | None:
        reason = reasons.get(cluster.name)
        return asked(cluster, intent) if reason is None else Refusal(reason, "look in the attic", "toys not there")

    monkeypatch.setattr(filters, "refusal", refusal)


def _objects(replicas: int = 1) -> list[Json]:
    clusters = [given.cluster(name, nodes=1) for name in ("a", "b", "c")]
    return [given.node_class(), *clusters, given.deployment(replicas=replicas, tensor=8)]


def _deployment(replicas: int = 1) -> Json:
    return rendering.world(_objects(replicas)).store.get(rendering.ours("ModelDeployment", "llama", "ml-team"))


def test_it_is_counted_worded_and_becomes_the_conditions_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    _away(monkeypatch, {"a": AWAY, "b": AWAY, "c": SILENT})
    status = _deployment()["status"]
    assert [(one["reason"], one["count"], one["clusters"]) for one in status["unschedulable"]["reasons"]] == [
        ("ToysAway", 2, ["a", "b"]),
        ("ToysAsleep", 1, ["c"]),
    ]
    assert status["unschedulable"]["message"] == (
        "0/3 clusters fit: 2 toys not there (closest: a: look in the attic), 1 toys not there"
    )
    scheduled = next(one for one in status["conditions"] if one["type"] == "ReplicasScheduled")
    assert scheduled["reason"] == "NoToys", "the one of greater order came nearer to a fit"


def test_without_a_condition_of_its_own_it_stands_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    _away(monkeypatch, dict.fromkeys(("a", "b", "c"), SILENT))
    scheduled = next(one for one in _deployment()["status"]["conditions"] if one["type"] == "ReplicasScheduled")
    assert scheduled["reason"] == "ToysAsleep"


def test_explain_shows_it_for_its_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _away(monkeypatch, {"a": AWAY})
    file = given.written(tmp_path, "now", *_objects(replicas=3))
    ran = given.run("explain", file, "md/llama", "-n", "ml-team", "-o", "json")
    assert {one["cluster"]: one["reason"] for one in ran.json["clusters"]} == {
        "a": "ToysAway",
        "b": "InsufficientDevices",
        "c": "InsufficientDevices",
    }
    assert ran.json["closest"]["cluster"] in ("b", "c"), "no change is known that brings the toys back"
    told = given.run("explain", file, "md/llama", "-n", "ml-team")
    assert "ToysAway" in told.out
    assert "look in the attic" in told.out
