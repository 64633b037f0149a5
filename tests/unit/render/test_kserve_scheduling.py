"""KServe's scheduler: who has one, what it is told, where requests go, and the sidecar of decode pods."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from modelplane.errors import InvalidInput
from modelplane.render.backends import kserve
from modelplane.topology.shape import Topology
from modelplane.workload.model import EndpointPicker, EngineType, Replica, Role, Workload
from tests.support import kserve as shapes
from tests.support import replicas as build

ONE = shapes.SHAPES["one node"]
SEVERAL = dataclasses.replace(shapes.SHAPES["several workers"], endpoint_picker=EndpointPicker())
SGLANG = "lmsysorg/sglang:v0.5.9"
PIPELINES = Topology(tensor=8, pipeline=2)


def _apart(engine: EngineType, topology: Topology | None = None) -> Replica:
    pod = build.template(SGLANG, engine={"command": ["/serve"]} if engine is EngineType.CUSTOM else {})
    decode = build.role(topology=topology, pod_template=pod)
    return build.replica(decode, build.role(Role.PREFILL, workers=2, pod_template=pod), engine=engine)


def _scheduler(replica: Replica) -> Any:
    return shapes.service(replica)["router"].get("scheduler")


def _plugins(replica: Replica) -> list[Any]:
    return list(_scheduler(replica)["config"]["inline"]["plugins"])


def _scaled(replica: Replica, workers: int) -> Replica:
    (bound,) = replica.roles
    return dataclasses.replace(
        replica, roles=(dataclasses.replace(bound, spec=dataclasses.replace(bound.spec, workers=workers)),)
    )


def _rules(replica: Replica) -> list[Any]:
    return list(shapes.rendered(replica)["route"].resource["spec"]["rules"])


# --- who has one ------------------------------------------------------------------------------------------------------


@shapes.every_shape
@pytest.mark.parametrize("picker", [None, EndpointPicker()], ids=["not asked for", "asked for"])
def test_requests_go_to_the_pool_where_there_is_a_choice(replica: Replica, picker: EndpointPicker | None) -> None:
    replica = dataclasses.replace(replica, endpoint_picker=picker)
    several = sum(bound.spec.workers for bound in replica.roles) > 1
    is_alone = not (replica.is_disaggregated or (several and picker is not None))
    assert (_scheduler(replica) is None) == is_alone
    backends = [rule["backendRefs"][0]["kind"] for rule in _rules(replica)]
    assert backends == (["Service"] if is_alone else ["InferencePool", "Service"])


@pytest.mark.parametrize("topology", [Topology(), PIPELINES, Topology(tensor=2, data=8, data_local=4)])
def test_a_second_worker_changes_the_router_and_no_pod(topology: Topology) -> None:
    one = dataclasses.replace(build.replica(build.role(topology=topology)), endpoint_picker=EndpointPicker())
    before, after = shapes.service(one), shapes.service(_scaled(one, 2))
    assert "scheduler" not in before["router"]
    assert after["router"].pop("scheduler")
    assert after.pop("replicas") == before.pop("replicas") + 1
    assert after == before


def test_a_route_never_leads_to_a_pool_that_an_earlier_version_did_not_make() -> None:
    """The route follows a new version at once, the service of pods that run does not: no traffic moves to nowhere."""
    earlier = shapes.SHAPES["several workers"]
    assert earlier.endpoint_picker is None, "no earlier version took one with KServe"
    assert [rule["backendRefs"][0]["kind"] for rule in _rules(earlier)] == ["Service"]


def test_the_pool_of_the_route_is_that_of_kserve() -> None:
    (backend,) = _rules(SEVERAL)[0]["backendRefs"]
    group = "inference.networking.k8s.io"
    assert backend == {"group": group, "kind": "InferencePool", "name": "llama-0-inference-pool", "port": 8000}


# --- what it is told --------------------------------------------------------------------------------------------------


def test_every_profile_uses_plugins_that_are_declared_once() -> None:
    for replica in (SEVERAL, _apart(EngineType.VLLM), _apart(EngineType.SGLANG)):
        declared = [one["type"] for one in _plugins(replica)]
        assert len(set(declared)) == len(declared)
        for profile in _scheduler(replica)["config"]["inline"]["schedulingProfiles"]:
            assert {one["pluginRef"] for one in profile["plugins"]} <= set(declared)


def test_metrics_that_the_scheduler_cannot_read_are_not_asked_for() -> None:
    unified = dataclasses.replace(SEVERAL, engine=EngineType.SGLANG, roles=_apart(EngineType.SGLANG).roles[:1])
    for replica in (_scaled(unified, 2), _apart(EngineType.SGLANG), _apart(EngineType.CUSTOM)):
        names = {one["type"] for one in _plugins(replica)}
        assert {"active-request-scorer", "prefix-cache-scorer"} <= names
        assert not names & {"queue-scorer", "kv-cache-utilization-scorer"}


def test_each_role_has_a_profile() -> None:
    texts = [_scheduler(replica)["config"]["inline"] for replica in (SEVERAL, shapes.SHAPES["disaggregated"])]
    assert [[profile["name"] for profile in text["schedulingProfiles"]] for text in texts] == [
        ["default"],
        ["prefill", "decode"],
    ]


def test_what_an_author_asks_of_the_picker_replaces_the_default() -> None:
    asked = EndpointPicker((("load-aware-scorer", 7),), "random-picker", 500)
    replica = dataclasses.replace(shapes.SHAPES["disaggregated"], endpoint_picker=asked)
    found = _scheduler(replica)["config"]["inline"]
    for role, profile in zip(("prefill", "decode"), found["schedulingProfiles"], strict=True):
        assert profile["plugins"] == [
            {"pluginRef": f"{role}-filter"},
            {"pluginRef": "load-aware-scorer", "weight": 7},
            {"pluginRef": "random-picker"},
        ]
    decider = {"type": "prefix-based-pd-decider", "parameters": {"nonCachedTokens": 500}}
    handler = {"type": "disagg-profile-handler", "parameters": {"deciders": {"prefill": decider["type"]}}}
    assert found["plugins"].index(decider) < found["plugins"].index(handler)


def test_text_of_an_author_stays_a_value() -> None:
    hostile = EndpointPicker((("{{ .Spec }}", 1),), "}{", None)
    (first, *_) = [
        one
        for one in _plugins(dataclasses.replace(SEVERAL, endpoint_picker=hostile))
        if one["type"] != "single-profile-handler"
    ]
    assert first == {"type": "{{`{{`}} .Spec }}"}


@pytest.mark.parametrize("engine", [EngineType.VLLM, EngineType.SGLANG])
def test_tokens_without_a_choice_are_refused(engine: EngineType) -> None:
    asked = EndpointPicker(uncached_tokens=4)
    replica = SEVERAL if engine is EngineType.VLLM else _apart(engine)
    roles = tuple(bound.spec for bound in replica.roles)
    with pytest.raises(InvalidInput, match="remove uncachedTokens"):
        kserve.check(Workload("ml-team", "llama", replica.model, engine, roles, endpoint_picker=asked))


# --- prefill and decode of SGLang -------------------------------------------------------------------------------------


@pytest.mark.parametrize("topology", [Topology(), PIPELINES, Topology(tensor=2, data=8, data_local=4)])
def test_the_sidecar_of_sglang_speaks_its_protocol(topology: Topology) -> None:
    replica = _apart(EngineType.SGLANG, topology)
    kserve.check(Workload("ml-team", "llama", replica.model, replica.engine, tuple(b.spec for b in replica.roles)))
    spec = shapes.service(replica)
    (sidecar,) = spec["template"]["initContainers"]
    assert sidecar["name"] == "llm-d-routing-sidecar"
    words = [*sidecar["command"], *sidecar.get("args", ())]
    assert words[0] == "/app/pd-sidecar"
    assert {"--kv-connector=sglang", "--port=8000", "--vllm-port=8001"} <= set(words)
    assert "--inference-pool=ml-team/llama-0-inference-pool" in words
    assert "initContainers" not in spec["prefill"]["template"]
    assert "initContainers" not in spec.get("worker", {})


def test_both_roles_of_sglang_know_theirs() -> None:
    spec = shapes.service(_apart(EngineType.SGLANG))
    decode, prefill = (" ".join(shapes.main(part)["args"]) for part in (spec, spec["prefill"]))
    assert "--disaggregation-mode decode" in decode
    assert "--port 8001" in decode
    assert "--disaggregation-mode prefill" in prefill
    assert "--disaggregation-bootstrap-port 8998" in prefill
    assert "VLLM_NIXL_SIDE_CHANNEL_HOST" not in str(spec)


def test_the_preset_s_sidecar_of_vllm_is_left_alone() -> None:
    assert "initContainers" not in shapes.service(shapes.SHAPES["disaggregated"])["template"]


def test_without_the_scheduler_only_a_complete_engine_gets_requests() -> None:
    assert "pool" not in _scheduler(shapes.SHAPES["disaggregated"])
    for engine in (EngineType.SGLANG, EngineType.CUSTOM):
        picker = _scheduler(_apart(engine))["pool"]["spec"]["endpointPickerRef"]
        assert (picker["failureMode"], picker["name"]) == ("FailClose", "llama-0-epp-service")
