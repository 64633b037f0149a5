"""A workload cluster that grants what examples/rbac-workload*.yaml say takes all that is rendered, and nothing else.

What somebody else made there is not taken over: two policies of that file hold it.

The requests are those of provider-kubernetes: read, create where it is missing, a merge patch where it is there, and
delete.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator
from typing import Any

import pytest

from modelplane.render import observer
from modelplane.render.backends import selection
from tests.conformance.permissions.people import ServiceAccount, may
from tests.support import controlplane, dynamo_definition, installation, kubeapi, live, permissions, rendered, rendering

MODELPLANE = ServiceAccount("modelplane", "", everywhere=True, namespace="modelplane")
OBSERVER = ServiceAccount("modelplane-observer", "", everywhere=True, namespace="modelplane")
READ = ("get", "list", "watch")
# What is made and never removed: others may use it, or it protects a listener that stays.
STAYING = frozenset(
    {"Namespace", "LLMInferenceServiceConfig", "Issuer", "Certificate", "ClientTrafficPolicy", "ConfigMap"}
)
ACTIVE_SECONDS = 60
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
    ("escalate", "roles.rbac.authorization.k8s.io"),
    ("bind", "clusterroles.rbac.authorization.k8s.io"),
    ("get", "pods/log."),
    ("patch", "llminferenceservices/status.serving.kserve.io"),
    ("create", "validatingwebhookconfigurations.admissionregistration.k8s.io"),
)
FLEETS = [
    name for name in rendering.EXAMPLES if any(one["kind"] == "InferenceCluster" for one in rendering.example(name))
]
"""The examples that have clusters; the others are about the control plane alone."""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[controlplane.Plane]:
    live.needs("permissions", "go")
    with controlplane.running(tmp_path_factory.mktemp("workload"), "workload") as plane:
        installation.definitions(
            plane,
            "kserve",
            "kserve-localmodel",
            "gateway-api",
            "inference-extension",
            "lws",
            "kuberay",
            "kaito",
            "production-stack",
            "prometheus-operator",
            "istio",
            "cert-manager",
            "envoy-gateway",
        )
        installation.apply_definitions(plane, [dynamo_definition.document()])
        for one in permissions.documents(*permissions.WORKLOAD, permissions.OBSERVER):
            plane.api.apply(one)
        kubeapi.until(lambda: is_in_force(plane), seconds=ACTIVE_SECONDS, what="the policies to be in force")
        yield plane


def is_in_force(plane: controlplane.Plane) -> bool:
    """Return whether both policies refuse what they are there for."""
    api = plane.api.impersonating(MODELPLANE.user)
    found = (service("anybodys", {}), namespace("anybodys", {"pod-security.kubernetes.io/enforce": "privileged"}))
    for one in found:
        with contextlib.suppress(kubeapi.Refused):
            api.create(one, dry_run=True)
            return False
    return True


def service(name: str, labels: dict[str, str], place: str = "default") -> Any:
    metadata = {"name": name, "namespace": place, "labels": labels}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {"ports": [{"port": 80}]}}


def namespace(name: str, labels: dict[str, str]) -> Any:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def manifests(example: str) -> list[Any]:
    """Return what an example keeps on its clusters, each once, namespaces first, and Roles before what binds them."""
    found = [one for _, one in rendered.workloads(rendered.folder(rendering.ROOT / "examples" / example))]
    unique = {(one["kind"], one["metadata"].get("namespace"), one["metadata"]["name"]): one for one in found}
    return sorted(unique.values(), key=lambda one: (one["kind"] != "Namespace", one["kind"] == "RoleBinding"))


@pytest.mark.parametrize("example", FLEETS)
def test_what_an_example_renders_is_kept_and_removed(cluster: controlplane.Plane, example: str) -> None:
    api = cluster.api.impersonating(MODELPLANE.user)
    found = manifests(example)
    kinds = {one["kind"] for one in found}
    assert {"Namespace", "ResourceClaimTemplate", "HTTPRoute"} <= kinds
    workloads = {kind for backend in selection.BACKENDS.values() for _, kind in backend.KINDS}
    assert kinds & workloads - {"Namespace", "ResourceClaimTemplate", "HTTPRoute"}
    for place in sorted({one["metadata"].get("namespace", "default") for one in found}):
        if not any(one["kind"] == "Namespace" and one["metadata"]["name"] == place for one in found):
            cluster.api.apply(namespace(place, {}))  # that of the cluster's gateway, which is there before
    for one in found:
        path = api.path_of(one)
        if api.get(one["apiVersion"], one["kind"], one["metadata"]["name"], one["metadata"].get("namespace")) is None:
            api.create(one)
        api.request("PATCH", path, one, content=kubeapi.MERGE)
        assert api.all_of(one["apiVersion"], one["kind"])
    for one in reversed(found):
        if one["kind"] not in STAYING:
            api.request("DELETE", api.path_of(one))


def test_the_gateway_is_only_looked_at(cluster: controlplane.Plane) -> None:
    allowed = [
        verb
        for verb in (*READ, "create", "update", "patch", "delete")
        if may(cluster, MODELPLANE, verb, "gateways.gateway.networking.k8s.io", None)
    ]
    assert tuple(allowed) == READ


def test_pods_are_only_looked_at(cluster: controlplane.Plane) -> None:
    verbs = (*READ, "create", "update", "patch", "delete")
    assert tuple(verb for verb in verbs if may(cluster, MODELPLANE, verb, "pods.", None)) == READ


def test_the_observer_lists_nodes_and_slices_and_writes_one_object(cluster: controlplane.Plane) -> None:
    verbs = (*READ, "create", "update", "patch", "delete")
    asked = (
        "nodes.",
        "resourceslices.resource.k8s.io",
        "configmaps.",
        "pods.",
        "secrets.",
        "resourceclaims.resource.k8s.io",
    )
    allowed = {(verb, one) for one in asked for verb in verbs if may(cluster, OBSERVER, verb, one, "modelplane")}
    assert allowed == {("list", "nodes."), ("list", "resourceslices.resource.k8s.io")}
    api = cluster.api.impersonating(OBSERVER.user)
    for name in (observer.MAP_NAME, "another"):
        metadata = {"name": name, "namespace": observer.NAMESPACE}
        cluster.api.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
    path = f"/api/v1/namespaces/{observer.NAMESPACE}/configmaps/{{}}"
    written = api.request(
        "PATCH", path.format(observer.MAP_NAME), {"data": {"observation": "{}"}}, content=kubeapi.MERGE
    )
    assert written["data"] == {"observation": "{}"}
    with pytest.raises(kubeapi.Refused, match="cannot patch"):
        api.request("PATCH", path.format("another"), {"data": {"observation": "{}"}}, content=kubeapi.MERGE)


def bare(one: Any) -> Any:
    """Return what somebody else would have made by this name: without our labels."""
    metadata = {key: value for key, value in one["metadata"].items() if key != "labels"}
    found = {**one, "metadata": metadata}
    if one["kind"] == "Job":
        # The API server gives a Job without labels those of its pods.
        found = copy.deepcopy(found)
        del found["spec"]["template"]["metadata"]["labels"]
    return found


def somebodys() -> list[Any]:
    """Return an object of every kind that is rendered into a namespace, as somebody else made it."""
    found = [one for example in FLEETS for one in manifests(example) if one["kind"] != "Namespace"]
    return [bare(one) for one in {one["kind"]: one for one in found}.values()]


def test_what_somebody_else_made_is_neither_taken_over_nor_deleted(cluster: controlplane.Plane) -> None:
    api = cluster.api.impersonating(MODELPLANE.user)
    theirs = somebodys()
    assert {one["kind"] for one in theirs} >= {"LLMInferenceService", "Deployment", "Service", "ResourceClaimTemplate"}
    # Whoever may not escalate may bind only a Role that is there, and is told so before a policy is asked.
    for binding in (one for one in theirs if one["kind"] == "RoleBinding"):
        cluster.api.apply(namespace("theirs-rolebinding", {}))
        metadata = {"name": binding["roleRef"]["name"], "namespace": "theirs-rolebinding"}
        cluster.api.create({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": metadata})
    for one in theirs:
        place = one["metadata"]["namespace"] = f"theirs-{one['kind'].lower()}"
        cluster.api.apply(namespace(place, {}))
        cluster.api.create(one)
        path = cluster.api.path_of(one)
        labels = {"modelplane.ai/namespace": place, "modelplane.ai/replica": "llama-0"}
        ours = {**one, "metadata": {**one["metadata"], "labels": labels}}
        for write in (
            lambda path=path, ours=ours: api.request("PATCH", path, ours, content=kubeapi.MERGE),
            lambda ours=ours: api.apply(ours),
        ):
            with pytest.raises(kubeapi.Refused, match="is there already and is not Modelplane's"):
                write()
        if one["kind"] not in STAYING:
            with pytest.raises(kubeapi.Refused, match="is there already and is not Modelplane's"):
                api.request("DELETE", path)
        cluster.api.request("DELETE", path)


def test_a_replica_does_not_take_what_another_replica_has(cluster: controlplane.Plane) -> None:
    api = cluster.api.impersonating(MODELPLANE.user)
    labels = {"modelplane.ai/namespace": "default", "modelplane.ai/replica": "first-0"}
    made = service("shared-name", labels)
    api.create(made)
    other = service("shared-name", {**labels, "modelplane.ai/replica": "second-0"})
    with pytest.raises(kubeapi.Refused, match="is of another replica"):
        api.request("PATCH", api.path_of(other), other, content=kubeapi.MERGE)
    api.request("PATCH", api.path_of(made), service("shared-name", {**labels, "more": "x"}), content=kubeapi.MERGE)
    api.request("DELETE", api.path_of(made))


def test_a_namespace_that_is_there_gets_our_labels_and_keeps_its_own(cluster: controlplane.Plane) -> None:
    api = cluster.api.impersonating(MODELPLANE.user)
    theirs = {"pod-security.kubernetes.io/enforce": "restricted"}
    cluster.api.create(namespace("their-team", theirs))
    path = api.path_of(namespace("their-team", {}))
    ours = namespace("their-team", {"modelplane.ai/namespace": "their-team"})
    kept = api.request("PATCH", path, ours, content=kubeapi.MERGE)["metadata"]["labels"]
    assert kept.items() >= {**theirs, "modelplane.ai/namespace": "their-team"}.items()
    for labels in (
        {"pod-security.kubernetes.io/enforce": "privileged"},
        {"pod-security.kubernetes.io/enforce": None},
        {"istio-injection": "enabled"},
    ):
        change = {"metadata": {"labels": labels}}
        with pytest.raises(kubeapi.Refused, match="only labels of"):
            api.request("PATCH", path, change, content=kubeapi.MERGE)


@pytest.mark.parametrize(("verb", "resource"), MORE, ids=lambda value: str(value).strip("."))
def test_the_credentials_are_good_for_nothing_else(cluster: controlplane.Plane, verb: str, resource: str) -> None:
    assert not may(cluster, MODELPLANE, verb, resource, None)


def test_no_right_is_handed_on_that_it_does_not_have(cluster: controlplane.Plane) -> None:
    """It writes Roles, and Kubernetes refuses one that grants more than the writer has."""
    api = cluster.api.impersonating(MODELPLANE.user)
    installation.namespace(cluster, "ml-team")
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": {"name": "more", "namespace": "ml-team"},
        "rules": [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}],
    }
    with pytest.raises(kubeapi.Refused, match="attempting to grant RBAC permissions not currently held"):
        api.create(role)
