"""The laws of every backend in the registry, over random replicas that it takes.

Two renders are equal, names and labels fit for the longest inputs that the definition allows, objects fit the schemas
that are at hand, and one wrong input takes away nothing that runs. `hatch run laws` asks them of more.
"""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from modelplane import names
from modelplane.api import catalogue, inference_cluster
from modelplane.api import replica as replicas
from modelplane.render import objects, pod_collection
from modelplane.render.backends import selection
from modelplane.render.manifest import Lifecycle, Purpose
from modelplane.structural import kind as structural
from modelplane.workload.model import Replica
from modelplane_cli.checks import foreign
from tests.property import mutations
from tests.support import any_backend, laws, losses, situations, starting
from tests.support.mutations import GONE, Mutation

Json = Any

every_backend = pytest.mark.parametrize("backend", any_backend.NAMES)
REPLICA = st.data()
# For a law that composes each replica some ten times.
_FEW = settings(laws.LAW, max_examples=laws.in_proportion(10))

_LABEL_1035 = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?\Z")
_LABEL_1123 = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\Z")
_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?\Z")
_KEY = re.compile(r"([-a-z0-9.]{1,253}/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?\Z")
_PORT = re.compile(r"[a-z0-9]([-a-z0-9]{0,13}[a-z0-9])?\Z")
# Kinds whose names are those of Services, and how long they may be: the operators make longer names of them.
_SERVICES = {
    "Service": 63,
    "LLMInferenceService": 63,
    "LeaderWorkerSet": 63,
    "RayService": 47,
    "VLLMRuntime": 63,
    "DynamoGraphDeployment": 63,
    "InferenceSet": 57,
    "Workspace": 63,
}
RESTATED = Path(__file__).parents[1] / "conformance" / "tools" / "restated"
DEFINITIONS = {
    (kind.api_version, kind.kind): kind
    for path in sorted(RESTATED.glob("*.yaml"))
    for document in yaml.safe_load_all(path.read_text())
    if document["kind"] == "CustomResourceDefinition"
    for kind in [structural.kind_of(document)]
}
"""Definitions that can be read without Go; those of pinned modules are judged by tests/conformance/manifests."""


def _facts(replica: Replica, **pool: Json) -> Any:
    return inference_cluster.decode_facts(any_backend.cluster(replica, **pool))


@every_backend
@laws.LAW
@given(data=st.data())
def test_two_renders_are_equal_and_nothing_of_a_cluster_names_what_runs(backend: str, data: st.DataObject) -> None:
    replica = data.draw(any_backend.drawn(backend))
    rendering, facts = selection.backend(backend), _facts(replica)
    before = copy.deepcopy(replica)
    first, second = rendering.render(replica, facts), rendering.render(replica, facts)
    assert first == second
    assert replica == before
    assert len({one.key for one in first}) == len(first)
    assert json.loads(json.dumps([one.resource for one in first])) == [one.resource for one in first]
    other = _facts(replica, nodeSelector={"a": "b"}, taints=[{"key": "c", "effect": "NoSchedule"}])
    elsewhere = rendering.render(replica, other)
    assert [_identity(one) for one in elsewhere] == [_identity(one) for one in first]


def _identity(manifest: Any) -> Any:
    return manifest.key, manifest.purpose, manifest.resource["kind"], manifest.resource["metadata"]["name"]


@every_backend
@laws.LAW
@given(data=st.data())
def test_names_and_labels_fit(backend: str, data: st.DataObject) -> None:
    replica = data.draw(any_backend.drawn(backend))
    manifests = selection.backend(backend).render(replica, _facts(replica))
    assert len([one for one in manifests if one.purpose in (Purpose.WORKLOAD, Purpose.POD_INPUT)]) <= 16
    for one in manifests:
        kind, name = one.resource["kind"], one.resource["metadata"]["name"]
        assert _LABEL_1123.match(name), f"{kind} {name}"
        if kind in _SERVICES:
            assert _LABEL_1035.match(name), f"{kind} {name}"
            assert len(name) <= _SERVICES[kind], f"{kind} {name}"
        assert len(objects.name_of(replica.name, one.key)) <= names.LABEL_MAX
        wrong = list(_misfits(one.resource))
        assert wrong == [], f"{kind} {name}"


def _misfits(value: Json, path: str = "") -> Iterator[str]:
    """Yield labels, selectors, containers and ports whose names or values no API server takes."""
    if isinstance(value, Mapping):
        for key, inside in value.items():
            if key in ("labels", "matchLabels", "selector", "nodeSelector") and _is_texts(inside):
                yield from (f"{path}.{key}: {name}" for name in inside if not _KEY.match(name))
                yield from (f"{path}.{key}: {text}" for text in inside.values() if not _VALUE.match(text))
            yield from _misfits(inside, f"{path}.{key}")
    elif isinstance(value, list):
        for number, inside in enumerate(value):
            if isinstance(inside, Mapping) and "containerPort" in inside and "name" in inside:
                yield from [f"{path}[{number}]: {inside['name']}"] * (not _PORT.match(inside["name"]))
            if isinstance(inside, Mapping) and "image" in inside and "name" in inside:
                yield from [f"{path}[{number}]: {inside['name']}"] * (not _LABEL_1123.match(str(inside["name"])))
            yield from _misfits(inside, f"{path}[{number}]")


def _is_texts(value: Json) -> bool:
    return isinstance(value, Mapping) and all(isinstance(inside, str) for inside in value.values())


@every_backend
@laws.LAW
@given(data=st.data())
def test_every_object_fits_the_schemas_at_hand(backend: str, data: st.DataObject) -> None:
    replica = data.draw(any_backend.drawn(backend))
    document = replicas.encode(replica)
    assert replicas.encode(replicas.decode(document)) == document
    for one in selection.backend(backend).render(replica, _facts(replica)):
        assert list(foreign.problems(one.resource)) == []
        found = DEFINITIONS.get((one.resource["apiVersion"], one.resource["kind"]))
        if found is not None and one.lifecycle is not Lifecycle.OBSERVE:
            assert [str(problem) for problem in found.problems(one.resource)] == []


def test_a_definition_at_hand_refuses_what_it_does_not_know() -> None:
    """A test of the test: an unknown field and a wrong type do not pass."""
    for (api_version, kind), found in DEFINITIONS.items():
        wrong = {"apiVersion": api_version, "kind": kind, "metadata": {"name": "a", "namespace": "b"}, "spec": {"c": 1}}
        assert [problem for problem in found.problems(wrong) if "c" in problem.path], kind


@every_backend
@laws.LAW
@given(data=st.data(), seed=st.integers(0, 2**32))
def test_one_wrong_input_takes_away_nothing_that_runs(backend: str, data: st.DataObject, seed: int) -> None:
    state = data.draw(st.sampled_from([any_backend.State.BY_NAME, any_backend.State.BY_RECORD]))
    start = any_backend.situation(data.draw(any_backend.drawn(backend)), state)
    rest = situations.decided(start)
    assert list(losses.of(start, start, rest, is_authors=False)) == [], "it is not at rest"
    assert start.composite["status"]["phase"] == "Running", start.composite["status"]
    chance = random.Random(seed)  # noqa: S311 - a seed must repeat it
    assert [line for _ in range(4) for line in mutations.lost(start, chance)] == []


@every_backend
@_FEW
@given(data=st.data(), seed=st.integers(0, 2**32))
def test_the_pods_of_a_replica_change_what_is_said_of_it_and_nothing_else(
    backend: str, data: st.DataObject, seed: int
) -> None:
    replica = data.draw(any_backend.drawn(backend))
    start = starting.situation(replica, data.draw(starting.pods(replica)))
    outcome, without = situations.decided(start), situations.decided(replace(start, store=start.store[:1]))
    assert outcome is not None and without is not None
    assert outcome.children == without.children
    (said,) = (one for one in outcome.conditions if one.type == "WorkloadReady")
    assert said.status == "False", said
    assert pod_collection.KEY in outcome.children, "it is kept while workers are not ready"
    assert list(losses.of(start, start, outcome, is_authors=False)) == [], "it is not at rest"
    chance = random.Random(seed)  # noqa: S311 - a seed must repeat it
    lost = [line for _ in range(2) for line in mutations.lost(start, chance)]
    # A status may be changed to one that says that all workers are ready: then the errors of pods are asked no more.
    assert [line for line in lost if not line.endswith(f": child {pod_collection.KEY} is deleted")] == []


@every_backend
@pytest.mark.parametrize("reason", starting.STATUSES)
def test_the_error_of_a_pod_is_told_with_every_backend(backend: str, reason: str) -> None:
    replica = any_backend.plain(backend)[0]
    start = starting.situation(replica, [starting.pod(replica, "pod-a", starting.STATUSES[reason])])
    outcome = situations.decided(start)
    assert outcome is not None
    (said,) = (one for one in outcome.conditions if one.type == "WorkloadReady")
    assert said.reason == reason, said
    assert "pod-a" in said.message


@every_backend
def test_a_source_of_variables_that_names_nothing_restarts_nothing(backend: str) -> None:
    """A RayService was deleted and made anew for it, and a Deployment restarted (seed 99173)."""
    named = any_backend.FEATURES["variables of a Secret"](any_backend.plain(backend)[0])
    if not any_backend.is_taken(named):
        return
    start = any_backend.situation(named)
    path = ("spec", "workers", "template", "spec", "containers", 0, "envFrom", 0, "secretRef")
    seen = replace(start, composite=situations.received(Mutation(path, "is gone", GONE).applied(start.composite)))
    assert list(losses.of(start, seen, situations.decided(seen), is_authors=False)) == []


@every_backend
@pytest.mark.parametrize("state", any_backend.State)
@pytest.mark.parametrize("field", ["model", "engine", "workers", "deploymentRef", "nodeSelector", "devices"])
def test_a_replica_without_a_field_is_held_or_refused(backend: str, field: str, state: any_backend.State) -> None:
    """A RayService without its model ended the function with a ValueError (seed 20261122)."""
    start = any_backend.situation(any_backend.plain(backend)[0], state)
    seen = replace(
        start, composite=situations.received(Mutation(("spec", field), "is gone", GONE).applied(start.composite))
    )
    assert list(losses.of(start, seen, situations.decided(seen), is_authors=True)) == []


def test_every_backend_is_asked_and_every_feature_is_taken_by_some() -> None:
    """A test of the generator: a feature that nobody takes asks nothing."""
    assert set(any_backend.NAMES) == set(selection.BACKENDS)
    taken = {
        name
        for backend in any_backend.NAMES
        for start in any_backend.plain(backend)
        for name, feature in any_backend.FEATURES.items()
        if (made := feature(start)) != start and any_backend.is_taken(made)
    }
    assert taken == set(any_backend.FEATURES)
    assert catalogue.kinds()
