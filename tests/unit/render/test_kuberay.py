"""KubeRay: what is rendered around the engine, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from modelplane.render.backends import kuberay
from modelplane.topology.shape import Topology
from modelplane.workload.model import EndpointPicker, EngineType, Model, Replica, Role, Workload
from tests.support import kserve as kserve_shapes
from tests.support import kuberay as shapes
from tests.support import native, refusals
from tests.support import replicas as build

# --- what holds for every shape ---------------------------------------------------------------------------------------


@shapes.every_shape
def test_no_second_cluster_stands_beside_the_first(replica: Replica) -> None:
    spec = shapes.workload(replica)["spec"]
    assert spec["upgradeStrategy"] == {"type": "None"}
    assert "upgradeStrategy" not in spec["rayClusterConfig"]
    assert "enableInTreeAutoscaling" not in spec["rayClusterConfig"]


@shapes.every_shape
def test_pods_and_engines_are_as_many_as_the_topology_says(replica: Replica) -> None:
    groups, engines = shapes.groups(replica), shapes.engines(replica)
    assert list(groups) == [str(bound.spec.role) for bound in replica.roles]
    for bound in replica.roles:
        role, topology = str(bound.spec.role), bound.spec.topology
        counts = {groups[role][key] for key in ("replicas", "minReplicas", "maxReplicas")}
        assert counts == {bound.spec.workers}
        assert groups[role].get("numOfHosts", 1) == topology.nodes
        assert engines[role]["deployment_config"] == {"num_replicas": bound.spec.workers}
        kwargs = engines[role]["engine_kwargs"]
        assert kwargs.get("tensor_parallel_size", 1) == topology.tensor
        assert kwargs.get("pipeline_parallel_size", 1) == topology.pipeline
        assert kwargs.get("data_parallel_size", 1) == topology.data


@shapes.every_shape
def test_ray_is_told_of_the_devices_that_the_topology_uses(replica: Replica) -> None:
    for bound in replica.roles:
        group = shapes.groups(replica)[str(bound.spec.role)]
        assert group["rayStartParams"]["num-gpus"] == str(bound.spec.topology.devices_per_node)
        assert all(isinstance(value, str) for value in group["rayStartParams"].values())
    assert shapes.cluster(replica)["headGroupSpec"]["rayStartParams"] == {"num-cpus": "0", "num-gpus": "0"}


@shapes.every_shape
def test_the_head_serves_nothing_and_names_the_port_for_requests(replica: Replica) -> None:
    (head,) = shapes.cluster(replica)["headGroupSpec"]["template"]["spec"]["containers"]
    assert {"name": "serve", "containerPort": 8000} in head["ports"]
    assert "claims" not in head["resources"]
    assert shapes.workload(replica)["spec"]["excludeHeadPodFromServeSvc"] is True


@shapes.every_shape
def test_the_route_leads_to_the_service_that_kuberay_makes(replica: Replica) -> None:
    (rule,) = shapes.rendered(replica)["route"].resource["spec"]["rules"]
    name = shapes.workload(replica)["metadata"]["name"]
    assert rule["backendRefs"] == [{"group": "", "kind": "Service", "name": f"{name}-serve-svc", "port": 8000}]


@shapes.every_shape
def test_the_names_fit_for_the_longest_replica_name(replica: Replica) -> None:
    name = "a" * 33 + "-12"
    service = shapes.workload(replace(replica, name=name))["metadata"]["name"]
    # KubeRay's own limit; it adds five random characters for the cluster, and "-head-svc" or "-serve-svc" for Services.
    assert len(service) == 47
    assert len(f"{service}-12345-head-svc") <= 63


@shapes.every_shape
def test_devices_are_claimed_by_every_pod_or_limits_of_its_engine(replica: Replica) -> None:
    found = shapes.rendered(replica)
    for role, group in shapes.groups(replica).items():
        spec, resources = group["template"]["spec"], shapes.engine(group).get("resources", {})
        claims = [one.resource["metadata"]["name"] for key, one in found.items() if key.startswith(f"claims-{role}-")]
        assert [one["resourceClaimTemplateName"] for one in spec.get("resourceClaims", ())] == claims
        assert resources.get("claims", []) == [{"name": "devices"}] * len(claims)
        expected = {"nvidia.com/gpu": "1"} if replica is shapes.SHAPES["device plugin"] else None
        assert resources.get("limits") == expected


@shapes.every_shape
def test_no_word_of_the_author_stands_before_rays_command(replica: Replica) -> None:
    """KubeRay joins command and args of the first container with its own line, and a shell runs the whole."""
    bound = replica.roles[0]
    engine = {"command": ["vllm", "serve"], "args": ["--max-model-len=8192"], "ports": [{"containerPort": 8000}]}
    sidecar = {"name": "logs", "image": "busybox"}
    changed = shapes.template(engine=engine)
    changed["spec"]["containers"].insert(0, sidecar)
    role = replace(bound, spec=replace(bound.spec, template=changed))
    group = shapes.groups(replace(replica, roles=(role, *replica.roles[1:])))[str(bound.spec.role)]
    assert [one["name"] for one in group["template"]["spec"]["containers"]] == ["engine", "logs"]
    assert not {"command", "args", "ports", "readinessProbe", "livenessProbe"} & shapes.engine(group).keys()
    assert "startupProbe" not in shapes.engine(group)


@shapes.every_shape
def test_pods_drain_before_they_stop(replica: Replica) -> None:
    for group in shapes.groups(replica).values():
        drain = shapes.engine(group)["lifecycle"]["preStop"]["sleep"]["seconds"]
        assert 0 < drain < group["template"]["spec"]["terminationGracePeriodSeconds"]


@shapes.every_shape
def test_pods_of_one_worker_stand_on_nodes_of_their_own(replica: Replica) -> None:
    for bound in replica.roles:
        spec = shapes.groups(replica)[str(bound.spec.role)]["template"]["spec"]
        apart = spec["affinity"].get("podAntiAffinity")
        assert (apart is not None) == bound.spec.topology.is_gang
        if apart is not None:
            (term,) = apart["requiredDuringSchedulingIgnoredDuringExecution"]
            assert term["matchLabelKeys"] == ["modelplane.ai/replica", "ray.io/worker-group-replica-name"]
        names = {one["name"] for one in shapes.engine(shapes.groups(replica)[str(bound.spec.role)])["env"]}
        assert not any(name.startswith("MODELPLANE_") for name in names)


@pytest.mark.parametrize("shape", ["one node", "pipeline", "device plugin"])
def test_the_pods_are_those_of_native(shape: str) -> None:
    """Pinning, tolerations, packing, claims and shared memory are the same, whoever makes the pod."""
    replica = shapes.SHAPES[shape]
    ours = shapes.groups(replica)["decode"]["template"]["spec"]
    theirs = native.templates(replica)[0]["spec"]
    for key in ("nodeSelector", "tolerations", "resourceClaims", "terminationGracePeriodSeconds", "volumes"):
        assert ours.get(key) == theirs.get(key), key
    assert ours["affinity"]["podAffinity"] == theirs["affinity"]["podAffinity"]
    engine = native.engine({"spec": theirs})
    for key in ("image", "resources", "volumeMounts", "securityContext"):
        assert ours["containers"][0].get(key) == engine.get(key), key


# --- the application --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "path", "strategy"),
    [
        ("one node", "ray.serve.llm:build_openai_app", "STRICT_PACK"),
        ("pipeline", "ray.serve.llm:build_openai_app", "PACK"),
        ("data", "ray.serve.llm:build_dp_openai_app", "PACK"),
        ("data on one node", "ray.serve.llm:build_dp_openai_app", "PACK"),
        ("disaggregated", "ray.serve.llm:build_pd_openai_app", "STRICT_PACK"),
        ("disaggregated gangs", "ray.serve.llm:build_pd_openai_app", "PACK"),
    ],
)
def test_the_application_follows_from_the_shape(shape: str, path: str, strategy: str) -> None:
    found = shapes.application(shapes.SHAPES[shape])
    assert (found["name"], found["route_prefix"], found["import_path"]) == ("llm", "/", path)
    engine = shapes.engines(shapes.SHAPES[shape])["decode"]
    assert engine["placement_group_config"]["strategy"] == strategy


def test_one_engine_is_told_its_model_name_and_flags() -> None:
    args = ["--max-model-len", "32K", "--no-enable-prefix-caching", "--gpu-memory-utilization=0.92", "-q", "fp8"]
    replica = shapes.replica(
        shapes.role(topology=Topology(tensor=2), pod_template=shapes.template(engine={"args": args})),
        model=Model("llama", "hf://meta-llama/Llama-3.1-8B-Instruct@main"),
    )
    assert shapes.engines(replica)["decode"] == {
        "model_loading_config": {"model_id": "llama", "model_source": "meta-llama/Llama-3.1-8B-Instruct"},
        "engine_kwargs": {
            "max_model_len": 32768,
            "enable_prefix_caching": False,
            "gpu_memory_utilization": 0.92,
            "quantization": "fp8",
            "revision": "main",
            "tensor_parallel_size": 2,
        },
        "placement_group_config": {"bundle_per_worker": {"GPU": 1}, "strategy": "STRICT_PACK"},
        "deployment_config": {"num_replicas": 1},
    }
    said = shapes.workload(replica)["metadata"]["annotations"]["modelplane.ai/engine-arguments"]
    assert said == 'decode: added revision="main" tensor_parallel_size=2'


def test_prefill_and_decode_stay_on_their_own_pods_and_ports() -> None:
    replica = shapes.SHAPES["disaggregated"]
    engines, groups = shapes.engines(replica), shapes.groups(replica)
    for role, wanted, port in (("prefill", "kv_producer", 20000), ("decode", "kv_consumer", 22000)):
        config = engines[role]
        assert config["engine_kwargs"]["kv_transfer_config"] == {"kv_connector": "NixlConnector", "kv_role": wanted}
        assert config["experimental_configs"] == {"NIXL_SIDE_CHANNEL_PORT_BASE": port}
        assert config["placement_group_config"]["bundle_per_worker"] == {"GPU": 1, role: 0.01}
        assert groups[role]["rayStartParams"]["resources"] == f"'{{\"{role}\": 1}}'"
    assert engines["prefill"]["model_loading_config"] == engines["decode"]["model_loading_config"]


@pytest.mark.parametrize(
    ("resources", "cpus"),
    [({}, None), ({"requests": {"cpu": "500m"}}, "2"), ({"requests": {"cpu": "16"}}, None),
     ({"requests": {"cpu": "16"}, "limits": {"cpu": "1"}}, "2")],
)  # fmt: skip
def test_ray_has_cpus_for_the_engine_and_for_what_takes_requests(resources: Any, cpus: str | None) -> None:
    role = shapes.role(pod_template=shapes.template(engine={"resources": resources}))
    assert shapes.groups(shapes.replica(role))["decode"]["rayStartParams"].get("num-cpus") == cpus


def test_the_timeout_is_for_the_head_the_nodes_and_the_slowest_engine() -> None:
    def timeout(*roles: Any) -> str:
        return str(shapes.workload(shapes.replica(*roles))["metadata"]["annotations"]["ray.io/initializing-timeout"])

    assert timeout(shapes.role()) == f"{600 + 1200 + 1542}s"
    probe = {"startupProbe": {"failureThreshold": 1000, "periodSeconds": 5, "initialDelaySeconds": 30}}
    slow = shapes.role(Role.PREFILL, pod_template=shapes.template(engine=probe))
    assert timeout(shapes.role(), slow) == f"{600 + 1200 + 5030}s"


def test_the_heads_variables_are_the_engines_and_ray_waits_as_long_as_the_budget() -> None:
    token = {"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hf", "key": "token"}}}
    replica = shapes.replica(shapes.role(pod_template=shapes.template(engine={"env": [token]}, serviceAccountName="s")))
    head = shapes.cluster(replica)["headGroupSpec"]["template"]["spec"]
    assert (head["containers"][0]["env"], head["serviceAccountName"]) == ([token], "s")
    env = shapes.engine(shapes.groups(replica)["decode"])["env"]
    assert {"name": "RAYLLM_ENGINE_START_TIMEOUT_S", "value": "1542"} in env
    assert token in env


@pytest.mark.parametrize(
    ("image", "version"),
    [
        ("rayproject/ray-llm:2.60.0-py312-cu129", "2.60.0"),
        ("registry.example.com:5000/mirror/ray:2.55.1", "2.55.1"),
        ("rayproject/ray-llm:2.60.0-py312@sha256:0123", "2.60.0"),
        ("rayproject/ray-llm:nightly", None),
        ("rayproject/ray-llm@sha256:0123", None),
        ("example.com/xray:2.60.0", None),
    ],
)
def test_the_version_of_ray_is_that_of_the_image(image: str, version: str | None) -> None:
    replica = shapes.replica(shapes.role(pod_template=build.template(image)))
    assert shapes.cluster(replica).get("rayVersion") == version


def test_weights_on_a_volume_are_mounted_for_reading_where_the_engine_looks() -> None:
    replica = shapes.SHAPES["weights on a volume"]
    spec = shapes.groups(replica)["decode"]["template"]["spec"]
    mount = {"name": "model-weights", "mountPath": "/mnt/models", "readOnly": True, "subPath": "llama/8b"}
    assert mount in spec["containers"][0]["volumeMounts"]
    assert shapes.engines(replica)["decode"]["model_loading_config"]["model_source"] == "/mnt/models"


def test_the_model_may_stand_in_the_arguments() -> None:
    for args in (["meta-llama/L"], ["--model", "meta-llama/L"]):
        role = shapes.role(pod_template=shapes.template(engine={"args": args}))
        found = shapes.engines(shapes.replica(role, model=Model("llama")))["decode"]["model_loading_config"]
        assert found == {"model_id": "llama", "model_source": "meta-llama/L"}


# --- what changes in place, and what makes another object -------------------------------------------------------------


def _with(replica: Replica, **spec: Any) -> Replica:
    bound = replica.roles[0]
    return replace(replica, roles=(replace(bound, spec=replace(bound.spec, **spec)), *replica.roles[1:]))


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param(
            lambda one: _with(one, template=shapes.template(engine={"args": ["--max-num-seqs=8"]})), id="a flag"
        ),
        pytest.param(lambda one: replace(one, model=Model("other", "hf://a/b")), id="the model"),
        pytest.param(lambda one: replace(one, priority=5), id="the priority"),
    ],
)
def test_the_serve_configuration_changes_in_place(changed: Any) -> None:
    replica = shapes.SHAPES["one node"]
    before, after = shapes.workload(replica), shapes.workload(changed(replica))
    assert before["metadata"]["name"] == after["metadata"]["name"]
    assert before["spec"]["rayClusterConfig"] == after["spec"]["rayClusterConfig"], "KubeRay would ignore this change"


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param(lambda one: _with(one, workers=7), id="count"),
        pytest.param(lambda one: _with(one, template=build.template("rayproject/ray-llm:2.61.0")), id="image"),
        pytest.param(lambda one: _with(one, template=shapes.template(engine={"env": [{"name": "A"}]})), id="env"),
        pytest.param(lambda one: _with(one, template=shapes.template(engine={"startupProbe": {"periodSeconds": 9}})),
                     id="budget"),
        pytest.param(lambda one: _with(one, template=shapes.template(metadata={"labels": {"a": "b"}})), id="label"),
        pytest.param(lambda one: _with(one, topology=Topology(tensor=8, pipeline=2)), id="topology"),
        pytest.param(lambda one: replace(one, roles=(replace(one.roles[0], pool="other"),)), id="pool"),
        pytest.param(lambda one: replace(one, model=Model("llama", "pvc://weights")), id="volume"),
        pytest.param(
            lambda one: replace(one, roles=(shapes.role(devices=(build.device(count=7),)),)), id="devices"
        ),
        pytest.param(lambda one: replace(one, roles=(*one.roles, shapes.role(Role.PREFILL))), id="prefill"),
    ],
)  # fmt: skip
def test_any_other_change_makes_another_object(changed: Any) -> None:
    replica = shapes.SHAPES["one node"]
    assert shapes.key(replica) != shapes.key(changed(replica))
    assert shapes.workload(replica)["metadata"]["name"] != shapes.workload(changed(replica))["metadata"]["name"]


@shapes.every_shape
def test_what_happens_to_the_cluster_makes_no_other_object(replica: Replica) -> None:
    other = replace(kserve_shapes.FACTS, pool_node_selector={"h100": {"a": "b"}, "x": {"c": "d"}}, pool_taints={})
    assert shapes.workload(replica)["metadata"]["name"] == shapes.workload(replica, other)["metadata"]["name"]


# --- refusals ---------------------------------------------------------------------------------------------------------

ROLE = shapes.role().spec
ENGINE = "spec.workers.template.spec.containers[0]"


def _workload(role: Any = ROLE, **fields: Any) -> Workload:
    given: dict[str, Any] = {"model": Model("m", "hf://a/b"), "engine": EngineType.VLLM, "roles": (role,)}
    return Workload(namespace="ml-team", deployment="llama", **{**given, **fields})


def _engine(**engine: Any) -> Any:
    return shapes.role(pod_template=shapes.template(engine=engine)).spec


@pytest.mark.parametrize(
    ("workload", "path", "says"),
    [
        pytest.param(_workload(engine=EngineType.SGLANG), "spec.engine.type", "cannot start sglang", id="SGLang"),
        pytest.param(_workload(engine=EngineType.CUSTOM), "spec.engine.type", "use vllm", id="an unknown engine"),
        pytest.param(
            _workload(endpoint_picker=EndpointPicker()), "spec.endpointPicker", "no endpoint picker", id="a picker"
        ),
        pytest.param(_workload(model=Model("m", "s3://b/p")), "spec.model.uri", "hf://, pvc://", id="a bucket"),
        pytest.param(_workload(model=Model("m", "pvc://A/b")), "spec.model.uri", '"A" cannot be', id="no claim's name"),
        pytest.param(_workload(model=None), "spec.model", "is required with KubeRay", id="no model"),
        pytest.param(_workload(model=Model("m")), "spec.model.uri", "must know the weights", id="no weights"),
        pytest.param(
            _workload(shapes.role(topology=Topology(pipeline=2, data=2)).spec),
            "spec.workers.topology.pipeline", "cannot both be above 1 with KubeRay", id="both at once",
        ),
        pytest.param(
            _workload(build.role().spec), f"{ENGINE}.image", "does not contain Ray Serve", id="an image without Ray",
        ),
        pytest.param(_workload(_engine(command=["/start"])), f"{ENGINE}.command", "runs no command", id="a command"),
        pytest.param(_workload(_engine(args=["sh", "-c", "x"])), f"{ENGINE}.args", "runs no command", id="a shell"),
        pytest.param(
            _workload(_engine(readinessProbe={"periodSeconds": 3})), f"{ENGINE}.readinessProbe", "remove it",
            id="a probe",
        ),
        pytest.param(
            _workload(_engine(startupProbe={"httpGet": {"path": "/"}})), f"{ENGINE}.startupProbe.httpGet",
            "remove the handler", id="the handler of a startup probe",
        ),
        pytest.param(
            _workload(_engine(env=[{"name": "A"}, {"name": "RAY_ADDRESS", "value": "x"}])),
            f"{ENGINE}.env[1].name", "is set by KubeRay", id="a variable of KubeRay",
        ),
        pytest.param(
            _workload(shapes.role(pod_template=shapes.template(sidecars=[{"name": "wait-gcs-ready"}])).spec),
            "spec.workers.template.spec.containers[1].name", "is reserved", id="a name of KubeRay",
        ),
        pytest.param(
            _workload(_engine(args=["--enforce-eager", "--no-such-flag=1"])), f"{ENGINE}.args[1]",
            "--no-such-flag is not a flag of vLLM", id="an unknown flag",
        ),
        pytest.param(
            _workload(_engine(args=["a/b", "--enforce-eager", "--bogus"])),
            f"{ENGINE}.args[2]",
            "--bogus is not a flag",
            id="an unknown flag behind the model",
        ),
        pytest.param(
            _workload(_engine(args=["--tensor-parallel-size=4"])), f"{ENGINE}.args[0]",
            "workers.topology.tensor says 1", id="a flag that contradicts",
        ),
        pytest.param(
            _workload(roles=(
                ROLE, shapes.role(Role.PREFILL, pod_template=build.template("rayproject/ray-llm:2.61.0")).spec,
            )),
            "spec.prefill.workers.template.spec.containers[0].image", "Ray 2.60.0 in decode and Ray 2.61.0 in prefill",
            id="two versions of Ray",
        ),
    ],
)  # fmt: skip
def test_what_cannot_work_is_refused_at_its_field(workload: Workload, path: str, says: str) -> None:
    refusals.refused_at(kuberay, workload, path, says)
