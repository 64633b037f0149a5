"""The offline reconcile calls a function, judges readiness and goes on as Crossplane does."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane_functions.exchange import Child, Observed, Outcome, Ready, Requirement
from tests.support import worlds
from tests.support.worlds import API_VERSION, composes, condition, get, resource, thing

Json = Any

# --- readiness --------------------------------------------------------------------------------------------------------

READINESS = [
    pytest.param({"a": Ready.TRUE}, None, ("True", "Available", ""), id="all ready"),
    pytest.param({"a": Ready.FALSE}, None, ("False", "Creating", "Unready resources: a"), id="one is not"),
    pytest.param({}, None, ("True", "Available", ""), id="zero resources are ready, which is Crossplane's trap"),
    pytest.param({}, Ready.FALSE, ("False", "Creating", ""), id="the function says more is to come"),
    pytest.param({"a": Ready.FALSE}, Ready.TRUE, ("True", "Available", ""), id="the function overrides"),
    pytest.param(
        dict.fromkeys("edcba", Ready.FALSE),
        None,
        ("False", "Creating", "Unready resources: a, b, c, and 2 more"),
        id="three are named",
    ),
]


@pytest.mark.parametrize(("children", "own", "want"), READINESS)
def test_readiness(children: dict[str, Ready], own: Ready | None, want: tuple[str, str, str]) -> None:
    outcome = Outcome(children={name: Child(thing(name), ready) for name, ready in children.items()}, ready=own)
    settled = worlds.world([resource("Top", "x")], {"Top": lambda _observed: outcome})
    assert condition(settled, "Ready") == want


# --- requirements -----------------------------------------------------------------------------------------------------

SELECTED = [
    pytest.param(Requirement("v1", "Pet", name="b", namespace="ns"), ["ns/b"], id="by name"),
    pytest.param(Requirement("v1", "Pet", name="nobody", namespace="ns"), [], id="by a name that does not exist"),
    pytest.param(Requirement("v1", "Pet", labels={"kind": "cat"}), ["far/c", "ns/a"], id="by labels everywhere"),
    pytest.param(Requirement("v1", "Pet", labels={"kind": "cat"}, namespace="ns"), ["ns/a"], id="in one namespace"),
    pytest.param(Requirement("v1", "Pet"), ["far/c", "ns/a", "ns/b"], id="all of the kind, by namespace and name"),
    pytest.param(Requirement("v1", "Nothing"), [], id="none of the kind"),
]


@pytest.mark.parametrize(("requirement", "want"), SELECTED)
def test_requirements_are_answered_from_the_store(requirement: Requirement, want: list[str]) -> None:
    seen: list[tuple[str, ...] | None] = []

    def compose(observed: Observed) -> Outcome:
        found = observed.required.get("pets")
        seen.append(
            None
            if found is None
            else tuple(f"{one['metadata']['namespace']}/{one['metadata']['name']}" for one in found)
        )
        return Outcome(requirements={"pets": requirement})

    pets = [
        resource("Pet", "b", api_version="v1"),
        resource("Pet", "a", api_version="v1", labels={"kind": "cat"}),
        resource("Pet", "c", "far", api_version="v1", labels={"kind": "cat", "more": "1"}),
    ]
    worlds.world([resource("Top", "x"), *pets], {"Top": compose})
    assert seen[0] is None, "the first call has nothing fetched"
    assert seen[1:] == [tuple(want)] * (len(seen) - 1)


def test_requirements_that_never_settle_are_a_bug_and_six_calls() -> None:
    calls = []

    def compose(observed: Observed) -> Outcome:
        calls.append(1)
        return Outcome(requirements={f"r{len(observed.required)}{len(calls)}": Requirement("v1", "Pet")})

    settled = worlds.world([resource("Top", "x")], {"Top": compose})
    assert "didn't stabilize" in str(next(iter(settled.settled.record.bugs)))
    assert condition(settled, "Synced")[0] == "False"
    assert len(calls) % 6 == 0


def test_what_the_last_reconcile_required_stays_until_the_next_and_is_then_forgotten() -> None:
    """What is asked for no more is still handed over in this reconcile, and the first answer is final."""
    seen: list[list[str]] = []

    def compose(observed: Observed) -> Outcome:
        seen.append(sorted(observed.required))
        count = int(observed.status.get("count") or 0)
        needs = {"pets": Requirement("v1", "Pet"), "dogs": Requirement("v1", "Dog")}
        if count:
            del needs["dogs"]
        return Outcome(requirements=needs, status={"count": min(2, count + 1)})

    worlds.world([resource("Top", "x")], {"Top": compose})
    assert seen == [[], ["dogs", "pets"], ["dogs", "pets"], ["pets"]]


def test_desired_state_is_not_carried_from_one_iteration_to_the_next() -> None:
    def compose(observed: Observed) -> Outcome:
        needs = {"pets": Requirement("v1", "Pet")}
        if "pets" not in observed.required:
            return Outcome(requirements=needs, children={"early": Child(thing("early"))})
        return Outcome(requirements=needs, children={"late": Child(thing("late"))})

    settled = worlds.world([resource("Top", "x")], {"Top": compose})
    assert [found.name for found in settled.store.of_kind("", "ConfigMap")] == ["late"]


# --- the loop ---------------------------------------------------------------------------------------------------------


def test_an_oscillation_ends_and_names_what_flips() -> None:
    def compose(observed: Observed) -> Outcome:
        value = 1 - (observed.status.get("value") or 0)
        return Outcome(status={"value": value}, children={"a": Child(thing("still"), Ready.TRUE)})

    settled = worlds.world([resource("Top", "x")], {"Top": compose})
    (bug,) = settled.settled.record.bugs
    assert "does not settle" in str(bug)
    assert "Top ns/x" in str(bug)
    assert "still" not in str(bug)


def test_endless_growth_ends_at_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    def compose(observed: Observed) -> Outcome:
        return Outcome(status={"value": (observed.status.get("value") or 0) + 1})

    monkeypatch.setattr("modelplane_cli.simulator.settle.MAX_ROUNDS", 30)
    settled = worlds.world([resource("Top", "x")], {"Top": compose})
    assert "still moving after 30 rounds" in str(next(iter(settled.settled.record.bugs)))


def test_a_settled_composite_is_not_called_again_for_the_changes_of_others() -> None:
    calls: dict[str, int] = {}

    def compose(observed: Observed) -> Outcome:
        calls[observed.name] = calls.get(observed.name, 0) + 1
        rounds = 20 if observed.name == "slow" else 0
        return Outcome(status={"count": min(rounds, (observed.status.get("count") or 0) + 1)})

    worlds.world([resource("Top", "slow"), resource("Top", "quick")], {"Top": compose})
    assert calls["slow"] > 20
    assert calls["quick"] <= 3


def test_a_change_of_a_required_resource_calls_its_dependants_again() -> None:
    def reader(observed: Observed) -> Outcome:
        needs = {"other": Requirement(API_VERSION, "Writer", name="w", namespace="ns")}
        if "other" not in observed.required:
            return Outcome(requirements=needs)
        (other,) = observed.required["other"]
        return Outcome(requirements=needs, status={"seen": (other.get("status") or {}).get("count")})

    def writer(observed: Observed) -> Outcome:
        return Outcome(status={"count": min(5, (observed.status.get("count") or 0) + 1)})

    settled = worlds.world([resource("Reader", "r"), resource("Writer", "w")], {"Reader": reader, "Writer": writer})
    assert get(settled, "Reader", "r")["status"]["seen"] == 5


def test_paused_and_deleted_composites_are_left_alone() -> None:
    paused = resource("Top", "x", annotations={"crossplane.io/paused": "true"})
    dying = resource("Top", "y")
    dying["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    settled = worlds.world([paused, dying], {"Top": composes(("a", thing()))})
    assert condition(settled, "Synced")[:2] == ("False", "ReconcilePaused")
    assert not settled.store.of_kind("", "ConfigMap")


def test_a_kind_without_a_composition_says_so() -> None:
    settled = worlds.world(
        [resource("Top", "x")], {"Top": composes(("a", thing()))}, [worlds.definition("Top", composed=False)]
    )
    assert "no Composition for example.org/v1 Top" in condition(settled, "Synced")[2]
