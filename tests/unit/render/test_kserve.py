"""KServe: what is rendered around the engine, the traps of its presets and names, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelplane.devices.model import Claim, Constraint
from modelplane.errors import InvalidInput, dotted
from modelplane.render.backends import kserve
from modelplane.render.backends.kserve import templating
from modelplane.render.manifest import Lifecycle
from modelplane.topology.shape import Topology
from modelplane.workload.model import EngineType, Model, Replica, Role, Workload
from modelplane.workload.site import ClusterFacts
from tests.support import replicas as build

FACTS = ClusterFacts(
    "gke-us",
    "modelplane",
    "modelplane-system",
    pool_node_selector={"h100": {"cloud.google.com/gke-nodepool": "h100"}},
    pool_taints={"h100": (("nvidia.com/gpu", "present", "NoSchedule"), ("dedicated", "", "NoExecute"))},
)
GANG = Topology(tensor=8, pipeline=2)
DATA = Topology(tensor=2, data=8, data_local=4, expert=True)


def _rendered(replica: Replica, facts: ClusterFacts = FACTS) -> dict[str, Any]:
    return {manifest.key: manifest for manifest in kserve.render(replica, facts)}


def _service(replica: Replica, facts: ClusterFacts = FACTS) -> dict[str, Any]:
    return dict(_rendered(replica, facts)["workload"].resource["spec"])


def _main(spec: Any, key: str = "template") -> Any:
    return next(container for container in spec[key]["containers"] if container["name"] == "main")


def _workload(replica: Replica) -> Workload:
    roles = tuple(bound.spec for bound in replica.roles)
    return Workload(replica.namespace, replica.deployment, replica.model, replica.engine, roles, replica.model_cache)


SHAPES = {
    "one node": build.replica(build.role(topology=Topology(tensor=8))),
    "pipeline": build.replica(build.role(topology=GANG)),
    "data": build.replica(build.role(topology=DATA)),
    "disaggregated": build.replica(build.role(workers=3), build.role(Role.PREFILL, workers=5, pool="l40s")),
    "disaggregated gangs": build.replica(build.role(topology=GANG), build.role(Role.PREFILL, topology=DATA)),
    "gangs of pipelines": build.replica(build.role(topology=GANG), build.role(Role.PREFILL, topology=GANG)),
}
every_shape = pytest.mark.parametrize("replica", [pytest.param(value, id=key) for key, value in SHAPES.items()])


# --- what holds for every shape ---------------------------------------------------------------------------------------


@every_shape
def test_a_route_is_always_asked_for(replica: Replica) -> None:
    assert _service(replica)["router"]["route"] == {}


@every_shape
def test_command_and_arguments_of_the_engine_are_both_set(replica: Replica) -> None:
    spec = _service(replica)
    for part in (spec, spec.get("prefill", {})):
        for key in ("template", "worker"):
            if key in part:
                assert _main(part, key)["command"] == ["vllm", "serve"]
                assert _main(part, key)["args"]


@every_shape
def test_roles_become_parallelism_and_pods(replica: Replica) -> None:
    spec = _service(replica)
    for bound in replica.roles:
        part = spec["prefill"] if bound.spec.role is Role.PREFILL else spec
        topology = bound.spec.topology
        assert part["replicas"] == bound.spec.workers
        assert part["parallelism"].get("pipeline", 1) == topology.pipeline
        assert part["parallelism"].get("data", 1) == topology.data
        assert ("data" in part["parallelism"]) == ("dataLocal" in part["parallelism"])
        assert ("worker" in part) == topology.is_gang
        assert part["labels"]["modelplane.ai/role"] == bound.spec.role
        assert part["labels"]["modelplane.ai/pool"] == bound.pool


@every_shape
def test_rendering_is_deterministic_and_keys_are_unique(replica: Replica) -> None:
    first, second = kserve.render(replica, FACTS), kserve.render(replica, FACTS)
    assert first == second
    assert len({manifest.key for manifest in first}) == len(first)
    json.dumps([manifest.resource for manifest in first])


@every_shape
def test_what_is_shared_by_a_namespace_is_kept_and_says_nothing_of_one_replica(replica: Replica) -> None:
    for manifest in kserve.render(replica, FACTS):
        shared = manifest.resource["kind"] in {"Namespace", "LLMInferenceServiceConfig"}
        assert (manifest.lifecycle is Lifecycle.KEEP) == shared
        if shared:
            assert replica.name not in json.dumps(manifest.resource)


@every_shape
def test_workers_of_a_gang_serve_nothing(replica: Replica) -> None:
    spec = _service(replica)
    for part in (spec, spec.get("prefill", {})):
        if "worker" in part:
            worker = _main(part, "worker")
            assert not {"ports", "startupProbe", "livenessProbe", "readinessProbe"} & worker.keys()
            assert "--headless" in worker["args"]
            assert "--headless" not in _main(part)["args"]


@every_shape
def test_pods_of_a_gang_know_their_place(replica: Replica) -> None:
    spec = _service(replica)
    for part in (spec, spec.get("prefill", {})):
        for key in ("template", "worker"):
            if key not in part:
                continue
            ours = {
                entry["name"] for entry in _main(part, key).get("env", ()) if entry["name"].startswith("MODELPLANE_")
            }
            gang = {"MODELPLANE_LEADER_ADDRESS", "MODELPLANE_RANK", "MODELPLANE_WORLD_SIZE", "MODELPLANE_POD_IP"}
            assert ours == (gang if "worker" in part else set())


def _derived(replica: Replica) -> dict[str, int]:
    """Return the longest names that KServe and LeaderWorkerSet make, with Kubernetes' limit of each."""
    name = _rendered(replica)["workload"].resource["metadata"]["name"]
    limits = {
        f"{name}-kserve-self-signed-certs": 253,
        f"{name}-kserve-workload-svc": 63,
        f"{name}-kserve-router-scheduler": 63,
        f"{name}-inference-pool": 63,
    }
    for bound in replica.roles:
        tail = "-prefill" if bound.spec.role is Role.PREFILL else ""
        if bound.spec.topology.is_gang:
            # The stateful set of a group's workers; its pods carry "<set>-<revision hash, 10>" as the value of a label.
            limits[f"{name}-kserve-mn{tail}-999-0123456789"] = 63
        else:
            # Kubernetes cuts the names of a Deployment's pods itself; beyond 63 KServe would cut the Deployment's own.
            limits[f"{name}-kserve{tail}"] = 63
    return limits


@every_shape
def test_derived_names_fit_for_the_longest_replica_name(replica: Replica) -> None:
    longest = build.replica(*replica.roles, name="a" * 33 + "-12")
    assert {name: limit for name, limit in _derived(longest).items() if len(name) > limit} == {}


def test_a_name_that_has_to_be_cut_stays_the_replicas_own() -> None:
    names = {
        _rendered(build.replica(*SHAPES["gangs of pipelines"].roles, name="a" * 34 + f"-{index}"))["workload"].resource[
            "metadata"
        ]["name"]
        for index in range(10)
    }
    assert len(names) == 10


@pytest.mark.parametrize(
    ("container", "said"),
    [
        pytest.param(
            {"args": ["--dtype=auto", "--port", "8000"]},
            "decode: added meta-llama/Llama-3.1-8B-Instruct --served-model-name llama publishers/ml-team/models/llama",
            id="what is left out is added",
        ),
        pytest.param({"command": ["sh", "-c", "vllm serve x"]}, "decode: opaque, taken as written", id="shell"),
    ],
)
def test_what_was_added_is_said(container: dict[str, Any], said: str) -> None:
    replica = build.replica(build.role(pod_template=build.template(engine=container)))
    metadata = _rendered(replica)["workload"].resource["metadata"]
    assert metadata["annotations"] == {"modelplane.ai/engine-arguments": said}


# --- stand-ins and sidecar --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "names"),
    [
        pytest.param("one node", set(), id="shipped"),
        pytest.param("data", set(), id="shipped for data parallel"),
        pytest.param("pipeline", {"kserve-config-llm-worker-pipeline-parallel"}, id="unified pipeline"),
        pytest.param("disaggregated gangs", {"kserve-config-llm-decode-worker-pipeline-parallel"}, id="decode"),
        pytest.param(
            "gangs of pipelines",
            {"kserve-config-llm-decode-worker-pipeline-parallel", "kserve-config-llm-prefill-worker-pipeline-parallel"},
            id="both roles",
        ),
    ],
)
def test_missing_presets_get_a_stand_in(shape: str, names: set[str]) -> None:
    found = {
        manifest.resource["metadata"]["name"]
        for manifest in kserve.render(SHAPES[shape], FACTS)
        if manifest.resource["kind"] == "LLMInferenceServiceConfig"
    }
    assert found == names


def test_a_decode_pipeline_brings_the_routing_sidecar_its_preset_would() -> None:
    spec = _service(SHAPES["gangs of pipelines"])
    (sidecar,) = spec["template"]["initContainers"]
    assert sidecar["name"] == "llm-d-routing-sidecar"
    assert sidecar["restartPolicy"] == "Always"
    assert {"--port=8000", "--vllm-port=8001", "--kv-connector=nixlv2"} <= set(sidecar["args"])
    assert "initContainers" not in spec["worker"]
    assert "initContainers" not in spec["prefill"]["template"]


def test_ports_behind_the_sidecar() -> None:
    spec = _service(SHAPES["disaggregated"])
    decode, prefill = _main(spec), _main(spec["prefill"])
    assert decode["ports"] == [{"containerPort": 8001, "protocol": "TCP", "name": "http"}]
    assert prefill["ports"] == [{"containerPort": 8000, "protocol": "TCP", "name": "http"}]
    assert decode["readinessProbe"]["httpGet"]["port"] == 8001
    assert prefill["startupProbe"]["httpGet"]["port"] == 8000


# --- the route --------------------------------------------------------------------------------------------------------


def test_the_route_is_found_by_the_internal_host_and_has_no_time_limit() -> None:
    route = _rendered(SHAPES["one node"])["route"].resource["spec"]
    assert route["hostnames"] == ["llama-0.ml-team.modelplane.internal"]
    (rule,) = route["rules"]
    assert rule["backendRefs"] == [
        {"group": "", "kind": "Service", "name": "llama-0-kserve-workload-svc", "port": 8000}
    ]
    assert rule["timeouts"] == {"request": "0s", "backendRequest": "0s"}


def test_disaggregated_requests_go_to_the_pool_and_all_else_to_the_service() -> None:
    first, second = _rendered(SHAPES["disaggregated"])["route"].resource["spec"]["rules"]
    assert first["backendRefs"][0]["kind"] == "InferencePool"
    assert first["backendRefs"][0]["name"] == "llama-0-inference-pool"
    assert [match["path"]["value"] for match in first["matches"]][:2] == ["/v1/completions", "/v1/chat/completions"]
    assert second["matches"] == [{"path": {"type": "PathPrefix", "value": "/"}}]
    assert second["backendRefs"][0]["kind"] == "Service"


def test_a_named_listener_is_used_everywhere() -> None:
    facts = ClusterFacts("gke-us", "gw", "infra", "internal")
    rendered = _rendered(SHAPES["one node"], facts)
    assert rendered["route"].resource["spec"]["parentRefs"][0]["sectionName"] == "internal"
    refs = rendered["workload"].resource["spec"]["router"]["gateway"]["refs"]
    assert refs == [{"name": "gw", "namespace": "infra", "sectionName": "internal"}]


# --- weights ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "args", "rendered", "initializer", "loads"),
    [
        pytest.param(Model("n", "hf://a/b"), [], {"uri": "hf://a/b", "name": "n"}, False, "a/b", id="by the engine"),
        pytest.param(
            Model("n", "hf://a/b@v2"),
            [],
            {"uri": "hf://a/b@v2", "name": "n"},
            False,
            "a/b --revision v2",
            id="revision",
        ),
        pytest.param(
            Model("n", "pvc://c/p"), [], {"uri": "pvc://c/p", "name": "n"}, None, "/mnt/models", id="mounted volume"
        ),
        pytest.param(
            Model("n", "s3://b/p"), [], {"uri": "s3://b/p", "name": "n"}, None, "/mnt/models", id="fetched by KServe"
        ),
        pytest.param(
            Model("n"), ["--model=a/b"], {"uri": "hf://a/b", "name": "n"}, False, "--model=a/b", id="own flag"
        ),
        pytest.param(None, ["a/b"], {"uri": "hf://a/b"}, False, "a/b", id="no model at all"),
        pytest.param(None, ["/models/x"], {"uri": "engine://llama-0"}, False, "/models/x", id="a path of the image"),
        pytest.param(None, [], {"uri": "engine://llama-0"}, False, "--port", id="nobody says"),
    ],
)
def test_where_the_weights_come_from(
    model: Model | None, args: list[str], rendered: dict[str, str], initializer: Any, loads: str
) -> None:
    role = build.role(pod_template=build.template(engine={"args": args}))
    spec = _service(build.replica(role, model=model))
    assert spec["model"] == rendered
    assert spec.get("storageInitializer", {}).get("enabled") is initializer
    assert (
        " ".join(_main(spec)["args"])
        .replace(" --served-model-name n publishers/ml-team/models/n", "")
        .startswith(loads)
    )


# --- pods -------------------------------------------------------------------------------------------------------------


def test_pods_are_pinned_tolerated_and_packed() -> None:
    template = _service(SHAPES["one node"])["template"]
    assert template["nodeSelector"] == {"cloud.google.com/gke-nodepool": "h100"}
    assert {"key": "dedicated", "operator": "Exists", "effect": "NoExecute"} in template["tolerations"]
    assert {"key": "nvidia.com/gpu", "operator": "Equal", "value": "present", "effect": "NoSchedule"} in template[
        "tolerations"
    ]
    (preference,) = template["affinity"]["podAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
    assert preference["podAffinityTerm"]["topologyKey"] == "kubernetes.io/hostname"
    assert preference["podAffinityTerm"]["namespaceSelector"] == {}


def test_a_pool_that_says_nothing_is_pinned_by_its_name() -> None:
    template = _service(SHAPES["one node"], ClusterFacts("c", "g", "n"))["template"]
    assert template["nodeSelector"] == {"modelplane.ai/pool": "h100"}


def test_what_the_author_wrote_stays() -> None:
    engine = {
        "env": [{"name": "A", "value": "b"}],
        "resources": {"requests": {"cpu": "8"}},
        "startupProbe": {"failureThreshold": 7, "httpGet": {"path": "/ready", "port": 8000}},
        "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}],
        "securityContext": {"runAsNonRoot": True},
        "ports": [{"containerPort": 9000, "name": "http"}],
    }
    pod = build.template(
        engine=engine,
        sidecars=({"name": "metrics", "image": "m:1"},),
        metadata={"labels": {"team": "a"}, "annotations": {"note": "n"}},
        terminationGracePeriodSeconds=600,
        volumes=[{"name": "shm", "emptyDir": {"medium": "Memory"}}],
        imagePullSecrets=[{"name": "pull"}],
    )
    spec = _service(build.replica(build.role(pod_template=pod)))
    main = _main(spec)
    assert main["env"] == [{"name": "A", "value": "b"}]
    assert main["resources"] == {"requests": {"cpu": "8"}, "claims": [{"name": "devices"}]}
    assert main["startupProbe"]["failureThreshold"] == 7
    assert main["startupProbe"]["httpGet"] == {"path": "/ready", "port": 8000}
    assert main["volumeMounts"] == [{"name": "shm", "mountPath": "/dev/shm"}]
    assert main["securityContext"] == {"runAsNonRoot": True, "readOnlyRootFilesystem": False}
    assert main["ports"] == [{"containerPort": 8000, "protocol": "TCP"}, {"containerPort": 9000, "name": "http"}]
    assert spec["template"]["containers"][1] == {"name": "metrics", "image": "m:1"}
    assert spec["template"]["terminationGracePeriodSeconds"] == 600
    assert spec["template"]["imagePullSecrets"] == [{"name": "pull"}]
    assert spec["labels"]["team"] == "a"
    assert spec["annotations"] == {"note": "n"}


@pytest.mark.parametrize(
    ("image", "given", "want"),
    [
        pytest.param("vllm/vllm-openai:v1", {}, {"runAsNonRoot": False}, id="runs as root"),
        pytest.param("vllm/vllm-openai:v1", {"runAsUser": 1000}, {"runAsUser": 1000}, id="a user is chosen"),
        pytest.param(
            "vllm/vllm-openai:v1", {"runAsUser": 0}, {"runAsUser": 0, "runAsNonRoot": False}, id="root chosen"
        ),
        pytest.param("ghcr.io/llm-d/llm-d-cuda:v0.8.0", {}, {}, id="runs as another user"),
    ],
)
def test_root_is_allowed_where_the_image_needs_it(image: str, given: dict[str, Any], want: dict[str, Any]) -> None:
    engine = {"securityContext": given} if given else {}
    main = _main(_service(build.replica(build.role(pod_template=build.template(image, engine=engine)))))
    assert main["securityContext"] == {**want, "readOnlyRootFilesystem": False}


@pytest.mark.parametrize("given", [{"runAsNonRoot": True}, {"runAsUser": 1000}])
def test_a_choice_for_the_whole_pod_is_a_choice(given: dict[str, Any]) -> None:
    spec = _service(build.replica(build.role(pod_template=build.template(securityContext=given))))
    assert spec["template"]["securityContext"] == given
    assert "runAsNonRoot" not in _main(spec)["securityContext"]


@pytest.mark.parametrize(
    ("devices", "budget"),
    [
        pytest.param(build.device(count=1), 155, id="one of 80 GB"),
        pytest.param(build.device(count=8), 394, id="eight of 80 GB"),
        pytest.param(build.device(count=8, memory_bytes=None), 395, id="unknown memory counts as 80 GiB"),
    ],
)
def test_the_start_budget_grows_with_the_memory_to_fill(devices: Any, budget: int) -> None:
    role = build.role(topology=Topology(tensor=devices.count), devices=(devices,))
    assert _main(_service(build.replica(role)))["startupProbe"]["failureThreshold"] == budget


# --- devices ----------------------------------------------------------------------------------------------------------


def test_only_what_a_driver_publishes_is_claimed() -> None:
    devices = (
        build.device("gpu", 8, selectors=("true", 'device.attributes["modelplane.ai"].network == "ib"')),
        build.device("nic", 8, driver="dra.net", device_class="rdma"),
        build.device("fabric", 1, claim=Claim.SYNTHETIC, driver="modelplane.ai"),
    )
    constraints = (
        Constraint("resource.kubernetes.io/pcieRoot", ("gpu", "nic")),
        Constraint("modelplane.ai/network", ("gpu",)),
        Constraint("a.example.com/x", ("fabric",)),
        Constraint("a.example.com/y", ("gpu", "fabric")),
        Constraint("a.example.com/z"),
    )
    role = build.role(topology=Topology(tensor=8), devices=devices, constraints=constraints)
    rendered = _rendered(build.replica(role))
    (key,) = (key for key in rendered if key.startswith("claims-"))
    spec = rendered[key].resource["spec"]["spec"]["devices"]
    assert [request["name"] for request in spec["requests"]] == ["gpu", "nic"]
    assert spec["requests"][0]["exactly"]["selectors"] == [{"cel": {"expression": "true"}}]
    assert spec["requests"][1]["exactly"] == {"deviceClassName": "rdma", "allocationMode": "ExactCount", "count": 8}
    assert spec["constraints"] == [
        {"matchAttribute": "resource.kubernetes.io/pcieRoot", "requests": ["gpu", "nic"]},
        {"matchAttribute": "a.example.com/y", "requests": ["gpu"]},
        {"matchAttribute": "a.example.com/z"},
    ]


def test_device_plugins_become_limits_and_no_claim() -> None:
    role = build.role(devices=(build.device(count=2, claim=Claim.DEVICE_PLUGIN),))
    rendered = _rendered(build.replica(role))
    template = rendered["workload"].resource["spec"]["template"]
    assert not [key for key in rendered if key.startswith("claims-")]
    assert template["containers"][0]["resources"] == {"limits": {"nvidia.com/gpu": "2"}}
    assert "resourceClaims" not in template


def test_a_claim_template_that_says_something_else_has_another_name() -> None:
    def name(selector: str) -> str:
        role = build.role(devices=(build.device(selectors=(selector,)),))
        rendered = _rendered(build.replica(role))
        return next(str(m.resource["metadata"]["name"]) for key, m in rendered.items() if key.startswith("claims-"))

    assert name("true") == name("true") != name("1 == 1")


# --- text is data -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "written"),
    [
        pytest.param("{% if x %}{{ x }}{% endif %}", "{% if x %}{{`{{`}} x }}{% endif %}", id="Jinja"),
        pytest.param("{{{", "{{`{{`}}{", id="three"),
        pytest.param("{ {", "{ {", id="apart"),
        pytest.param("}}", "}}", id="closing alone is text"),
        pytest.param("$(VAR) ${VAR} `id` \"'", "$(VAR) ${VAR} `id` \"'", id="nothing else is touched"),
    ],
)
def test_templates_of_others_survive(text: str, written: str) -> None:
    assert templating.literal(text) == written


def _go_template(text: str) -> str:
    """Return what Go's text/template makes of a text whose only actions print a raw string."""
    out, rest = "", text
    while "{{" in rest:
        before, _, rest = rest.partition("{{")
        assert rest.startswith("`"), f"an action that is not ours: {rest}"
        raw, closing, rest = rest[1:].partition("`}}")
        assert closing
        out += before + raw
    return out + rest


@given(st.text(alphabet='{}`"\\-% \n$a<', max_size=24))
def test_go_gives_back_exactly_what_was_written(text: str) -> None:
    marshalled = json.dumps({"value": templating.literal(text)})
    assert json.loads(_go_template(marshalled))["value"] == text


def test_user_text_is_escaped_wherever_it_stands() -> None:
    pod = build.template(
        engine={"args": ["--chat-template", "{{ a }}"], "env": [{"name": "T", "value": "{{ b }}"}]},
        metadata={"annotations": {"note": "{{ c }}"}},
        sidecars=({"name": "s", "image": "i", "args": ["{{ d }}"]},),
    )
    text = json.dumps(_service(build.replica(build.role(pod_template=pod))))
    for letter in "abcd":
        assert f"{{{{`{{{{`}}}} {letter} }}}}" in text
    assert "{{ " not in text


# --- what is refused --------------------------------------------------------------------------------------------------


def _pod(image: str = "vllm/vllm-openai:v1", engine: Any = None, **pod: Any) -> Replica:
    return build.replica(build.role(pod_template=build.template(image, engine=engine or {}, **pod)))


@pytest.mark.parametrize(
    ("replica", "path", "says"),
    [
        pytest.param(
            build.replica(build.role(topology=Topology(pipeline=2, data=2))),
            "spec.workers.topology.pipeline",
            "cannot both be above 1",
            id="pipeline and data",
        ),
        pytest.param(
            build.replica(build.role(), build.role(Role.PREFILL, topology=Topology(pipeline=2, data=2))),
            "spec.prefill.workers.topology.pipeline",
            "cannot both be above 1",
            id="pipeline and data of prefill",
        ),
        pytest.param(
            build.replica(build.role(topology=GANG), engine=EngineType.TRTLLM),
            "spec.workers.topology.pipeline",
            "cannot span the 2 nodes",
            id="TensorRT-LLM over nodes",
        ),
        pytest.param(
            build.replica(build.role(topology=Topology(data=2, data_local=2)), engine=EngineType.LLAMACPP),
            "spec.workers.topology.data",
            "workers.count",
            id="llama.cpp has no data parallelism",
        ),
        pytest.param(
            build.replica(build.role(), build.role(Role.PREFILL), engine=EngineType.SGLANG),
            "spec.prefill",
            "for vLLM only",
            id="SGLang disaggregated",
        ),
        pytest.param(build.replica(model=Model("n", "gs://b/p")), "spec.model.uri", "cannot fetch gs://", id="gs"),
        pytest.param(
            build.replica(model=Model("n", "hf://a/b@v"), engine=EngineType.TRTLLM),
            "spec.model.uri",
            "cannot be told a revision",
            id="revision",
        ),
        pytest.param(build.replica(model_cache="c"), "spec.modelCacheRef", "pvc://", id="model cache"),
        pytest.param(
            _pod(sidecars=({"name": "main", "image": "x"},)),
            "spec.workers.template.spec.containers[1].name",
            "reserved",
            id="the name main",
        ),
        pytest.param(
            _pod(engine={"args": ["-tp", "4"]}),
            "spec.workers.template.spec.containers[0].args[0]",
            "says 4",
            id="contradiction",
        ),
        pytest.param(
            _pod(volumes=[{"name": "home", "persistentVolumeClaim": {"claimName": "c"}}]),
            "spec.workers.template.spec.volumes[0].name",
            "of its own",
            id="a volume that would get two sources",
        ),
        pytest.param(
            _pod(engine={"env": [{"name": "HOME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]}),
            "spec.workers.template.spec.containers[0].env[0].valueFrom",
            "plain value",
            id="a variable that would get two values",
        ),
        pytest.param(
            _pod(engine={"livenessProbe": {"exec": {"command": ["true"]}}}),
            "spec.workers.template.spec.containers[0].livenessProbe.exec",
            "httpGet",
            id="a probe that would get two handlers",
        ),
        pytest.param(
            _pod(engine={"lifecycle": {"preStop": {"sleep": {"seconds": 5}}}}),
            "spec.workers.template.spec.containers[0].lifecycle.preStop.sleep",
            "exec",
            id="a hook that would get two handlers",
        ),
        pytest.param(
            build.replica(build.role(pod_template=build.template("acme/x:1")), engine=EngineType.CUSTOM),
            "spec.workers.template.spec.containers[0].command",
            "start script",
            id="an unknown engine without a command",
        ),
    ],
)
def test_what_kserve_would_run_differently_is_refused(replica: Replica, path: str, says: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        kserve.check(_workload(replica))
    assert dotted(caught.value.path) == path
    assert says in caught.value.message


@every_shape
def test_every_supported_shape_is_accepted(replica: Replica) -> None:
    kserve.check(_workload(replica))


@pytest.mark.parametrize(
    "replica",
    [
        pytest.param(build.replica(build.role(topology=GANG), engine=EngineType.SGLANG), id="SGLang over nodes"),
        pytest.param(
            build.replica(
                build.role(
                    topology=GANG,
                    pod_template=build.template("acme/x:1", engine={"livenessProbe": {"exec": {"command": ["true"]}}}),
                ),
                engine=EngineType.CUSTOM,
            ),
            id="where no preset is merged an unknown engine keeps its entry point and probes",
        ),
        pytest.param(
            _pod(volumes=[{"name": "dshm", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}}]), id="own shm"
        ),
        pytest.param(_pod(engine={"env": [{"name": "HOME", "value": "/x"}]}), id="a plain value replaces"),
    ],
)
def test_what_works_is_not_refused(replica: Replica) -> None:
    kserve.check(_workload(replica))
    kserve.render(replica, FACTS)
