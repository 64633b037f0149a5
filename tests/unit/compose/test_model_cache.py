"""Copies of a ModelCache: which clusters get one, when the commit is known, and what may never be removed."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from modelplane_functions.compose import model_cache as composer
from modelplane_functions.exchange import Outcome
from tests.support import caches, exchange, fleet

Json = Any
US = {"modelplane.ai/region": "us"}
OTHER_KEY = "0123456789abcdef"


def cluster(name: str, **labels: str) -> Json:
    made = fleet.inference_cluster(name)
    made["metadata"]["labels"] = {"modelplane.ai/region": "us", **labels}
    return made


FLEET = (cluster("a"), cluster("b"))


def ask(composite: Json, children: Json = None, store: Any = FLEET) -> Outcome:
    return exchange.settle(composer.compose, composite, children=children or {}, store=store)


def observed(outcome: Outcome, phase: str = "Ready", **status: Json) -> dict[str, Json]:
    """Return the children of an answer as they are observed once all are in this phase."""
    return {key: caches.as_observed(child.resource, phase=phase, **status) for key, child in outcome.children.items()}


def again(composite: Json, outcome: Outcome) -> Json:
    return {**composite, "status": {**outcome.status}}


def places(outcome: Outcome) -> set[tuple[str, str]]:
    copies = (one.resource["spec"] for key, one in outcome.children.items() if key.startswith("copy-"))
    return {(spec["clusterName"], spec["key"]) for spec in copies}


def test_every_selected_cluster_gets_a_copy() -> None:
    composite = caches.cache(labels=US)
    key = caches.key_of(composite)
    outcome = ask(composite, store=(*FLEET, {**cluster("c"), "metadata": {"name": "c", "labels": {"x": "y"}}}))
    assert places(outcome) == {("a", key), ("b", key)}
    assert outcome.status["summary"] == {"wanted": 2, "ready": 0, "failed": 0}


def test_a_cache_without_selector_follows_its_replicas() -> None:
    composite = caches.cache()
    key = caches.key_of(composite)
    assert places(ask(composite)) == set()
    waiting = caches.replica("r-0", "b", key=key)
    outcome = ask(composite, store=(*FLEET, waiting))
    assert places(outcome) == {("b", key)}
    assert outcome.children["in-use"].resource["spec"]["of"]["resourceRef"] == {"name": caches.NAME}


def test_the_protection_outlives_its_last_user_by_one_call() -> None:
    """A list of replicas that is short for a moment removes no protection."""
    composite = caches.cache(labels=US)
    user = caches.replica("r-0", "b", key=caches.key_of(composite))
    used = ask(composite, store=(*FLEET, user))
    children = observed(used)
    first = ask(again(composite, used), children, store=FLEET)
    assert "no replica was seen" in first.children["in-use"].resource["spec"]["reason"]
    told = {**children, "in-use": first.children["in-use"].resource}
    back = ask(again(composite, first), told, store=(*FLEET, user))
    assert back.children["in-use"].resource == used.children["in-use"].resource
    assert "in-use" not in ask(again(composite, first), told, store=FLEET).children


def test_a_replica_of_another_cache_or_namespace_is_nobody_s() -> None:
    composite = caches.cache()
    other = caches.replica("r-0", "b", key=OTHER_KEY, cache="qwen")
    elsewhere = caches.replica("r-1", "b", key=caches.key_of(composite))
    elsewhere["metadata"]["namespace"] = "others"
    assert ask(composite, store=(*FLEET, other, elsewhere)).children == {}


# --- one commit -------------------------------------------------------------------------------------------------------


def test_one_cluster_resolves_a_branch_and_the_others_stage_its_commit() -> None:
    composite = caches.cache(revision="main", labels=US)
    first = ask(composite)
    assert [spec[0] for spec in places(first)] == ["a"]
    told = {one["name"]: one.get("reason") for one in first.status["clusters"]}
    assert told == {"a": "Starting", "b": "ResolvingRevision"}
    children = observed(first, "Staging", commit=caches.COMMIT)
    second = ask(again(composite, first), children)
    commits = {
        one.resource["spec"]["clusterName"]: one.resource["spec"].get("commit") for one in second.children.values()
    }
    assert commits == {"a": None, "b": caches.COMMIT}
    assert second.status["revision"] == caches.COMMIT


@pytest.mark.parametrize(
    ("phase", "reason", "starts"),
    [
        pytest.param("Pending", "Starting", False, id="its-pod-is-about-to-start"),
        pytest.param("Staging", "Fetching", False, id="it-resolves"),
        pytest.param("Pending", "NoStorageClass", True, id="it-cannot-start"),
        pytest.param("Failed", "AccessDenied", True, id="it-gave-up"),
        pytest.param("Ready", "", True, id="complete-without-a-known-commit"),
    ],
)
def test_a_cluster_that_cannot_resolve_keeps_no_other_waiting(phase: str, reason: str, starts: bool) -> None:  # noqa: FBT001
    composite = caches.cache(revision="main", labels=US)
    first = ask(composite)
    outcome = ask(again(composite, first), observed(first, phase, reason=reason))
    assert (len(places(outcome)) == 2) is starts


def test_a_commit_that_was_known_outlives_the_copy_that_found_it() -> None:
    composite = caches.cache(revision="main", labels=US)
    known = {**composite, "status": {"key": caches.key_of(composite), "revision": caches.COMMIT}}
    outcome = ask(known)
    assert {one.resource["spec"]["commit"] for one in outcome.children.values()} == {caches.COMMIT}


# --- removal ----------------------------------------------------------------------------------------------------------


def staged(composite: Json, *store: Json) -> tuple[Json, dict[str, Json]]:
    """Return a cache at rest with complete copies, and these as its children."""
    first = ask(composite, store=(*FLEET, *store))
    children = observed(first)
    return again(composite, ask(again(composite, first), children, (*FLEET, *store))), children


def test_a_copy_leaves_in_two_steps_once_nobody_uses_it() -> None:
    composite, children = staged(caches.cache(labels=US))
    only_a = (cluster("a"),)
    leaving = ask(composite, children, only_a)
    assert len(places(leaving)) == 2
    told = {one["name"]: (one["phase"], one.get("reason")) for one in leaving.status["clusters"]}
    assert told["b"] == ("Retained", "NotWanted")
    gone = ask(again(composite, leaving), children, only_a)
    assert {name for name, _ in places(gone)} == {"a"}


def test_who_was_placed_meanwhile_keeps_it() -> None:
    composite, children = staged(caches.cache(labels=US))
    leaving = ask(composite, children, (cluster("a"),))
    placed = caches.replica("r-0", "b", key=caches.key_of(composite))
    kept = ask(again(composite, leaving), children, (cluster("a"), placed))
    assert ("b", caches.key_of(composite)) in places(kept)


USES: dict[str, Callable[[str], Json]] = {
    "its-spec": lambda key: caches.replica("r-0", "b", key=key),
    "its-pods-from-before-a-change": lambda key: caches.replica("r-0", "b", key=OTHER_KEY, mounted=[key]),
    "a-replica-that-has-left-the-cache": lambda key: (
        caches.replica("r-0", "b", cache="qwen") | {"status": {"mountedCaches": [f"{caches.NAME}/{key}"]}}
    ),
    "a-replica-whose-key-is-no-text": lambda _: _broken("cacheKey", 7),
    "a-replica-whose-key-is-none": lambda _: _broken("cacheKey", "../etc"),
    "a-replica-whose-reference-is-no-object": lambda _: _broken("modelCacheRef", "llama"),
    "a-replica-whose-cluster-is-no-text": lambda key: _broken("clusterName", 7, key=key),
    "a-replica-without-a-cluster": lambda key: _broken("clusterName", None, key=key),
    "a-replica-that-is-deleted": lambda key: _deleted(caches.replica("r-0", "b", key=key)),
}


def _broken(field: str, value: Json, key: str = OTHER_KEY) -> Json:
    made = caches.replica("r-0", "b", key=key)
    made["spec"][field] = value
    return made


def _deleted(resource: Json) -> Json:
    resource["metadata"]["deletionTimestamp"] = "2026-11-25T00:00:00Z"
    return resource


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("change", ["unselected", "another-source"])
@pytest.mark.parametrize("leaves", [False, True], ids=["wanted-before", "told-to-leave-before"])
def test_a_copy_is_never_removed_under_a_replica(use: str, change: str, leaves: bool) -> None:  # noqa: FBT001
    composite, children = staged(caches.cache(labels=US))
    key = caches.key_of(composite)
    store: tuple[Json, ...] = (cluster("a"), USES[use](key))
    if change == "another-source":
        composite = copy.deepcopy(composite)
        composite["spec"]["source"]["huggingFace"]["revision"] = "b" * 40
    if leaves:
        composite = again(composite, ask(composite, children, (cluster("a"),)))
    for _ in range(4):
        outcome = ask(composite, children, store)
        assert ("b", key) in places(outcome), outcome.status
        composite, children = again(composite, outcome), {**observed(outcome), **children}


def test_after_an_edit_the_old_files_stay_until_their_replica_has_left() -> None:
    composite = caches.cache()
    old = caches.key_of(composite)
    replica = caches.replica("r-0", "a", key=old, mounted=[old])
    composite, children = staged(composite, replica)
    composite = copy.deepcopy(composite)
    composite["spec"]["source"]["huggingFace"]["revision"] = "b" * 40
    new = caches.key_of(composite)
    both = ask(composite, children, (*FLEET, replica))
    assert places(both) == {("a", old), ("a", new)}
    told = {one["key"]: (one["phase"], one.get("reason")) for one in both.status["clusters"]}
    assert told[old] == ("Retained", "InUse")
    children |= observed(both)
    moved = caches.replica("r-0", "a", key=new, mounted=[old, new])
    assert ("a", old) in places(ask(again(composite, both), children, (*FLEET, moved)))
    settled = caches.replica("r-0", "a", key=new, mounted=[new])
    leaving = ask(again(composite, both), children, (*FLEET, settled))
    gone = ask(again(composite, leaving), children, (*FLEET, settled))
    assert places(gone) == {("a", new)}


def test_retention_pins_what_is_not_wanted_any_more() -> None:
    composite, children = staged(caches.cache(labels=US, retention="Retain"))
    for _ in range(4):
        outcome = ask(composite, children, (cluster("a"),))
        assert len(places(outcome)) == 2
        composite = again(composite, outcome)
    assert {one.resource["spec"]["retention"] for key, one in outcome.children.items()} == {"Retain"}


def test_retention_is_handed_on_to_files_from_before_an_edit() -> None:
    """They are kept as they are, for a replica; whether they outlive the cache is what its author wants now."""
    composite = caches.cache()
    old = caches.key_of(composite)
    replica = caches.replica("r-0", "a", key=old, mounted=[old])
    composite, children = staged(composite, replica)
    composite["spec"]["source"]["huggingFace"]["revision"] = "b" * 40
    for wanted in ("Retain", "Delete"):
        composite["spec"]["retention"] = wanted
        found = [one.resource["spec"] for one in ask(composite, children, (*FLEET, replica)).children.values()]
        assert {(one["key"], one["retention"]) for one in found if "key" in one} >= {(old, wanted)}
        (before,) = (child["spec"] for child in children.values() if child["spec"].get("key") == old)
        (after,) = (one for one in found if one.get("key") == old)
        assert {**after, "retention": ""} == {**before, "retention": ""}, "and nothing else of them changes"


# --- hold: each input broken in turn ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "store",
    [
        pytest.param((), id="no-cluster-is-listed"),
        pytest.param((cluster("a", **{"modelplane.ai/region": "eu"}), cluster("b")), id="a-label-is-another"),
        pytest.param((cluster("b"),), id="a-cluster-is-missing"),
    ],
)
def test_nothing_is_removed_at_once_when_clusters_are_missing(store: Any) -> None:
    composite, children = staged(caches.cache(labels=US))
    assert ask(composite, children, store).children.keys() >= children.keys()


@pytest.mark.parametrize("field", ["key", "clusterName", "cacheRef", "source", "size"])
@pytest.mark.parametrize("value", [None, 7, {}, "x y"])
def test_a_copy_that_cannot_be_read_is_kept(field: str, value: Json) -> None:
    composite, children = staged(caches.cache(labels=US))
    broken = copy.deepcopy(children)
    first = sorted(key for key in broken if key.startswith("copy-"))[0]
    broken[first]["spec"][field] = value
    for _ in range(3):
        outcome = ask(composite, broken)
        assert first in outcome.children
        composite = again(composite, outcome)


def test_the_answer_is_at_rest() -> None:
    composite, children = staged(caches.cache(labels=US))
    outcome = ask(composite, children)
    assert outcome.ready == "True"
    assert again(composite, outcome) == composite


# --- clusters that allow some namespaces ------------------------------------------------------------------------------

NAMESPACE: Json = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ml-team", "labels": {"tier": "prod"}}}
OTHERS: Json = {"names": ["others"]}
BY_LABEL: Json = {"matchLabels": {"tier": "prod"}}


def allowing(name: str, allowed: Json) -> Json:
    made = cluster(name)
    made["spec"]["allowedNamespaces"] = allowed
    return made


@pytest.mark.parametrize(
    ("allowed", "namespaces", "want"),
    [
        pytest.param({"names": ["ml-team"]}, (), {"a", "b"}, id="by name"),
        pytest.param(OTHERS, (NAMESPACE,), {"b"}, id="another one"),
        pytest.param({}, (NAMESPACE,), {"b"}, id="nobody"),
        pytest.param("x", (NAMESPACE,), {"b"}, id="what cannot be read"),
        pytest.param(BY_LABEL, (NAMESPACE,), {"a", "b"}, id="by label"),
        pytest.param({"matchLabels": {"tier": "dev"}}, (NAMESPACE,), {"b"}, id="another label"),
        pytest.param(BY_LABEL, (), {"b"}, id="a Namespace that was not found"),
    ],
)
def test_only_clusters_that_allow_the_namespace_get_a_copy(allowed: Json, namespaces: Any, want: set[str]) -> None:
    outcome = ask(caches.cache(labels=US), store=(allowing("a", allowed), cluster("b"), *namespaces))
    assert {place for place, _ in places(outcome)} == want
    assert outcome.status["summary"]["wanted"] == len(want)


def test_a_copy_stays_where_the_namespace_is_not_allowed_any_more() -> None:
    composite = caches.cache(labels=US)
    first = ask(composite)
    before = observed(first)
    again_ = ask(again(composite, first), before, store=(allowing("a", OTHERS), cluster("b")))
    assert again_.children.keys() == before.keys()
    assert ask(again(composite, again_), before, store=(allowing("a", OTHERS), cluster("b"))).children.keys() == (
        before.keys()
    )
