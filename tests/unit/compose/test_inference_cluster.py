"""InferenceCluster: reaching the cluster, admitting, and that nothing admitted is dropped for a broken input."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from modelplane.api import inference_cluster as decoded
from modelplane.errors import InvalidInput, Unsupported
from modelplane.render.schedulers import selection as schedulers
from modelplane_functions import claims
from modelplane_functions.compose import inference_cluster
from modelplane_functions.exchange import Observed, Outcome, Ready, Truth
from tests.support.cluster_world import Running, gateway_manifest, synced

Json = Any


def condition(outcome: Outcome, kind: str) -> Any:
    return next(c for c in outcome.conditions if c.type == kind)


def test_the_cluster_is_reached_counted_and_admits() -> None:
    running = Running()
    outcome = running.compose()
    assert outcome.ready is Ready.TRUE
    assert outcome.status["gateway"] == {"address": "gateway.a.example.com", "port": 8080, "scheme": "http"}
    assert outcome.status["providerConfigRef"] == {"kind": "ClusterProviderConfig", "name": "modelplane-a"}
    assert outcome.status["admitted"] == ["ml-team/llama-0", "ml-team/llama-1", "ml-team/llama-2"]
    (pool,) = outcome.status["pools"]
    assert pool["allocations"] == [{"pods": 3, "devices": {"gpu": 1}, "cpu": "8", "memory": "64Gi"}]
    assert pool["free"] == {"gpu": 13}
    assert outcome.status["summary"] == {"pools": 1, "devices": 16, "free": 13, "replicas": 3}
    assert condition(outcome, "StackReady").status is Truth.UNKNOWN


def test_a_queue_nobody_renders_for_is_said_and_closes_the_cluster_to_new_replicas() -> None:
    running = Running()
    running.cluster["spec"]["scheduler"] = {"type": "Kueue", "queueName": "serving"}
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(schedulers.SCHEDULERS, "Kueue")
        outcome = running.step()
    assert "spec.scheduler Kueue is not supported yet" in condition(outcome, "StackReady").message
    assert len(outcome.status["admitted"]) == 3, "what is admitted stays"
    assert decoded.decode(running.cluster, {}).scheduler == "Kueue"


def test_composing_a_settled_cluster_again_changes_nothing() -> None:
    running = Running()
    first, second = running.compose(), running.compose()
    assert first == second
    assert not first.events


def test_the_secret_is_referenced_and_never_read() -> None:
    outcome = Running().compose()
    config = outcome.children["provider-config"].resource
    assert config["spec"]["credentials"]["secretRef"] == {
        "namespace": "modelplane-system",
        "name": "a",
        "key": "kubeconfig",
    }
    assert all(requirement.kind != "Secret" for requirement in outcome.requirements.values())


def test_the_gateway_is_only_observed() -> None:
    gateway = Running().compose().children["gateway"].resource
    assert gateway["spec"]["managementPolicies"] == ["Observe"]
    assert gateway["spec"]["watch"] is True
    assert gateway["metadata"]["namespace"] == "modelplane-system"


def test_what_does_not_fit_is_refused_by_name_and_nothing_admitted_gives_way() -> None:
    running = Running(replicas=16)
    late = running.add("late-0", priority=1000)
    late["metadata"]["creationTimestamp"] = "2025-01-01T00:00:00Z"
    outcome = running.compose()
    assert "ml-team/late-0" not in outcome.status["admitted"]
    (refused,) = outcome.status["refused"]
    assert refused["replica"] == "ml-team/late-0"
    assert refused["reason"] == "InsufficientDevices"
    assert refused["message"]
    assert [event.reason for event in outcome.events] == ["ReplicaRefused"]


def test_a_shrunk_pool_is_overcommitted_and_moves_nobody() -> None:
    running = Running(replicas=16)
    running.cluster["spec"]["nodePools"][0]["nodeCount"] = 1
    outcome = running.compose()
    assert len(outcome.status["admitted"]) == 16
    assert outcome.status["pools"][0]["overcommitted"] is True
    assert condition(outcome, "CapacityKnown").reason == "OverCommitted"


def test_a_replica_that_claims_the_label_only_is_not_counted() -> None:
    running = Running()
    liar = copy.deepcopy(running.replicas[0])
    liar["metadata"]["name"] = "liar"
    liar["spec"]["clusterName"] = "elsewhere"
    running.replicas.append(liar)
    assert "ml-team/liar" not in running.compose().status["admitted"]


def test_an_existing_provider_config_is_adopted() -> None:
    running = Running()
    running.cluster["spec"]["cluster"]["existing"] = {"providerConfigRef": {"name": "theirs"}}
    outcome = running.compose()
    assert "provider-config" not in outcome.children
    assert outcome.children["gateway"].resource["spec"]["providerConfigRef"]["name"] == "theirs"


def test_a_source_that_is_not_offered_says_what_to_use_instead() -> None:
    running = Running()
    running.cluster["spec"]["cluster"] = {"source": "Mars"}
    with pytest.raises(Unsupported, match="source Existing"):
        running.compose()


def test_the_named_listener_is_used() -> None:
    running = Running()
    running.cluster["spec"]["gateway"]["listener"] = "tls"
    assert running.compose().status["gateway"] == {
        "address": "gateway.a.example.com",
        "port": 8443,
        "scheme": "https",
    }


# --- what stands on it keeps it from being deleted --------------------------------------------------------------------


def _garbled(running: Running) -> None:
    running.replicas[0]["spec"].pop("pool")


def _nowhere(running: Running) -> None:
    running.replicas[0]["spec"] = {}


def _alone(running: Running) -> None:
    running.replicas.clear()


def _others(users: int) -> Callable[[Running], None]:
    def left(running: Running) -> None:
        running.replicas.clear()
        observations = sum(key.startswith("serves-") for key in running.children)
        assert observations
        running.children["provider-config"]["status"] = {"users": users + observations}

    return left


def _deleted(running: Running) -> None:
    del running.replicas[1:]
    running.replicas[0]["metadata"] |= {"deletionTimestamp": "2026-01-02T00:00:00Z", "deletionGracePeriodSeconds": 0}


def _never_admitted(running: Running) -> None:
    running.cluster["spec"]["nodePools"][0]["nodeCount"] = 0
    running.cluster["status"]["admitted"] = []


@pytest.mark.parametrize(
    ("situation", "reason"),
    [
        pytest.param(
            lambda r: None,
            "3 replicas are placed on it: ml-team/llama-0, ml-team/llama-1, ml-team/llama-2;",
            id="three",
        ),
        pytest.param(lambda r: r.replicas.pop(), "2 replicas are placed on it: ml-team/llama-0, ml-team", id="two"),
        pytest.param(
            _deleted,
            "1 replica is placed on it: ml-team/llama-0;",
            id="one on its way out: its Objects are still there",
        ),
        pytest.param(_never_admitted, "3 replicas are placed on it", id="refused: the next verdict may admit it"),
        pytest.param(_garbled, "3 replicas are placed on it", id="one cannot be read: it may run"),
        pytest.param(_nowhere, "3 replicas are placed on it", id="one no longer says where: its label does"),
        pytest.param(_others(2), "Objects without a replica still use its credentials", id="only Objects are left"),
        pytest.param(_others(1), None, id="only our look at its gateway is left"),
        pytest.param(_alone, None, id="nothing is known of its credentials"),
    ],
)
def test_deletion_is_refused_while_something_stands_there(
    situation: Callable[[Running], None], reason: str | None
) -> None:
    running = Running()
    situation(running)
    found = running.compose().children.get("in-use")
    assert (found is None) == (reason is None)
    if found is not None:
        spec = found.resource["spec"]
        assert reason in spec["reason"]
        assert spec["of"] == {
            "apiVersion": "modelplane.ai/v1alpha1",
            "kind": "InferenceCluster",
            "resourceRef": {"name": "a"},
        }
        assert "replayDeletion" not in spec, "a deletion that was refused is not done by surprise later"


def test_a_long_list_of_replicas_is_cut_and_says_how_to_see_it_all() -> None:
    running = Running(replicas=5)
    reason = running.compose().children["in-use"].resource["spec"]["reason"]
    assert "ml-team/llama-2 and 2 more (kubectl get mr -A -l modelplane.ai/cluster=a)" in reason


def test_the_protection_is_kept_while_nobody_says_which_replicas_there_are() -> None:
    """An answer that is not there yet is not an answer of none: nothing but the question is returned."""
    running = Running()
    outcome = inference_cluster.compose(Observed(running.cluster, running.children))
    assert (outcome.children, claims.REPLICAS in outcome.requirements) == ({}, True)


def test_a_cluster_is_ready_where_nobody_reports_on_its_protection() -> None:
    """Without Crossplane's webhooks a ClusterUsage never has a status."""
    running = Running()
    assert "status" not in running.children["in-use"]
    outcome = running.compose()
    assert (outcome.ready, outcome.children["in-use"].ready) == (Ready.TRUE, Ready.TRUE)


# --- law 1: hold ------------------------------------------------------------------------------------------------------


def _unreachable(running: Running) -> None:
    running.children["gateway"]["status"]["conditions"] = [
        {"type": "Synced", "status": "False", "reason": "ReconcileError", "message": "connection refused"}
    ]


def _looked(status: Json) -> Callable[[Running], None]:
    """Return the change by which each Object that looks for an API version has this status, or none."""

    def changed(running: Running) -> None:
        for key, child in running.children.items():
            if key.startswith("serves-"):
                child.pop("status")
                child.update({} if status is None else {"status": status})

    return changed


def _not_installed(running: Running) -> None:
    _looked({"conditions": synced("False", "observe failed: external resource does not exist")})(running)


def _said_before(backends: Json) -> Callable[[Running], None]:
    def changed(running: Running) -> None:
        _looked(None)(running)
        running.cluster["status"]["backends"] = backends

    return changed


def _selected(selector: Json) -> Callable[[Running], None]:
    def changed(running: Running) -> None:
        running.cluster["status"]["pools"][0]["nodeSelector"] = selector

    return changed


def _unselected(running: Running) -> None:
    running.cluster["spec"]["nodePools"][0]["nodeSelector"] = {"example.com/pool": "others"}


BREAKS = [
    pytest.param(lambda r: r.classes.clear(), id="class-missing"),
    pytest.param(lambda r: r.classes[0]["spec"].pop("devices"), id="class-without-devices"),
    pytest.param(
        lambda r: r.classes[0]["spec"]["devices"][0]["capacity"]["memory"].update(value="x"), id="class-unreadable"
    ),
    pytest.param(_unreachable, id="cluster-unreachable"),
    pytest.param(lambda r: r.children["gateway"].pop("status"), id="gateway-object-without-status"),
    pytest.param(
        lambda r: r.children["gateway"]["status"]["atProvider"].update(manifest=gateway_manifest(None)),
        id="gateway-lost-its-address",
    ),
    pytest.param(lambda r: r.children.pop("gateway"), id="gateway-object-not-observed"),
    pytest.param(_garbled, id="replica-unreadable"),
    pytest.param(_nowhere, id="replica-with-an-empty-spec"),
    pytest.param(lambda r: r.cluster["spec"]["nodePools"][0].update(nodeCount=0), id="pool-empty"),
    pytest.param(lambda r: r.cluster["spec"]["nodePools"].clear(), id="pools-removed"),
    pytest.param(lambda r: r.cluster["spec"]["nodePools"][0].update(className="typo"), id="class-name-typo"),
    pytest.param(lambda r: r.cluster["spec"]["cluster"]["existing"].clear(), id="secret-reference-removed"),
    pytest.param(lambda r: r.cluster["spec"]["cluster"].update(source="EKS"), id="source-changed"),
    pytest.param(_looked(None), id="versions-without-status"),
    pytest.param(_looked({}), id="versions-with-an-empty-status"),
    pytest.param(_looked("x"), id="versions-with-a-status-of-another-type"),
    pytest.param(_looked({"conditions": 7, "atProvider": [7]}), id="versions-with-fields-of-other-types"),
    pytest.param(_looked({"conditions": [{"type": "Synced", "status": 7}, 7]}), id="versions-with-odd-conditions"),
    pytest.param(_looked({"conditions": synced("False", "connect failed: refused")}), id="versions-unreachable"),
    pytest.param(_not_installed, id="versions-not-served"),
    pytest.param(_said_before(None), id="backends-null"),
    pytest.param(_said_before([]), id="backends-emptied"),
    pytest.param(_said_before({"name": "KServe"}), id="backends-of-another-type"),
    pytest.param(_said_before([7, {"name": 7}, {"name": "KServe", "missing": "x"}]), id="backends-with-odd-entries"),
    pytest.param(_said_before([{"name": "KServe", "missing": [7]}, {"name": "else"}]), id="backends-of-others"),
    pytest.param(_selected(None), id="selector-null"),
    pytest.param(_selected({}), id="selector-emptied"),
    pytest.param(_selected("x"), id="selector-of-another-type"),
    pytest.param(_selected({"example.com/pool": "others"}), id="selector-stale"),
    pytest.param(lambda r: r.cluster["status"].pop("pools"), id="pools-not-published"),
    pytest.param(_unselected, id="selector-changed"),
]


@pytest.mark.parametrize("damage", BREAKS)
def test_hold_nothing_admitted_is_dropped(damage: Callable[[Running], None]) -> None:
    """Law 1: break one input; children stay, what is admitted stays admitted, the address stays known."""
    running = Running()
    children, status = set(running.children), copy.deepcopy(running.cluster["status"])
    damage(running)
    try:
        outcome = running.compose()
    except (InvalidInput, Unsupported):
        return  # a FATAL result: nothing is applied, status is not written
    assert children <= set(outcome.children)
    assert set(status["admitted"]) <= set(outcome.status["admitted"])
    assert outcome.status["gateway"] == status["gateway"]
    assert outcome.status["providerConfigRef"] == status["providerConfigRef"]


@pytest.mark.parametrize("offered", [["Native"], ["Unheard"], []], ids=str)
def test_hold_only_looks_go_with_a_backend_that_is_no_longer_offered(offered: list[str]) -> None:
    running = Running()
    children, admitted = set(running.children), running.cluster["status"]["admitted"]
    running.cluster["spec"]["backends"] = offered
    outcome = running.compose()
    assert all(key.startswith("serves-") for key in children - set(outcome.children))
    assert outcome.status["admitted"] == admitted


def test_a_pool_whose_class_is_missing_keeps_what_was_published() -> None:
    running = Running()
    before = copy.deepcopy(running.cluster["status"]["pools"])
    running.classes.clear()
    outcome = running.compose()
    assert outcome.status["pools"] == before
    known = condition(outcome, "CapacityKnown")
    assert known.status is Truth.FALSE
    assert '"h100-8x" does not exist' in known.message


def test_nobody_new_is_admitted_beside_an_unreadable_replica_of_which_nothing_was_written_down() -> None:
    """An earlier version admitted it. What it takes is unknown, so allocations stay and newcomers wait."""
    running = Running()
    del running.cluster["status"]["admissions"]
    before = copy.deepcopy(running.cluster["status"]["pools"])
    running.add("late-0")
    _garbled(running)
    outcome = running.compose()
    assert outcome.status["pools"] == before
    assert outcome.status["admitted"] == ["ml-team/llama-0", "ml-team/llama-1", "ml-team/llama-2"]
    assert outcome.status["refused"] == []
    (waits,) = outcome.status["pending"]
    assert (waits["replica"], waits["reason"]) == ("ml-team/late-0", "LedgerFrozen")
    known = condition(outcome, "CapacityKnown")
    assert "ml-team/llama-0 cannot be read" in known.message


def test_a_cluster_publishes_no_configuration_of_somebody_else() -> None:
    """Until its own stands the name may lead to another cluster; one that an earlier version named stays as it is."""
    running = Running()
    running.cluster.pop("status")
    standing = running.children.pop("provider-config")
    assert "providerConfigRef" not in running.compose().status
    standing["metadata"]["name"] = "modelplane-a-cut-1a2b3"
    running.children["provider-config"] = standing
    outcome = running.step()
    assert outcome.status["providerConfigRef"]["name"] == "modelplane-a-cut-1a2b3"
    gateway = outcome.children["gateway"].resource["spec"]["providerConfigRef"]["name"]
    assert gateway == "modelplane-a-cut-1a2b3"
    del running.children["provider-config"]
    running.cluster["status"]["providerConfigRef"]["name"] = "modelplane-a"
    assert running.compose().status["providerConfigRef"]["name"] == "modelplane-a", "a blink is no loss"
