"""The laws of an InferenceSet, over random replicas: equal renders, names that fit, one name for one kind of pod."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from modelplane.devices.model import Claim
from modelplane.render.backends import kaito
from modelplane.render.manifest import Manifest, Purpose
from modelplane.topology.shape import Topology
from modelplane.workload.model import EngineType, Model, Replica
from modelplane.workload.site import ClusterFacts
from tests.support import kaito as shapes
from tests.support import native, replicas

_LABEL = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?\Z")
_NAME = st.from_regex(r"[a-z]([-a-z0-9]{0,33}[a-z0-9])?", fullmatch=True) | st.just("a" * 33 + "-12")
_TOPOLOGY = st.one_of(
    st.builds(Topology, tensor=st.sampled_from([1, 2, 4, 8]), expert=st.booleans()),
    st.builds(lambda local: Topology(data=local, data_local=local), st.integers(1, 8)),
)
_ENGINE = st.sampled_from([EngineType.VLLM, EngineType.SGLANG, EngineType.CUSTOM])
_MODEL = st.sampled_from([Model("m", "hf://a/b"), Model("n", "hf://a/b@main"), Model("m", "pvc://weights/a")])
_SELECTOR = st.dictionaries(st.sampled_from(["a.example/x", "b", "c"]), st.sampled_from(["1", "2"]), min_size=1)
_TAINT = st.tuples(st.sampled_from(["a", "b"]), st.sampled_from(["", "x"]), st.sampled_from(["", "NoSchedule"]))
_FACTS = st.builds(
    ClusterFacts,
    st.just("gke-us"),
    st.sampled_from(["gateway", "other"]),
    st.just("infra"),
    pool_node_selector=st.dictionaries(st.sampled_from(["h100", "l40s"]), _SELECTOR),
    pool_taints=st.dictionaries(st.sampled_from(["h100", "l40s"]), st.lists(_TAINT, max_size=3).map(tuple)),
)


@st.composite
def _replica(draw: st.DrawFn, name: str | None = None) -> Replica:
    topology = draw(_TOPOLOGY)
    engine: dict[str, Any] = {"env": [{"name": "TEXT", "value": draw(st.sampled_from(["", "a", "{{ x }}", "$(b)"]))}]}
    role = replicas.role(
        workers=draw(st.integers(1, 40)),
        topology=topology,
        pool=draw(st.sampled_from(["h100", "l40s"])),
        devices=(replicas.device(count=topology.devices_per_node, claim=draw(st.sampled_from(Claim))),),
        pod_template=replicas.template(draw(st.sampled_from(["a:1", "b:2"])), engine=engine),
    )
    return shapes.replica(role, name=name or draw(_NAME), model=draw(_MODEL), engine=draw(_ENGINE))


def _set(manifests: tuple[Manifest, ...]) -> Any:
    (found,) = (one.resource for one in manifests if one.purpose is Purpose.WORKLOAD)
    return found


@given(_replica(), _FACTS, _FACTS, st.integers(1, 40))
def test_every_replica_is_rendered_the_same_twice_with_names_that_fit(
    replica: Replica, facts: ClusterFacts, others: ClusterFacts, workers: int
) -> None:
    kaito.check(native.asked(replica))
    manifests = kaito.render(replica, facts)
    assert kaito.render(replica, facts) == manifests
    json.dumps([one.resource for one in manifests])
    for one in manifests:
        assert len(one.resource["metadata"]["name"]) <= 63
        assert all(len(value) <= 63 for value in one.resource["metadata"].get("labels", {}).values())
    name = _set(manifests)["metadata"]["name"]
    assert _LABEL.match(name)
    # A member has five characters more, and the label of its pods' revision eleven more than that.
    assert len(name) + 1 + 5 + 1 + 10 <= 63
    (bound,) = replica.roles
    scaled = replace(replica, roles=(replace(bound, spec=replace(bound.spec, workers=workers)),))
    assert _set(kaito.render(scaled, others))["metadata"]["name"] == name


def _pods(replica: Replica, facts: ClusterFacts) -> str:
    """Return what the pods of a replica are made from, claims included."""
    manifests = kaito.render(replica, facts)
    claims = [one.resource["spec"] for one in manifests if one.resource["kind"] == "ResourceClaimTemplate"]
    return json.dumps([_set(manifests)["spec"]["template"], claims], sort_keys=True)


@given(_replica("llama-0"), _replica("llama-0"))
def test_other_pods_have_another_name(one: Replica, other: Replica) -> None:
    """KAITO ignores a change of pods under the same name."""
    facts = ClusterFacts("gke-us", "gateway", "infra")
    names = {_set(kaito.render(replica, facts))["metadata"]["name"] for replica in (one, other)}
    if _pods(one, facts) != _pods(other, facts):
        assert len(names) == 2
    assert len({service["metadata"]["name"] for service in _services(one, facts)} & names) == 0


def _services(replica: Replica, facts: ClusterFacts) -> list[Any]:
    return [one.resource for one in kaito.render(replica, facts) if one.resource["kind"] == "Service"]


_MEMBER = re.compile(r"(.+)-[0-9a-f]{8}-[bcdfghjklmnpqrstvwxz2456789]{5}\Z")


@given(_NAME, st.integers(0, 9999), st.sampled_from(["{}-{}", "{}-{}-decode", "{}-{}-prefill", "{}-{}-epp"]))
def test_no_deployment_of_ours_has_the_name_of_a_member(deployment: str, index: int, form: str) -> None:
    """KAITO deletes a Deployment that has the name of one of its members."""
    assert _MEMBER.match(form.format(deployment, index)) is None
