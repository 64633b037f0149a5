"""ModelReplica: when it renders, and that nothing that runs is ever dropped."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from modelplane.api import admissions
from modelplane.api import replica as replicas
from modelplane.errors import InvalidInput, Unsupported
from modelplane.placement import demand
from modelplane.render.backends import selection
from modelplane.render.schedulers import selection as schedulers
from modelplane.topology.shape import Topology
from modelplane.workload.model import EngineType, Model, Override, Replica, Role
from modelplane_functions.compose import model_replica
from modelplane_functions.exchange import Observed, Outcome, Ready
from tests.support import replica_world as world
from tests.support import replicas as build

KEYS = {"namespace", "workload", "route"}


def _kinds(outcome: Outcome) -> list[str]:
    return sorted(child.resource["spec"]["forProvider"]["manifest"]["kind"] for child in outcome.children.values())


# --- when it renders --------------------------------------------------------------------------------------------------


def test_the_cluster_is_asked_for_on_every_call_and_nothing_is_decided_before_it_came() -> None:
    outcome = model_replica.compose(Observed(world.composite()))
    assert {key: value.name for key, value in outcome.requirements.items()} == {"cluster": "gke-us"}
    assert not outcome.children
    assert world.compose(world.composite(), world.cluster()).requirements == outcome.requirements


@pytest.mark.parametrize(
    ("store", "admitted", "says"),
    [
        pytest.param([], ("Unknown", "ClusterMissing"), "create it", id="no cluster"),
        pytest.param(
            [world.cluster(admits=False)],
            ("Unknown", "WaitingForAdmission"),
            "waiting for cluster",
            id="no verdict yet",
        ),
        pytest.param(
            [
                world.cluster(
                    admits=False,
                    refused=[
                        {"replica": "ml-team/llama-0", "reason": "InsufficientDevices", "message": "8 wanted, 4 free"}
                    ],
                )
            ],
            ("False", "InsufficientDevices"),
            "8 wanted, 4 free",
            id="refused",
        ),
        pytest.param(
            [world.cluster(admits=False, admitted=["other/llama-0", "ml-team/llama-00"])],
            ("Unknown", "WaitingForAdmission"),
            "waiting for cluster",
            id="others are admitted",
        ),
    ],
)
def test_nothing_is_rendered_before_the_cluster_admits(store: list[Any], admitted: tuple[str, str], says: str) -> None:
    outcome = world.compose(world.composite(), *store)
    assert not outcome.children
    assert outcome.status["phase"] == "Pending"
    assert world.conditions(outcome)["Admitted"] == admitted
    assert says in world.message(outcome, "Admitted")
    assert world.conditions(outcome)["Serving"] == ("False", "NotRendered")
    assert outcome.ready is Ready.FALSE


def test_an_admitted_replica_waits_for_the_way_to_its_cluster() -> None:
    outcome = world.compose(world.composite(), world.without(world.cluster(), "status", "providerConfigRef"))
    assert not outcome.children
    assert outcome.status["phase"] == "Admitted"
    assert "providerConfigRef" in world.message(outcome, "WorkloadReady")


def test_an_admitted_replica_is_rendered_through_the_clusters_provider_configuration() -> None:
    outcome = world.compose(world.composite(), world.cluster())
    assert _kinds(outcome) == ["HTTPRoute", "LLMInferenceService", "Namespace", "ResourceClaimTemplate"]
    for child in outcome.children.values():
        assert child.resource["spec"]["providerConfigRef"] == {
            "kind": "ClusterProviderConfig",
            "name": "modelplane-gke-us",
        }
        assert child.resource["spec"]["watch"] is True
        assert child.resource["metadata"]["namespace"] == "ml-team"
        assert child.ready is Ready.FALSE
    assert outcome.status["phase"] == "Starting"
    assert world.conditions(outcome)["WorkloadReady"] == ("Unknown", "NotObserved")


def test_the_shared_namespace_may_never_be_deleted_with_a_replica() -> None:
    namespace = world.compose(world.composite(), world.cluster()).children["namespace"].resource
    assert namespace["spec"]["managementPolicies"] == ["Observe", "Create", "Update"]


def test_a_pool_that_the_cluster_does_not_have_renders_nothing() -> None:
    outcome = world.compose(world.composite(world.replica(world.role(pool="gone"))), world.cluster())
    assert not outcome.children
    assert "no pool gone" in world.message(outcome, "WorkloadReady")


# --- law 1: what runs is held -----------------------------------------------------------------------------------------


def test_nothing_is_started_past_a_queue_that_is_not_offered() -> None:
    queued = world.cluster()
    queued["spec"]["scheduler"] = {"type": "Kueue", "queueName": "serving"}
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(schedulers.SCHEDULERS, "Kueue")
        outcome = world.compose(world.composite(), queued)
    assert not outcome.children
    said = next(condition.message for condition in outcome.conditions if condition.type == "Serving")
    assert said == "spec.scheduler Kueue of cluster gke-us is not supported yet"


def _queue(cluster: Any) -> Any:
    cluster["spec"]["scheduler"] = {"type": "Kueue", "queueName": "serving"}
    return cluster


def _pools(cluster: Any) -> Any:
    cluster["spec"]["nodePools"] = [{"name": "other", "className": "x", "nodeCount": 1}]
    return cluster


def _other_nodes(cluster: Any) -> Any:
    cluster["spec"]["nodePools"][0]["nodeSelector"] = {"mistyped": "label"}
    cluster["spec"]["nodePools"][0]["taints"] = [{"key": "drain", "effect": "NoSchedule"}]
    return cluster


def _refusal(cluster: Any) -> Any:
    cluster["status"]["admitted"] = []
    cluster["status"]["refused"] = [{"replica": "ml-team/llama-0", "reason": "Overcommitted", "message": "x"}]
    return cluster


@pytest.mark.parametrize(
    "store",
    [
        pytest.param([], id="the cluster is missing"),
        pytest.param([{**world.cluster(), "status": {}}], id="its status is empty"),
        pytest.param([world.without(world.cluster(), "status")], id="it has no status"),
        pytest.param([world.without(world.cluster(), "status", "admitted")], id="it admits nobody"),
        pytest.param([_refusal(world.cluster())], id="it refuses what it had admitted"),
        pytest.param([world.without(world.cluster(), "status", "providerConfigRef")], id="no provider configuration"),
        pytest.param([world.without(world.cluster(), "status", "gateway")], id="no gateway address"),
        pytest.param([_pools(world.cluster())], id="the pool is gone"),
        pytest.param([_queue(world.cluster())], id="it got a queue"),
        pytest.param([_other_nodes(world.cluster())], id="the pool's nodes are described differently"),
        pytest.param([world.without(world.cluster(), "spec", "gateway")], id="the gateway is not named"),
        pytest.param([world.without(world.cluster(), "spec", "nodePools")], id="it has no pools"),
    ],
)
@pytest.mark.parametrize(
    "value",
    [
        pytest.param(None, id="one node"),
        pytest.param(world.replica(world.role(topology=Topology(tensor=8, pipeline=2))), id="gang"),
        pytest.param(world.replica(world.role(), world.role(Role.PREFILL)), id="disaggregated"),
    ],
)
def test_hold_no_desired_child_disappears_and_no_pod_changes(store: list[Any], value: Replica | None) -> None:
    document, children = world.running(value)
    before = copy.deepcopy((document, children))
    outcome = world.compose(document, *copy.deepcopy(store), children=children)
    assert outcome.children.keys() == children.keys()
    for key, child in outcome.children.items():
        if key not in ("route", "namespace"):  # what routes may follow the cluster, and what schedulers look for
            assert child.resource["spec"] == children[key]["spec"], key
        assert child.ready is Ready.TRUE
    assert world.conditions(outcome)["Admitted"][0] == "True"
    assert outcome.status["phase"] == "Running"
    assert (document, children) == before, "the composer changed what it was given"


def test_the_workload_comes_after_the_preset_that_its_controller_looks_for_once() -> None:
    gang = world.replica(world.role(topology=Topology(tensor=8, pipeline=2)))
    first = world.compose(world.composite(gang), world.cluster())
    assert "preset-decode" in first.children
    assert "workload" not in first.children
    assert "the workload is created once preset-decode exists" in world.message(first, "WorkloadReady")
    assert first.status["phase"] == "Starting"
    children = world.applied(first)
    there = world.compose(world.composite(gang, first.status), world.cluster(), children=children)
    assert there.children.keys() == {*first.children, "workload"}
    # What runs stays, whatever becomes of the preset.
    document, children = world.running(gang)
    children["preset-decode"]["status"]["conditions"] = []
    assert "workload" in world.compose(document, world.cluster(), children=children).children
    del children["preset-decode"]
    assert "workload" in world.compose(document, world.cluster(), children=children).children


def test_objects_that_still_go_say_nothing_of_the_replica_that_took_their_name() -> None:
    _, children = world.running()
    for child in children.values():
        child["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    outcome = world.compose(world.composite(), world.cluster(), children=children)
    assert outcome.children.keys() == children.keys(), "they are asked for again, and made once the old ones are gone"
    assert all(child.ready is Ready.FALSE for child in outcome.children.values())
    assert world.conditions(outcome)["Serving"][0] != "True"
    assert outcome.status["phase"] == "Starting"
    # One that goes takes none of the others with it, not even where nothing can be rendered anew.
    _, others = world.running()
    others["workload"]["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert world.compose(world.composite(), children=others).children.keys() == others.keys() - {"workload"}
    unadmitted = world.compose(world.composite(), world.cluster(admits=False), children=children)
    assert not unadmitted.children, "they do not bind a replica that no cluster has admitted"


def test_hold_a_replica_that_became_invalid_is_refused_before_anything_is_deleted() -> None:
    _, children = world.running()
    broken = world.replica(world.role(pod_template=build.template(engine={"args": ["-tp", "4"]})))
    with pytest.raises(InvalidInput) as caught:
        world.compose(world.composite(broken), world.cluster(), children=children)
    assert caught.value.path[:5] == ("spec", "workers", "template", "spec", "containers")


GRACE = {"spec": {"template": {"terminationGracePeriodSeconds": 300}}}


@pytest.mark.parametrize(
    "overrides",
    [
        pytest.param(None, id="missing"),
        pytest.param([], id="emptied"),
        pytest.param("x", id="of another type"),
        pytest.param([7], id="an entry of another type"),
        pytest.param([{"backend": "KServe"}], id="no patch"),
        pytest.param([{"patch": GRACE}], id="no backend"),
        pytest.param([{"backend": "KServe", "patch": "x"}], id="a patch of another type"),
        pytest.param([{"backend": "KServe", "patch": {"spec": {"replicas": 0}}}], id="a field that is not listed"),
        pytest.param([{"backend": "Unheard", "patch": GRACE}], id="of an unknown backend"),
        pytest.param([{"backend": "KServe", "patch": {**GRACE, "metadata": {}}}], id="a patch of more"),
    ],
)
@pytest.mark.parametrize("is_recorded", [True, False], ids=["recorded", "admitted without a record"])
def test_hold_an_edited_override_removes_nothing_and_is_not_rendered(overrides: Any, *, is_recorded: bool) -> None:
    value = world.replica(overrides=(Override("KServe", GRACE),))
    document, children = world.running(value)
    manifest = children["workload"]["spec"]["forProvider"]["manifest"]
    assert manifest["spec"]["template"]["terminationGracePeriodSeconds"] == 300
    cluster = world.cluster()
    if is_recorded:
        record = admissions.Record(admissions.uid_of(document), replicas.fingerprint(value), demand.held(value))
        cluster["status"]["admissions"] = admissions.encode({"ml-team/llama-0": record})
    document["spec"] = {**document["spec"], "overrides": overrides}
    if overrides is None:
        del document["spec"]["overrides"]
    try:
        outcome = world.compose(document, cluster, children=children)
    except InvalidInput:
        return  # a FATAL result: nothing is applied
    assert outcome.children.keys() == children.keys()
    if is_recorded:
        found = {key: child.resource["spec"] for key, child in outcome.children.items()}
        assert found == {key: child["spec"] for key, child in children.items()}


def test_an_unknown_backend_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "BACKENDS", {})
    with pytest.raises(Unsupported):
        world.compose(world.composite(world.replica(backend="Dynamo")), world.cluster())


# --- what renders anew ------------------------------------------------------------------------------------------------


def test_priority_restarts_nothing() -> None:
    _, children = world.running()
    outcome = world.compose(
        world.composite(world.replica(priority=7)), _other_nodes(world.cluster()), children=children
    )
    assert outcome.children["workload"].resource["spec"] == children["workload"]["spec"]


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param(world.replica(world.role(pod_template=build.template("vllm/vllm-openai:v0.24.0"))), id="image"),
        pytest.param(world.replica(model=Model("llama", "hf://a/b")), id="model"),
        pytest.param(world.replica(world.role(workers=2)), id="workers"),
    ],
)
def test_a_replica_that_says_something_else_is_rendered_anew(changed: Replica) -> None:
    _, children = world.running()
    outcome = world.compose(world.composite(changed), world.cluster(), children=children)
    assert outcome.children["workload"].resource["spec"] != children["workload"]["spec"]


def test_a_lost_object_is_made_again() -> None:
    document, children = world.running()
    claims = next(key for key in children if key.startswith("claims-"))
    del children[claims]
    assert claims in world.compose(document, world.cluster(), children=children).children


def test_the_route_follows_the_clusters_gateway_while_pods_stay() -> None:
    document, children = world.running()
    cluster = world.cluster()
    cluster["spec"]["gateway"]["name"] = "new"
    outcome = world.compose(document, cluster, children=children)
    route = outcome.children["route"].resource["spec"]["forProvider"]["manifest"]
    assert route["spec"]["parentRefs"][0]["name"] == "new"
    assert outcome.children["workload"].resource["spec"] == children["workload"]["spec"]


def test_what_runs_is_reached_through_the_configuration_of_today() -> None:
    document, children = world.running()
    cluster = _other_nodes(world.cluster(providerConfigRef={"kind": "ClusterProviderConfig", "name": "rotated"}))
    outcome = world.compose(document, cluster, children=children)
    names = {child.resource["spec"]["providerConfigRef"]["name"] for child in outcome.children.values()}
    assert names == {"rotated"}


def test_the_same_question_has_one_answer() -> None:
    document, children = world.running(world.replica(world.role(), world.role(Role.PREFILL)))
    answers = [world.compose(document, world.cluster(), children=order) for order in _orders(children)]
    assert answers[0] == answers[1]
    assert list(answers[0].children) == list(answers[1].children)


def _orders(children: Any) -> tuple[Any, Any]:
    return children, dict(reversed(list(children.items())))


def test_engines_that_are_not_known_need_a_command() -> None:
    value = world.replica(
        world.role(pod_template=build.template("acme/x:1", engine={"command": ["run"]})), engine=EngineType.CUSTOM
    )
    workload = world.compose(world.composite(value), world.cluster()).children["workload"].resource
    (container,) = workload["spec"]["forProvider"]["manifest"]["spec"]["template"]["containers"]
    assert container["command"] == ["run"]
    assert "args" not in container
