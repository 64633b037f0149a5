"""The serving stack of an InferenceCluster: whether there is one, what it is told, and that nothing takes it away."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from modelplane_functions import cluster_stack
from modelplane_functions.exchange import Outcome, Truth
from tests.support.cluster_world import Running

Json = Any
CONFIG = "helm-config"


def told(outcome: Outcome) -> Any:
    return next(one for one in outcome.conditions if one.type == "StackReady")


def running(*, served: bool = True, **stack: Json) -> Running:
    world = Running()
    world.cluster["spec"]["stack"] = {"install": True, **stack}
    world.kinds = {"Release", "ServingStack", "ObservedObjectCollection"} if served else set()
    return world


def spec(outcome: Outcome) -> Json:
    return outcome.children[cluster_stack.KEY].resource["spec"]


def test_an_existing_cluster_gets_a_stack_only_where_one_is_asked_for() -> None:
    world = running()
    for stack in ({}, {"install": False}, {"versions": {"kserve": "v0.20.0"}}):
        world.cluster["spec"]["stack"] = stack
        outcome = world.compose()
        assert not {cluster_stack.KEY, CONFIG} & outcome.children.keys()
        assert "releases" not in outcome.kinds
        assert told(outcome).reason == "NotManaged"


def _of_earlier_version() -> Running:
    """Return a cluster on which an earlier version reported, with the default that it wrote and nothing installed."""
    world = running()
    del world.cluster["status"]["stack"]
    world.step()
    return world


def test_a_default_of_an_earlier_version_installs_nothing() -> None:
    world = _of_earlier_version()
    for _ in range(3):
        assert not {cluster_stack.KEY, CONFIG} & world.step().children.keys()
    assert world.cluster["status"]["stack"] == {"install": False, "asked": True}


@pytest.mark.parametrize(
    "edits",
    [
        pytest.param([{"install": False}, {"install": True}], id="off and on again"),
        pytest.param([{"install": True, "components": {"kserve": "Managed"}}], id="a component"),
        pytest.param([{"install": True, "versions": {"kserve": "v0.20.0"}}], id="a version"),
    ],
)
def test_its_author_installs_one_by_a_word_of_his_own(edits: list[Json]) -> None:
    world = _of_earlier_version()
    for stack in edits:
        world.cluster["spec"]["stack"] = stack
        outcome = world.step()
    assert cluster_stack.KEY in outcome.children


@pytest.mark.parametrize("unserved", ["Release", "ServingStack"])
def test_nothing_is_composed_before_its_definition_is_there(unserved: str) -> None:
    world = running()
    assert world.kinds is not None
    world.kinds -= {unserved}
    outcome = world.step()
    assert not {cluster_stack.KEY, CONFIG} & outcome.children.keys()
    assert told(outcome).reason == "ProviderMissing"


def test_what_the_cluster_needs_is_handed_over() -> None:
    outcome = running(gpuDriverRoot="/run/nvidia/driver", versions={"kserve": "v0.20.1"}).step()
    made = spec(outcome)
    assert made["kubernetesConfig"] == made["helmConfig"] == {"kind": "ClusterProviderConfig", "name": "modelplane-a"}
    assert made["components"] == [
        {"name": "certManager"},
        {"name": "dra", "variants": ["gpu.nvidia.com"]},
        {"name": "gateway"},
        {"name": "kserve", "version": "v0.20.1"},
        {"name": "leaderWorkerSet"},
    ]
    assert made["gpuDriverRoot"] == "/run/nvidia/driver"
    assert made["criticalPriorityQuota"] is True, "it may be GKE, and harms nowhere"
    assert made["gateway"] == {"name": "modelplane", "namespace": "modelplane-system", "listener": "http"}


def test_helm_gets_the_same_secret_and_nobody_reads_it() -> None:
    outcome = running().step()
    helm, kubernetes = (outcome.children[key].resource for key in (CONFIG, "provider-config"))
    assert helm["apiVersion"] == "helm.m.crossplane.io/v1beta1"
    assert helm["spec"] == kubernetes["spec"]
    assert all(one.kind != "Secret" for one in outcome.requirements.values())


def test_an_adopted_configuration_is_named_and_not_made() -> None:
    world = running()
    world.cluster["spec"]["cluster"]["existing"] = {"providerConfigRef": {"name": "theirs"}}
    outcome = world.compose()
    assert CONFIG not in outcome.children
    assert spec(outcome)["helmConfig"] == {"kind": "ClusterProviderConfig", "name": "theirs"}


def test_without_provider_helm_nothing_of_a_kind_that_is_not_served_is_composed() -> None:
    world = running(served=False)
    outcome = world.step()
    assert not {cluster_stack.KEY, CONFIG} & outcome.children.keys()
    assert told(outcome).reason == "ProviderMissing"
    assert "install provider-helm" in told(outcome).message
    assert len(outcome.status["admitted"]) == 3, "what runs is not touched"


def test_a_stack_that_exists_needs_no_answer() -> None:
    world = running()
    world.step()
    world.kinds = None
    assert {cluster_stack.KEY, CONFIG} <= world.compose().children.keys()


@pytest.mark.parametrize(
    "breaks",
    [
        pytest.param(lambda one: one.classes.clear(), id="the-class"),
        pytest.param(lambda one: one.cluster["spec"].update(backends=["Native"]), id="the-backend"),
        pytest.param(lambda one: one.cluster["spec"]["nodePools"].clear(), id="the-pool"),
        pytest.param(lambda one: one.cluster.pop("status"), id="the-status"),
        pytest.param(lambda one: one.replicas.clear(), id="the-replicas"),
        pytest.param(lambda one: setattr(one, "kinds", set()), id="the-provider"),
        pytest.param(lambda one: one.cluster["spec"]["stack"].pop("install"), id="the-wish"),
        pytest.param(lambda one: one.cluster["spec"]["stack"].update(versions={"kserv": "1.2.3"}), id="a-version"),
    ],
)
def test_no_input_that_blinks_takes_a_component_away(breaks: Any) -> None:
    world = running()
    before = spec(world.step())["components"]
    breaks(world)
    outcome = world.compose()
    assert CONFIG in outcome.children
    after = {one["name"]: one for one in spec(outcome)["components"]}
    assert all(set(one.get("variants", [])) <= set(after[one["name"]].get("variants", [])) for one in before)


def test_a_version_that_is_none_is_told_and_changes_nothing() -> None:
    world = running()
    before = spec(world.step())
    world.cluster["spec"]["stack"]["versions"] = {"kserve": "newest"}
    outcome = world.compose()
    assert spec(outcome) == before
    assert told(outcome).status is Truth.FALSE
    assert told(outcome).reason == "InvalidInput"
    assert "spec.stack.versions.kserve: 'newest' is not a version of a chart" in told(outcome).message
    assert len(outcome.status["admitted"]) == 3


def test_the_author_has_the_last_word_on_a_component() -> None:
    world = running()
    world.step()
    world.cluster["spec"]["stack"]["components"] = {"certManager": "External", "metrics": "Managed"}
    found = {one["name"]: one for one in spec(world.compose())["components"]}
    assert found["certManager"]["mode"] == "External"
    assert found["metrics"]["mode"] == "Managed"


def test_the_condition_is_that_of_the_stack_and_unsettles_nothing() -> None:
    world = running()
    assert told(world.step()).reason == "Installing"
    child = world.children[cluster_stack.KEY]
    failed = {"type": "StackReady", "status": "False", "reason": "InstallFailed", "message": "kserve: timed out"}
    child["status"] = {"conditions": [failed]}
    outcome = world.compose()
    assert (told(outcome).status, told(outcome).reason) == (Truth.FALSE, "InstallFailed")
    assert told(outcome).message == "kserve: timed out"
    assert str(outcome.ready) == "True", "no upgrade of a chart unschedules anything"


def test_switching_it_off_uninstalls_nothing_and_says_so() -> None:
    world = running()
    world.step()
    world.cluster["spec"]["stack"] = {"install": False}
    outcome = world.compose()
    assert {cluster_stack.KEY, CONFIG} <= outcome.children.keys()
    assert "which uninstalls nothing" in told(outcome).message


def test_a_cluster_that_is_gone_is_abandoned_by_an_annotation() -> None:
    world = running()
    world.step()
    world.cluster["metadata"]["annotations"] = {"modelplane.ai/abandon": "true"}
    assert spec(world.compose())["abandon"] is True
    world.cluster["metadata"]["annotations"] = {"modelplane.ai/abandon": "yes"}
    assert "abandon" not in spec(world.compose())


def test_a_cluster_that_is_gone_is_abandoned_whatever_is_wrong_with_its_stack() -> None:
    """A deletion would wait for the cluster for ever, and its author was told that everything is kept."""
    world = running()
    before = spec(world.step())
    world.cluster["spec"]["stack"]["versions"] = {"kserve": "newest"}
    world.cluster["metadata"]["annotations"] = {"modelplane.ai/abandon": "true"}
    assert spec(world.step()) == {**before, "abandon": True}
    del world.cluster["metadata"]["annotations"]
    assert spec(world.compose()) == before


def test_the_objects_of_its_stack_keep_no_unused_cluster_from_being_deleted() -> None:
    world = running()
    world.replicas.clear()
    world.cluster.pop("status")
    for _ in range(3):
        world.step()
    used = copy.deepcopy(world.children)
    ours = 1 + sum(key.startswith("serves-") for key in used)
    used["provider-config"]["status"] = {"users": ours + 20}
    world.children = used
    assert "in-use" in world.compose().children
    used[cluster_stack.KEY]["status"] = {"objects": 20}
    assert "in-use" not in world.compose().children
