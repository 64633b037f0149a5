"""LLMInference: four fields in, a deployment and a service out, with everything derived in plain sight."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane import names
from modelplane.api import service as services
from modelplane.api import workload as workloads
from modelplane.errors import InvalidInput
from modelplane.render import pods
from modelplane.render.claims import PodDevices
from modelplane.render.engines import CommandLine, Member
from modelplane.topology.shape import Topology
from modelplane.workload.model import EngineType
from modelplane.workload.site import ClusterFacts
from modelplane_functions.compose import llm_inference
from modelplane_functions.exchange import Observed, Outcome, Ready, Truth
from tests.support import replicas, routing

Json = Any


def document(**spec: Json) -> Json:
    return {
        "apiVersion": names.API_VERSION,
        "kind": "LLMInference",
        "metadata": {"name": "qwen", "namespace": "ml-team"},
        "spec": {"model": "Qwen/Qwen3-8B", **spec},
    }


def compose(children: Json = None, status: Json = None, **spec: Json) -> Outcome:
    spec = {"gpu": 1, **spec}
    return llm_inference.compose(Observed({**document(**spec), "status": status or {}}, children or {}))


def deployment(**spec: Json) -> Json:
    return compose(**spec).children["deployment"].resource["spec"]


def engine(**spec: Json) -> Json:
    return deployment(**spec)["workers"]["template"]["spec"]["containers"][0]


@pytest.mark.parametrize("gpu", [1, 3, 8])
def test_shared_memory_is_that_of_a_deployment_that_says_nothing_of_it(gpu: int) -> None:
    written = deployment(gpu=gpu)["workers"]["template"]["spec"]
    role = replicas.role(topology=Topology(tensor=gpu))
    pod = pods.EnginePod(Member.ALONE, CommandLine((), ()), 8000, PodDevices(None, {}), "main")
    facts = ClusterFacts("gke-us", "gateway", "default")
    rendered = pods.pod_spec(replicas.replica(role), role, facts, pod)
    assert written["volumes"] == rendered["volumes"]
    assert written["containers"][0]["volumeMounts"] == rendered["containers"][0]["volumeMounts"]


@pytest.mark.parametrize(
    ("gpu", "cpu", "memory", "shm", "tries"),
    [
        pytest.param(1, "2", "8Gi", "8Gi", 127, id="one"),
        pytest.param(2, "4", "16Gi", "16Gi", 127, id="two"),
        pytest.param(8, "16", "64Gi", "64Gi", 300, id="eight"),
    ],
)
def test_everything_grows_with_the_gpus(gpu: int, cpu: str, memory: str, shm: str, tries: int) -> None:
    spec = deployment(gpu=gpu)
    pod = spec["workers"]["template"]["spec"]
    assert spec["workers"]["topology"] == {"tensor": gpu}
    assert engine(gpu=gpu)["resources"] == {"requests": {"cpu": cpu, "memory": memory}}
    assert pod["volumes"] == [{"name": "dshm", "emptyDir": {"medium": "Memory", "sizeLimit": shm}}]
    assert engine(gpu=gpu)["volumeMounts"] == [{"name": "dshm", "mountPath": "/dev/shm"}]
    assert engine(gpu=gpu)["startupProbe"]["failureThreshold"] == tries


@pytest.mark.parametrize(
    ("gpu", "image", "spawns"),
    [
        pytest.param(1, "vllm/vllm-openai:v0.23.0", False, id="one-gpu"),
        pytest.param(2, "vllm/vllm-openai:v0.23.0", True, id="two-gpus"),
        pytest.param(2, "lmsysorg/sglang:v0.5", False, id="another-engine"),
    ],
)
def test_workers_are_spawned_where_several_share_a_process_tree(gpu: int, image: str, spawns: bool) -> None:  # noqa: FBT001 - a table's column
    env = {each["name"]: each.get("value") for each in engine(gpu=gpu, image=image)["env"]}
    assert (env.get("VLLM_WORKER_MULTIPROC_METHOD") == "spawn") is spawns


def test_a_token_is_used_where_it_is_there_and_nobody_waits_for_it() -> None:
    assert engine()["env"][0] == {
        "name": "HF_TOKEN",
        "valueFrom": {"secretKeyRef": {"name": "huggingface-token", "key": "token", "optional": True}},
    }


@pytest.mark.parametrize(
    ("model", "uri"),
    [
        pytest.param("Qwen/Qwen3-8B", "hf://Qwen/Qwen3-8B", id="repository"),
        pytest.param("hf://Qwen/Qwen3-8B@main", "hf://Qwen/Qwen3-8B@main", id="uri"),
        pytest.param("s3://bucket/model", "s3://bucket/model", id="bucket"),
    ],
)
def test_where_the_weights_are(model: str, uri: str) -> None:
    assert deployment(model=model)["model"] == {"name": "qwen", "uri": uri}


@pytest.mark.parametrize(
    ("image", "driver", "type_"),
    [
        pytest.param("vllm/vllm-openai:v0.23.0", "gpu.nvidia.com", "vllm", id="cuda"),
        pytest.param("rocm/vllm:latest", "gpu.amd.com", "vllm", id="rocm"),
        pytest.param("vllm/vllm-openai-rocm:v1", "gpu.amd.com", "vllm", id="rocm-in-the-name"),
        pytest.param("registry.example/own:1", "gpu.nvidia.com", "vllm", id="own-image"),
        pytest.param("lmsysorg/sglang:v0.5", "gpu.nvidia.com", "sglang", id="sglang"),
    ],
)
def test_an_image_runs_on_the_devices_it_is_built_for(image: str, driver: str, type_: str) -> None:
    spec = deployment(image=image)
    assert spec["nodeSelector"] == {"cel": f'device.driver == "{driver}"'}
    assert spec["engine"] == {"type": type_}


@pytest.mark.parametrize(
    ("spec", "selector"),
    [
        pytest.param({}, None, id="any"),
        pytest.param({"clusterName": "gke-us"}, {"matchLabels": {"modelplane.ai/cluster": "gke-us"}}, id="one-cluster"),
        pytest.param(
            {"clusterSelector": {"matchLabels": {"tier": "gold"}}}, {"matchLabels": {"tier": "gold"}}, id="labels"
        ),
    ],
)
def test_which_clusters(spec: Json, selector: Json) -> None:
    assert deployment(**spec).get("clusterSelector") == selector


def test_replicas_are_left_to_whoever_scales() -> None:
    assert "replicas" not in deployment()


def test_scaling_is_handed_on_as_it_is_written() -> None:
    wish = {"max": 6, "target": {"requests": 16}, "scaleToZero": {"after": "30m"}}
    written = deployment(scaling=wish)
    assert written["scaling"] == wish
    assert "replicas" not in written
    assert "scaling" not in deployment()


def test_a_cache_is_handed_on_and_the_model_still_says_what_it_is() -> None:
    written = deployment(modelCacheRef={"name": "qwen3-8b"})
    assert written["modelCacheRef"] == {"name": "qwen3-8b"}
    assert written["model"] == {"name": "qwen", "uri": "hf://Qwen/Qwen3-8B"}
    assert "modelCacheRef" not in deployment()
    workload = workloads.decode(written, namespace="ml-team", deployment="qwen")
    assert workload.model_cache == "qwen3-8b"


def test_a_cache_changes_nothing_else_of_a_deployment() -> None:
    plain, cached = compose(), compose(modelCacheRef={"name": "qwen3-8b"})
    written = cached.children["deployment"].resource
    del written["spec"]["modelCacheRef"]
    assert written == plain.children["deployment"].resource
    assert cached.children["service"] == plain.children["service"]


def test_what_is_composed_can_be_read_by_the_composers_it_is_for() -> None:
    children = compose(gpu=4, host="qwen.ml-team.example").children
    workload = workloads.decode(children["deployment"].resource["spec"], namespace="ml-team", deployment="qwen")
    assert workload.engine is EngineType.VLLM
    assert [(each.count, each.selectors) for each in workload.roles[0].requests] == [
        (4, ('device.driver == "gpu.nvidia.com"',))
    ]
    service = services.decode(children["service"].resource)
    assert service.host == "qwen.ml-team.example"
    assert service.groups[0].selector.match_labels == (("modelplane.ai/deployment", "qwen"),)


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        pytest.param({"model": ""}, "spec.model", id="model"),
        pytest.param({"gpu": 0}, "spec.gpu", id="gpu"),
        pytest.param({"gpu": "2"}, "spec.gpu", id="gpu-text"),
        pytest.param({"clusterName": "a", "clusterSelector": {}}, "spec.clusterName", id="two-ways"),
        pytest.param({"modelCacheRef": {}}, "spec.modelCacheRef.name", id="cache-without-a-name"),
        pytest.param({"modelCacheRef": {"name": 8}}, "spec.modelCacheRef.name", id="cache-that-is-a-number"),
        pytest.param({"modelCacheRef": {"name": ""}}, "spec.modelCacheRef.name", id="cache-of-no-name"),
        pytest.param({"modelCacheRef": "qwen"}, "spec.modelCacheRef", id="cache-that-is-no-object"),
        pytest.param(
            {"model": "pvc://weights/qwen", "modelCacheRef": {"name": "qwen"}}, "spec.modelCacheRef", id="two-volumes"
        ),
    ],
)
def test_hold_a_mistake_is_an_error_before_anything_is_applied(spec: Json, path: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        compose(**spec)
    assert str(caught.value).startswith(f"{path}: ")


def test_it_reports_what_its_children_report() -> None:
    children = routing.observed(compose())
    waiting = compose(children={})
    assert {each.type: each.status for each in waiting.conditions}["RouteReady"] is Truth.UNKNOWN
    assert waiting.ready is Ready.FALSE
    children["deployment"]["status"] |= {"replicas": 1, "readyReplicas": 1}
    children["deployment"]["status"]["conditions"] += [
        routing.condition("ReplicasScheduled", is_true=False, reason="NoMatchingDevice", message="0/2 clusters fit"),
    ]
    children["service"]["status"] |= {"url": "http://203.0.113.10/ml-team/qwen"}
    outcome = compose(children=children)
    lifted = {each.type: each for each in outcome.conditions}
    assert lifted["ReplicasScheduled"].reason == "NoMatchingDevice"
    assert lifted["ReplicasScheduled"].message == "0/2 clusters fit"
    assert lifted["ReplicasReady"].status is Truth.UNKNOWN
    assert outcome.ready is Ready.TRUE
    assert outcome.status == {
        "deployment": "qwen",
        "service": "qwen",
        "gpu": 1,
        "nodes": 1,
        "replicas": 1,
        "readyReplicas": 1,
        "url": "http://203.0.113.10/ml-team/qwen",
    }


def test_a_url_that_was_known_stays() -> None:
    assert compose(status={"url": "http://x/ml-team/qwen"}).status["url"] == "http://x/ml-team/qwen"
