"""A workload cluster that grants what examples/rbac-workload.yaml says takes all that is rendered, and nothing else.

The requests are those of provider-kubernetes: read, create where it is missing, a merge patch where it is there, and
delete.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.conformance.permissions.people import ServiceAccount, may
from tests.support import controlplane, installation, kubeapi, live, permissions, rendered, rendering

MODELPLANE = ServiceAccount("modelplane", "", everywhere=True, namespace="modelplane")
READ = ("get", "list", "watch")
# What would make of the credentials more than they are for.
MORE = (
    ("get", "secrets."),
    ("list", "secrets."),
    ("create", "pods."),
    ("create", "pods/exec."),
    ("create", "serviceaccounts/token."),
    ("impersonate", "users."),
    ("create", "clusterrolebindings.rbac.authorization.k8s.io"),
    ("escalate", "clusterroles.rbac.authorization.k8s.io"),
    ("delete", "namespaces."),
    ("delete", "gateways.gateway.networking.k8s.io"),
    ("patch", "gateways.gateway.networking.k8s.io"),
    ("patch", "nodes."),
    ("create", "resourceslices.resource.k8s.io"),
    ("patch", "llminferenceservices/status.serving.kserve.io"),
    ("create", "validatingwebhookconfigurations.admissionregistration.k8s.io"),
)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[controlplane.Plane]:
    live.needs("permissions", "go")
    with controlplane.running(tmp_path_factory.mktemp("workload"), "workload") as plane:
        installation.definitions(plane, "kserve", "gateway-api", "lws", "kuberay")
        for one in permissions.documents(permissions.WORKLOAD):
            plane.api.apply(one)
        yield plane


def manifests(example: str) -> list[Any]:
    """Return what an example keeps on its clusters, each once, namespaces first."""
    placed = rendered.placed(rendered.folder(rendering.ROOT / "examples" / example))
    found = [one for where, one in placed if where != rendered.CONTROL_PLANE]
    unique = {(one["kind"], one["metadata"].get("namespace"), one["metadata"]["name"]): one for one in found}
    return sorted(unique.values(), key=lambda one: one["kind"] != "Namespace")


@pytest.mark.parametrize("example", rendering.EXAMPLES)
def test_what_an_example_renders_is_kept_and_removed(cluster: controlplane.Plane, example: str) -> None:
    api = cluster.api.impersonating(MODELPLANE.user)
    found = manifests(example)
    kinds = {one["kind"] for one in found}
    assert {"Namespace", "ResourceClaimTemplate", "HTTPRoute"} <= kinds
    assert kinds & {"LLMInferenceService", "Deployment", "RayService"}
    for one in found:
        path = api.path_of(one)
        if api.get(one["apiVersion"], one["kind"], one["metadata"]["name"], one["metadata"].get("namespace")) is None:
            api.create(one)
        api.request("PATCH", path, one, content=kubeapi.MERGE)
        assert api.all_of(one["apiVersion"], one["kind"])
    for one in reversed(found):
        if one["kind"] not in {"Namespace", "LLMInferenceServiceConfig"}:
            api.request("DELETE", api.path_of(one))


def test_the_gateway_is_only_looked_at(cluster: controlplane.Plane) -> None:
    allowed = [
        verb
        for verb in (*READ, "create", "update", "patch", "delete")
        if may(cluster, MODELPLANE, verb, "gateways.gateway.networking.k8s.io", None)
    ]
    assert tuple(allowed) == READ


@pytest.mark.parametrize(("verb", "resource"), MORE, ids=lambda value: str(value).strip("."))
def test_the_credentials_are_good_for_nothing_else(cluster: controlplane.Plane, verb: str, resource: str) -> None:
    assert not may(cluster, MODELPLANE, verb, resource, None)
