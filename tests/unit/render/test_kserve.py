"""KServe: what is rendered around the engine, the traps of its presets and names, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelplane.errors import InvalidInput
from modelplane.render.backends import kserve
from modelplane.render.backends.kserve import templating
from modelplane.render.manifest import Lifecycle
from modelplane.workload.model import Model, Replica, Role
from modelplane.workload.site import ClusterFacts
from tests.support import kserve as shapes
from tests.support import replicas as build

# --- what holds for every shape ---------------------------------------------------------------------------------------


@shapes.every_shape
def test_a_route_is_always_asked_for(replica: Replica) -> None:
    assert shapes.service(replica)["router"]["route"] == {}


@shapes.every_shape
def test_command_and_arguments_of_the_engine_are_both_set(replica: Replica) -> None:
    spec = shapes.service(replica)
    for part in (spec, spec.get("prefill", {})):
        for key in ("template", "worker"):
            if key in part:
                assert shapes.main(part, key)["command"] == ["vllm", "serve"]
                assert shapes.main(part, key)["args"]


@shapes.every_shape
def test_roles_become_parallelism_and_pods(replica: Replica) -> None:
    spec = shapes.service(replica)
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


@shapes.every_shape
def test_rendering_is_deterministic_and_keys_are_unique(replica: Replica) -> None:
    first, second = kserve.render(replica, shapes.FACTS), kserve.render(replica, shapes.FACTS)
    assert first == second
    assert len({manifest.key for manifest in first}) == len(first)
    json.dumps([manifest.resource for manifest in first])


@shapes.every_shape
def test_what_is_shared_by_a_namespace_is_kept_and_says_nothing_of_one_replica(replica: Replica) -> None:
    for manifest in kserve.render(replica, shapes.FACTS):
        shared = manifest.resource["kind"] in {"Namespace", "LLMInferenceServiceConfig"}
        assert (manifest.lifecycle is Lifecycle.KEEP) == shared
        if shared:
            assert replica.name not in json.dumps(manifest.resource)


@shapes.every_shape
def test_workers_of_a_gang_serve_nothing(replica: Replica) -> None:
    spec = shapes.service(replica)
    for part in (spec, spec.get("prefill", {})):
        if "worker" in part:
            worker = shapes.main(part, "worker")
            assert not {"ports", "startupProbe", "livenessProbe", "readinessProbe"} & worker.keys()
            assert "--headless" in worker["args"]
            assert "--headless" not in shapes.main(part)["args"]


@shapes.every_shape
def test_pods_of_a_gang_know_their_place(replica: Replica) -> None:
    spec = shapes.service(replica)
    for part in (spec, spec.get("prefill", {})):
        for key in ("template", "worker"):
            if key not in part:
                continue
            ours = {
                entry["name"]
                for entry in shapes.main(part, key).get("env", ())
                if entry["name"].startswith("MODELPLANE_")
            }
            gang = {"MODELPLANE_LEADER_ADDRESS", "MODELPLANE_RANK", "MODELPLANE_WORLD_SIZE", "MODELPLANE_POD_IP"}
            assert ours == (gang if "worker" in part else set())


def _derived(replica: Replica) -> dict[str, int]:
    """Return the longest names that KServe and LeaderWorkerSet make, with Kubernetes' limit of each."""
    name = shapes.rendered(replica)["workload"].resource["metadata"]["name"]
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


@shapes.every_shape
def test_derived_names_fit_for_the_longest_replica_name(replica: Replica) -> None:
    longest = build.replica(*replica.roles, name="a" * 33 + "-12")
    assert {name: limit for name, limit in _derived(longest).items() if len(name) > limit} == {}


def test_a_name_that_has_to_be_cut_stays_the_replicas_own() -> None:
    names = {
        shapes.rendered(build.replica(*shapes.SHAPES["gangs of pipelines"].roles, name="a" * 34 + f"-{index}"))[
            "workload"
        ].resource["metadata"]["name"]
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
    metadata = shapes.rendered(replica)["workload"].resource["metadata"]
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
        for manifest in kserve.render(shapes.SHAPES[shape], shapes.FACTS)
        if manifest.resource["kind"] == "LLMInferenceServiceConfig"
    }
    assert found == names


def test_a_decode_pipeline_brings_the_routing_sidecar_its_preset_would() -> None:
    spec = shapes.service(shapes.SHAPES["gangs of pipelines"])
    (sidecar,) = spec["template"]["initContainers"]
    assert sidecar["name"] == "llm-d-routing-sidecar"
    assert sidecar["restartPolicy"] == "Always"
    assert {"--port=8000", "--vllm-port=8001", "--kv-connector=nixlv2"} <= set(sidecar["args"])
    assert "initContainers" not in spec["worker"]
    assert "initContainers" not in spec["prefill"]["template"]


def test_ports_behind_the_sidecar() -> None:
    spec = shapes.service(shapes.SHAPES["disaggregated"])
    decode, prefill = shapes.main(spec), shapes.main(spec["prefill"])
    assert decode["ports"] == [{"containerPort": 8001, "protocol": "TCP", "name": "http"}]
    assert prefill["ports"] == [{"containerPort": 8000, "protocol": "TCP", "name": "http"}]
    assert decode["readinessProbe"]["httpGet"]["port"] == 8001
    assert prefill["startupProbe"]["httpGet"]["port"] == 8000


# --- the route --------------------------------------------------------------------------------------------------------


def test_the_route_is_found_by_the_internal_host_and_has_no_time_limit() -> None:
    route = shapes.rendered(shapes.SHAPES["one node"])["route"].resource["spec"]
    assert route["hostnames"] == ["llama-0.ml-team.modelplane.internal"]
    (rule,) = route["rules"]
    assert rule["backendRefs"] == [
        {"group": "", "kind": "Service", "name": "llama-0-kserve-workload-svc", "port": 8000}
    ]
    assert rule["timeouts"] == {"request": "0s", "backendRequest": "0s"}


def test_disaggregated_requests_go_to_the_pool_and_all_else_to_the_service() -> None:
    first, second = shapes.rendered(shapes.SHAPES["disaggregated"])["route"].resource["spec"]["rules"]
    assert first["backendRefs"][0]["kind"] == "InferencePool"
    assert first["backendRefs"][0]["name"] == "llama-0-inference-pool"
    assert [match["path"]["value"] for match in first["matches"]][:2] == ["/v1/completions", "/v1/chat/completions"]
    assert second["matches"] == [{"path": {"type": "PathPrefix", "value": "/"}}]
    assert second["backendRefs"][0]["kind"] == "Service"


def test_a_named_listener_is_used_everywhere() -> None:
    facts = ClusterFacts("gke-us", "gw", "infra", "internal")
    rendered = shapes.rendered(shapes.SHAPES["one node"], facts)
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
            Model("n", "gs://b/p"), [], {"uri": "gs://b/p", "name": "n"}, False, "/mnt/models", id="fetched by the pod"
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
    spec = shapes.service(build.replica(role, model=model))
    assert spec["model"] == rendered
    assert spec.get("storageInitializer", {}).get("enabled") is initializer
    assert (
        " ".join(shapes.main(spec)["args"])
        .replace(" --served-model-name n publishers/ml-team/models/n", "")
        .startswith(loads)
    )


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


@pytest.mark.parametrize("value", [{"{{ .Spec }}": 1}, {"a": [{"b": {"c{{": "d"}}]}])
def test_a_key_is_never_run_as_a_template(value: Any) -> None:
    """Escaped it would be another key to the API server, so whatever leads here it is refused."""
    with pytest.raises(InvalidInput, match="would run as a template"):
        templating.literal(value)


def test_user_text_is_escaped_wherever_it_stands() -> None:
    pod = build.template(
        engine={"args": ["--chat-template", "{{ a }}"], "env": [{"name": "T", "value": "{{ b }}"}]},
        metadata={"annotations": {"note": "{{ c }}"}},
        sidecars=({"name": "s", "image": "i", "args": ["{{ d }}"]},),
    )
    text = json.dumps(shapes.service(build.replica(build.role(pod_template=pod))))
    for letter in "abcd":
        assert f"{{{{`{{{{`}}}} {letter} }}}}" in text
    assert "{{ " not in text


# --- the download of gs:// --------------------------------------------------------------------------------------------

KEY = {"name": "GOOGLE_APPLICATION_CREDENTIALS", "value": "/gcs/key.json"}
GIVEN: dict[str, Any] = {"env": [KEY], "volumeMounts": [{"name": "gcs", "mountPath": "/gcs", "readOnly": True}]}
SECRET = {"name": "gcs", "secret": {"secretName": "gcs"}}


@shapes.every_shape
def test_every_pod_fetches_the_weights_before_its_engine_starts(replica: Replica) -> None:
    spec = shapes.service(replace(replica, model=Model("n", "gs://bucket/path")))
    assert spec["storageInitializer"] == {"enabled": False}
    for part in (spec, spec.get("prefill", {})):
        for pod in (part[key] for key in ("template", "worker") if key in part):
            (download,) = [one for one in pod["initContainers"] if one["name"] == "storage-initializer"]
            assert download["args"] == ["gs://bucket/path", "/mnt/models"]
            (written,) = [one for one in download["volumeMounts"] if one["mountPath"] == "/mnt/models"]
            (engine,) = [one for one in pod["containers"] if one["name"] == "main"]
            (read,) = [one for one in engine["volumeMounts"] if one["mountPath"] == "/mnt/models"]
            assert read == {**written, "readOnly": True}
            assert {"name": written["name"], "emptyDir": {}} in pod["volumes"]


def test_the_download_has_the_credentials_of_the_engine_and_nothing_that_is_ours() -> None:
    template = build.template(engine=GIVEN, volumes=[SECRET])
    gang = build.role(topology=shapes.GANG, pod_template=template)
    spec = shapes.service(build.replica(gang, model=Model("n", "gs://bucket/path")))
    (download,) = spec["worker"]["initContainers"]
    assert download["env"] == [KEY]
    assert GIVEN["volumeMounts"][0] in download["volumeMounts"]
    assert "claims" not in download["resources"]
    assert template == build.template(engine=GIVEN, volumes=[SECRET])


@pytest.mark.parametrize("uri", ["s3://b/p", "hf://a/b", "pvc://c/p", "oci://r/i:t"])
def test_what_kserve_or_the_engine_fetches_is_not_fetched_twice(uri: str) -> None:
    assert "initContainers" not in shapes.service(build.replica(model=Model("n", uri)))["template"]
