"""What kubectl shows and does: the promised columns and short names, and scaling."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conformance.crd import documents
from tests.support import controlplane, installation, kubeapi

OURS = "modelplane.ai/v1alpha1"

COLUMNS = {
    "ModelDeployment": ["DESIRED", "SCHEDULED", "SERVING", "PLACEMENT", "BACKEND", "READY", "AGE"],
    "ModelReplica": ["CLUSTER", "POOL", "BACKEND", "PHASE", "ADMISSION", "WORKLOAD", "READY", "AGE"],
    "InferenceCluster": ["SOURCE", "POOLS", "DEVICES", "FREE", "REPLICAS", "GATEWAY", "READY"],
}
WIDE = {"ModelDeployment": ["CLUSTERS"]}
SHORT = {
    "br": "BackendRules",
    "icl": "InferenceClass",
    "ic": "InferenceCluster",
    "ig": "InferenceGateway",
    "iq": "InferenceQuota",
    "md": "ModelDeployment",
    "mr": "ModelReplica",
    "ms": "ModelService",
    "me": "ModelEndpoint",
    "llm": "LLMInference",
}


@pytest.fixture(scope="module")
def stored(plane: controlplane.Plane) -> controlplane.Plane:
    """The cluster with one valid document of every kind, in a namespace of its own."""
    installation.namespace(plane, "columns")
    for kind in sorted(documents.VALID):
        document = documents.document(kind)
        if "namespace" in document["metadata"]:
            document["metadata"]["namespace"] = "columns"
        plane.api.apply(document)
    return plane


@pytest.mark.parametrize("kind", sorted(COLUMNS))
def test_promised_columns(stored: controlplane.Plane, kind: str) -> None:
    columns, _ = stored.api.table(OURS, kind)
    # Crossplane appends its own: SYNCED, READY, COMPOSITION, AGE
    assert len(columns) == len(set(columns))
    rest: Iterator[str] = iter(columns)
    assert all(one in rest for one in COLUMNS[kind]), columns
    assert set(WIDE.get(kind, [])) <= set(columns)


@pytest.mark.parametrize("kind", sorted(WIDE))
def test_wide_columns_are_shown_only_when_asked(stored: controlplane.Plane, kind: str) -> None:
    plural = stored.api.resource(OURS, kind).plural
    narrow = stored.kubectl("get", plural, "-A").splitlines()[0].split()
    wide = stored.kubectl("get", plural, "-A", "-o", "wide").splitlines()[0].split()
    assert set(WIDE[kind]) & set(narrow) == set()
    assert set(WIDE[kind]) <= set(wide)


@pytest.mark.parametrize("short", sorted(SHORT))
def test_short_names(stored: controlplane.Plane, short: str) -> None:
    (name, *_) = stored.kubectl("get", short, "-A", "-o", "name").splitlines()
    assert name.split("/")[0] == f"{SHORT[short].lower()}.modelplane.ai"


def test_kubectl_scales_a_deployment(stored: controlplane.Plane) -> None:
    name = documents.VALID["ModelDeployment"]["metadata"]["name"]
    stored.kubectl("-n", "columns", "scale", "md", name, "--replicas=5")
    deployment = stored.api.get(OURS, "ModelDeployment", name, "columns")
    assert deployment["spec"]["replicas"] == 5


def test_an_autoscaler_reads_replicas_and_selector(stored: controlplane.Plane) -> None:
    name = documents.VALID["ModelDeployment"]["metadata"]["name"]
    deployment = stored.api.get(OURS, "ModelDeployment", name, "columns")
    selector = f"modelplane.ai/scale-target=columns.{name}"
    stored.api.merge(deployment, {"status": {"replicas": 2, "selector": selector}}, subresource="status")
    scale = stored.api.request("GET", stored.api.path_of(deployment) + "/scale")
    assert scale["status"] == {"replicas": 2, "selector": selector}


def test_nobody_scales_below_zero(stored: controlplane.Plane) -> None:
    name = documents.VALID["ModelDeployment"]["metadata"]["name"]
    deployment = stored.api.get(OURS, "ModelDeployment", name, "columns")
    with pytest.raises(kubeapi.Refused, match="greater than or equal to 0"):
        stored.api.merge(deployment, {"spec": {"replicas": -1}}, subresource="scale")
