"""What is assumed about other controllers is what they would really report, and never more."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane_cli.simulator import assumption, contention
from modelplane_cli.simulator.store import Key, Store, key_of
from tests.support.worlds import resource

Json = Any
KUBERNETES = "kubernetes.m.crossplane.io/v1alpha1"
GATEWAY = "gateway.networking.k8s.io/v1"
ENVOY = "gateway.envoyproxy.io/v1alpha1"
KSERVE = "serving.kserve.io/v1alpha2"


def wrapped(name: str, manifest: Json, config: str = "c", **spec: Json) -> dict[str, Json]:
    body = {
        "providerConfigRef": {"kind": "ClusterProviderConfig", "name": config},
        "forProvider": {"manifest": manifest},
    }
    return resource("Object", name, "team", api_version=KUBERNETES, spec={**body, **spec})


def assumed(*objects: dict[str, Json], observed: frozenset[Key] = frozenset()) -> Store:
    store = Store()
    for one in objects:
        store.put(one)
    assume = assumption.Ready(observed)
    rounds = 0
    while assume(store):
        rounds += 1
        assert rounds < 3, "assumptions do not settle"
    return store


def conditions(status: Json) -> dict[str, str]:
    return {entry["type"]: entry["status"] for entry in status["conditions"]}


def remote(store: Store, name: str) -> Json:
    found = store.get(Key("kubernetes.m.crossplane.io", "Object", "team", name))
    assert found is not None
    return found["status"]["atProvider"]["manifest"]


def ready(store: Store, name: str) -> tuple[str, str]:
    found = store.get(Key("kubernetes.m.crossplane.io", "Object", "team", name))
    assert found is not None
    (entry,) = [entry for entry in found["status"]["conditions"] if entry["type"] == "Ready"]
    return entry["status"], entry.get("message", "")


# --- provider-kubernetes ----------------------------------------------------------------------------------------------

CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": "team"}}
SERVICE = {
    "apiVersion": KSERVE,
    "kind": "LLMInferenceService",
    "metadata": {"name": "m", "namespace": "team"},
    "spec": {},
}
PENDING = {**SERVICE, "spec": {"worker": {"containers": []}, "parallelism": {"pipeline": 2}}}

READINESS = [
    pytest.param(CONFIG_MAP, {}, "True", id="it exists"),
    pytest.param(CONFIG_MAP, {"policy": "DeriveFromObject"}, "False", id="a kind without a Ready condition"),
    pytest.param(SERVICE, {"policy": "DeriveFromObject"}, "True", id="its own Ready"),
    pytest.param(PENDING, {"policy": "DeriveFromObject"}, "False", id="its own Ready is not there"),
    pytest.param(SERVICE, {"policy": "AllTrue"}, "True", id="all conditions true"),
    pytest.param(CONFIG_MAP, {"policy": "AllTrue"}, "False", id="no conditions at all"),
    pytest.param(
        SERVICE,
        {"policy": "DeriveFromCelQuery", "celQuery": "object.status.observedGeneration == object.metadata.generation"},
        "True",
        id="a query that holds",
    ),
    pytest.param(
        SERVICE,
        {"policy": "DeriveFromCelQuery", "celQuery": "object.spec.size() > 9"},
        "False",
        id="a query that does not",
    ),
    pytest.param(
        SERVICE, {"policy": "DeriveFromCelQuery", "celQuery": "object.nothing > 1"}, "False", id="a query that fails"
    ),
    pytest.param(SERVICE, {"policy": "DeriveFromCelQuery", "celQuery": "object +"}, "False", id="a query that is none"),
]


@pytest.mark.parametrize(("manifest", "readiness", "want"), READINESS)
def test_an_object_is_ready_by_its_own_policy(manifest: Json, readiness: Json, want: str) -> None:
    store = assumed(wrapped("o", manifest, readiness=readiness))
    assert ready(store, "o")[0] == want


def test_the_remote_name_defaults_to_that_of_the_object() -> None:
    assert remote(assumed(wrapped("o", CONFIG_MAP)), "o")["metadata"]["name"] == "o"


def test_a_failing_query_says_why() -> None:
    query = {"policy": "DeriveFromCelQuery", "celQuery": "object.nothing.deep == 1"}
    assert "cannot evaluate the CEL query" in ready(assumed(wrapped("o", SERVICE, readiness=query)), "o")[1]


def test_an_observed_gateway_gets_an_address_that_nobody_mistakes_for_a_real_one() -> None:
    gateway = {"apiVersion": GATEWAY, "kind": "Gateway", "metadata": {"name": "g", "namespace": "gw"}}
    store = assumed(wrapped("o", gateway, "prod-1", managementPolicies=["Observe"]))
    found = remote(store, "o")
    assert found["status"]["addresses"] == [{"type": "Hostname", "value": "gateway.prod-1.assumed.invalid"}]
    assert [listener["port"] for listener in found["spec"]["listeners"]] == [80]


def test_credentials_count_who_uses_them() -> None:
    """A cluster whose replicas are gone is still in use while Objects go through its credentials."""
    users = [wrapped("a", CONFIG_MAP), wrapped("b", CONFIG_MAP), wrapped("c", CONFIG_MAP, "another")]
    store = assumed(resource("ClusterProviderConfig", "c", None, api_version=KUBERNETES), *users)
    config = store.get(Key("kubernetes.m.crossplane.io", "ClusterProviderConfig", "", "c"))
    assert config is not None
    assert config["status"] == {"users": 2}


def test_what_was_observed_is_left_alone() -> None:
    seen = {**wrapped("o", CONFIG_MAP), "status": {"conditions": [{"type": "Ready", "status": "False"}]}}
    assert assumption.is_observation(seen)
    store = assumed(seen, observed=frozenset({key_of(seen)}))
    assert store.get(key_of(seen)) == seen


def test_what_was_assumed_is_marked_and_no_observation() -> None:
    store = assumed(wrapped("o", CONFIG_MAP))
    (key,) = store.of_kind("kubernetes.m.crossplane.io", "Object")
    found = store.get(key)
    assert found is not None
    assert found["metadata"]["annotations"] == {"render.modelplane.ai/assumed": "ready"}
    assert not assumption.is_observation(found)


# --- KServe -----------------------------------------------------------------------------------------------------------


def service(**spec: Json) -> Json:
    return {**SERVICE, "spec": spec}


def pods(claim: str | None = None) -> Json:
    claims = {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": claim}]} if claim else {}
    return {"containers": [{"name": "main"}], **claims}


def preset(name: str) -> dict[str, Json]:
    manifest = {
        "apiVersion": KSERVE,
        "kind": "LLMInferenceServiceConfig",
        "metadata": {"name": name, "namespace": "team"},
    }
    return wrapped(f"preset-{name}", manifest)


def claim(name: str, config: str = "c") -> dict[str, Json]:
    manifest = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate"}
    return wrapped(f"claim-{config}", {**manifest, "metadata": {"name": name, "namespace": "team"}}, config)


def test_a_single_node_service_comes_up_with_its_replicas() -> None:
    store = assumed(wrapped("m", service(replicas=3, template=pods("t"))), claim("t"))
    status = remote(store, "m")["status"]
    assert conditions(status)["Ready"] == "True"
    assert status["workloads"]["primary"] == {
        "apiGroup": "apps",
        "kind": "Deployment",
        "name": "m-kserve",
        "readyReplicas": 3,
    }


def test_a_disaggregated_multi_node_service_counts_each_role() -> None:
    body = service(
        replicas=2,
        worker=pods(),
        parallelism={"data": 16, "dataLocal": 8},
        prefill={"replicas": 5, "template": pods()},
        router={"scheduler": {}, "route": {}, "gateway": {"refs": [{"name": "g"}]}},
    )
    status = remote(assumed(wrapped("m", body)), "m")["status"]
    assert status["workloads"]["primary"]["kind"] == "LeaderWorkerSet"
    assert (status["workloads"]["primary"]["readyReplicas"], status["workloads"]["prefill"]["readyReplicas"]) == (2, 5)
    assert {"WorkerWorkloadReady", "PrefillWorkloadReady", "InferencePoolReady", "GatewaysReady"} <= set(
        conditions(status)
    )


MISSING_PRESETS = [
    pytest.param({}, "kserve-config-llm-worker-pipeline-parallel", id="unified"),
    pytest.param(
        {"prefill": {"template": {}}},
        "kserve-config-llm-decode-worker-pipeline-parallel",
        id="the decode role beside prefill",
    ),
]


@pytest.mark.parametrize(("spec", "name"), MISSING_PRESETS)
def test_pipeline_parallel_waits_for_the_preset_that_kserve_does_not_ship(spec: Json, name: str) -> None:
    body = service(worker=pods(), parallelism={"pipeline": 2}, **spec)
    status = remote(assumed(wrapped("m", body)), "m")["status"]
    assert conditions(status) == {"PresetsCombined": "False"}
    assert name in status["conditions"][0]["message"]
    assert conditions(remote(assumed(wrapped("m", body), preset(name)), "m")["status"])["Ready"] == "True"


def test_pods_wait_for_a_claim_template_that_is_not_on_their_cluster() -> None:
    here = wrapped("m", service(template=pods("t")))
    status = remote(assumed(here, claim("t", "another-cluster")), "m")["status"]
    assert conditions(status)["Ready"] == "False"
    assert "ResourceClaimTemplate t" in next(e["message"] for e in status["conditions"] if e["type"] == "Ready")
    assert status["workloads"]["primary"]["readyReplicas"] == 0


# --- the control plane's gateway --------------------------------------------------------------------------------------


def route(*backends: str) -> dict[str, Json]:
    references = [{"group": "gateway.envoyproxy.io", "kind": "Backend", "name": name} for name in backends]
    spec = {"parentRefs": [{"name": "g", "namespace": "gw"}], "rules": [{"backendRefs": references}]}
    return resource("HTTPRoute", "r", "team", api_version=GATEWAY, spec=spec)


@pytest.mark.parametrize(("backends", "want"), [(["a"], "True"), (["a", "gone"], "False")])
def test_a_route_resolves_only_backends_that_exist(backends: list[str], want: str) -> None:
    store = assumed(route(*backends), resource("Backend", "a", "team", api_version=ENVOY, spec={}))
    found = store.get(Key("gateway.networking.k8s.io", "HTTPRoute", "team", "r"))
    assert found is not None
    (parent,) = found["status"]["parents"]
    assert conditions(parent) == {"Accepted": "True", "ResolvedRefs": want}


def test_only_backends_that_a_route_refers_to_are_looked_at() -> None:
    """Source: Envoy Gateway v1.9.0, which collects Backends from the references of routes."""
    backends = [resource("Backend", name, "team", api_version=ENVOY, spec={}) for name in ("routed", "alone")]
    store = assumed(route("routed"), *backends)
    routed, alone = (store.get(Key("gateway.envoyproxy.io", "Backend", "team", name)) for name in ("routed", "alone"))
    assert routed is not None
    assert alone is not None
    assert conditions(routed["status"]) == {"Accepted": "True"}
    assert not alone["status"]


KINDS = [
    pytest.param(GATEWAY, "GatewayClass", None, {}, "conditions", id="GatewayClass"),
    pytest.param(ENVOY, "SecurityPolicy", "team", {"targetRefs": [{"name": "r"}]}, "ancestors", id="SecurityPolicy"),
    pytest.param("helm.m.crossplane.io/v1beta1", "Release", "team", {"forProvider": {}}, "atProvider", id="Release"),
]


@pytest.mark.parametrize(("api_version", "kind", "namespace", "spec", "want"), KINDS)
def test_each_kind_reports_where_its_readers_look(
    api_version: str, kind: str, namespace: str | None, spec: Json, want: str
) -> None:
    made = resource(kind, "x", namespace, api_version=api_version, spec=spec)
    found = assumed(made).get(key_of(made))
    assert found is not None
    assert found["status"][want]


def test_kinds_without_a_rule_get_no_status() -> None:
    made = resource("ConfigMap", "x", api_version="v1")
    assert assumed(made).get(key_of(made)) == made


# --- two owners of one remote object ----------------------------------------------------------------------------------


def test_two_objects_that_want_one_thing_to_differ_are_a_bug() -> None:
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}
    other = {**space, "metadata": {"name": "team", "labels": {"mine": "1"}}}
    store = Store()
    for one in (wrapped("a", space), wrapped("b", space), wrapped("c", other), wrapped("d", other, "elsewhere")):
        store.put(one)
    (bug,) = contention.fights(store)
    assert str(bug) == "Object team/c: wants Namespace team on c to be another than Object team/a does"
