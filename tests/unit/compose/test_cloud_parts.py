"""CloudNetwork, CloudCluster and CloudNodePool: what they make and say, and that nothing that was made is dropped."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from modelplane import names
from modelplane.errors import InvalidInput, Unsupported
from modelplane_functions.compose import cloud_cluster, cloud_network, cloud_node_pool
from modelplane_functions.exchange import Outcome, Ready, Severity, Truth
from tests.support import exchange, toy_cloud
from tests.support.toy_cloud import BLOCK, NO_ROOM, RECIPE, SOURCE

Json = Any
COMPOSERS = {"CloudNetwork": cloud_network, "CloudCluster": cloud_cluster, "CloudNodePool": cloud_node_pool}
MAIN = {"CloudNetwork": "network", "CloudCluster": "cluster", "CloudNodePool": "pool"}
MADE = {"CloudNetwork": {}, "CloudCluster": {"gate": "north"}, "CloudNodePool": {"nodes": 2}}


@pytest.fixture(autouse=True)
def _toy(monkeypatch: pytest.MonkeyPatch) -> None:
    toy_cloud.use(monkeypatch)


def _part(kind: str) -> Json:
    spec: Json = {"clusterName": "a", "provider": SOURCE, "settings": dict(BLOCK), "deletionPolicy": "Delete"}
    if kind == "CloudNodePool":
        pool = {"name": "h100", "className": "h100-8x", "nodeCount": 2, "labels": {names.LABEL_POOL: "h100"}}
        spec |= {"pool": pool, "recipe": dict(RECIPE), "drivers": ["gpu.nvidia.com"], "devices": 8}
        spec["facts"] = {"gate": "north"}
    return {"apiVersion": names.API_VERSION, "kind": kind, "metadata": {"name": "a"}, "spec": spec}


class Part:
    """A part of a cluster with its observed children."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.document = _part(kind)
        self.children: dict[str, Json] = {}
        self.kinds: set[str] | None = None

    def compose(self) -> Outcome:
        return exchange.settle(
            COMPOSERS[self.kind].compose, copy.deepcopy(self.document), children=self.children, kinds=self.kinds
        )

    def step(self) -> Outcome:
        """Return what the function decides, and let it be written."""
        outcome = self.compose()
        old = self.children
        self.children = {key: {**old.get(key, {}), **child.resource} for key, child in outcome.children.items()}
        self.document["status"] = copy.deepcopy(dict(outcome.status))
        return outcome

    def made(self) -> Part:
        """Return the part once all of it is made."""
        self.step()
        self.children = {
            key: toy_cloud.ready(child, MADE[self.kind] if key == MAIN[self.kind] else None)
            for key, child in self.children.items()
        }
        self.step()
        return self


@pytest.mark.parametrize("kind", COMPOSERS)
def test_it_is_ready_when_the_cloud_has_made_it(kind: str) -> None:
    part = Part(kind)
    first = part.step()
    assert (first.ready, first.status["phase"]) == (Ready.FALSE, "Creating")
    settled = part.made().compose()
    assert (settled.ready, settled.status["phase"], settled.conditions[0].status) == (Ready.TRUE, "Ready", Truth.TRUE)
    assert not settled.events, "an event is for a change"
    assert part.compose() == settled


@pytest.mark.parametrize("kind", COMPOSERS)
def test_an_error_of_the_cloud_is_told_with_what_helps(kind: str) -> None:
    part = Part(kind)
    part.step()
    main = part.children[MAIN[kind]]
    part.children[MAIN[kind]] = toy_cloud.failed(main, f"creation failed: {NO_ROOM}")
    outcome = part.compose()
    assert outcome.status["phase"] == "Failed"
    assert outcome.status["failed"] == [
        {
            "kind": main["kind"],
            "name": main["metadata"]["name"],
            "message": f"creation failed: {NO_ROOM}; buy a larger one",
        }
    ]
    assert [(event.severity, event.reason) for event in outcome.events] == [(Severity.WARNING, "ProvisionedFailed")]
    part.document["status"] = dict(outcome.status)
    assert not part.compose().events, "the same error again is no event"


def test_a_reference_that_is_not_there_yet_is_no_error() -> None:
    part = Part("CloudCluster")
    part.step()
    waiting = "cannot resolve references: mg.Spec.ForProvider.Network: referenced field was empty"
    part.children["cluster"] = toy_cloud.failed(part.children["cluster"], waiting, "Synced")
    assert part.compose().status["phase"] == "Creating"


def test_the_cluster_publishes_what_pools_need_and_keeps_it() -> None:
    part = Part("CloudCluster").made()
    assert part.document["status"]["facts"] == {"gate": "north", "version": "1.36.1"}
    part.children["cluster"].pop("status")
    assert part.compose().status["facts"]["gate"] == "north"


def test_a_pool_counts_what_the_cloud_reports() -> None:
    part = Part("CloudNodePool").made()
    assert part.document["status"]["nodes"] == {"observed": 2, "growable": 0}
    part.document["spec"]["pool"] = {**part.document["spec"]["pool"], "minNodeCount": 0, "maxNodeCount": 5}
    assert part.compose().status["nodes"] == {"observed": 2, "growable": 3}


def test_a_pool_waits_for_the_fact_that_it_needs() -> None:
    part = Part("CloudNodePool")
    del part.document["spec"]["facts"]
    outcome = part.compose()
    assert not outcome.children
    assert outcome.ready is Ready.FALSE, "nothing is made, so nothing is ready"


@pytest.mark.parametrize("kind", COMPOSERS)
def test_without_its_provider_nothing_is_made_and_the_package_is_named(kind: str) -> None:
    part = Part(kind)
    part.kinds = set()
    outcome = part.compose()
    assert not outcome.children
    (said,) = outcome.conditions
    assert said.reason == "ProviderNotInstalled"
    assert "provider-toys" in said.message


def test_one_that_is_orphaned_keeps_everything_in_the_cloud() -> None:
    part = Part("CloudNetwork")
    part.document["spec"]["deletionPolicy"] = "Orphan"
    assert "Delete" not in part.step().children["network"].resource["spec"]["managementPolicies"]


NEVER_DELETED = ["Observe", "Create", "Update", "LateInitialize"]


@pytest.mark.parametrize(
    ("given", "orphaned", "deleted"),
    [
        pytest.param(None, NEVER_DELETED, None, id="everything"),
        pytest.param(["*"], NEVER_DELETED, None, id="the server's default"),
        pytest.param(NEVER_DELETED, NEVER_DELETED, None, id="orphaned before"),
        pytest.param(
            ["Observe", "Create", "Update"],
            ["Observe", "Create", "Update"],
            [*NEVER_DELETED[:3], "Delete"],
            id="AKS orphaned",
        ),
        pytest.param([*NEVER_DELETED[:3], "Delete"], NEVER_DELETED[:3], [*NEVER_DELETED[:3], "Delete"], id="AKS"),
        pytest.param(["Observe"], ["Observe"], ["Observe"], id="only looked at, by somebody's hand"),
    ],
)
def test_what_is_not_rendered_any_more_has_the_fate_that_is_wanted_now(
    given: Json, orphaned: Json, deleted: Json
) -> None:
    """It was repeated with the wish of before: deleted although its author wants to keep it, or paid for afterwards."""
    part = Part("CloudNetwork").made()
    for policy, wanted in (("Orphan", orphaned), ("Delete", deleted)):
        part.document["spec"]["deletionPolicy"] = policy
        former = copy.deepcopy(part.children["network"])
        former["spec"].pop("managementPolicies", None)
        former["spec"] |= {"managementPolicies": given} if given else {}
        part.children["former"] = former
        held = part.compose().children["former"].resource
        assert held["spec"].get("managementPolicies") == wanted, policy
        assert {**held["spec"], "managementPolicies": given} == {**former["spec"], "managementPolicies": given}
        part.document["spec"]["deletionPolicy"] = "Keep"
        assert part.compose().children["former"].resource["spec"] == former["spec"], "a wish that cannot be read"


# --- what was made stays ----------------------------------------------------------------------------------------------


def _no_facts(part: Part) -> None:
    part.document["spec"].pop("facts", None)


def _no_status(part: Part) -> None:
    part.document.pop("status")
    for child in part.children.values():
        child.pop("status", None)


def _garbled_status(part: Part) -> None:
    part.document["status"] = {"facts": [1], "nodes": "two", "phase": 3}
    for child in part.children.values():
        child["status"] = {"conditions": "none", "atProvider": [7]}


def _unserved(part: Part) -> None:
    part.kinds = set()


def _adopted(part: Part) -> None:
    part.document["spec"]["settings"]["subnetId"] = "theirs"


def _stranger(part: Part) -> None:
    child = {"apiVersion": "v1", "kind": "Old", "metadata": {"name": "b", "namespace": names.SYSTEM_NAMESPACE}}
    part.children["former"] = child


BREAKS: dict[str, Callable[[Part], None]] = {
    "the facts of the cluster are gone": _no_facts,
    "no status is reported": _no_status,
    "statuses are garbled": _garbled_status,
    "the provider is removed": _unserved,
    "the author names a network of his own": _adopted,
    "an earlier version made something else": _stranger,
}


@pytest.mark.parametrize("broken", BREAKS)
@pytest.mark.parametrize("kind", COMPOSERS)
def test_nothing_that_was_made_is_dropped(kind: str, broken: str) -> None:
    part = Part(kind).made()
    BREAKS[broken](part)
    outcome = part.compose()
    assert outcome.children.keys() >= part.children.keys()
    assert outcome.fatal is None


@pytest.mark.parametrize(
    ("field", "value", "error"),
    [
        ("provider", "Existing", Unsupported),
        ("provider", "Mars", Unsupported),
        ("provider", 7, InvalidInput),
        ("clusterName", None, InvalidInput),
        ("settings", {"location": {"x": 1}}, InvalidInput),
        ("zones", "all", InvalidInput),
    ],
    ids=["a source that makes nothing", "no source", "a number", "no cluster", "an object for a text", "a text"],
)
def test_a_spec_that_cannot_be_read_stops_before_anything_is_dropped(field: str, value: Json, error: type) -> None:
    part = Part("CloudNetwork").made()
    part.document["spec"][field] = value
    with pytest.raises(error):
        part.compose()


# --- rights, which are taken away -------------------------------------------------------------------------------------

EVE = f"{toy_cloud.RIGHT}eve"


def _with_guest(policy: str = "Delete") -> Part:
    part = Part("CloudCluster")
    part.document["spec"]["deletionPolicy"] = policy
    part.document["spec"]["settings"]["guests"] = ["eve", "bob"]
    return part.made()


def test_a_right_that_is_not_asked_for_any_more_is_taken_away_and_nothing_else() -> None:
    part = _with_guest()
    before = set(part.children)
    part.document["spec"]["settings"]["guests"] = ["bob"]
    part.step()
    assert set(part.children) == before - {EVE}


def test_a_right_is_not_left_in_the_cloud_where_the_cluster_would_be() -> None:
    part = _with_guest("Orphan")
    assert "Delete" not in part.children[EVE]["spec"]["managementPolicies"]
    part.document["spec"]["settings"]["guests"] = ["bob"]
    first = part.step()
    assert "managementPolicies" not in first.children[EVE].resource["spec"], "its deletion is let through first"
    part.children[EVE]["spec"].pop("managementPolicies", None)
    part.step()
    assert EVE not in part.children


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(lambda part: setattr(part, "kinds", set()), id="the-provider-is-not-served-for-a-moment"),
        pytest.param(lambda part: part.children["cluster"].pop("status"), id="the-cluster-is-not-read"),
        pytest.param(lambda part: part.children[EVE].pop("status"), id="the-right-is-not-read"),
    ],
)
def test_a_right_that_is_asked_for_stays_whatever_blinks(broken: Callable[[Part], None]) -> None:
    part = _with_guest()
    broken(part)
    assert EVE in part.step().children


def test_a_list_of_rights_that_cannot_be_read_takes_nothing() -> None:
    part = _with_guest()
    part.document["spec"]["settings"]["guests"] = [{"name": "bob"}]
    with pytest.raises(InvalidInput):
        part.compose()  # everything is held then
