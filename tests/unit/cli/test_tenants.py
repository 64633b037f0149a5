"""Namespaces that clusters allow, in the commands: offline the labels come from Namespace documents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support import planning as given
from tests.support import routing

Json = Any
TEAM = "ml-team"
PROD = {"matchLabels": {"tier": "prod"}}


def namespace(name: str = TEAM, **labels: str) -> Json:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def world(allowed: Json, *more: Json) -> list[Json]:
    cluster = given.cluster("a")
    cluster["spec"]["allowedNamespaces"] = allowed
    return [given.node_class(), cluster, given.deployment("llama", replicas=1, tensor=8), *more]


@pytest.mark.parametrize(
    ("allowed", "more", "placed", "says"),
    [
        pytest.param({"names": [TEAM]}, (), 1, "", id="by name"),
        pytest.param({"names": ["x"]}, (), 0, "namespace {} not allowed", id="not by name"),
        pytest.param(PROD, (namespace(tier="prod"),), 1, "", id="by label"),
        pytest.param(PROD, (namespace(tier="dev"),), 0, "namespace {} not allowed", id="not by label"),
        pytest.param(PROD, (), 0, "labels of Namespace {} unknown", id="without the document"),
        pytest.param(PROD, (namespace("x", tier="prod"),), 0, "labels of Namespace {} unknown", id="of another"),
    ],
)
def test_plan_and_explain_tell_who_may_place_where(
    tmp_path: Path, allowed: Json, more: tuple[Json, ...], placed: int, says: str
) -> None:
    file = given.written(tmp_path, "now", *world(allowed, *more))
    planned = given.run("plan", file, "-o", "json").json
    assert [one["placed"] for one in planned["deployments"]] == [placed]
    explained = given.run("explain", file, "md/llama", "-n", TEAM)
    assert says.format(TEAM) in explained.out
    assert (f"it allowed the namespace {TEAM}" in explained.out) == (not placed)


@pytest.mark.parametrize(
    ("more", "count"),
    [pytest.param((), 1, id="no Namespace"), pytest.param((namespace(tier="dev"),), 0, id="the Namespace")],
)
def test_validate_asks_for_the_namespace_whose_labels_decide(
    tmp_path: Path, more: tuple[Json, ...], count: int
) -> None:
    done = given.run("validate", given.written(tmp_path, "now", *world(PROD, *more)))
    said = f"Namespace {TEAM} is not among the documents, so its labels are not known"
    assert ((done.out + done.err).count(said), done.code) == (count, 0)


def test_validate_asks_for_it_at_a_service_too(tmp_path: Path) -> None:
    gateway, service = routing.inference_gateway(), routing.model_service(routing.group(deployment="llama"))
    gateway = {part: gateway[part] for part in ("apiVersion", "kind", "metadata", "spec")}
    gateway["spec"]["allowedNamespaces"] = PROD
    done = given.run("validate", given.written(tmp_path, "now", gateway, service))
    said = "so its labels are not known, and nothing of it is routed on InferenceGateway default"
    assert (said in done.out + done.err, done.code) == (True, 0)


def test_status_shows_a_cluster_whose_list_was_narrowed(tmp_path: Path) -> None:
    objects = world({"names": ["x"]})
    told = {"type": "NamespacesAllowed", "status": "False", "reason": "NamespaceNotAllowed", "message": "of ml-team"}
    objects[1]["status"] = {"conditions": [{**told, "lastTransitionTime": "2026-01-01T00:00:00Z"}]}
    done = given.run("status", given.written(tmp_path, "now", *objects))
    assert "InferenceCluster/a" in done.out or "a " in done.out
    assert "NamespaceNotAllowed" in done.out
