"""KAITO: what is rendered around the engine, which change makes another set, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from modelplane.devices.model import Claim
from modelplane.errors import InvalidInput
from modelplane.render.backends import kaito
from modelplane.topology.shape import Topology
from modelplane.workload.model import EngineType, Model, Replica, Role, Workload
from modelplane.workload.site import ClusterFacts
from tests.support import kaito as shapes
from tests.support import kserve, native
from tests.support import replicas as build

PORT = 5000
ONE = shapes.SHAPES["one node"]
PLUGIN = shapes.SHAPES["device plugin"]


def _engine(replica: Replica) -> dict[str, Any]:
    return native.engine(shapes.pod(replica))


# --- what holds for every shape ---------------------------------------------------------------------------------------


@shapes.every_shape
def test_each_worker_is_a_member_with_nodes_that_are_there(replica: Replica) -> None:
    (bound,) = replica.roles
    found = shapes.workload(replica)
    assert (found["apiVersion"], found["kind"]) == ("kaito.sh/v1beta1", "InferenceSet")
    spec = found["spec"]
    assert spec["replicas"] == bound.spec.workers
    assert spec["template"]["resource"] == {"instanceType": ""}
    pool = kserve.FACTS.pool_node_selector[bound.pool]
    assert spec["labelSelector"] == {"matchLabels": pool}
    assert shapes.pod(replica)["spec"]["nodeSelector"] == pool


@shapes.every_shape
def test_the_service_leads_to_the_pods_of_the_set_on_the_engines_port(replica: Replica) -> None:
    found = shapes.rendered(replica)
    service = found["service"].resource
    selector = service["spec"]["selector"]
    assert selector == {"modelplane.ai/replica": replica.name, "modelplane.ai/serves": "true"}
    assert selector.items() <= shapes.pod(replica)["metadata"]["labels"].items()
    (port,) = service["spec"]["ports"]
    assert (port["port"], port["targetPort"]) == (PORT, PORT)
    assert PORT in {one["containerPort"] for one in _engine(replica)["ports"]}
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert _engine(replica)[probe]["httpGet"]["port"] == PORT
    (rule,) = found["route"].resource["spec"]["rules"]
    assert rule["backendRefs"] == [
        {"group": "", "kind": "Service", "name": service["metadata"]["name"], "port": PORT}
    ]  # fmt: skip


@shapes.every_shape
def test_the_pods_are_natives_save_port_and_packing(replica: Replica) -> None:
    ours = shapes.pod(replica)
    (theirs,) = native.templates(replace(replica, backend="Native"))
    assert ours["metadata"] == theirs["metadata"]
    # KAITO writes an affinity over that of the template.
    assert "affinity" not in ours["spec"]
    expected = json.dumps({key: value for key, value in theirs["spec"].items() if key != "affinity"}, sort_keys=True)
    assert json.dumps(ours["spec"], sort_keys=True) == expected.replace("8000", str(PORT))


@shapes.every_shape
def test_devices_are_claimed_by_every_pod_or_limits_of_its_engine(replica: Replica) -> None:
    found = shapes.rendered(replica)
    claims = [one.resource["metadata"]["name"] for key, one in found.items() if key.startswith("claims-")]
    assert [one["resourceClaimTemplateName"] for one in shapes.pod(replica)["spec"].get("resourceClaims", ())] == claims
    assert len(claims) == (replica.roles[0].devices[0].claim is Claim.DRA)
    resources = _engine(replica).get("resources", {})
    assert resources.get("claims", []) == [{"name": "devices"}] * len(claims)
    assert resources.get("limits") == ({"nvidia.com/gpu": "1"} if replica is PLUGIN else None)


@shapes.every_shape
def test_the_names_fit_for_the_longest_replica_name(replica: Replica) -> None:
    renamed = replace(replica, name="a" * 33 + "-12")
    set_ = shapes.workload(renamed)["metadata"]["name"]
    # A member is "<set>-<5>"; the pods of its StatefulSet carry "<member>-<revision hash, 10>" as the value of a label.
    assert len(f"{set_}-bcdfg-0123456789") <= 63
    for manifest in shapes.rendered(renamed).values():
        assert len(manifest.resource["metadata"]["name"]) <= 63
        assert all(len(value) <= 63 for value in manifest.resource["metadata"].get("labels", {}).values())


# --- what makes another set -------------------------------------------------------------------------------------------


def _with(replica: Replica, **spec: Any) -> Replica:
    (bound,) = replica.roles
    return replace(replica, roles=(replace(bound, spec=replace(bound.spec, **spec)),))


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param(_with(ONE, template=build.template(engine={"args": ["--max-num-seqs=8"]})), id="flags"),
        pytest.param(_with(ONE, template=build.template("vllm/vllm-openai:v0.24.0")), id="the image"),
        pytest.param(_with(ONE, template=build.template(engine={"env": [{"name": "A", "value": "b"}]})), id="env"),
        pytest.param(_with(ONE, topology=Topology(tensor=4)), id="the topology"),
        pytest.param(_with(ONE, topology=Topology(tensor=8, expert=True)), id="experts"),
        pytest.param(replace(ONE, model=Model("other", "hf://meta-llama/Llama-3.1-8B-Instruct")), id="the name"),
        pytest.param(replace(ONE, model=Model("llama", "hf://Qwen/Qwen3-8B")), id="the weights"),
        pytest.param(replace(ONE, engine=EngineType.SGLANG), id="the engine"),
        pytest.param(replace(ONE, roles=(replace(ONE.roles[0], pool="l40s"),)), id="the pool"),
        pytest.param(
            replace(ONE, roles=(replace(ONE.roles[0], devices=(build.device(count=8, selectors=("true",)),)),)),
            id="the claim",
        ),
        pytest.param(
            replace(
                ONE,
                roles=(replace(ONE.roles[0], devices=(build.device(count=8, claim=Claim.DEVICE_PLUGIN),)),),
            ),
            id="limits",
        ),
    ],
)
def test_a_change_of_pods_is_another_set(changed: Replica) -> None:
    ours, theirs = shapes.workload(ONE)["metadata"]["name"], shapes.workload(changed)["metadata"]["name"]
    assert ours != theirs
    assert shapes.key(ONE) != shapes.key(changed)


@pytest.mark.parametrize(
    ("changed", "facts"),
    [
        pytest.param(_with(ONE, workers=7), kserve.FACTS, id="the count"),
        pytest.param(replace(ONE, priority=7), kserve.FACTS, id="the priority"),
        pytest.param(
            ONE, ClusterFacts("gke-us", "other", "infra", pool_node_selector={"h100": {"a": "b"}}), id="the cluster"
        ),
    ],
)
def test_anything_else_changes_the_set_in_place(changed: Replica, facts: ClusterFacts) -> None:
    found = shapes.workload(changed, facts)
    assert found["metadata"]["name"] == shapes.workload(ONE)["metadata"]["name"]
    assert found["spec"]["replicas"] == changed.roles[0].spec.workers


# --- what is refused --------------------------------------------------------------------------------------------------


def _workload(*roles: Any, **fields: Any) -> Workload:
    given: dict[str, Any] = {
        "model": Model("m", "hf://a/b"),
        "engine": EngineType.VLLM,
        "roles": roles or (build.role().spec,),
    }
    return Workload(namespace="ml-team", deployment="llama", **{**given, **fields})


def _ports(*ports: int, **engine: Any) -> Any:
    declared = [{"containerPort": port} for port in ports]
    return build.role(pod_template=build.template("example.com/e:1", engine={"ports": declared, **engine})).spec


def _beside(port: int) -> Any:
    beside = {"name": "x", "image": "x", "ports": [{"containerPort": 9090}, {"containerPort": port}]}
    return build.role(pod_template=build.template(sidecars=[beside])).spec


SHELL = {"command": ["sh", "-c"], "args": ["vllm serve --port 8000"]}


@pytest.mark.parametrize(
    ("workload", "path", "says"),
    [
        pytest.param(
            _workload(build.role().spec, build.role(Role.PREFILL).spec), "spec.prefill", "remove prefill", id="prefill"
        ),
        pytest.param(
            _workload(build.role(topology=Topology(tensor=8, pipeline=2)).spec),
            "spec.workers.topology.pipeline", "spans 2 nodes; set pipeline to 1", id="a pipeline",
        ),
        pytest.param(
            _workload(build.role(topology=kserve.DATA).spec),
            "spec.workers.topology.data", "spans 2 nodes; set data to 1", id="data over nodes",
        ),
        pytest.param(
            _workload(build.role(topology=Topology(pipeline=2, data=4, data_local=1)).spec),
            "spec.workers.topology.pipeline", "spans 8 nodes; set pipeline and data to 1", id="both",
        ),
        pytest.param(
            _workload(model=Model("m", "s3://b/p")), "spec.model.uri", "KAITO cannot fetch s3://", id="a bucket"
        ),
        pytest.param(
            _workload(build.role(pod_template=build.template(engine={"args": ["--port=8000"]})).spec),
            "spec.workers.template.spec.containers[0].args[0]", "says 8000, the serving technology's port says 5000",
            id="another port",
        ),
        pytest.param(
            _workload(_ports(8080), engine=EngineType.CUSTOM),
            "spec.workers.template.spec.containers[0].ports[0].containerPort", "it declares 8080", id="a custom port",
        ),
        pytest.param(
            _workload(_ports(8000, 9000, **SHELL)),
            "spec.workers.template.spec.containers[0].ports[0].containerPort", "it declares 8000 and 9000",
            id="a shell's port",
        ),
        pytest.param(
            _workload(_beside(PORT)),
            "spec.workers.template.spec.containers[1].ports[1].containerPort", "use another port", id="beside it",
        ),
    ],
)  # fmt: skip
def test_what_kaito_cannot_run_is_refused_at_its_field(workload: Workload, path: str, says: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        kaito.check(workload)
    assert str(refused.value).startswith(f"{path}: ")
    assert says in str(refused.value)


@pytest.mark.parametrize(
    "workload",
    [
        pytest.param(_workload(_ports(8080, PORT), engine=EngineType.CUSTOM), id="a custom engine on the port"),
        pytest.param(_workload(_ports(), engine=EngineType.CUSTOM, model=None), id="a custom engine that says nothing"),
        pytest.param(_workload(_ports(8000)), id="a known engine is told the port"),
        pytest.param(_workload(_ports(PORT, **SHELL)), id="a shell on the port"),
        pytest.param(_workload(_beside(8000)), id="another port beside the engine"),
        pytest.param(_workload(engine=EngineType.TRTLLM), id="TensorRT-LLM"),
    ],
)
def test_what_it_can_run_is_taken(workload: Workload) -> None:
    kaito.check(workload)
