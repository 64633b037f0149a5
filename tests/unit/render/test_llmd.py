"""LLMD: what is rendered around engines, picker and pool."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
import yaml

from modelplane.render.backends import llmd
from modelplane.render.manifest import Purpose
from modelplane.workload.model import EndpointPicker, EngineType, Replica, Role
from tests.support import kserve as kserve_shapes
from tests.support import llmd as shapes
from tests.support import native as native_shapes
from tests.support import replicas as build

SEVERAL, APART = shapes.SHAPES["several workers"], shapes.SHAPES["apart"]
ALONE = ("one worker", "one gang", "both")

# --- what holds for every shape ---------------------------------------------------------------------------------------


@shapes.every_shape
def test_a_change_beside_the_pods_restarts_none_of_them(replica: Replica) -> None:
    """Picker, pool, route and monitors follow the cluster at any time; only what pods are made of waits."""
    pods = {Purpose.WORKLOAD, Purpose.POD_INPUT}
    found = [one for one in llmd.render(replica, shapes.WATCHED) if one.purpose in pods]
    kinds = {one.resource["kind"] for one in found}
    assert kinds <= {"Deployment", "LeaderWorkerSet", "ResourceClaimTemplate"}
    assert all("epp" not in one.resource["metadata"]["name"] for one in found)


@shapes.every_shape
def test_names_fit_for_the_longest_replica_name(replica: Replica) -> None:
    name = "a" * 33 + "-12"
    found = llmd.render(dataclasses.replace(replica, name=name), shapes.WATCHED)
    for manifest in found:
        metadata = manifest.resource["metadata"]
        assert len(metadata["name"]) <= 63
        assert all(len(value) <= 63 for value in metadata.get("labels", {}).values())
        if manifest.resource["kind"] == "LeaderWorkerSet":
            # The label of a group's workers holds set, group and a hash of ten characters.
            assert len(f"{metadata['name']}-255-0123456789") <= 63
    identities = [(one.resource["kind"], one.resource["metadata"]["name"]) for one in found]
    assert len(set(identities)) == len(identities)
    services = {name for kind, name in identities if kind == "Service"}
    assert not services & {name for kind, name in identities if kind == "LeaderWorkerSet"}


# --- the pool: who may get a request ----------------------------------------------------------------------------------


@shapes.every_shape
def test_the_pool_has_the_pods_that_serve_and_no_headless_one(replica: Replica) -> None:
    found = shapes.rendered(replica)
    is_alone = sum(bound.spec.workers for bound in replica.roles) == 1
    assert ("pool" in found) == ("picker" in found) == (not is_alone)
    (rule,) = found["route"].resource["spec"]["rules"]
    (target,) = rule["backendRefs"]
    assert rule["timeouts"]["request"] == "0s"
    if is_alone:
        assert target == {"group": "", "kind": "Service", "name": "llama-0-http", "port": 8000}
        return
    assert target == {"group": "inference.networking.k8s.io", "kind": "InferencePool", "name": "llama-0"}
    pool = found["pool"].resource["spec"]
    selector = pool["selector"]["matchLabels"].items()
    for bound in replica.roles:
        leader, *headless = shapes.templates(replica, bound.spec.role)
        assert selector <= leader["metadata"]["labels"].items()
        assert not any(selector <= one["metadata"]["labels"].items() for one in headless)
        assert pool["targetPorts"] == [{"number": 8000}]
        assert 8000 in _listened(leader)
    assert not selector <= found["picker"].resource["spec"]["template"]["metadata"]["labels"].items()
    port = pool["endpointPickerRef"]["port"]["number"]
    service = found["picker-service"].resource
    assert service["metadata"]["name"] == pool["endpointPickerRef"]["name"]
    assert port in {one["port"] for one in service["spec"]["ports"]}


def _listened(template: Any) -> set[int]:
    spec = template["spec"]
    return {
        port["containerPort"] for one in (*spec["containers"], *spec.get("initContainers", ())) for port in one["ports"]
    }


@pytest.mark.parametrize(
    ("shape", "mode"),
    [
        ("several workers", "FailOpen"),
        ("gangs", "FailOpen"),
        ("apart", "FailOpen"),
        ("SGLang apart", "FailClose"),
        ("custom apart", "FailClose"),
    ],
)
def test_without_a_picker_requests_go_where_every_pod_can_answer(shape: str, mode: str) -> None:
    pool = shapes.rendered(shapes.SHAPES[shape])["pool"].resource["spec"]
    assert pool["endpointPickerRef"]["failureMode"] == mode


@shapes.every_shape
def test_the_service_leads_to_decode_workers(replica: Replica) -> None:
    selector = shapes.rendered(replica)["service"].resource["spec"]["selector"].items()
    for bound in replica.roles:
        for number, one in enumerate(shapes.templates(replica, bound.spec.role)):
            is_found = bound.spec.role is Role.DECODE and number == 0
            assert (selector <= one["metadata"]["labels"].items()) == is_found


def test_each_role_has_a_selector_of_its_own() -> None:
    selectors = [
        shapes.workload(APART, role)["spec"]["selector"]["matchLabels"] for role in (Role.DECODE, Role.PREFILL)
    ]
    for role, selector in zip((Role.DECODE, Role.PREFILL), selectors, strict=True):
        assert selector["modelplane.ai/role"] == role
        assert selector.items() <= shapes.templates(APART, role)[0]["metadata"]["labels"].items()


@pytest.mark.parametrize(
    ("shape", "kind"),
    [("apart", "vllm"), ("SGLang apart", "sglang"), ("custom apart", None), ("no device", None)],
)
def test_the_picker_learns_role_and_engine_from_labels(shape: str, kind: str | None) -> None:
    replica = shapes.SHAPES[shape]
    for bound in replica.roles:
        labels = shapes.templates(replica, bound.spec.role)[0]["metadata"]["labels"]
        assert labels["llm-d.ai/role"] == bound.spec.role
        assert labels.get("llm-d.ai/engine-type") == kind


# --- prefill and decode apart -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [name for name, one in shapes.SHAPES.items() if one.is_disaggregated])
def test_a_sidecar_stands_before_decode_leaders_alone(shape: str) -> None:
    replica = shapes.SHAPES[shape]
    connector = "sglang" if replica.engine is EngineType.SGLANG else "nixlv2"
    for bound in replica.roles:
        for number, template in enumerate(shapes.templates(replica, bound.spec.role)):
            sidecars = template["spec"].get("initContainers", [])
            engine = native_shapes.engine(template)
            is_fronted = bound.spec.role is Role.DECODE and number == 0
            assert [one["name"] for one in sidecars] == ["routing-sidecar"] * is_fronted
            if number:
                assert "ports" not in engine
                continue
            port = 8200 if is_fronted else 8000
            assert port in {one["containerPort"] for one in engine["ports"]}
            assert engine["readinessProbe"]["httpGet"]["port"] == port
            if replica.engine is not EngineType.CUSTOM:
                assert engine["args"][engine["args"].index("--port") + 1] == str(port)
            if is_fronted:
                (sidecar,) = sidecars
                assert sidecar["restartPolicy"] == "Always"
                asked = {"--port=8000", "--model-server-port=8200", f"--kv-connector={connector}"}
                safe = {"--secure-proxy=false", "--enable-ssrf-protection=true", "--inference-pool=ml-team/llama-0"}
                assert asked | safe <= set(sidecar["args"])


def test_vllm_offers_its_cache_by_the_address_of_the_pod() -> None:
    for role, kind in ((Role.DECODE, "kv_consumer"), (Role.PREFILL, "kv_producer")):
        engine = native_shapes.engine(shapes.templates(APART, role)[0])
        env = {one["name"]: one for one in engine["env"]}
        assert env["VLLM_NIXL_SIDE_CHANNEL_HOST"]["valueFrom"]["fieldRef"]["fieldPath"] == "status.podIP"
        assert env["VLLM_NIXL_SIDE_CHANNEL_PORT"]["value"] == "5600"
        config = json.loads(engine["args"][engine["args"].index("--kv-transfer-config") + 1])
        assert config == {"kv_connector": "NixlConnector", "kv_role": kind}
    alone = native_shapes.engine(shapes.templates(SEVERAL, Role.DECODE)[0])
    assert not any(one["name"].startswith("VLLM_NIXL") for one in alone["env"])


def test_sglang_is_told_its_role_and_where_transfers_are_agreed() -> None:
    replica = shapes.SHAPES["SGLang apart"]
    for role in (Role.DECODE, Role.PREFILL):
        args = native_shapes.engine(shapes.templates(replica, role)[0])["args"]
        for flag, value in (("mode", str(role)), ("transfer-backend", "nixl"), ("bootstrap-port", "8998")):
            assert args[args.index(f"--disaggregation-{flag}") + 1] == value
        assert "--enable-metrics" in args


def test_what_an_author_says_of_the_transfer_stays() -> None:
    args = ["--disaggregation-transfer-backend=mooncake"]
    template = build.template("lmsysorg/sglang:v0.5.9", engine={"args": args})
    roles = (build.role(pod_template=template), build.role(Role.PREFILL, pod_template=template))
    replica = build.replica(*roles, engine=EngineType.SGLANG)
    for role in (Role.DECODE, Role.PREFILL):
        found = native_shapes.engine(shapes.templates(replica, role)[0])["args"]
        assert [word for word in found if "transfer-backend" in word] == args


# --- rights -----------------------------------------------------------------------------------------------------------


def test_the_picker_reads_its_own_pool_and_writes_nothing() -> None:
    found = shapes.rendered(SEVERAL)
    rules = found["picker-role"].resource["rules"]
    assert {verb for rule in rules for verb in rule["verbs"]} == {"get", "list", "watch"}
    assert [rule["resourceNames"] for rule in rules if rule["resources"] == ["inferencepools"]] == [["llama-0"]]
    assert not {"secrets", "*"} & {one for rule in rules for one in rule["resources"]}
    assert found["picker-rights"].resource["subjects"] == [
        {"kind": "ServiceAccount", "name": "llama-0-epp", "namespace": "ml-team"}
    ]
    assert found["picker"].resource["spec"]["template"]["spec"]["serviceAccountName"] == "llama-0-epp"


def test_decode_pods_may_read_the_pool_under_their_own_account_or_the_authors() -> None:
    found = shapes.rendered(APART)
    assert found["sidecar-account"].comes_first
    assert shapes.templates(APART, Role.DECODE)[0]["spec"]["serviceAccountName"] == "llama-0-decode"
    assert "serviceAccountName" not in shapes.templates(APART, Role.PREFILL)[0]["spec"]
    template = build.template(serviceAccountName="runner")
    given = build.replica(build.role(pod_template=template), build.role(Role.PREFILL))
    found = shapes.rendered(given)
    assert "sidecar-account" not in found
    assert found["sidecar-rights"].resource["subjects"][0]["name"] == "runner"
    assert shapes.templates(given, Role.DECODE)[0]["spec"]["serviceAccountName"] == "runner"
    assert not [key for key in shapes.rendered(SEVERAL) if key.startswith("sidecar")]


# --- what the cluster has ---------------------------------------------------------------------------------------------


def test_what_the_cluster_does_not_have_is_not_rendered() -> None:
    plain, watched = shapes.rendered(APART), shapes.rendered(APART, shapes.WATCHED)
    extra = {"monitor-decode", "monitor-prefill", "monitor-picker", "picker-tls"}
    assert watched.keys() - plain.keys() == extra
    rule = watched["picker-tls"].resource
    assert rule["spec"]["host"] == "llama-0-epp.ml-team.svc.cluster.local"
    assert rule["spec"]["trafficPolicy"]["tls"] == {"mode": "SIMPLE", "insecureSkipVerify": True}


@pytest.mark.parametrize("name", [name for name in shapes.SHAPES if name != "custom apart"])
def test_a_monitor_reads_the_engines_own_port(name: str) -> None:
    replica = shapes.SHAPES[name]
    found = shapes.rendered(replica, shapes.WATCHED)
    for bound in replica.roles:
        spec = found[f"monitor-{bound.spec.role}"].resource["spec"]
        (endpoint,) = spec["podMetricsEndpoints"]
        template = shapes.templates(replica, bound.spec.role)[0]
        assert spec["selector"]["matchLabels"].items() <= template["metadata"]["labels"].items()
        port = next(one for one in native_shapes.engine(template)["ports"] if one["name"] == endpoint["port"])
        assert port["containerPort"] == (8200 if replica.is_disaggregated and bound.spec.role is Role.DECODE else 8000)


def test_a_port_without_a_name_is_read_by_its_number() -> None:
    ports = [{"containerPort": 8000}]
    replica = build.replica(build.role(pod_template=build.template(engine={"ports": ports})))
    monitor = shapes.rendered(replica, shapes.WATCHED)["monitor-decode"].resource
    assert monitor["spec"]["podMetricsEndpoints"] == [{"portNumber": 8000, "path": "/metrics"}]


def test_traces_go_where_the_cluster_says() -> None:
    for facts, said in ((kserve_shapes.FACTS, "false"), (shapes.WATCHED, "true")):
        picker = shapes.rendered(APART, facts)["picker"].resource["spec"]["template"]["spec"]["containers"][0]
        sidecar = shapes.templates(APART, Role.DECODE, facts)[0]["spec"]["initContainers"][0]
        for one in (picker, sidecar):
            assert f"--tracing={said}" in one["args"]
            env = {entry["name"]: entry["value"] for entry in one.get("env", ())}
            assert env.get("OTEL_EXPORTER_OTLP_ENDPOINT") == (facts.tracing and facts.tracing.endpoint)
            assert env.get("OTEL_TRACES_SAMPLER_ARG") == (facts.tracing and "0.05")


@pytest.mark.parametrize(("percent", "share"), [(0, "0.00"), (7, "0.07"), (10, "0.10"), (100, "1.00")])
def test_a_percentage_is_written_exactly(percent: int, share: str) -> None:
    tracing = dataclasses.replace(shapes.WATCHED.tracing, sampling_percent=percent)  # type: ignore[type-var]
    facts = dataclasses.replace(shapes.WATCHED, tracing=tracing)
    picker = shapes.rendered(SEVERAL, facts)["picker"].resource["spec"]["template"]["spec"]["containers"][0]
    assert {"name": "OTEL_TRACES_SAMPLER_ARG", "value": share} in picker["env"]


def test_a_cluster_chooses_the_version_of_the_router() -> None:
    facts = dataclasses.replace(kserve_shapes.FACTS, versions={"llm-d-router": "v0.11.0"})
    picker = shapes.rendered(APART, facts)["picker"].resource["spec"]["template"]["spec"]["containers"][0]
    sidecar = shapes.templates(APART, Role.DECODE, facts)[0]["spec"]["initContainers"][0]
    assert {one["image"].rpartition(":")[2] for one in (picker, sidecar)} == {"v0.11.0"}


# --- pods -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", ["one worker", "one gang", "data", "device plugin"])
def test_the_pods_are_those_of_native(shape: str) -> None:
    replica = shapes.SHAPES[shape]
    theirs = native_shapes.templates(dataclasses.replace(replica, backend="Native"))
    for ours, other in zip(shapes.templates(replica, Role.DECODE), theirs, strict=True):
        assert ours["spec"] == other["spec"]
        added = ours["metadata"]["labels"].keys() - other["metadata"]["labels"].keys()
        assert all(key.startswith("llm-d.ai/") for key in added)


# --- the picker's configuration ---------------------------------------------------------------------------------------


def test_a_unified_replica_follows_cache_then_load() -> None:
    assert shapes.configuration(SEVERAL) == {
        "apiVersion": "llm-d.ai/v1alpha1",
        "kind": "EndpointPickerConfig",
        "plugins": [
            {"type": "prefix-cache-scorer"},
            {"type": "queue-scorer"},
            {"type": "kv-cache-utilization-scorer"},
            {"type": "max-score-picker"},
            {"type": "single-profile-handler"},
        ],
        "schedulingProfiles": [
            {
                "name": "default",
                "plugins": [
                    {"pluginRef": "prefix-cache-scorer", "weight": 3},
                    {"pluginRef": "queue-scorer", "weight": 2},
                    {"pluginRef": "kv-cache-utilization-scorer", "weight": 2},
                    {"pluginRef": "max-score-picker"},
                ],
            }
        ],
    }


@pytest.mark.parametrize("shape", [name for name in shapes.SHAPES if name not in ALONE])
def test_a_profile_names_plugins_that_are_there(shape: str) -> None:
    replica = shapes.SHAPES[shape]
    found = shapes.configuration(replica)
    names = [one["type"] for one in found["plugins"]]
    assert len(set(names)) == len(names)
    for profile in found["schedulingProfiles"]:
        assert {one["pluginRef"] for one in profile["plugins"]} <= set(names)
        assert ("weight" in str(profile)) is True
    assert [one["name"] for one in found["schedulingProfiles"]] == (
        ["prefill", "decode"] if replica.is_disaggregated else ["default"]
    )


@pytest.mark.parametrize(
    ("shape", "decider"),
    [
        ("apart", {"type": "prefix-based-pd-decider", "parameters": {"nonCachedTokens": 16}}),
        ("SGLang apart", {"type": "always-disagg-pd-decider"}),
        ("custom apart", {"type": "always-disagg-pd-decider"}),
    ],
)
def test_only_a_decode_worker_of_vllm_may_prefill_by_itself(shape: str, decider: Any) -> None:
    plugins = shapes.configuration(shapes.SHAPES[shape])["plugins"]
    assert decider in plugins
    handler = {"type": "disagg-profile-handler", "parameters": {"deciders": {"prefill": decider["type"]}}}
    assert plugins.index(decider) < plugins.index(handler)


def test_metrics_nobody_can_read_are_not_asked_for() -> None:
    for shape in ("custom apart", "no device"):
        names = {one["type"] for one in shapes.configuration(shapes.SHAPES[shape])["plugins"]}
        assert "active-request-scorer" in names
        assert not names & {"queue-scorer", "kv-cache-utilization-scorer"}


def test_what_an_author_asks_of_the_picker_replaces_the_default_and_rolls_it() -> None:
    asked = EndpointPicker((("load-aware-scorer", 7),), "random-picker", 500)
    replica = dataclasses.replace(APART, endpoint_picker=asked)
    found = shapes.configuration(replica)
    for role, profile in zip(("prefill", "decode"), found["schedulingProfiles"], strict=True):
        assert profile["plugins"] == [
            {"pluginRef": f"{role}-filter"},
            {"pluginRef": "load-aware-scorer", "weight": 7},
            {"pluginRef": "random-picker"},
        ]
    assert {"type": "prefix-based-pd-decider", "parameters": {"nonCachedTokens": 500}} in found["plugins"]
    key = "modelplane.ai/configuration"
    digests = {
        shapes.rendered(one)["picker"].resource["spec"]["template"]["metadata"]["annotations"][key]
        for one in (APART, replica)
    }
    assert len(digests) == 2
    for role in (Role.DECODE, Role.PREFILL):
        assert shapes.templates(APART, role) == shapes.templates(replica, role)


def test_text_of_an_author_stays_a_value() -> None:
    hostile = EndpointPicker((('x"\nplugins: []\n', 1),), "}{", 1)
    replica = dataclasses.replace(SEVERAL, endpoint_picker=hostile)
    text = shapes.rendered(replica)["picker-config"].resource["data"]["config.yaml"]
    assert yaml.safe_load(text) == json.loads(text)
    assert shapes.configuration(replica)["plugins"][0] == {"type": 'x"\nplugins: []\n'}
