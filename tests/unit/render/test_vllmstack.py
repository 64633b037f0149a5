"""VLLMStack: what a VLLMRuntime is made of, and that its operator neither panics, nor loops, nor ignores a change."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from modelplane.api import inference_cluster
from modelplane.devices.model import Claim
from modelplane.errors import InvalidInput, Unsupported
from modelplane.render import scheduler
from modelplane.render.backends import vllmstack
from modelplane.render.backends.vllmstack import capability, runtime
from modelplane.render.manifest import Lifecycle, Purpose
from modelplane.render.schedulers import selection as schedulers
from modelplane.topology.shape import Topology
from modelplane.workload.model import BoundRole, Model, Replica
from modelplane.workload.site import ClusterFacts
from tests.support import fleet, kserve, production_stack, replicas
from tests.support import vllmstack as shapes


def test_a_replica_is_a_namespace_a_runtime_its_deployment_and_a_route() -> None:
    replica = shapes.replica()
    found = shapes.rendered(replica)
    name = shapes.runtime(replica)["metadata"]["name"]
    assert [one.resource["kind"] for one in found.values()] == ["Namespace", "VLLMRuntime", "Deployment", "HTTPRoute"]
    seen = found["observed-deployment"]
    assert seen.lifecycle is Lifecycle.OBSERVE
    assert seen.resource == {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "ml-team"},
    }
    (rule,) = found["route"].resource["spec"]["rules"]
    assert rule["backendRefs"] == [{"group": "", "kind": "Service", "name": name, "port": 80}]
    (port,) = production_stack.service(shapes.runtime(replica))["spec"]["ports"]
    assert (port["port"], port["targetPort"]) == (80, 8000)


def _cluster(*, mode: str = "", **gateway: Any) -> ClusterFacts:
    document = fleet.inference_cluster("stack")
    document["spec"]["gateway"] = gateway
    if mode:
        document["status"]["mutualTLS"] = {"mode": mode}
    return inference_cluster.decode_facts(document)


def test_an_ingress_is_rendered_where_the_platform_asks_and_changes_nothing_else() -> None:
    replica = shapes.replica()
    without, asked = (vllmstack.render(replica, _cluster(**one)) for one in ({}, {"ingressClassName": "internal"}))
    *others, ingress = asked
    assert tuple(others) == without
    spec = ingress.resource["spec"]
    (rule,) = spec["rules"]
    route = next(one.resource for one in without if one.key == "route")
    assert (spec["ingressClassName"], [rule["host"]]) == ("internal", route["spec"]["hostnames"])
    (path,) = rule["http"]["paths"]
    assert path["backend"]["service"]["name"] == shapes.runtime(replica)["metadata"]["name"]
    assert ingress.purpose is Purpose.SUPPORT, "nothing waits for it, and no pod is restarted by it"


@pytest.mark.parametrize(("mode", "is_there"), [("Required", False), ("Disabled", True), ("", True)])
def test_no_ingress_passes_by_a_gateway_that_asks_for_certificates(mode: str, is_there: bool) -> None:  # noqa: FBT001
    found = vllmstack.render(shapes.replica(), _cluster(mode=mode, ingressClassName="internal"))
    assert any(one.key == "ingress" for one in found) is is_there


def test_every_field_of_the_template_stands_where_the_operator_reads_it() -> None:
    made = production_stack.deployment(shapes.runtime(shapes.SHAPES["all fields"]))
    template = made["spec"]["template"]
    container = template["spec"]["containers"][0]
    assert container["image"] == "docker.io/lmcache/vllm-openai:v0.3.13"
    assert container["imagePullPolicy"] == "Always"
    amounts = {"cpu": "2", "memory": "8Gi", "nvidia.com/gpu": "1"}
    assert container["resources"] == {"requests": amounts, "limits": amounts}
    assert container["env"] == [
        {"name": "VLLM_USE_V1", "value": "1"},
        {"name": "A", "value": "1"},
        {"name": "B", "value": ""},
        shapes.TOKEN,
    ]
    assert " ".join(container["args"]) == (
        "meta-llama/Llama-3.1-8B-Instruct --host 0.0.0.0 --port 8000 --enable-chunked-prefill "
        "--no-enable-prefix-caching --tensor-parallel-size 1 --max-model-len=16k --dtype auto --served-model-name llama"
    )
    assert template["spec"]["imagePullSecrets"] == [{"name": "registry"}]
    assert template["spec"]["volumes"] == [{"name": "dshm", "emptyDir": {"medium": "Memory", "sizeLimit": "16Gi"}}]
    assert template["metadata"]["labels"]["team"] == "a"
    assert template["metadata"]["annotations"]["example.com/note"] == "b"
    assert made["spec"]["strategy"] == {"type": "Recreate"}


def test_pods_stand_on_their_pool_and_tolerate_its_taints() -> None:
    pod = production_stack.deployment(shapes.runtime(shapes.replica()))["spec"]["template"]["spec"]
    required = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    wanted = {"key": "cloud.google.com/gke-nodepool", "operator": "In", "values": ["h100"]}
    assert required == {"nodeSelectorTerms": [{"matchExpressions": [wanted]}]}
    keys = [one["key"] for one in pod["tolerations"]]
    assert keys == ["nvidia.com/gpu", "amd.com/gpu", "nvidia.com/gpu", "dedicated"]


@pytest.mark.parametrize(
    ("shape", "count", "resource"),
    [
        ("one device", "1", "nvidia.com/gpu"),
        ("several workers", "8", "nvidia.com/gpu"),
        ("another vendor", "1", "amd.com/gpu"),
        ("nothing claimed", None, None),
    ],
)
def test_devices_are_counted_by_their_resource(shape: str, count: str | None, resource: str | None) -> None:
    found = shapes.spec(shapes.SHAPES[shape])["deploymentConfig"]["resources"]
    assert (found.get("gpu"), found.get("gpuType")) == (count, resource)


@pytest.mark.parametrize(
    ("image", "registry", "name"),
    [
        ("lmcache/vllm-openai:v1", "docker.io", "lmcache/vllm-openai:v1"),
        ("engine", "docker.io", "library/engine"),
        ("ghcr.io/a/b@sha256:0", "ghcr.io", "a/b@sha256:0"),
        ("registry:5000/b:1", "registry:5000", "b:1"),
        ("localhost/b", "localhost", "b"),
    ],
)
def test_an_image_is_a_registry_and_a_name(image: str, registry: str, name: str) -> None:
    found = shapes.spec(shapes.replica(shapes.role(pod_template=replicas.template(image))))
    assert found["deploymentConfig"]["image"] == {"registry": registry, "name": name}


def _args(*words: str) -> Any:
    return shapes.spec(shapes.replica(shapes.role(pod_template=shapes.template(engine={"args": [*words]}))))


@pytest.mark.parametrize(
    ("words", "extra", "chunked", "cached"),
    [
        ((), [], True, True),
        (("--port=8000", "-tp", "1"), [], True, True),
        (("--no-enable-chunked-prefill", "--dtype=auto"), ["--dtype=auto"], False, True),
        (("--no_enable_prefix_caching", "--seed", "1"), ["--seed", "1"], True, False),
        (("meta-llama/Llama-3.1-8B-Instruct", "--seed=1"), ["--seed=1"], True, True),
        (("--model", "meta-llama/Llama-3.1-8B-Instruct"), [], True, True),
    ],
)
def test_flags_that_the_operator_writes_are_its_fields(
    words: tuple[str, ...], extra: list[str], *, chunked: bool, cached: bool
) -> None:
    found = _args(*words)
    config = found["vllmConfig"]
    assert found["model"] == {"modelURL": "meta-llama/Llama-3.1-8B-Instruct"}
    assert config.get("extraArgs") == [*extra, "--served-model-name", "llama"]
    assert (config["enableChunkedPrefill"], config["enablePrefixCaching"]) == (chunked, cached)
    assert (config["port"], config["tensorParallelSize"], config["v1"]) == (8000, 1, True)


# --- the operator's traps ---------------------------------------------------------------------------------------------


@shapes.every_shape
def test_the_operator_comes_to_rest(replica: Replica) -> None:
    """It compares what an API server hands back with what it would write: nothing differs, so it writes once."""
    made = shapes.runtime(replica)
    found = production_stack.stored(production_stack.deployment(made))
    assert not production_stack.needs_update(found, made)


def _engine(**fields: Any) -> Callable[[Replica], Replica]:
    return _with(lambda bound: replace(bound.spec, template=shapes.template(engine=fields)))


def _with(change: Callable[[BoundRole], Any]) -> Callable[[Replica], Replica]:
    def changed(replica: Replica) -> Replica:
        (bound,) = replica.roles
        return replace(replica, roles=(replace(bound, spec=change(bound)),))

    return changed


CHANGES = {
    "args": _engine(args=["--seed=1"]),
    "a switch": _engine(args=["--no-enable-prefix-caching"]),
    "a variable": _engine(env=[{"name": "A", "value": "1"}]),
    "a token": _engine(env=[shapes.TOKEN]),
    "resources": _engine(resources={"requests": {"cpu": 2}}),
    "pull policy": _engine(imagePullPolicy="Never"),
    "image": _with(lambda bound: replace(bound.spec, template=replicas.template("lmcache/vllm-openai:v9"))),
    "annotation": _with(
        lambda bound: replace(bound.spec, template=shapes.template(metadata={"annotations": {"a": ""}}))
    ),
    "model": lambda replica: replace(replica, model=Model("llama", "hf://a/b")),
    "model's name": lambda replica: replace(replica, model=Model("other", "hf://meta-llama/Llama-3.1-8B-Instruct")),
    "tensor": _with(lambda bound: replace(bound.spec, topology=Topology(tensor=2))),
}


@pytest.mark.parametrize("change", [pytest.param(change, id=name) for name, change in CHANGES.items()])
def test_every_change_reaches_the_pods_by_the_operator(change: Callable[[Replica], Replica]) -> None:
    """Most of them would be ignored: the operator compares ten fields and one annotation."""
    before, after = (shapes.runtime(one) for one in (shapes.replica(), change(shapes.replica())))
    found = production_stack.stored(production_stack.deployment(before))
    assert before["metadata"]["name"] == after["metadata"]["name"]
    made = production_stack.updated(found, after)
    assert made == production_stack.stored(production_stack.deployment(after))
    assert made["spec"]["template"] != found["spec"]["template"]


def test_another_count_restarts_no_pod() -> None:
    before, after = (shapes.runtime(shapes.replica(shapes.role(workers=count))) for count in (1, 3))
    found = production_stack.stored(production_stack.deployment(before))
    made = production_stack.updated(found, after)
    assert made["spec"]["replicas"] == 3
    assert made["spec"]["template"] == found["spec"]["template"]


def test_another_label_is_another_object() -> None:
    """The operator writes all labels into a selector, and an API server would refuse every later update."""
    labelled = shapes.template(metadata={"labels": {"team": "a"}})
    every = [
        shapes.replica(bound) for bound in (shapes.role(), shapes.role(pod_template=labelled), shapes.role(pool="l40s"))
    ]
    assert (
        len({shapes.runtime(one)["metadata"]["name"] for one in every}) == len({shapes.key(one) for one in every}) == 3
    )


def test_a_runtime_whose_labels_change_is_never_updated_again() -> None:
    """A test of the test: the played operator meets the refusal of the API server."""
    made = shapes.runtime(shapes.replica())
    found = production_stack.stored(production_stack.deployment(made))
    spec = {**made["spec"], "deploymentConfig": {**made["spec"]["deploymentConfig"], "replicas": 2}}
    labels = {**made["metadata"]["labels"], "team": "a"}
    with pytest.raises(ValueError, match="immutable"):
        production_stack.updated(found, {**made, "metadata": {**made["metadata"], "labels": labels}, "spec": spec})


def test_what_happens_to_a_cluster_renames_nothing() -> None:
    facts = replace(kserve.FACTS, pool_node_selector={"h100": {"a": "b"}}, pool_taints={})
    here, there = (shapes.runtime(shapes.replica(), one) for one in (kserve.FACTS, facts))
    assert here["metadata"] == there["metadata"]
    assert here["spec"] != there["spec"]


def test_the_played_operator_falls_into_the_traps_that_are_avoided() -> None:
    """A test of the test: without what is rendered the operator panics, loops, or leaves pods as they were."""
    made = shapes.runtime(shapes.replica())

    def changed(**fields: Any) -> dict[str, Any]:
        return {**made, "spec": {**made["spec"], "deploymentConfig": {**made["spec"]["deploymentConfig"], **fields}}}

    bare = changed()
    del bare["spec"]["deploymentConfig"]["nodeSelectorTerms"]
    with pytest.raises(production_stack.Panic):
        production_stack.needs_update(production_stack.stored(production_stack.deployment(bare)), bare)
    looping: tuple[dict[str, Any], ...] = ({"resources": {"cpu": "1000m"}}, {"toleration": []})
    for fields in looping:
        loops = changed(**fields)
        assert production_stack.needs_update(production_stack.stored(production_stack.deployment(loops)), loops)
    cache = {**made, "spec": {**made["spec"], "lmCacheConfig": {"enabled": False, "cpuOffloadingBufferSize": "4Gi"}}}
    assert production_stack.needs_update(production_stack.stored(production_stack.deployment(cache)), cache)
    found = production_stack.stored(production_stack.deployment(made))
    silent = {**made, "spec": {**made["spec"], "vllmConfig": {**made["spec"]["vllmConfig"], "extraArgs": ["--seed=1"]}}}
    assert not production_stack.needs_update(found, silent)


# --- what a replica may not ask ---------------------------------------------------------------------------------------


def test_devices_that_a_runtime_cannot_count_are_not_rendered_without() -> None:
    for devices in (
        (replicas.device(claim=Claim.DRA),),
        (shapes.device(), shapes.device(name="nic", resource_name="example.com/nic")),
    ):
        with pytest.raises(InvalidInput, match="one kind of device, counted by a device plugin"):
            shapes.rendered(shapes.replica(shapes.role(devices=devices)))


def test_kinds_of_device_of_one_plugin_are_counted_together() -> None:
    devices = (shapes.device(3, device="a"), shapes.device(2, device="b"))
    found = shapes.spec(shapes.replica(shapes.role(devices=devices, topology=Topology(tensor=5))))
    assert found["deploymentConfig"]["resources"] == {"gpu": "5", "gpuType": "nvidia.com/gpu"}


def test_a_scheduler_that_marks_pods_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    class Marking:
        def check(self, workload: Any) -> None: ...

        def marks(self, *_: Any) -> scheduler.PodMarks:
            return scheduler.PodMarks(labels={"queue": "a"}, scheduler_name="other")

    monkeypatch.setitem(schedulers.SCHEDULERS, "Other", Marking())
    with pytest.raises(Unsupported, match="cannot be handed to Other"):
        shapes.rendered(shapes.replica(), replace(kserve.FACTS, scheduler="Other"))


def test_a_pool_of_claims_is_none_for_it() -> None:
    assert capability.CAPABILITIES.claims == {Claim.DEVICE_PLUGIN, Claim.SYNTHETIC}


def test_only_the_runtime_is_of_the_pods() -> None:
    purposes = {key: one.purpose for key, one in shapes.rendered(shapes.replica()).items()}
    assert [key for key, one in purposes.items() if one is Purpose.WORKLOAD] == [shapes.key(shapes.replica())]
    assert purposes["observed-deployment"] is Purpose.SUPPORT


@shapes.every_shape
def test_no_empty_list_and_no_null_is_written(replica: Replica) -> None:
    text = json.dumps(shapes.spec(replica))
    assert "[]" not in text
    assert "null" not in text
    assert runtime.DIGEST in text
    vllmstack.check(shapes.asked(replica))
