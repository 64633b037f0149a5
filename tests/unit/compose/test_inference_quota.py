"""A quota grants what fits, a cluster admits nothing of its namespaces without a grant, and nobody stops what runs."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from modelplane.errors import InvalidInput
from modelplane_functions.compose import inference_quota, model_deployment
from modelplane_functions.exchange import Outcome
from tests.support import cluster_world, exchange, fleet, quota_fleet
from tests.support.cluster_world import Running

Json = Any
TEAM = "ml-team"
ROOM, LATE = ["llama-0", "llama-1", "llama-2"], ["late-0", "llama-0", "llama-1", "llama-2"]


def limited(most: int, name: str = "team", **spec: Json) -> Json:
    """Return a quota of the namespace over the devices of the class: three are used where three replicas run."""
    limits = {"devices": [{"name": "h100", "className": "h100-8x", "count": most}]}
    spec = {"namespaces": {"names": [TEAM]}, **spec}
    return quota_fleet.quota(name, limits=limits, **spec)


def answered(quota: Json, running: Running, *others: Json) -> tuple[Json, Outcome]:
    """Return the quota after its function has seen the cluster, with the outcome."""
    store = copy.deepcopy([running.cluster, *running.classes, *running.others, *others])
    outcome = exchange.settle(inference_quota.compose, quota, store=store)
    return {**quota, "status": copy.deepcopy(dict(outcome.status))}, outcome


def asking(*quotas: Json) -> Running:
    """Return a full house, and one replica more that has asked the quotas."""
    running = Running(replicas=3)
    running.others = list(quotas)
    running.add("late-0")
    running.step()
    return running


def asks(running: Running) -> dict[str, tuple[int, str]]:
    found = running.cluster["status"]["quotas"].get("asks", ())
    return {one["replica"]: (one["number"], one["waitsFor"]) for one in found}


def test_a_replica_waits_for_a_grant_and_is_admitted_by_it() -> None:
    running = asking(limited(4))
    assert asks(running) == {f"{TEAM}/late-0": (1, "team")}
    outcome = running.step()
    assert cluster_world.admitted(outcome) == ROOM
    assert cluster_world.told(outcome, "pending") == {"late-0": "WaitingForQuota"}
    quota, _ = answered(running.others[0], running)
    assert quota["status"]["grants"] == [{"cluster": "a", "replica": f"{TEAM}/late-0", "number": 1}]
    assert quota["status"]["limits"] == [{"name": "h100", "limit": "4", "used": "3", "granted": "1"}]
    running.others = [quota]
    outcome = running.step()
    assert cluster_world.admitted(outcome) == LATE
    assert running.cluster["status"]["quotas"] == {"asked": 1}, "the question ends with the admission"
    quota, _ = answered(quota, running)
    assert quota["status"]["grants"] == []
    assert quota["status"]["limits"] == [{"name": "h100", "limit": "4", "used": "4", "granted": "0"}]


def test_what_is_over_the_limit_is_refused_with_the_quota_and_the_numbers() -> None:
    running = asking(limited(3))
    quota, outcome = answered(running.others[0], running)
    assert [(one.reason, one.severity) for one in outcome.events] == [("QuotaExceeded", "Warning")]
    running.others = [quota]
    outcome = running.step()
    assert cluster_world.admitted(outcome) == ROOM
    assert cluster_world.told(outcome, "refused") == {"late-0": "QuotaExceeded"}
    (said,) = running.cluster["status"]["refused"]
    assert said["message"] == "InferenceQuota team allows 3 of h100, 3 used and 1 more wanted"
    assert asks(running), "it keeps its place among those that wait"
    assert answered(quota, running)[1].events == (), "it is told once"


def test_a_smaller_limit_stops_nothing_and_shows_as_over() -> None:
    running = Running(replicas=3)
    running.others = [limited(1)]
    quota, outcome = answered(limited(1), running)
    (condition,) = [one for one in outcome.conditions if one.type == "WithinLimits"]
    assert (condition.status, condition.reason) == ("False", "OverLimit")
    assert quota["status"]["limits"][0]["over"] == "2"
    assert quota["status"]["summary"] == {
        "namespaces": 1,
        "replicas": 3,
        "waiting": 0,
        "fullest": "h100 3/1",
        "over": "h100",
    }
    running.others = [quota]
    outcome = running.step()
    assert (cluster_world.admitted(outcome), cluster_world.pods(outcome)) == (ROOM, 3)


def _ungranted(quota: Json) -> None:
    quota["status"]["grants"] = [{"cluster": "a", "replica": f"{TEAM}/late-0", "number": True}, 7, {}]


BROKEN: list[Any] = [
    pytest.param(lambda quota: quota.pop("status", None), id="no status"),
    pytest.param(lambda quota: quota.update(status="full"), id="a status of another type"),
    pytest.param(_ungranted, id="grants that cannot be read"),
    pytest.param(lambda quota: quota["status"]["grants"][0].update(number=2), id="a grant of another question"),
    pytest.param(lambda quota: quota["status"]["grants"][0].update(cluster="b"), id="a grant of another cluster"),
    pytest.param(lambda quota: quota["spec"].update(limits="many"), id="limits of another type"),
    pytest.param(lambda quota: quota["spec"].update(namespaces={"matchLabels": {"a": "b"}}), id="unknown labels"),
    pytest.param(lambda quota: quota["spec"].update(namespaces=3), id="namespaces of another type"),
    pytest.param(
        lambda quota: quota["spec"]["limits"]["devices"][0].update(className="", selectors=[{"cel": "oops("}]),
        id="a selector that does not compile",
    ),
]


@pytest.mark.parametrize("broken", BROKEN)
def test_a_quota_that_cannot_be_read_grants_nothing_and_stops_nothing(broken: Callable[[Json], None]) -> None:
    running = asking(limited(4))
    before = running.compose()
    quota, _ = answered(running.others[0], running)
    spec = copy.deepcopy(quota["spec"])
    broken(quota)
    if quota["spec"] != spec:
        quota["status"]["grants"] = []  # a grant stands, so it is broken before it is asked
    running.others = [quota]
    outcome = running.step()
    assert cluster_world.admitted(outcome) == ROOM
    assert set(cluster_world.told(outcome, "pending")) == {"late-0"}
    assert before.children.keys() <= outcome.children.keys()
    assert (cluster_world.pods(outcome), outcome.ready) == (3, before.ready)


def test_without_quotas_nothing_is_asked_and_nothing_is_written() -> None:
    running = Running(replicas=3)
    assert "quotas" not in running.compose().requirements, "a settled cluster does not read quotas"
    running.add("late-0")
    outcome = running.step()
    assert cluster_world.admitted(outcome) == LATE
    assert "quotas" not in running.cluster["status"]


def test_a_quota_that_goes_limits_nobody_any_more() -> None:
    running = asking(limited(3))
    running.others = []
    assert cluster_world.admitted(running.step()) == LATE
    assert running.cluster["status"]["quotas"] == {"asked": 1}


def test_a_question_that_one_quota_refuses_while_another_has_granted_it_is_taken_back() -> None:
    """Nobody holds room of one quota while it waits for another, and it asks again once both have room."""
    running = asking(limited(4, "a"), limited(4, "b"))
    first, _ = answered(running.others[0], running)
    running.others = [first, limited(3, "b")]
    running.step()
    assert asks(running) == {f"{TEAM}/late-0": (1, "b")}
    second, _ = answered(running.others[1], running)
    running.others = [first, second]
    outcome = running.step()
    assert asks(running) == {}
    assert cluster_world.told(outcome, "refused") == {"late-0": "QuotaExceeded"}
    first, _ = answered(first, running)
    assert first["status"]["grants"] == []
    running.others = [first, second]
    running.step()
    assert asks(running) == {}, "the other one has no room yet"
    second["spec"]["limits"]["devices"][0]["count"] = 4
    second, _ = answered(second, running)
    running.others = [first, second]
    running.step()
    assert asks(running) == {f"{TEAM}/late-0": (2, "a")}


def test_a_replica_made_by_hand_asks_no_quota() -> None:
    running = Running(replicas=3)
    running.others = [limited(9)]
    made = running.add("late-0")
    made["metadata"].pop("ownerReferences")
    assert cluster_world.told(running.step(), "refused") == {"late-0": "NotControlled"}
    assert "quotas" not in running.cluster["status"]


def test_a_replica_that_does_not_fit_takes_its_question_back() -> None:
    running = asking(limited(4))
    quota, _ = answered(running.others[0], running)
    running.cluster["spec"]["nodePools"][0]["nodeCount"] = 0
    running.others = [quota]
    assert cluster_world.told(running.step(), "refused") == {"late-0": "InsufficientNodes"}
    assert asks(running) == {}
    running.cluster["spec"]["nodePools"][0]["nodeCount"] = 2
    assert cluster_world.admitted(running.step()) == ROOM, "the earlier grant admits nobody"
    assert asks(running) == {f"{TEAM}/late-0": (2, "team")}


def test_namespaces_are_selected_by_label_too() -> None:
    quota = limited(3, namespaces={"matchLabels": {"tier": "prod"}})
    running = asking(quota, quota_fleet.namespace(TEAM, tier="dev"))
    assert cluster_world.admitted(running.compose()) == LATE, "it is not limited"
    running = asking(quota, quota_fleet.namespace(TEAM, tier="prod"))
    assert cluster_world.admitted(running.compose()) == ROOM
    found, _ = answered(quota, running)
    assert [one["name"] for one in found["status"]["namespaces"]] == [TEAM]
    assert found["status"]["namespaces"][0]["refused"] == 1


def test_what_costs_nobody_knows_what_is_told_and_nothing_new_of_it_is_granted() -> None:
    quota = quota_fleet.quota("team", limits={"costPerHour": {"amount": "100", "currency": "USD"}})
    running = asking(quota)
    found, outcome = answered(quota, running)
    (condition,) = [one for one in outcome.conditions if one.type == "WithinLimits"]
    assert (condition.status, condition.reason) == ("Unknown", "NotCounted")
    (refused,) = found["status"]["refused"]
    assert refused["message"].endswith("InferenceClass h100-8x has no cost in USD; set its spec.cost")


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(lambda status: status["admissions"][0].update(digest=7), id="a record that cannot be read"),
        pytest.param(lambda status: status.update(admissions="none"), id="records of another type"),
        pytest.param(lambda status: status.pop("admissions"), id="admitted without a record"),
        pytest.param(lambda status: status["quotas"]["asks"].append({}), id="a question that cannot be read"),
        pytest.param(lambda status: status.update(quotas=3), id="questions of another type"),
    ],
)
def test_while_a_ledger_cannot_be_read_nothing_new_is_granted_and_no_grant_is_lost(
    broken: Callable[[Json], None],
) -> None:
    running = asking(limited(4))
    status = copy.deepcopy(running.cluster["status"])
    granted, _ = answered(running.others[0], running)
    broken(running.cluster["status"])
    assert answered(running.others[0], running)[0]["status"]["grants"] == []
    found, outcome = answered(granted, running)
    assert found["status"]["grants"] == granted["status"]["grants"]
    (condition,) = [one for one in outcome.conditions if one.type == "WithinLimits"]
    assert (condition.status, condition.reason) == ("Unknown", "NotCounted")
    running.cluster["status"] = status
    assert answered(found, running)[0]["status"] == granted["status"]


def test_what_cannot_be_read_of_others_keeps_nobody_from_a_grant() -> None:
    running = asking(limited(4))
    foreign = {"digest": 7, "holdings": [], "replicas": {"other/x-0": "uid"}}
    running.cluster["status"]["admissions"].append(foreign)
    running.cluster["status"]["admitted"].append("other/y-0")
    running.cluster["status"]["quotas"]["asks"].append({"replica": "other/z-0"})
    assert len(answered(running.others[0], running)[0]["status"]["grants"]) == 1


@pytest.mark.parametrize(
    ("path", "value"),
    [
        pytest.param(("spec", "limits"), {"devices": [{"name": "a"}]}, id="neither class nor selectors"),
        pytest.param(("spec", "limits"), {"costPerHour": {"amount": "1e9"}}, id="another number"),
        pytest.param(("spec", "maxPriority"), "high", id="another type"),
        pytest.param(
            ("spec", "limits"),
            {"devices": [{"name": "a", "count": 1, "selectors": [{"cel": "oops("}]}]},
            id="a selector that does not compile",
        ),
    ],
)
def test_a_wrong_quota_is_refused_at_its_field(path: tuple[str, str], value: Json) -> None:
    quota = limited(3)
    quota[path[0]][path[1]] = value
    with pytest.raises(InvalidInput) as refused:
        exchange.settle(inference_quota.compose, quota)
    assert refused.value.path[:2] == path


# --- the deployment's side --------------------------------------------------------------------------------------------


def placed(quota: Json, *, replicas: int = 3, priority: int = 0) -> Outcome:
    deployment = fleet.model_deployment(replicas=replicas)
    deployment["spec"]["priority"] = priority
    store = [fleet.inference_cluster("a"), fleet.inference_class(), quota]
    return exchange.settle(model_deployment.compose, deployment, store=store)


def test_a_deployment_proposes_no_more_than_its_quota_has_room_for_and_says_what_would_help() -> None:
    outcome = placed(limited(2))
    assert sorted(outcome.children) == ["replica-llama-0", "replica-llama-1"]
    (condition,) = [one for one in outcome.conditions if one.type == "ReplicasScheduled"]
    assert condition.reason == "PartialQuotaExceeded"
    assert "InferenceQuota team allows 2 of h100, 2 used and 1 more wanted" in condition.message
    assert condition.message.endswith("it would fit if InferenceQuota team allowed 3 of h100")


def test_a_deployment_proposes_nothing_where_its_quota_cannot_be_read() -> None:
    quota = limited(9)
    quota["spec"]["limits"] = 7
    outcome = placed(quota)
    assert outcome.children == {}
    (condition,) = [one for one in outcome.conditions if one.type == "ReplicasScheduled"]
    assert condition.reason == "QuotaExceeded"
    assert "InferenceQuota team allows nothing new: spec.limits: must be an object" in condition.message


def test_a_priority_above_that_of_the_quota_is_told_when_a_replica_is_placed() -> None:
    told = [
        one.message for one in placed(limited(9, maxPriority=10), priority=100).events if one.reason != "ReplicaPlaced"
    ]
    assert told == ["priority 100 counts as 10, the maxPriority of InferenceQuota team"]
    assert not [one for one in placed(limited(9, maxPriority=10), priority=5).events if one.reason != "ReplicaPlaced"]


@pytest.mark.parametrize(
    ("spec", "first"),
    [
        pytest.param({}, "late-0", id="the higher priority"),
        pytest.param({"maxPriority": 0}, "late-1", id="the older one where no priority counts"),
    ],
)
def test_a_cluster_lets_no_priority_count_for_more_than_its_quota_does(spec: Json, first: str) -> None:
    """Both are granted, and the cluster has room for one."""
    running = Running(replicas=7, nodes=1)
    running.others = [limited(9, **spec)]
    running.add("late-0", priority=100)["metadata"]["creationTimestamp"] = "2026-01-03T00:00:00Z"
    running.add("late-1")
    running.step()
    running.others = [answered(running.others[0], running)[0]]
    outcome = running.step()
    assert [name for name in cluster_world.admitted(outcome) if name.startswith("late")] == [first]
