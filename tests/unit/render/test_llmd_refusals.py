"""LLMD: what is refused, at which field, and what may stand beside it."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane.errors import InvalidInput
from modelplane.render.backends import llmd, native
from modelplane.topology.shape import Topology
from modelplane.workload.model import EndpointPicker, EngineType, Model, Role, Workload
from tests.support import llmd as shapes
from tests.support import refusals
from tests.support import replicas as build

SEVERAL, APART = shapes.SHAPES["several workers"], shapes.SHAPES["apart"]
ALONE = ("one worker", "one gang", "both")


ROLE = build.role().spec
PREFILL = build.role(Role.PREFILL).spec


def _workload(*roles: Any, **fields: Any) -> Workload:
    given: dict[str, Any] = {"model": Model("m", "hf://a/b"), "engine": EngineType.VLLM, "roles": roles or (ROLE,)}
    return Workload(namespace="ml-team", deployment="llama", **{**given, **fields})


def _beside(**container: Any) -> Any:
    return build.role(pod_template=build.template(sidecars=[{"name": "x", "image": "x", **container}])).spec


PORT = [{"containerPort": 8000}]


@pytest.mark.parametrize(
    ("workload", "path", "says"),
    [
        pytest.param(
            _workload(ROLE, PREFILL, engine=EngineType.TRTLLM), "spec.prefill", "use sglang or vllm", id="TensorRT-LLM"
        ),
        pytest.param(
            _workload(model=Model("m", "s3://b/p")), "spec.model.uri", "it supports hf://, pvc://", id="a bucket"
        ),
        pytest.param(
            _workload(build.role(topology=Topology(pipeline=2)).spec, engine=EngineType.TRTLLM),
            "spec.workers.topology.pipeline",
            "cannot span the 2 nodes",
            id="TensorRT-LLM over nodes",
        ),
        pytest.param(
            _workload(ROLE, build.role(Role.PREFILL, topology=Topology(pipeline=2, data=4, data_local=2)).spec),
            "spec.prefill.workers.topology.dataLocal",
            "set dataLocal to 1",
            id="stages of one copy on one node",
        ),
        pytest.param(
            _workload(_beside(name="routing-sidecar"), PREFILL),
            "spec.workers.template.spec.containers[1].name",
            "is reserved",
            id="the name of the sidecar",
        ),
        pytest.param(
            _workload(_beside(ports=PORT), PREFILL),
            "spec.workers.template.spec.containers[1].ports[0].containerPort",
            "listens on 8000, the engine on 8200",
            id="the port of the sidecar",
        ),
        pytest.param(
            _workload(
                build.role(pod_template=build.template(engine={"ports": PORT})).spec, PREFILL, engine=EngineType.CUSTOM
            ),
            "spec.workers.template.spec.containers[0].ports[0].containerPort",
            "listens on 8000, the engine on 8200",
            id="a custom engine on the port of the sidecar",
        ),
        pytest.param(
            _workload(build.role(pod_template=build.template(engine={"args": ["--port=8000"]})).spec, PREFILL),
            "spec.workers.template.spec.containers[0].args[0]",
            "8200",
            id="an engine on the port of the sidecar",
        ),
        pytest.param(
            _workload(endpoint_picker=EndpointPicker(uncached_tokens=4)),
            "spec.endpointPicker.uncachedTokens",
            "there is no prefill",
            id="tokens without prefill",
        ),
        pytest.param(
            _workload(ROLE, PREFILL, engine=EngineType.SGLANG, endpoint_picker=EndpointPicker(uncached_tokens=4)),
            "spec.endpointPicker.uncachedTokens",
            "a decode worker of sglang cannot prefill",
            id="tokens with SGLang",
        ),
        pytest.param(
            _workload(
                ROLE,
                build.role(
                    Role.PREFILL,
                    pod_template=build.template(engine={"args": ['--kv-transfer-config={"kv_role":"kv_consumer"}']}),
                ).spec,
            ),
            "spec.prefill.workers.template.spec.containers[0].args[0]",
            "kv_producer",
            id="the other role of the transfer",
        ),
    ],
)
def test_what_cannot_work_is_refused_at_its_field(workload: Workload, path: str, says: str) -> None:
    refusals.refused_at(llmd, workload, path, says)


def test_what_stands_beside_stays_where_it_may() -> None:
    llmd.check(_workload(_beside(ports=PORT)))
    llmd.check(_workload(ROLE, build.role(Role.PREFILL, pod_template=build.template(engine={"ports": PORT})).spec))
    llmd.check(_workload(build.role(pod_template=build.template(engine={"ports": PORT})).spec, PREFILL))


def test_a_backend_without_a_picker_refuses_what_is_asked_of_it() -> None:
    with pytest.raises(InvalidInput, match=r"spec\.endpointPicker: Native has no endpoint picker"):
        native.check(_workload(endpoint_picker=EndpointPicker()))
