"""A small fleet as Crossplane would leave it: written by hand, with owners that exist."""

from __future__ import annotations

from typing import Any

from tests.conformance.crd import documents
from tests.conformance.permissions.people import SYSTEM, TEAM
from tests.support import controlplane

Document = dict[str, Any]

CLUSTER, ADOPTING = "gke-us", "adopting"
CREDENTIALS, ADOPTED = f"modelplane-{CLUSTER}", "company-cluster"
GATEWAY = "default"
KUBERNETES, HELM = "kubernetes.m.crossplane.io/v1alpha1", "helm.m.crossplane.io/v1beta1"
ROUTING, ENVOY = "gateway.networking.k8s.io/v1", "gateway.envoyproxy.io/v1alpha1"


def ours(kind: str, name: str, *changes: tuple[documents.Path, Any]) -> Document:
    """Return a valid document of ours; a namespaced one in the team's namespace."""
    found = documents.document(kind, *changes)
    found["metadata"]["name"] = name
    if "namespace" in found["metadata"]:
        found["metadata"]["namespace"] = TEAM
    return found


def replica(name: str) -> Document:
    """Return a ModelReplica that nobody composed."""
    found = ours("ModelReplica", name)
    found["metadata"]["labels"] = {"modelplane.ai/cluster": CLUSTER}
    return found


def wrapped(name: str, config: str, kind: str = "ClusterProviderConfig", *, number: int = 1) -> Document:
    """Return an Object that puts a ConfigMap on a cluster."""
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"number": str(number)}}
    return _document(
        KUBERNETES,
        "Object",
        name,
        {"forProvider": {"manifest": manifest}, "providerConfigRef": {"kind": kind, "name": config}},
    )


def credentials(name: str, namespace: str = SYSTEM, secret: str = "kubeconfig-us") -> Document:  # noqa: S107 - a name
    """Return a ClusterProviderConfig of provider-kubernetes with a kubeconfig out of a Secret."""
    reference = {"namespace": namespace, "name": secret, "key": "kubeconfig"}
    return _document(
        KUBERNETES, "ClusterProviderConfig", name, {"credentials": {"source": "Secret", "secretRef": reference}}, None
    )


def helm(kind: str, name: str, namespace: str | None, source: str = "InjectedIdentity") -> Document:
    """Return a configuration of provider-helm."""
    return _document(HELM, kind, name, {"credentials": {"source": source}}, namespace)


def release(name: str, namespace: str) -> Document:
    """Return a Release of provider-helm."""
    chart = {"name": "gateway-helm", "repository": "oci://docker.io/envoyproxy", "version": "v1.9.0"}
    config = {"kind": "ProviderConfig", "name": "default-control-plane"}
    spec = {"forProvider": {"chart": chart, "namespace": "a"}, "providerConfigRef": config}
    return _document(HELM, "Release", name, spec, namespace)


def route(name: str, *, gateway: str, namespace: str | None = SYSTEM) -> Document:
    """Return an HTTPRoute of the team on a gateway; without a namespace it is one of the team's."""
    parent = {"name": gateway} | ({"namespace": namespace} if namespace else {})
    return _document(ROUTING, "HTTPRoute", name, {"parentRefs": [parent], "hostnames": ["models.example.com"]})


def backend(name: str) -> Document:
    """Return a Backend of Envoy Gateway."""
    return _document(ENVOY, "Backend", name, {"endpoints": [{"fqdn": {"hostname": "api.example.com", "port": 443}}]})


def owned(document: Document, owner: Document) -> Document:
    """Return a document with a controller, and the labels that Crossplane puts on what it composes."""
    reference = {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
    labels = {"crossplane.io/composite": owner["metadata"]["name"], **document["metadata"].get("labels", {})}
    return {**document, "metadata": {**document["metadata"], "labels": labels, "ownerReferences": [reference]}}


def install(plane: controlplane.Plane) -> None:
    """Create the fleet: a deployment with a replica and what it composes, two clusters and a gateway."""
    apply = plane.api.apply
    cluster = apply(ours("InferenceCluster", CLUSTER))
    existing = {"providerConfigRef": {"name": ADOPTED}}
    apply(ours("InferenceCluster", ADOPTING, (("spec", "cluster", "existing"), existing)))
    gateway = apply(ours("InferenceGateway", GATEWAY))
    reference = {"namespace": SYSTEM, "name": GATEWAY}
    plane.api.merge(gateway, {"status": {"gatewayRef": reference}}, subresource="status")
    deployment = apply(ours("ModelDeployment", "llama"))
    made = apply(owned(replica("llama-0"), deployment))
    endpoint = apply(owned(ours("ModelEndpoint", "llama-0"), made))
    service = apply(ours("ModelService", "llama"))
    front = apply(ours("LLMInference", "qwen"))
    for document, owner in (
        (credentials(CREDENTIALS), cluster),
        (wrapped("llama-0-service", CREDENTIALS), made),
        (backend("llama-0"), endpoint),
        (route("llama", gateway=GATEWAY), service),
        (ours("ModelDeployment", "qwen"), front),
        (release("default-envoy-gateway", SYSTEM), gateway),
    ):
        apply(owned(document, owner))
    apply(wrapped("of-the-team", "team", "ProviderConfig"))


def _document(api_version: str, kind: str, name: str, spec: Document, namespace: str | None = TEAM) -> Document:
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}
