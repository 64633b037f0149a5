"""ModelReplica both ways."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelplane.api import replica as replicas
from modelplane.devices.model import Claim, Constraint, Request
from modelplane.errors import InvalidInput
from modelplane.topology.shape import Topology
from modelplane.workload.model import (
    BoundRole,
    EndpointPicker,
    EngineType,
    Model,
    Replica,
    ResolvedRequest,
    Role,
    RoleSpec,
)
from tests.support import replicas as build

_NAMES = st.from_regex(r"[a-z]([a-z0-9-]{0,10}[a-z0-9])?", fullmatch=True)
_CEL = st.sampled_from(['device.driver == "gpu.nvidia.com"', "true", "a {{ b }}", 'x["ü"] == "\n"'])
_SIZES = st.integers(1, 4)


@st.composite
def _topologies(draw: st.DrawFn) -> Topology:
    local = draw(_SIZES)
    return Topology(draw(_SIZES), draw(_SIZES), local * draw(_SIZES), local, draw(st.booleans()))


@st.composite
def _resolved(draw: st.DrawFn) -> ResolvedRequest:
    return ResolvedRequest(
        name=draw(_NAMES),
        device=draw(_NAMES),
        driver=draw(_NAMES),
        claim=draw(st.sampled_from(Claim)),
        count=draw(_SIZES),
        device_class=draw(st.one_of(st.just(""), _NAMES)),
        resource_name=draw(st.one_of(st.just(""), _NAMES)),
        selectors=tuple(draw(st.lists(_CEL, max_size=2))),
        memory_bytes=draw(st.none() | st.integers(0, 2**42)),
    )


@st.composite
def _bound(draw: st.DrawFn, role: Role) -> BoundRole:
    topology = draw(_topologies())
    short = Request("gpu", topology.devices_per_node, (draw(_CEL),))
    listed = st.lists(
        st.builds(Request, _NAMES, _SIZES, st.lists(_CEL, max_size=2).map(tuple)),
        min_size=1,
        max_size=3,
        unique_by=lambda request: request.name,
    ).map(tuple)
    requests = draw(st.just((short,)) | listed)
    subset = st.lists(st.sampled_from([r.name for r in requests]), unique=True).map(tuple)
    spec = RoleSpec(
        role=role,
        workers=draw(_SIZES),
        topology=topology,
        requests=requests,
        constraints=tuple(
            draw(st.lists(st.builds(Constraint, st.just("gpu.nvidia.com/productName"), subset), max_size=2))
        ),
        template=build.template(engine={"args": draw(st.lists(st.text(max_size=5), max_size=2))}),
    )
    return BoundRole(spec, draw(_NAMES), tuple(draw(st.lists(_resolved(), max_size=2))))


def _pickers() -> st.SearchStrategy[EndpointPicker]:
    scorers = st.dictionaries(st.sampled_from(["queue-scorer", "prefix-cache-scorer"]), st.integers(1, 1000))
    return st.builds(
        EndpointPicker,
        scorers.map(lambda found: tuple(found.items())),
        st.sampled_from(["", "random-picker"]),
        st.none() | st.integers(0, 9),
    )


@st.composite
def _replicas(draw: st.DrawFn) -> Replica:
    roles = [draw(_bound(Role.DECODE))]
    if draw(st.booleans()):
        roles.append(draw(_bound(Role.PREFILL)))
    return Replica(
        namespace=draw(_NAMES),
        name=draw(_NAMES),
        deployment=draw(_NAMES),
        cluster=draw(_NAMES),
        backend=draw(st.sampled_from(["KServe", "LLMD"])),
        model=draw(st.none() | st.builds(Model, _NAMES, st.none() | st.just("hf://a/b"))),
        engine=draw(st.sampled_from(EngineType)),
        roles=tuple(roles),
        priority=draw(st.integers(-5, 5)),
        model_cache=draw(st.none() | _NAMES),
        endpoint_picker=draw(st.none() | _pickers()),
    )


@given(_replicas())
def test_round_trip_is_exact_also_through_json(replica: Replica) -> None:
    document = json.loads(json.dumps(replicas.encode(replica)))
    assert replicas.decode(document) == replica


def test_the_short_selector_is_found_again() -> None:
    selector = 'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("79Gi")) >= 0'
    role = build.role(devices=(build.device(count=8, selectors=(selector,)),), topology=Topology(tensor=8))
    assert replicas.encode_spec(build.replica(role))["nodeSelector"] == {"cel": selector}


def test_published_memory_reads_as_the_driver_publishes_it() -> None:
    assert replicas.encode_spec(build.replica())["devices"][0]["memory"] == "81559Mi"


def test_memory_may_be_a_plain_number_of_bytes() -> None:
    document = replicas.encode(build.replica())
    document["spec"]["devices"][0]["memory"] = 85520809984
    assert replicas.decode(document) == build.replica()


def test_labels_of_the_caller_never_replace_ours() -> None:
    labels = replicas.encode(build.replica(), {"modelplane.ai/cluster": "other", "team": "a"})["metadata"]["labels"]
    assert labels == {
        "team": "a",
        "modelplane.ai/cluster": "gke-us",
        "modelplane.ai/deployment": "llama",
        "modelplane.ai/namespace": "ml-team",
    }


def _without(*path: str) -> dict[str, Any]:
    document = json.loads(json.dumps(replicas.encode(build.replica())))
    parent = document
    for key in path[:-1]:
        parent = parent[key]
    del parent[path[-1]]
    return dict(document)


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(("spec", "clusterName"), id="a replica without a cluster has no place"),
        pytest.param(("spec", "deploymentRef"), id="nor an owner"),
        pytest.param(("spec", "backend"), id="nor a renderer"),
        pytest.param(("spec", "pool"), id="nor a pool"),
        pytest.param(("spec", "engine"), id="the engine was resolved when it was composed"),
        pytest.param(("spec", "nodeSelector"), id="requests"),
        pytest.param(("spec", "workers"), id="template"),
        pytest.param(("metadata", "namespace"), id="it is namespaced"),
    ],
)
def test_what_is_needed_and_missing_is_named(path: tuple[str, ...]) -> None:
    with pytest.raises(InvalidInput) as caught:
        replicas.decode(_without(*path))
    assert caught.value.path[: len(path)] == path


@pytest.mark.parametrize("path", [("spec", "priority"), ("spec", "model")])
def test_what_has_a_default_may_be_missing(path: tuple[str, ...]) -> None:
    replicas.decode(_without(*path))
