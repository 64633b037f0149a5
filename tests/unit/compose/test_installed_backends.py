"""Installed backends of a cluster: what is seen, what holds while nothing is, and what follows for replicas."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from modelplane_functions.compose import model_deployment
from modelplane_functions.exchange import Outcome
from tests.support import cluster_world, exchange, fleet
from tests.support.cluster_world import Running, synced

Json = Any
OWN, OLDER, GANGS = "serving.kserve.io/v1alpha2", "serving.kserve.io/v1alpha1", "leaderworkerset.x-k8s.io/v1"
ABSENT = {"conditions": synced("False", "observe failed: external resource does not exist")}


def state(outcome: Outcome, name: str = "KServe") -> Json:
    return next(one for one in outcome.status["backends"] if one["name"] == name)


def stack(outcome: Outcome) -> tuple[str, str]:
    found = next(one for one in outcome.conditions if one.type == "StackReady")
    return str(found.status), found.reason


def stale(child: Json, message: str) -> Json:
    """Return the status of an Object that was read before, and not at the last attempt."""
    return {**cluster_world.served(child), "conditions": synced("False", message)}


def test_each_api_version_is_looked_at_once_and_only_looked_at() -> None:
    running = Running()
    running.cluster["spec"]["backends"] = ["KServe", "Native", "LLMD"]
    looked = {key: one.resource for key, one in running.compose().children.items() if key.startswith("serves-")}
    assert sorted(one["spec"]["forProvider"]["manifest"]["metadata"]["name"] for one in looked.values()) == [
        "v1.inference.networking.k8s.io",
        "v1.leaderworkerset.x-k8s.io",
        "v1alpha1.serving.kserve.io",
        "v1alpha2.serving.kserve.io",
    ]
    assert all(one["spec"]["managementPolicies"] == ["Observe"] for one in looked.values())
    assert all(
        one["spec"]["forProvider"]["manifest"].keys() == {"apiVersion", "kind", "metadata"} for one in looked.values()
    )


def test_nothing_is_said_before_something_was_seen() -> None:
    running = Running()
    for child in running.children.values():
        child.pop("status", None)
    running.cluster["status"].pop("backends")
    outcome = running.compose()
    assert state(outcome) == {"name": "KServe"}
    assert stack(outcome) == ("Unknown", "NotManaged")


def test_what_is_there_is_told() -> None:
    assert state(Running().compose()) == {
        "name": "KServe",
        "installed": True,
        "served": True,
        "versions": [OWN, OLDER, GANGS],
    }


def test_an_older_release_is_told_from_none() -> None:
    running = Running()
    running.says(OWN, ABSENT)
    outcome = running.compose()
    assert state(outcome) == {
        "name": "KServe",
        "installed": True,
        "served": False,
        "versions": [OLDER, GANGS],
        "missing": [OWN],
    }
    assert stack(outcome) == ("False", "BackendNotInstalled")
    running.says(OLDER, ABSENT)
    assert state(running.compose())["installed"] is False


def test_a_backend_whose_workloads_need_nothing_is_there_without_its_gangs() -> None:
    running = Running()
    running.cluster["spec"]["backends"] = ["Native"]
    running.step()
    running.says(GANGS, ABSENT)
    assert state(running.compose(), "Native") == {
        "name": "Native",
        "installed": True,
        "served": True,
        "missing": [GANGS],
    }


def test_what_was_read_and_could_not_be_compared_is_there() -> None:
    """A provider that may not patch an APIService reads it and then fails to ask for a dry run."""
    running = Running()
    running.cluster["status"].pop("backends")
    child = running.children["serves-v1alpha2.serving.kserve.io"]
    why = "observe failed: cannot get desired state: cannot dry run SSA: apiservices is forbidden"
    running.says(OWN, stale(child, why))
    assert OWN in state(running.compose())["versions"]


@pytest.mark.parametrize("was", ["there", "absent"])
@pytest.mark.parametrize(
    "why",
    ["connect failed: cannot build kube client", "observe failed: cannot get object: connection refused", ""],
)
def test_the_last_known_state_holds_while_the_cluster_is_not_read(was: str, why: str) -> None:
    running = Running()
    if was == "absent":
        running.says(OWN, ABSENT)
    running.cluster["status"] = dict(running.compose().status)
    before = running.cluster["status"]["backends"]
    for key, child in running.children.items():
        if key.startswith("serves-"):
            child["status"] = stale(child, why) if why else {}
    assert running.compose().status["backends"] == before
    gone = {key: one for key, one in running.children.items() if not key.startswith("serves-")}
    running.children = gone
    assert running.compose().status["backends"] == before


def test_a_second_answer_is_the_first() -> None:
    running = Running()
    running.says(GANGS, ABSENT)
    first = running.step()
    running.says(GANGS, ABSENT)
    assert running.compose().status == first.status


# --- what follows for replicas ----------------------------------------------------------------------------------------


def placed(clusters: list[Json], children: Json, **spec: Json) -> Outcome:
    deployment = fleet.model_deployment(replicas=spec.pop("replicas"))
    deployment["spec"] |= spec
    store = [*copy.deepcopy(clusters), fleet.inference_class()]
    return exchange.settle(model_deployment.compose, deployment, children=children, store=store)


def where(outcome: Outcome) -> dict[str, str]:
    return {
        key: one.resource["spec"]["clusterName"] for key, one in outcome.children.items() if key.startswith("replica")
    }


def lacking(name: str, *versions: str, **spec: Json) -> Json:
    cluster = fleet.inference_cluster(name)
    cluster["spec"] |= spec
    cluster["status"]["backends"] = [{"name": "KServe", "installed": False, "served": False, "missing": list(versions)}]
    return cluster


def running_on(cluster: Json) -> Json:
    """Return the children of a deployment with two replicas on the cluster, as they are observed."""
    return {
        key: fleet.controlled(
            dict(one.resource), fleet.model_deployment(replicas=2), creationTimestamp="2026-01-01T00:00:00Z"
        )
        for key, one in placed([cluster], {}, replicas=2).children.items()
    }


def test_a_new_replica_goes_where_its_backend_is_installed() -> None:
    assert set(where(placed([lacking("a", OWN), fleet.inference_cluster("b")], {}, replicas=2)).values()) == {"b"}


def test_an_unknown_state_counts_as_installed() -> None:
    cluster = fleet.inference_cluster("a")
    cluster["status"]["backends"] = [{"name": "KServe"}]
    assert set(where(placed([cluster], {}, replicas=1)).values()) == {"a"}


def test_what_runs_where_the_backend_vanished_stays_and_what_is_new_goes_elsewhere() -> None:
    a, b = fleet.inference_cluster("a"), fleet.inference_cluster("b")
    children = running_on(a)
    later = placed([lacking("a", OWN), b], children, replicas=4)
    assert {key: later.children[key].resource["spec"] for key in children} == {
        key: one["spec"] for key, one in children.items()
    }
    assert {cluster for key, cluster in where(later).items() if key not in children} == {"b"}


@pytest.mark.parametrize(
    "backends",
    [
        None,
        [],
        7,
        "KServe",
        {"name": "KServe", "missing": [OWN]},
        [7, None, []],
        [{"missing": [OWN]}],
        [{"name": 7, "missing": [OWN]}],
        [{"name": "KServe", "missing": OWN}],
        [{"name": "KServe", "missing": [7, None, [OWN]], "versions": 7, "installed": "no", "served": 0}],
        [{"name": "KServe", "installed": False}, {"name": "KServe", "missing": []}],
        [{"name": "Unheard", "installed": False, "missing": ["x/v1"]}],
    ],
    ids=str,
)
def test_hold_whatever_a_cluster_says_of_its_backends_replicas_stay_and_it_takes_others(backends: Json) -> None:
    cluster = fleet.inference_cluster("a")
    children = running_on(cluster)
    cluster["status"]["backends"] = backends
    later = placed([cluster], children, replicas=3)
    assert {key: later.children[key].resource["spec"] for key in children} == {
        key: one["spec"] for key, one in children.items()
    }
    assert len(where(later)) == 3, "what cannot be read says nothing"


def test_a_shortfall_says_what_to_install() -> None:
    outcome = placed([lacking("a", OWN)], {}, backend="KServe", replicas=1)
    found = next(one for one in outcome.conditions if one.type == "ReplicasScheduled")
    assert (str(found.status), found.reason) == ("False", "BackendNotInstalled")
    assert "it does not serve serving.kserve.io/v1alpha2; install KServe 0.20 or later there" in found.message
