"""What the real kube-state-metrics says of a fleet, with our configuration and no more rights than we ship."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.conformance.metrics import stage
from tests.conformance.metrics.stage import Document, Stage
from tests.support import installation, kubeapi, live

OBJECTS = stage.fleet()
Rows = list[tuple[dict[str, str], float]]
SECONDS = 60


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    live.needs("metrics", "go")
    with stage.running(tmp_path_factory.mktemp("metrics") / "plane", OBJECTS) as found:
        found.await_value("modelplane_deployment_wanted_replicas", 2, deployment="llama-70b")
        yield found


def named(one: Document) -> dict[str, str]:
    """Return the labels by which samples name an object, by its kind."""
    metadata, spec = one["metadata"], one.get("spec", {})
    name, namespace = metadata["name"], metadata.get("namespace", "")
    return {
        "InferenceCluster": {"cluster": name},
        "InferenceClass": {"class": name},
        "InferenceGateway": {"gateway": name},
        "InferenceQuota": {"quota": name},
        "ModelDeployment": {"namespace": namespace, "deployment": name},
        "LLMInference": {"namespace": namespace, "llminference": name},
        "ModelService": {"namespace": namespace, "service": name},
        "ModelEndpoint": {"namespace": namespace, "endpoint": name},
        "ModelReplica": {
            "namespace": namespace,
            "replica": name,
            "deployment": spec.get("deploymentRef", {}).get("name", ""),
            "cluster": spec.get("clusterName", ""),
        },
        "ModelCacheCopy": {
            "namespace": namespace,
            "cache": spec.get("cacheRef", {}).get("name", ""),
            "cluster": spec.get("clusterName", ""),
        },
    }[one["kind"]]


def conditions(one: Document) -> Rows:
    """Return a row for each condition."""
    return [
        ({"type": each["type"], "reason": each["reason"]}, float(each["status"] == "True"))
        for each in one["status"]["conditions"]
    ]


def phases(*every: str) -> Callable[[Document], Rows]:
    """Return rows for a phase, of which one is in force."""
    return lambda one: [({"phase": each}, float(one["status"].get("phase") == each)) for each in every]


def number(*path: str) -> Callable[[Document], Rows]:
    """Return the row of a number that is always there."""

    def rows(one: Document) -> Rows:
        found: Any = one
        for part in path:
            found = found[part]
        return [({}, float(found))]

    return rows


def declared(one: Document) -> Rows:
    """Return the rows of the nodes of pools."""
    pools = one["status"]["pools"]
    return [({"pool": each["name"], "class": each["className"]}, float(each["nodes"]["declared"])) for each in pools]


def places(one: Document) -> Rows:
    """Return the row of a cluster's place."""
    labels = one["metadata"].get("labels", {})
    keys = ("region", "zone", "tier")
    return [({key: labels[f"modelplane.ai/{key}"] for key in keys if f"modelplane.ai/{key}" in labels}, 1.0)]


def limits(key: str) -> Callable[[Document], Rows]:
    """Return a row for each limit of a quota."""
    return lambda one: [({"limit": each["name"]}, float(each[key])) for each in one["status"]["limits"] if key in each]


EXPECTED = [
    ("InferenceCluster", "modelplane_cluster_info", places),
    ("InferenceCluster", "modelplane_cluster_devices", number("status", "summary", "devices")),
    ("InferenceCluster", "modelplane_cluster_free_devices", number("status", "summary", "free")),
    ("InferenceCluster", "modelplane_cluster_replicas", number("status", "summary", "replicas")),
    ("InferenceCluster", "modelplane_cluster_pool_nodes", declared),
    ("InferenceCluster", "modelplane_cluster_condition", conditions),
    ("InferenceClass", "modelplane_class_node_devices", number("status", "devices")),
    ("InferenceClass", "modelplane_class_condition", conditions),
    ("InferenceGateway", "modelplane_gateway_condition", conditions),
    ("InferenceQuota", "modelplane_quota_limit", limits("limit")),
    ("InferenceQuota", "modelplane_quota_used", limits("used")),
    ("InferenceQuota", "modelplane_quota_granted", limits("granted")),
    ("InferenceQuota", "modelplane_quota_waiting_replicas", number("status", "summary", "waiting")),
    ("InferenceQuota", "modelplane_quota_condition", conditions),
    ("ModelDeployment", "modelplane_deployment_wanted_replicas", number("spec", "replicas")),
    ("ModelDeployment", "modelplane_deployment_placed_replicas", number("status", "replicas")),
    ("ModelDeployment", "modelplane_deployment_ready_replicas", number("status", "readyReplicas")),
    ("ModelDeployment", "modelplane_deployment_unscheduled_replicas", number("status", "unscheduledReplicas")),
    ("ModelDeployment", "modelplane_deployment_condition", conditions),
    ("LLMInference", "modelplane_llm_inference_condition", conditions),
    (
        "ModelReplica",
        "modelplane_replica_phase",
        phases("Pending", "Admitted", "Queued", "Starting", "Running", "Degraded", "Failed"),
    ),
    ("ModelReplica", "modelplane_replica_condition", conditions),
    ("ModelService", "modelplane_service_matched_endpoints", number("status", "endpoints", "matched")),
    ("ModelService", "modelplane_service_ready_endpoints", number("status", "endpoints", "ready")),
    ("ModelService", "modelplane_service_condition", conditions),
    ("ModelEndpoint", "modelplane_endpoint_condition", conditions),
    ("ModelCacheCopy", "modelplane_cache_copy_phase", phases("Pending", "Staging", "Ready", "Failed")),
]


@pytest.mark.parametrize(("kind", "metric", "rows"), EXPECTED, ids=[metric for _, metric, _ in EXPECTED])
def test_a_metric_says_what_the_objects_say(
    fleet: Stage, kind: str, metric: str, rows: Callable[[Document], Rows]
) -> None:
    of_kind = [one for one in OBJECTS if one["kind"] == kind]
    assert of_kind
    expected = sorted(
        (sorted({**named(one), **labels}.items()), value) for one in of_kind for labels, value in rows(one)
    )
    found = sorted((sorted(one.labels.items()), one.value) for one in fleet.samples() if one.name == metric)
    assert found == expected


def test_a_price_is_a_number_and_a_class_without_one_costs_nothing(fleet: Stage) -> None:
    named_ = {one["metadata"]["name"]: one for one in OBJECTS if one["kind"] == "InferenceClass"}
    dear = copy.deepcopy(named_["h100-8x"])
    dear["spec"]["cost"] = {"perNodeHour": "88.49", "currency": "USD"}
    fleet.write(dear)
    fleet.await_value("modelplane_class_node_hour_cost", 88.49, **{"class": "h100-8x", "currency": "USD"})
    assert fleet.values("modelplane_class_node_hour_cost", **{"class": "l4-1x"}) == [0]


def test_what_changes_is_said_and_what_is_gone_is_not(fleet: Stage) -> None:
    service = copy.deepcopy(stage.service(OBJECTS))
    service["status"]["endpoints"]["ready"] = 0
    fleet.write(service)
    fleet.await_value("modelplane_service_ready_endpoints", 0, service=service["metadata"]["name"])
    fleet.plane.api.delete(service)
    kubeapi.until(
        lambda: fleet.values("modelplane_service_ready_endpoints", service=service["metadata"]["name"]),
        seconds=SECONDS, what="no service",
        enough=lambda found: found == [],
    )  # fmt: skip


def test_what_a_cluster_refuses_is_said_with_its_reason(fleet: Stage) -> None:
    (cluster,) = (copy.deepcopy(one) for one in OBJECTS if one["metadata"]["name"] == "eks-us")
    refusal = {"replica": "ml-team/x-0", "reason": "InsufficientDevices", "message": 'h100: "want" 1\nnode'}
    cluster["status"]["refused"] = [refusal]
    fleet.write(cluster)
    fleet.await_value("modelplane_cluster_refused_replica", 1, cluster="eks-us", reason="InsufficientDevices")


def test_an_object_of_which_nothing_is_said_yet_counts_nothing(fleet: Stage) -> None:
    (old,) = (one for one in OBJECTS if one["kind"] == "ModelDeployment" and one["metadata"]["name"] == "qwen3-8b")
    new = {**copy.deepcopy(old), "metadata": {"name": "new", "namespace": "ml-team"}, "status": {}}
    fleet.write(new)
    fleet.await_value("modelplane_deployment_ready_replicas", 0, deployment="new")
    assert fleet.values("modelplane_deployment_condition", deployment="new") == []


def test_it_may_list_and_watch_what_it_reads_and_nothing_else(fleet: Stage) -> None:
    log = fleet.plane.others["kube-state-metrics"].log.read_text()
    assert "forbidden" not in log.lower()
    user = f"system:serviceaccount:modelplane-system:{stage.ACCOUNT}"
    api = fleet.plane.api.impersonating(user)
    group = "/apis/modelplane.ai/v1alpha1"
    assert api.request("GET", f"{group}/modeldeployments")["items"]
    for path in ("/api/v1/secrets", "/api/v1/pods", f"{group}/modelcaches", f"{group}/inferenceclusters/eks-us"):
        with pytest.raises(kubeapi.Refused) as caught:
            api.request("GET", path)
        assert caught.value.status == 403, path
    with pytest.raises(kubeapi.Refused) as caught:
        api.delete(OBJECTS[0])
    assert caught.value.status == 403


def test_the_api_server_takes_what_is_shipped(fleet: Stage) -> None:
    """Strictly: a field that a definition lacks is refused. The ConfigMaps are as kustomize writes them."""
    installation.definitions(fleet.plane, "prometheus-operator")
    built = fleet.plane.kubectl("kustomize", str(stage.FOLDER))
    path = fleet.plane.folder / "built.yaml"
    path.write_text(built)
    documents = list(installation.documents(path))
    assert {"ConfigMap", "Deployment", "PodMonitor", "PrometheusRule"} <= {one["kind"] for one in documents}
    for document in documents:
        fleet.plane.api.apply(document, dry_run=True)
    (deployment,) = (one for one in documents if one["kind"] == "Deployment")
    (volume,) = deployment["spec"]["template"]["spec"]["volumes"]
    names = {one["metadata"]["name"]: one for one in documents if one["kind"] == "ConfigMap"}
    assert names[volume["configMap"]["name"]]["data"]["fleet-metrics.yaml"] == stage.CONFIGURATION.read_text()
