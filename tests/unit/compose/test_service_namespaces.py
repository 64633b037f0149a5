"""A gateway gives no new route to a namespace that it does not allow, and takes none away."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane_functions.exchange import Outcome, Ready, Truth
from tests.support.serving import Running

Json = Any
TEAM = "ml-team"
PROD = {"matchLabels": {"tier": "prod"}}


def namespace(**labels: Json) -> Json:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": TEAM, "labels": labels}}


def accepted(outcome: Outcome) -> Any:
    return next(one for one in outcome.conditions if one.type == "Accepted")


CASES = [
    pytest.param({"names": [TEAM]}, None, "", id="allowed by name"),
    pytest.param({"names": ["x"]}, None, "NamespaceNotAllowed", id="another name"),
    pytest.param({"names": []}, None, "NamespaceNotAllowed", id="a list that was emptied"),
    pytest.param(PROD, namespace(tier="prod"), "", id="allowed by label"),
    pytest.param(PROD, namespace(tier="dev"), "NamespaceNotAllowed", id="another value"),
    pytest.param({"names": [TEAM], **PROD}, namespace(), "", id="a name is enough"),
    pytest.param(PROD, None, "NamespaceUnknown", id="no Namespace"),
    pytest.param(PROD, namespace(tier=7), "NamespaceUnknown", id="a Namespace of other types"),
]


def limited(running: Running, allowed: Json, found: Json) -> None:
    running.endpoint("default")["spec"]["allowedNamespaces"] = allowed
    running.store += [] if found is None else [found]


@pytest.mark.parametrize(("allowed", "found", "reason"), CASES)
def test_a_service_of_a_namespace_that_is_not_allowed_gets_no_route(allowed: Json, found: Json, reason: str) -> None:
    running = Running()
    limited(running, allowed, found)
    running.children = {}
    del running.service["status"]
    outcome = running.settle()
    assert ("route" in outcome.children) == (not reason)
    assert accepted(outcome).reason == (reason or "Accepted")
    assert (outcome.ready is Ready.TRUE) == (not reason)
    if reason:
        assert TEAM in accepted(outcome).message


@pytest.mark.parametrize(("allowed", "found", "reason"), CASES)
def test_a_service_that_has_a_route_keeps_it_and_it_follows_the_endpoints(
    allowed: Json, found: Json, reason: str
) -> None:
    running = Running()
    before = running.route
    limited(running, allowed, found)
    outcome = running.settle()
    assert running.route == before
    assert (accepted(outcome).status, accepted(outcome).reason) == (Truth.TRUE, "RouteKept" if reason else "Accepted")
    running.without("llama-1")
    running.settle()
    assert len(running.route["rules"][0]["backendRefs"]) == 2, "an endpoint that went would lose requests"


@pytest.mark.parametrize("allowed", [None, {"names": [TEAM]}, {"names": [TEAM], **PROD}])
def test_no_namespace_is_read_where_no_label_decides(allowed: Json) -> None:
    running = Running()
    if allowed is not None:
        limited(running, allowed, None)
    assert [one for one in running.compose().requirements.values() if one.kind == "Namespace"] == []
