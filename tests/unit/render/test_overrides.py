"""Overrides: fields of a workload that its backend lists are written, and no other ones."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelplane import names
from modelplane.errors import InvalidInput
from modelplane.render import overrides
from modelplane.render.backends import selection
from modelplane.render.manifest import Purpose
from modelplane.topology.shape import Topology
from modelplane.workload.model import Override, Replica, Role, Workload
from tests.support import kserve
from tests.support import replicas as build

Json = Any
GRACE = {"terminationGracePeriodSeconds": 300}


def _replica(backend: str, patch: Json, *roles: Any, **more: Any) -> Replica:
    return build.replica(*(roles or (build.role(),)), backend=backend, overrides=(Override(backend, patch),), **more)


def _made(replica: Replica) -> tuple[dict[str, Json], dict[str, Json]]:
    """Return the objects without and with the overrides of the replica, by key."""
    backend = selection.backend(replica.backend)
    before = backend.render(replica, kserve.FACTS)
    was = copy.deepcopy({one.key: one.resource for one in before})
    after = overrides.apply(before, replica, backend.PATCHABLE)
    assert {one.key: one.resource for one in before} == was
    return was, {one.key: dict(one.resource) for one in after}


def _changed(before: Json, after: Json, path: tuple[str, ...] = ()) -> set[str]:
    if isinstance(before, dict) and isinstance(after, dict):
        keys = before.keys() | after.keys()
        return set().union(*(_changed(before.get(key), after.get(key), (*path, key)) for key in keys))
    return set() if before == after else {".".join(path)}


_NOTE = f"metadata.annotations.{names.ANNOTATION_OVERRIDES}"


@pytest.mark.parametrize(
    ("backend", "patch", "written"),
    [
        pytest.param(
            "KServe", {"spec": {"template": GRACE}}, "spec.template.terminationGracePeriodSeconds", id="KServe"
        ),
        pytest.param(
            "Native",
            {"spec": {"progressDeadlineSeconds": 7200}},
            "spec.progressDeadlineSeconds",
            id="Native's Deployment",
        ),
        pytest.param(
            "Native",
            {"spec": {"template": {"spec": GRACE}}},
            "spec.template.spec.terminationGracePeriodSeconds",
            id="its pods",
        ),
    ],
)
def test_a_listed_field_is_written_and_nothing_else(backend: str, patch: Json, written: str) -> None:
    before, after = _made(_replica(backend, patch))
    found = {key: _changed(before[key], after[key]) for key in before if before[key] != after[key]}
    assert list(found.values()) == [{written, _NOTE}]


def test_what_was_rendered_is_told_beside_what_is_written() -> None:
    _, after = _made(_replica("KServe", {"spec": {"template": GRACE}}))
    (note,) = (one["metadata"]["annotations"][names.ANNOTATION_OVERRIDES] for one in after.values() if _noted(one))
    assert note == "spec.template.terminationGracePeriodSeconds is 300, rendered as 60"


def _noted(resource: Json) -> bool:
    return names.ANNOTATION_OVERRIDES in resource["metadata"].get("annotations", {})


@pytest.mark.parametrize(
    ("backend", "patch", "path"),
    [
        pytest.param("KServe", {"spec": {"replicas": 3}}, "replicas", id="a count"),
        pytest.param("KServe", {"metadata": {"name": "x"}}, "metadata", id="a name"),
        pytest.param("KServe", {"metadata": {"labels": {"a": "b"}}}, "metadata", id="labels"),
        pytest.param("Native", {"spec": {"selector": {"matchLabels": {}}}}, "selector", id="a selector"),
        pytest.param("Native", {"spec": {"template": {"spec": {"nodeSelector": {}}}}}, "nodeSelector", id="a node"),
        pytest.param("Native", {"spec": {"template": {"spec": {"tolerations": []}}}}, "tolerations", id="tolerations"),
        pytest.param("Native", {"spec": {"template": {"spec": {"resourceClaims": []}}}}, "resourceClaims", id="claims"),
        pytest.param("Native", {"spec": {"template": {"spec": {"hostNetwork": True}}}}, "hostNetwork", id="the host"),
        pytest.param(
            "Native", {"spec": {"template": {"spec": {}}}}, "spec", id="an empty object where a field is listed below"
        ),
        pytest.param("Native", {"spec": {"template": None}}, "template", id="a null above"),
        pytest.param("Native", {"spec": {"minReadySeconds": None}}, "minReadySeconds", id="a null"),
        pytest.param("Native", {"spec": ["x"]}, "spec", id="a list for an object"),
        pytest.param("KubeRay", {"spec": {"suspend": True}}, "patch", id="a backend that lists nothing"),
        pytest.param("Dynamo", {"spec": {"annotations": {"sidecar.istio.io/inject": "true"}}}, "patch", id="a key"),
        pytest.param("Dynamo", {"spec": {"env": [{"name": "DYN_NAMESPACE", "value": "x"}]}}, "patch", id="a variable"),
    ],
)
def test_every_other_field_is_refused_with_its_path_and_what_may_be_written(
    backend: str, patch: Json, path: str
) -> None:
    replica = _replica(backend, patch)
    workload = Workload(
        "ml-team", "llama", replica.model, replica.engine, (build.role().spec,), overrides=replica.overrides
    )
    found = selection.backend(backend)
    with pytest.raises(InvalidInput) as raised:
        overrides.check(workload, backend, found.PATCHABLE)
    assert raised.value.path[:4] == ("spec", "overrides", 0, "patch")
    assert raised.value.path[-1] == path
    with pytest.raises(InvalidInput):
        overrides.apply((), replica, found.PATCHABLE) if not replica.roles else _made(replica)


ACTION = '{{ env "HOME" }}'


@pytest.mark.parametrize(
    ("value", "path"),
    [
        pytest.param({"searches": [ACTION]}, ("searches", 0), id="a value"),
        pytest.param({"options": [{"name": "ndots", "value": f"a{ACTION}"}]}, ("options", 0, "value"), id="deep"),
        pytest.param({ACTION: "x"}, (ACTION,), id="a key"),
        pytest.param(ACTION, (), id="for an object"),
    ],
)
@pytest.mark.parametrize("backend", ["KServe", "Native", "LLMD"])
def test_a_template_action_is_refused_in_keys_and_in_values(
    backend: str, value: Json, path: tuple[str | int, ...]
) -> None:
    """KServe runs all of its object as a template, and patches are written over what was escaped for it."""
    pod = {"template": {"dnsConfig": value}} if backend == "KServe" else {"template": {"spec": {"dnsConfig": value}}}
    replica = _replica(backend, {"spec": pod})
    workload = Workload(
        "ml-team", "llama", replica.model, replica.engine, (build.role().spec,), overrides=replica.overrides
    )
    with pytest.raises(InvalidInput) as raised:
        overrides.check(workload, backend, selection.backend(backend).PATCHABLE)
    at = raised.value.path
    assert at[at.index("dnsConfig") + 1 :] == path
    with pytest.raises(InvalidInput):
        _made(replica)


HARMLESS = {
    *("dnsConfig", "hostAliases", "terminationGracePeriodSeconds"),
    *("minReadySeconds", "progressDeadlineSeconds", "revisionHistoryLimit", "runtimeClass"),
}


@pytest.mark.parametrize("backend", sorted(selection.BACKENDS))
def test_no_backend_lists_a_field_that_reaches_devices_nodes_rights_or_controllers(backend: str) -> None:
    listed = {one.rpartition(".")[2] for one in selection.backend(backend).PATCHABLE}
    assert listed <= HARMLESS, "judge what the field reaches, and what checks its values, before it is added here"


def test_a_role_that_is_not_rendered_is_not_made_by_a_patch() -> None:
    before, after = _made(_replica("KServe", {"spec": {"prefill": {"template": GRACE}, "worker": GRACE}}))
    assert before == after


def test_a_kind_that_is_not_rendered_is_not_written() -> None:
    gang = build.role(topology=Topology(tensor=8, pipeline=2))
    before, after = _made(_replica("Native", {"spec": {"progressDeadlineSeconds": 7200}}, gang))
    assert before == after


def test_each_role_of_a_workload_is_written() -> None:
    roles = (build.role(), build.role(Role.PREFILL))
    before, after = _made(_replica("LLMD", {"spec": {"template": {"spec": GRACE}}}, *roles))
    backend = selection.backend("LLMD")
    replica = _replica("LLMD", {"spec": {"template": {"spec": GRACE}}}, *roles)
    workloads = {one.key for one in backend.render(replica, kserve.FACTS) if one.purpose is Purpose.WORKLOAD}
    assert {key for key in before if before[key] != after[key]} == workloads
    assert len(workloads) == len(roles)


def test_an_override_of_another_backend_has_no_effect_and_restarts_nothing() -> None:
    other = Override("LLMD", {"spec": {"minReadySeconds": 5}})
    role = build.role()
    workload = Workload("ml-team", "llama", None, build.replica(role).engine, (role.spec,), overrides=(other,))
    assert workload.overrides_of("KServe") == ()
    assert workload.overrides_of("LLMD") == (other,)


@pytest.mark.parametrize("backend", sorted(selection.BACKENDS))
def test_no_backend_lists_what_a_template_may_say_within_limits(backend: str) -> None:
    """A patch of an annotation would reach the controllers that a key of a template may not reach."""
    for listed in selection.backend(backend).PATCHABLE:
        assert not {"annotations", "labels", "metadata", "env", "containers"} & set(listed.split(".")), listed


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda below: st.lists(below, max_size=2) | st.dictionaries(st.text(max_size=4), below, max_size=2),
    max_leaves=6,
)
_WORDS = st.sampled_from(
    ["spec", "template", "metadata", "labels", "containers", "replicas", "minReadySeconds", "dnsConfig", "nodeSelector"]
)
_PATCHES = st.recursive(_VALUES, lambda below: st.dictionaries(_WORDS, below, min_size=1, max_size=3), max_leaves=8)


@given(st.sampled_from(["KServe", "Native", "LLMD", "KubeRay"]), _PATCHES.filter(lambda one: isinstance(one, dict)))
def test_whatever_is_patched_only_listed_fields_differ(backend: str, patch: Json) -> None:
    try:
        before, after = _made(_replica(backend, patch))
    except InvalidInput:
        return
    listed = {one.partition(".")[2] if one[0].isupper() else one for one in selection.backend(backend).PATCHABLE}
    for key, resource in before.items():
        for path in _changed(resource, after[key]) - {_NOTE}:
            assert any(path == one or path.startswith(f"{one}.") for one in listed), path
    json.dumps(after)
