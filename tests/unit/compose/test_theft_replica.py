"""A replica is rendered as its cluster admitted it, and whatever else is written in it changes nothing that runs."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from modelplane.api import admissions
from modelplane.api import replica as replicas
from modelplane.placement import demand
from modelplane.workload.model import Replica
from modelplane_functions.exchange import Outcome, Ready
from tests.support import replica_world as world
from tests.support import replicas as build

Json = Any
KEY = "ml-team/llama-0"
LARGER = world.replica(world.role(workers=9))


def recorded(value: Replica | None = None, *, uid: str = "uid-replica", told: Json = None) -> Json:
    """Return the cluster that admitted the replica of this uid as `value` says, and wrote that down."""
    wanted = value or world.replica()
    record = admissions.Record(admissions.uid_digest(uid), replicas.fingerprint(wanted), demand.held(wanted))
    return world.cluster(admissions=admissions.encode({KEY: record}), **(told or {}))


def running() -> tuple[Json, dict[str, Json]]:
    document, children = world.running()
    document["metadata"]["generation"] = 1
    document["status"]["observedGeneration"] = 1
    return document, children


def edited(document: Json, value: Replica) -> Json:
    """Return the document as somebody else has written it since, with the status it had."""
    other = {**copy.deepcopy(document), "spec": replicas.encode_spec(value)}
    other["metadata"]["generation"] = document["metadata"].get("generation", 1) + 1
    return other


def specs(outcome: Outcome) -> dict[str, Json]:
    return {key: child.resource["spec"] for key, child in outcome.children.items()}


def test_what_was_admitted_is_rendered() -> None:
    outcome = world.compose(world.composite(), recorded())
    assert world.conditions(outcome)["Admitted"] == ("True", "Admitted")
    assert "workload" in outcome.children


@pytest.mark.parametrize("value", [LARGER, world.replica(model=None)], ids=["larger", "another model"])
def test_what_was_not_admitted_is_not_rendered(value: Replica) -> None:
    outcome = world.compose(world.composite(value), recorded())
    assert not outcome.children
    assert outcome.status["phase"] == "Pending"
    assert world.conditions(outcome)["Admitted"] == ("Unknown", "WaitingForAdmission")
    assert "was changed after cluster gke-us admitted it, and nothing is rendered" in world.message(outcome, "Admitted")


def test_an_admission_of_an_earlier_replica_of_the_name_is_not_this_ones() -> None:
    outcome = world.compose(world.composite(), recorded(uid="uid-of-an-earlier-one"))
    assert not outcome.children
    assert world.conditions(outcome)["Admitted"] == ("Unknown", "WaitingForAdmission")


def test_a_running_replica_that_is_edited_is_kept_as_it_was_admitted_and_says_so() -> None:
    document, children = running()
    outcome = world.compose(edited(document, LARGER), recorded(), children=children)
    assert specs(outcome) == {key: child["spec"] for key, child in children.items()}
    assert all(child.ready is Ready.TRUE for child in outcome.children.values())
    assert outcome.status["phase"] != "Pending"
    assert outcome.status["observedGeneration"] == 1, "what is reported is what was admitted"
    assert world.conditions(outcome)["Admitted"] == ("Unknown", "WaitingForAdmission")
    assert "the admitted workload is kept" in world.message(outcome, "Admitted")
    assert "has not admitted its current spec" in world.message(outcome, "Serving")
    again = edited(document, LARGER)
    again["status"] = {**outcome.status, "conditions": []}
    assert world.compose(again, recorded(), children=children).status == outcome.status


@pytest.mark.parametrize(("where", "status"), [("refused", "False"), ("pending", "Unknown")])
def test_the_clusters_answer_to_the_edit_is_told(where: str, status: str) -> None:
    document, children = running()
    answer = [{"replica": KEY, "reason": "InsufficientDevices", "message": "9 wanted, 1 free"}]
    outcome = world.compose(edited(document, LARGER), recorded(told={where: answer}), children=children)
    assert world.conditions(outcome)["Admitted"] == (status, "InsufficientDevices")
    assert "9 wanted, 1 free" in world.message(outcome, "Admitted")
    assert outcome.children.keys() == children.keys()


def test_an_edit_is_rendered_once_it_is_admitted() -> None:
    document, children = running()
    outcome = world.compose(edited(document, LARGER), recorded(LARGER), children=children)
    assert outcome.children["workload"].resource["spec"] != children["workload"]["spec"]
    assert outcome.status["observedGeneration"] == 2


def test_an_edit_is_not_rendered_where_the_cluster_is_silent() -> None:
    """The ledger was wiped, or the replica never admitted: what runs stays, and nothing grows."""
    document, children = running()
    outcome = world.compose(edited(document, LARGER), world.cluster(admits=False), children=children)
    assert specs(outcome) == {key: child["spec"] for key, child in children.items()}
    assert world.conditions(outcome)["Admitted"] == ("True", "Bound")
    assert outcome.status["observedGeneration"] == 1


def test_why_a_replica_waits_is_told() -> None:
    waits = [{"replica": KEY, "reason": "NotControlled", "message": "the ModelDeployment llama does not refer to it"}]
    outcome = world.compose(world.composite(), world.cluster(admits=False, pending=waits))
    assert world.conditions(outcome)["Admitted"] == ("Unknown", "WaitingForAdmission")
    assert "does not refer to it" in world.message(outcome, "Admitted")


def test_what_an_earlier_version_admitted_without_writing_it_down_is_believed() -> None:
    document, children = running()
    outcome = world.compose(document, world.cluster(), children=children)
    assert world.conditions(outcome)["Admitted"] == ("True", "Admitted")
    assert specs(outcome)["workload"] == children["workload"]["spec"]


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda c: c["spec"]["nodePools"][0].update(taints="x"), id="taints"),
        pytest.param(lambda c: c["spec"].update(nodePools="x"), id="pools"),
        pytest.param(lambda c: c["spec"].update(gateway="x"), id="gateway"),
        pytest.param(
            lambda c: c["spec"].update(gateway={"implementation": "IstioIstio", "namespace": "elsewhere"}),
            id="gateway, of an implementation that no API server takes",
        ),
        pytest.param(lambda c: c["status"].update(gateway="x"), id="status.gateway"),
        pytest.param(lambda c: c["status"].update(refused="x"), id="refused"),
        pytest.param(lambda c: c["status"].update(admitted="x"), id="admitted"),
        pytest.param(lambda c: c["status"].update(providerConfigRef="x"), id="providerConfigRef"),
        pytest.param(lambda c: c.update(status="x"), id="status"),
    ],
)
def test_a_cluster_that_cannot_be_read_is_named_and_what_runs_is_kept(damage: Any) -> None:
    document, children = running()
    cluster = recorded()
    damage(cluster)
    outcome = world.compose(document, cluster, children=children)
    assert specs(outcome) == {key: child["spec"] for key, child in children.items()}
    assert "InferenceCluster gke-us cannot be read" in world.message(outcome, "Admitted")


def test_priority_is_no_edit() -> None:
    document, children = running()
    outcome = world.compose(edited(document, world.replica(priority=7)), recorded(), children=children)
    assert world.conditions(outcome)["Admitted"] == ("True", "Admitted")


def test_an_image_is_an_edit() -> None:
    other = world.replica(world.role(pod_template=build.template("else/image:1", engine={"command": ["x"]})))
    document, children = running()
    outcome = world.compose(edited(document, other), recorded(), children=children)
    assert specs(outcome) == {key: child["spec"] for key, child in children.items()}
