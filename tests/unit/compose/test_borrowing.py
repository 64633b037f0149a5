"""A quota that borrows grants beyond its limits while its lender has room; the lender serves its own first."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from modelplane.errors import InvalidInput
from modelplane_functions.compose import inference_quota, model_deployment
from tests.support import cluster_world, exchange, fleet, quota_fleet
from tests.unit.compose.test_inference_quota import LATE, ROOM, TEAM, answered, asking, limited

Json = Any
OTHER = "other"


def borrower(most: int, loan: int, **spec: Json) -> Json:
    """Return a quota of the namespace that may borrow so many devices more from `pool`."""
    return limited(most, borrowing={"from": "pool", "limit": {"h100": str(loan)}}, **spec)


def lender(most: int, **spec: Json) -> Json:
    return limited(most, "pool", **{"namespaces": {"names": [TEAM, OTHER]}, **spec})


def condition(outcome: Any, kind: str) -> tuple[str, str, str]:
    (found,) = [one for one in outcome.conditions if one.type == kind]
    return found.status, found.reason, found.message


def test_what_the_lender_has_room_for_is_granted_beyond_the_limit() -> None:
    pool = lender(9)
    quota, _ = answered(borrower(3, 1), asking(pool), pool)
    assert quota["status"]["limits"][0]["borrowable"] == "1", "it is known before anybody asks"
    running = asking(pool, quota)
    (question,) = running.cluster["status"]["quotas"]["asks"]
    assert (question["waitsFor"], question["borrows"]) == ("pool", True)
    granted, _ = answered(pool, running)
    running.others = [granted, quota]
    running.step()
    quota, outcome = answered(quota, running)
    assert len(quota["status"]["grants"]) == 1
    assert quota["status"]["limits"] == [
        {"name": "h100", "limit": "3", "used": "3", "granted": "1", "borrowable": "1", "borrowed": "1"}
    ]
    assert quota["status"]["summary"]["borrowed"] == "h100 1"
    assert condition(outcome, "WithinLimits") == ("True", "Borrowing", "borrowed from pool: 1 of h100")
    assert condition(outcome, "LenderReady")[:2] == ("True", "Lends")
    running.others = [granted, quota]
    assert cluster_world.admitted(running.step()) == LATE


def test_beyond_the_loan_nothing_is_granted() -> None:
    pool = lender(9)
    quota, _ = answered(borrower(2, 1), asking(pool), pool)
    running = asking(pool, quota)
    (refused,) = running.cluster["status"]["refused"]
    assert refused["message"] == "InferenceQuota team allows 2 of h100 and 1 borrowed, 3 used and 1 more wanted"


def test_a_lender_without_room_refuses() -> None:
    pool, _ = answered(lender(3), asking(lender(3)))
    quota, _ = answered(borrower(3, 4), asking(pool), pool)
    running = asking(pool, quota)
    (refused,) = running.cluster["status"]["refused"]
    assert refused["message"] == "InferenceQuota pool allows 3 of h100, 3 used and 1 more wanted"


@pytest.mark.parametrize(
    ("pool", "reason"),
    [
        pytest.param(None, "LenderNotFound", id="no lender"),
        pytest.param(lender(9, maxPriority="high"), "LenderUnreadable", id="a lender that cannot be read"),
        pytest.param(
            lender(9, borrowing={"from": "bank", "limit": {"h100": "1"}}), "LenderBorrows", id="a lender that borrows"
        ),
        pytest.param(lender(9, namespaces={"names": [OTHER]}), "NamespacesNotShared", id="a lender of others"),
        pytest.param(
            lender(9, namespaces={"matchLabels": {"tier": "prod"}}), "NamespacesNotShared", id="another label"
        ),
    ],
)
def test_without_a_lender_nothing_more_is_borrowed_and_what_runs_is_kept(pool: Json, reason: str) -> None:
    running = asking(borrower(2, 5), quota_fleet.namespace(TEAM, tier="dev"), *([] if pool is None else [pool]))
    quota, outcome = answered(borrower(2, 5), running)
    found = condition(outcome, "LenderReady")
    assert found[:2] == ("False", reason)
    assert found[2].endswith("; nothing more is borrowed, and what runs is kept")
    assert quota["status"]["limits"] == [{"name": "h100", "limit": "2", "used": "3", "granted": "0", "over": "1"}]
    assert quota["status"]["grants"] == []
    running.others = [one for one in running.others if one["metadata"]["name"] != "team"] + [quota]
    outcome = running.step()
    assert (cluster_world.admitted(outcome), cluster_world.pods(outcome)) == (ROOM, 3)


def test_a_grant_stands_though_the_lender_goes() -> None:
    pool = lender(9)
    running = asking(borrower(3, 1, namespaces={"names": [TEAM]}))
    quota, _ = answered(borrower(3, 1), running, pool)
    assert len(quota["status"]["grants"]) == 1
    kept, outcome = answered(quota, running)
    assert kept["status"]["grants"] == quota["status"]["grants"]
    assert condition(outcome, "LenderReady")[1] == "LenderNotFound"
    assert condition(outcome, "WithinLimits")[:2] == ("False", "OverLimit")


def test_labels_of_the_lender_are_read() -> None:
    running = asking(borrower(3, 1), quota_fleet.namespace(TEAM, tier="prod"))
    _, outcome = answered(borrower(3, 1), running, lender(9, namespaces={"matchLabels": {"tier": "prod"}}))
    assert condition(outcome, "LenderReady")[1] == "Lends"


def test_the_lender_serves_first_who_stays_within_his_own_limits() -> None:
    """The one that borrows is older and more urgent."""
    running = asking(lender(4))
    (first,) = running.cluster["status"]["quotas"]["asks"]
    other = {**first, "replica": f"{OTHER}/x-0", "number": 2, "uid": "uid-x", "created": "2026-11-25T10:00:00Z"}
    running.cluster["status"]["quotas"]["asks"] = [{**first, "priority": 100, "borrows": True}, other]
    pool, _ = answered(lender(4), running)
    assert [one["replica"] for one in pool["status"]["grants"]] == [f"{OTHER}/x-0"]
    running.cluster["status"]["quotas"]["asks"] = [{**first, "priority": 100}, other]
    pool, _ = answered(lender(4), running)
    assert [one["replica"] for one in pool["status"]["grants"]] == [f"{TEAM}/late-0"]


def test_a_deployment_is_placed_on_what_may_be_borrowed() -> None:
    quota = borrower(1, 1)
    quota["status"] = {"limits": [{"name": "h100", "used": "1", "granted": "0", "borrowable": "1"}]}
    store = [fleet.inference_cluster("a", nodes=2), fleet.inference_class(), quota]
    deployment = fleet.model_deployment("llama", replicas=2)
    outcome = exchange.settle(model_deployment.compose, deployment, store=copy.deepcopy(store))
    assert outcome.status["replicas"] == 1
    assert "allows 1 of h100 and 1 borrowed, 2 used" in outcome.status["unschedulable"]["message"]
    del quota["status"]["limits"][0]["borrowable"]
    outcome = exchange.settle(model_deployment.compose, deployment, store=copy.deepcopy(store))
    assert outcome.status["replicas"] == 0, "the quota has not said that its lender lends"


def test_who_borrows_no_more_has_no_complaint_left() -> None:
    running = asking(borrower(3, 1))
    quota, outcome = answered(borrower(3, 1), running)
    quota["status"]["conditions"] = [{"type": "LenderReady", "status": "False", "reason": "LenderNotFound"}]
    del quota["spec"]["borrowing"]
    _, outcome = answered(quota, running)
    assert condition(outcome, "LenderReady")[:2] == ("True", "BorrowsNothing")


@pytest.mark.parametrize(
    ("borrowing", "says"),
    [
        pytest.param({"from": "team", "limit": {"h100": "1"}}, "cannot borrow from itself", id="itself"),
        pytest.param(
            {"from": "pool", "limit": {"h200": "1"}}, "no limit has this name; the limits are h100", id="no such limit"
        ),
        pytest.param({"from": "pool", "limit": {"h100": 1}}, "must be a string", id="a number"),
        pytest.param({"from": "pool", "limit": {"h100": "1e3"}}, "plain decimal number", id="another notation"),
        pytest.param({"from": 7, "limit": {"h100": "1"}}, "must be a string", id="no name"),
        pytest.param({"from": "pool", "limit": [3]}, "must be an object", id="a list"),
        pytest.param("pool", "must be an object", id="a name alone"),
    ],
)
def test_a_wrong_loan_is_refused_at_its_field(borrowing: Json, says: str) -> None:
    with pytest.raises(InvalidInput, match=says) as caught:
        exchange.settle(inference_quota.compose, limited(1, borrowing=borrowing), store=[])
    assert caught.value.path[:2] == ("spec", "borrowing")
