"""The workload part of a ModelDeployment, decoded."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane.api import catalogue, template, workload
from modelplane.devices.model import Constraint, Request
from modelplane.errors import InvalidInput, InvalidShape, dotted
from modelplane.topology.shape import Topology
from modelplane.workload.model import EngineType, Model, Role
from tests.support import replicas as build


def _spec(**fields: Any) -> dict[str, Any]:
    return {"nodeSelector": {"cel": "true"}, "workers": {"template": build.template()}, **fields}


def _decode(**fields: Any) -> Any:
    return workload.decode(_spec(**fields), namespace="ml-team", deployment="llama")


def test_defaults() -> None:
    decoded = _decode()
    assert decoded.engine is EngineType.VLLM
    assert decoded.model is None
    (role,) = decoded.roles
    assert (role.role, role.workers, role.topology) == (Role.DECODE, 1, Topology())
    assert role.requests == (Request("gpu", 1, ("true",)),)


def test_the_short_form_asks_for_the_accelerators_of_one_node() -> None:
    topology = {"tensor": 4, "data": 4, "dataLocal": 2}
    (role,) = _decode(workers={"topology": topology, "template": build.template()}).roles
    assert role.requests == (Request("gpu", 8, ("true",)),)


def test_the_long_form_defaults_only_the_first_count() -> None:
    selector = {
        "devices": [{"name": "gpu", "selectors": [{"cel": "a"}, {"cel": "b"}]}, {"name": "nic"}],
        "constraints": [{"matchAttribute": "resource.kubernetes.io/pcieRoot", "requests": ["gpu", "nic"]}],
    }
    (role,) = _decode(nodeSelector=selector, workers={"topology": {"tensor": 8}, "template": build.template()}).roles
    assert role.requests == (Request("gpu", 8, ("a", "b")), Request("nic", 1))
    assert role.constraints == (Constraint("resource.kubernetes.io/pcieRoot", ("gpu", "nic")),)


@pytest.mark.parametrize(
    ("given", "want"),
    [
        pytest.param({}, Model("llama"), id="name of the deployment"),
        pytest.param({"name": "l3"}, Model("l3"), id="given name"),
        pytest.param({"uri": "hf://a/b"}, Model("llama", "hf://a/b"), id="uri"),
    ],
)
def test_model(given: dict[str, Any], want: Model) -> None:
    assert _decode(model=given).model == want


def test_prefill_inherits_nothing() -> None:
    prefill = {
        "nodeSelector": {"cel": "p"},
        "workers": {"count": 5, "topology": {"tensor": 2}, "template": build.template()},
    }
    decode, second = _decode(
        workers={"count": 3, "topology": {"tensor": 4}, "template": build.template()}, prefill=prefill
    ).roles
    assert (decode.workers, decode.topology.tensor) == (3, 4)
    assert (second.role, second.workers, second.topology.tensor) == (Role.PREFILL, 5, 2)
    assert second.requests == (Request("gpu", 2, ("p",)),)


_PREFILL = {"nodeSelector": {"cel": "true"}, "workers": {"template": build.template("lmsysorg/sglang:v0.5")}}
_ENGINE = build.template()["spec"]["containers"][0]


def _pod(**spec: Any) -> dict[str, Any]:
    return {"workers": {"template": {"spec": {"containers": [_ENGINE], **spec}}}}


def _engine(**fields: Any) -> dict[str, Any]:
    return {"workers": {"template": build.template(engine=fields)}}


@pytest.mark.parametrize(
    ("fields", "path", "says"),
    [
        pytest.param({"nodeSelector": {}}, "spec.nodeSelector", "found neither", id="no selector"),
        pytest.param(
            {"nodeSelector": {"cel": "a", "devices": [{"name": "b"}]}}, "spec.nodeSelector", "found both", id="both"
        ),
        pytest.param(
            {"nodeSelector": {"devices": [{"name": "a"}, {"name": "a"}]}},
            "spec.nodeSelector.devices[1].name",
            "used twice",
            id="two requests of one name",
        ),
        pytest.param(
            {
                "nodeSelector": {
                    "devices": [{"name": "a"}],
                    "constraints": [{"matchAttribute": "x/y", "requests": ["b"]}],
                }
            },
            "spec.nodeSelector.constraints[0].requests[0]",
            'no request is named "b"',
            id="constraint over an unknown request",
        ),
        pytest.param(
            {"workers": {"topology": {"data": 3, "dataLocal": 2}, "template": build.template()}},
            "spec.workers.topology.data",
            "multiple of dataLocal",
            id="data is no multiple",
        ),
        pytest.param(
            {"workers": {"topology": {"tensor": True}, "template": build.template()}},
            "spec.workers.topology.tensor",
            "must be an integer",
            id="true is no size",
        ),
        pytest.param({"workers": {"count": 0}}, "spec.workers", "", id="no workers, no template"),
        pytest.param(
            {"model": {"uri": "meta-llama/x"}}, "spec.model.uri", "hf://meta-llama/x", id="uri without a scheme"
        ),
        pytest.param({"engine": {"type": "vlm"}}, "spec.engine.type", "known are vllm", id="unknown engine"),
        pytest.param({"prefill": _PREFILL}, "spec.engine.type", "decode vllm, prefill sglang", id="two engines"),
        pytest.param(
            {"workers": {"template": {"spec": {"containers": [{"name": "main", "image": "x"}]}}}},
            "spec.workers.template.spec.containers",
            "found: main",
            id="no container named engine",
        ),
        pytest.param(
            _pod(hostNetwork=True), "spec.workers.template.spec.hostNetwork", "not offered", id="host network"
        ),
        pytest.param(
            _pod(volumes=[{"name": "a", "hostPath": {"path": "/"}}]),
            "spec.workers.template.spec.volumes[0].hostPath",
            "not offered",
            id="host path",
        ),
        pytest.param(
            _pod(volumes=[{"name": "a"}]), "spec.workers.template.spec.volumes[0]", "exactly one source", id="no source"
        ),
        pytest.param(
            _engine(securityContext={"privileged": True}),
            "spec.workers.template.spec.containers[0].securityContext.privileged",
            "not offered",
            id="privileged",
        ),
        pytest.param(
            _engine(securityContext={"capabilities": {"add": ["SYS_ADMIN"]}}),
            "spec.workers.template.spec.containers[0].securityContext.capabilities.add[0]",
            "IPC_LOCK",
            id="a capability beyond the baseline",
        ),
        pytest.param(
            _engine(env=[{"name": "MODELPLANE_RANK", "value": "0"}]),
            "spec.workers.template.spec.containers[0].env[0].name",
            "reserved",
            id="reserved variable",
        ),
        pytest.param(
            _engine(ports=[{"containerPort": 8000, "hostPort": 80}]),
            "spec.workers.template.spec.containers[0].ports[0].hostPort",
            "gateway",
            id="host port",
        ),
        pytest.param(
            _engine(resources={"limits": {"nvidia.com/gpu": "8"}}),
            "spec.workers.template.spec.containers[0].resources.limits.nvidia.com/gpu",
            "nodeSelector",
            id="an accelerator behind the ledger's back",
        ),
        pytest.param(
            {"workers": {"template": build.template(metadata={"labels": {"modelplane.ai/x": "y"}})}},
            "spec.workers.template.metadata.labels.modelplane.ai/x",
            "reserved",
            id="reserved label",
        ),
    ],
)
def test_refusals_name_the_field_and_what_to_write(fields: dict[str, Any], path: str, says: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        _decode(**fields)
    assert dotted(caught.value.path).startswith(path)
    assert says in caught.value.message


def test_capabilities_for_rdma_are_allowed() -> None:
    _decode(**_engine(securityContext={"capabilities": {"add": ["IPC_LOCK"]}}))


def test_a_pod_that_asks_for_less_than_its_topology_is_refused() -> None:
    with pytest.raises(InvalidShape) as caught:
        _decode(
            nodeSelector={"devices": [{"name": "gpu", "count": 4}]},
            workers={"topology": {"tensor": 8}, "template": build.template()},
        )
    assert dotted(caught.value.path) == "spec.nodeSelector.devices[0].count"
    assert "remove count or set it to 8" in caught.value.message


def test_a_custom_engine_may_ask_for_what_it_likes() -> None:
    decoded = _decode(
        engine={"type": "custom"},
        nodeSelector={"devices": [{"name": "gpu", "count": 4}]},
        workers={"topology": {"tensor": 8}, "template": build.template()},
    )
    assert decoded.roles[0].requests[0].count == 4


def _fields(schema: Any, *path: str) -> set[str]:
    for key in path:
        schema = schema["items"] if key == "[]" else schema["properties"][key]
    return set(schema["properties"])


@pytest.mark.parametrize("kind", ["ModelDeployment", "ModelReplica"])
def test_a_template_holds_what_its_definition_holds(kind: str) -> None:
    schema = catalogue.definition(kind)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    pod = ("spec", "workers", "template", "spec")
    assert _fields(schema, *pod) == template.POD_FIELDS
    assert _fields(schema, *pod, "securityContext") == template.POD_SECURITY_FIELDS
    assert _fields(schema, *pod, "containers", "[]") == template.CONTAINER_FIELDS
    assert _fields(schema, *pod, "containers", "[]", "securityContext") == template.CONTAINER_SECURITY_FIELDS
