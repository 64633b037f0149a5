"""The law of mutations in the short run: fixed questions; `python -m tests.property.mutations` asks new ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from modelplane.render.backends import selection
from tests.property import mutations
from tests.support import losses, situations
from tests.support.mutations import Mutation, paths
from tests.support.situations import Situation

Json = Any
SEED = 7
_NO_STATUS = (-1, {"text": "text"}, ["text"])
"""Values of which no field of a status has two types."""


@pytest.mark.parametrize("kind", mutations.kinds())
def test_one_wrong_field_takes_nothing_away(kind: str) -> None:
    assert list(mutations.ask(kind, range(120), SEED)) == []


@pytest.mark.parametrize("kind", mutations.kinds())
def test_no_status_that_cannot_be_read_refuses_a_composite(kind: str) -> None:
    start = next(one for one in situations.running() if one.kind == kind)
    refused = [
        f"{about}: {mutation}"
        for about, mutation, situation in _with_wrong_statuses(start)
        if situations.decided(situation) is None
    ]
    assert refused == []


def test_a_status_leads_no_running_route_to_another_gateway() -> None:
    start = next(one for one in situations.running() if one.kind == "ModelService")
    gateway = next(one for one in start.store if one["kind"] == "InferenceGateway")
    moved = Mutation(("status", "gatewayRef", "namespace"), "is foreign", "intruder").applied(gateway)
    seen = replace(start, store=tuple(moved if one is gateway else one for one in start.store))
    outcome = situations.decided(seen)
    assert outcome is not None
    assert outcome.children["route"].resource["spec"]["parentRefs"] == start.children["route"]["spec"]["parentRefs"]
    assert list(losses.of(start, seen, outcome, is_authors=False)) == []


def test_an_endpoint_that_cannot_be_read_refuses_no_service() -> None:
    start = next(one for one in situations.running() if one.kind == "ModelService")
    endpoint = next(one for one in start.store if one["kind"] == "ModelEndpoint")
    for gone in (Mutation(("spec",), "is a list", []), Mutation(("spec",), "is null", None)):
        store = tuple(gone.applied(one) if one is endpoint else one for one in start.store)
        outcome = situations.decided(replace(start, store=store))
        assert outcome is not None
        assert outcome.children["route"].resource["spec"] == start.children["route"]["spec"]


def test_a_version_of_more_digits_than_a_number_may_have_is_no_bug_of_a_service() -> None:
    start = next(one for one in situations.running() if one.kind == "ModelService")
    gateway = next(one for one in start.store if one["kind"] == "InferenceGateway")
    for version in (f"v{'9' * 5000}.1.1", f"v1.{'9' * 5000}.1"):
        wrong = Mutation(("spec", "envoyGateway"), "is huge", {"version": version}).applied(gateway)
        seen = replace(start, store=tuple(wrong if one is gateway else one for one in start.store))
        assert list(losses.of(start, seen, situations.decided(seen), is_authors=False)) == []


@pytest.mark.parametrize("value", ["\x00", "{{ .X }}", "../intruder"])
def test_a_cluster_past_its_definition_names_no_namespace_to_a_replica(value: str) -> None:
    start = next(one for one in situations.running() if one.kind == "ModelReplica")
    cluster = next(one for one in start.store if one["metadata"]["name"] == start.composite["spec"]["clusterName"])
    foreign = Mutation(("spec", "gateway", "namespace"), "is foreign", value).applied(cluster)
    seen = replace(start, store=tuple(foreign if one is cluster else one for one in start.store))
    assert list(losses.of(start, seen, situations.decided(seen), is_authors=False)) == []


@pytest.mark.parametrize("backend", sorted(selection.BACKENDS))
def test_every_backend_is_asked(backend: str) -> None:
    """A backend without an example that runs would be left out of the law."""
    replicas = [one.composite for one in situations.running() if one.kind == "ModelReplica"]
    assert any(
        one["spec"]["backend"] == backend and one.get("status", {}).get("phase") == "Running" for one in replicas
    )


@pytest.mark.parametrize("backend", sorted(selection.BACKENDS))
def test_a_device_of_no_request_is_no_bug_of_a_replica(backend: str) -> None:
    """It ended the function of a KubeRay replica (seed 9101, ModelReplica 3101)."""
    found = [one for one in situations.running() if one.kind == "ModelReplica"]
    starts = [one for one in found if one.composite["spec"]["backend"] == backend and one.composite["spec"]["devices"]]
    assert starts
    for start in starts:
        wrong = Mutation(("spec", "devices", 0, "name"), "is doubled", "gpugpu").applied(start.composite)
        seen = replace(start, composite=wrong)
        assert list(losses.of(start, seen, situations.decided(seen), is_authors=False)) == []


def test_the_platform_may_move_the_gateway_of_a_cluster_to_another_namespace() -> None:
    start = next(one for one in situations.running() if one.kind == "ModelReplica")
    cluster = next(one for one in start.store if one["metadata"]["name"] == start.composite["spec"]["clusterName"])
    moved = Mutation(("spec", "gateway"), "moves", {"name": "modelplane", "namespace": "elsewhere"}).applied(cluster)
    seen = replace(start, store=tuple(moved if one is cluster else one for one in start.store))
    outcome = situations.decided(seen)
    assert outcome is not None
    assert "elsewhere" in str(outcome.children["route"].resource["spec"])
    assert list(losses.of(start, seen, outcome, is_authors=True)) == []
    assert list(losses.of(start, seen, outcome, is_authors=False)) == ["child route names namespace elsewhere"]


def _with_wrong_statuses(start: Situation) -> list[tuple[str, Mutation, Situation]]:
    found = []
    for mutation in _wrong(start.composite):
        found.append(("itself", mutation, replace(start, composite=mutation.applied(start.composite))))
    for key, child in sorted(start.children.items()):
        for mutation in _wrong(child):
            children = {**start.children, key: mutation.applied(child)}
            found.append((key, mutation, replace(start, children=children)))
    return found


def _wrong(document: Json) -> list[Mutation]:
    below = [path for path in paths(document) if path[0] == "status"]
    return [Mutation(path, f"is {value}", value) for path in below for value in _NO_STATUS]
