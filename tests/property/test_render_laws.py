"""Laws of a rendered world: it settles, depends on no order, and goes on from itself without a change."""

from __future__ import annotations

import functools
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from modelplane_cli.documents import yamltext
from modelplane_cli.output import manifests, outline, tree
from modelplane_cli.simulator import conditions, verdict
from modelplane_cli.simulator.offline import Assume, World
from modelplane_cli.simulator.store import Key
from tests.support import rendering
from tests.support.rendering import again, ours, running

Json = Any

EVERY = pytest.mark.parametrize("name", rendering.EXAMPLES)


@functools.cache
def settled(name: str) -> World:
    return rendering.world(rendering.example(name))


def as_yaml(world: World) -> str:
    return manifests.to_yaml(world.objects())


SHORT = {"quota"}
"""Examples in which something waits on purpose."""


@pytest.mark.parametrize("name", [name for name in rendering.EXAMPLES if name not in SHORT])
def test_every_example_is_served_completely(name: str) -> None:
    world = settled(name)
    assert not world.settled.record.bugs
    assert not verdict.failures(world)
    assert not world.settled.record.deletions


@EVERY
def test_a_second_run_is_byte_identical(name: str) -> None:
    second = rendering.world(rendering.example(name))
    assert as_yaml(second) == as_yaml(settled(name))
    assert manifests.to_json(second.objects()) == manifests.to_json(settled(name).objects())
    assert outline.text(tree.trees(second)) == outline.text(tree.trees(settled(name)))


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(name=st.sampled_from(rendering.EXAMPLES), order=st.randoms(use_true_random=False))
def test_the_order_of_documents_never_matters(name: str, order: random.Random) -> None:
    shuffled = rendering.example(name)
    order.shuffle(shuffled)
    assert as_yaml(rendering.world(shuffled)) == as_yaml(settled(name))


@EVERY
def test_the_output_read_back_in_changes_nothing(name: str) -> None:
    text = as_yaml(settled(name))
    read = [parsed.value for parsed in yamltext.read(text)]
    second = rendering.world(read)
    assert as_yaml(second) == text
    assert not second.settled.record.deletions
    assert not second.settled.record.bugs


@EVERY
def test_nothing_assumed_settles_too_and_places_the_same(name: str) -> None:
    """Without an address of its gateway no cluster may take a replica, and nothing is claimed to run."""
    world = rendering.world(rendering.example(name), Assume.NOTHING)
    assert not world.settled.record.bugs
    for key in world.store.of_kind("modelplane.ai", "ModelReplica"):
        assert (world.store.get(key) or {})["status"]["phase"] not in ("Running", "Degraded")
    for key in world.store.of_kind("modelplane.ai", "ModelDeployment"):
        found = conditions.find(world.store.get(key) or {}, "ReplicasReady")
        assert found is not None
        assert found["status"] != "True"


# --- scaling ----------------------------------------------------------------------------------------------------------

DEPLOYMENT = ours("ModelDeployment", "qwen3-8b", "ml-team")


def scaled(replicas: int) -> Any:
    def change(objects: dict[Key, Json]) -> None:
        objects[DEPLOYMENT]["spec"]["replicas"] = replicas

    return change


@pytest.mark.parametrize("wanted", [0, 1, 3, 5, 9])
def test_scaling_leaves_the_surviving_replicas_untouched(wanted: int) -> None:
    before = settled("quickstart")
    after = again(before, change=scaled(wanted))
    assert not after.settled.record.bugs
    assert len(rendering.names(after, "ModelReplica")) == wanted
    shed = [deletion for deletion in after.settled.record.deletions if deletion.key.kind == "ModelReplica"]
    assert len(shed) == max(0, 2 - wanted)
    survivors = set(running(before)) & set(running(after))
    if wanted >= 2:
        assert set(running(before)) <= set(running(after))
    for key in survivors:
        if key.kind != "HTTPRoute":  # the route of the service lists its backends, which did change
            assert running(after)[key] == running(before)[key], key


@settings(max_examples=4, deadline=None)
@given(st.lists(st.integers(2, 6), min_size=1, max_size=3))
def test_scaling_up_and_back_returns_to_the_same_set(path: list[int]) -> None:
    world = settled("quickstart")
    before = running(world)
    for wanted in [*path, 2]:
        world = again(world, change=scaled(wanted))
    assert running(world) == before


# --- loss -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cluster", ["gke-us", "eks-eu"])
def test_losing_a_cluster_moves_only_its_replicas(cluster: str) -> None:
    before = settled("quickstart")
    where = {
        key: (before.store.get(key) or {})["spec"]["clusterName"]
        for key in before.store.of_kind("modelplane.ai", "ModelReplica")
    }
    after = again(before, without=[ours("InferenceCluster", cluster)])
    assert not after.settled.record.bugs
    stays = {key for key, held_by in where.items() if held_by != cluster}
    for key in stays:
        assert rendering.without_crossplane((after.store.get(key) or {})["spec"]) == rendering.without_crossplane(
            (before.store.get(key) or {})["spec"]
        )
    assert len(rendering.names(after, "ModelReplica")) == 2
    assert all(
        (after.store.get(key) or {})["spec"]["clusterName"] != cluster
        for key in after.store.of_kind("modelplane.ai", "ModelReplica")
    )
    assert not verdict.failures(after)


# --- hold: what runs outlives whatever is broken around it ------------------------------------------------------------


def edit(kind: str, name: str, namespace: str = "", **spec: Json) -> Any:
    def change(objects: dict[Key, Json]) -> None:
        objects[ours(kind, name, namespace)]["spec"].update(spec)

    return change


def typo(objects: dict[Key, Json]) -> None:
    objects[DEPLOYMENT]["spec"]["nodeSelector"] = {"cel": 'device.capactiy["gpu.nvidia.com"].memory.size() > 0'}


def forget_status(kind: str) -> Any:
    def change(objects: dict[Key, Json]) -> None:
        for key, found in objects.items():
            if key.kind == kind:
                found.pop("status", None)

    return change


def forget_ledger(objects: dict[Key, Json]) -> None:
    for key, found in objects.items():
        if key.kind == "InferenceCluster":
            found["status"] = {name: value for name, value in found["status"].items() if name == "conditions"}


def not_ready(kind: str) -> Any:
    """An observation that something is down, which no assumption overrules."""

    def change(objects: dict[Key, Json]) -> None:
        for key, found in objects.items():
            if key.kind == kind:
                found["metadata"]["annotations"].pop("render.modelplane.ai/assumed", None)
                for entry in found["status"].get("conditions", []):
                    if entry["type"] != "Synced":
                        entry["status"] = "False"

    return change


def empty_objects(objects: dict[Key, Json]) -> None:
    """The providers have restarted and observed nothing yet."""
    for key, found in objects.items():
        if key.kind == "Object":
            found["metadata"]["annotations"].pop("render.modelplane.ai/assumed", None)
            found["status"] = {"conditions": [{"type": "Synced", "status": "False", "reason": "ReconcileError"}]}


def taint(objects: dict[Key, Json]) -> None:
    for key, found in objects.items():
        if key.kind == "InferenceCluster":
            found["spec"]["taints"] = [{"key": "full", "value": "yes", "effect": "NoSchedule"}]


def unlabel(objects: dict[Key, Json]) -> None:
    for key, found in objects.items():
        if key.kind == "InferenceCluster":
            found["metadata"]["labels"] = {}


def shrink(objects: dict[Key, Json]) -> None:
    for key, found in objects.items():
        if key.kind == "InferenceCluster":
            found["spec"]["nodePools"][0]["nodeCount"] = 0


def bad_template(objects: dict[Key, Json]) -> None:
    container = objects[DEPLOYMENT]["spec"]["workers"]["template"]["spec"]["containers"][0]
    container["args"] = ["--tensor-parallel-size=4"]


BROKEN = [
    pytest.param(typo, (), "InvalidNodeSelector", id="a typo in the selector"),
    pytest.param(None, (ours("InferenceClass", "l4-1x"),), "", id="a class is gone"),
    pytest.param(None, (ours("InferenceClass", "l4-1x"), ours("InferenceClass", "h100-8x")), "", id="all classes gone"),
    pytest.param(forget_ledger, (), "", id="the clusters have forgotten their ledgers"),
    pytest.param(empty_objects, (), "", id="the providers observe nothing"),
    pytest.param(not_ready("Object"), (), "", id="every remote object is unready"),
    pytest.param(not_ready("Backend"), (), "", id="the gateway refuses the backends"),
    pytest.param(taint, (), "", id="every cluster is tainted against newcomers"),
    pytest.param(unlabel, (), "", id="every cluster has lost its labels"),
    pytest.param(shrink, (), "", id="every pool has shrunk to nothing"),
    pytest.param(bad_template, (), "", id="the flags contradict the topology"),
    pytest.param(
        edit("ModelDeployment", "qwen3-8b", "ml-team", clusterSelector={"matchLabels": {"nowhere": "x"}}),
        (),
        "",
        id="the cluster selector matches nothing any more",
    ),
    pytest.param(
        edit("ModelService", "qwen3-8b", "ml-team", endpoints=[{"selector": {"matchLabels": {"nobody": "x"}}}]),
        (),
        "",
        id="the service matches nothing any more",
    ),
]


@pytest.mark.parametrize(("change", "without", "reason"), BROKEN)
def test_what_runs_outlives_a_broken_input(change: Any, without: tuple[Key, ...], reason: str) -> None:
    before = settled("quickstart")
    after = again(before, change=change, without=without)
    assert not after.settled.record.bugs
    assert not after.settled.record.deletions
    missing = set(running(before)) - set(running(after))
    assert not missing
    for key, spec in running(before).items():
        if key.kind == "Object":
            assert running(after)[key] == spec, key
    if reason:
        said = {entry["reason"] for entry in (after.store.get(DEPLOYMENT) or {})["status"]["conditions"]}
        assert reason in said


def test_a_deployment_that_is_removed_takes_its_replicas_and_nothing_else() -> None:
    before = settled("canary")
    after = again(before, without=[ours("ModelDeployment", "gpt-oss-canary", "chat")])
    assert not after.settled.record.bugs
    assert sorted(rendering.names(after, "ModelReplica")) == ["gpt-oss-0", "gpt-oss-1", "gpt-oss-2"]
    cluster = (after.store.get(ours("InferenceCluster", "on-prem")) or {})["status"]
    assert cluster["admitted"] == ["chat/gpt-oss-0", "chat/gpt-oss-1", "chat/gpt-oss-2"]
