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
RELAY = "relay-default"
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


def collection(name: str, config: str) -> Document:
    """Return a collection of pods on a cluster."""
    selector = {"matchLabels": {"modelplane.ai/replica": "llama-0"}}
    criteria = {"apiVersion": "v1", "kind": "Pod", "namespace": TEAM, "selector": selector}
    reference = {"kind": "ClusterProviderConfig", "name": config}
    return _document(
        KUBERNETES, "ObservedObjectCollection", name, {"observeObjects": criteria, "providerConfigRef": reference}
    )


def member(name: str, config: str, *policies: str) -> Document:
    """Return an Object with these policies (only reading without any) that belongs to a collection."""
    found = wrapped(name, config)
    found["spec"]["managementPolicies"] = list(policies or ("Observe",))
    owner = {"apiVersion": KUBERNETES, "kind": "ObservedObjectCollection", "name": "llama-0-pods", "uid": "0-0"}
    found["metadata"]["ownerReferences"] = [owner]
    return found


def credentials(name: str, namespace: str = SYSTEM, secret: str = "kubeconfig-us") -> Document:  # noqa: S107 - a name
    """Return a ClusterProviderConfig of provider-kubernetes with a kubeconfig out of a Secret."""
    reference = {"namespace": namespace, "name": secret, "key": "kubeconfig"}
    return _document(
        KUBERNETES, "ClusterProviderConfig", name, {"credentials": {"source": "Secret", "secretRef": reference}}, None
    )


def configuration(
    api_version: str, kind: str, namespace: str | None, source: str, identity: str | None = None, *, name: str = "mine"
) -> Document:
    """Return a provider configuration with credentials, and an identity, out of these sources."""
    reference = {"namespace": namespace or SYSTEM, "name": "mine", "key": "kubeconfig"}
    found = {"credentials": {"source": source} | ({"secretRef": reference} if source == "Secret" else {})}
    if identity:
        found["identity"] = {"type": "GoogleApplicationCredentials", "source": identity}
    return _document(api_version, kind, name, found, namespace)


def referring(name: str, *references: tuple[str, str, str, str | None]) -> Document:
    """Return an Object with own credentials that refers by field, apiVersion, kind and namespace to objects `a`."""
    found = wrapped(name, "own", "ProviderConfig")
    found["spec"]["references"] = [
        {
            field: {"apiVersion": version, "kind": kind, "name": "a"}
            | ({"namespace": namespace} if namespace else {})
            | ({"fieldPath": "data"} if field == "patchesFrom" else {})
        }
        for field, version, kind, namespace in references
    ]
    return found


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


def ai_route(name: str, *, gateway: str, namespace: str | None = SYSTEM) -> Document:
    """Return an AIGatewayRoute of the team on a gateway; without a namespace it is one of the team's."""
    match = {"headers": [{"type": "Exact", "name": "x-ai-eg-model", "value": "llama"}]}
    rules = [{"matches": [match], "backendRefs": [{"name": "llama"}]}]
    spec = {**route(name, gateway=gateway, namespace=namespace)["spec"], "rules": rules}
    return _document("aigateway.envoyproxy.io/v1beta1", "AIGatewayRoute", name, spec)


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
    plane.api.merge(gateway, {"status": {"gatewayRef": reference, "relay": {"name": RELAY}}}, subresource="status")
    deployment = apply(ours("ModelDeployment", "llama"))
    made = apply(owned(replica("llama-0"), deployment))
    endpoint = apply(owned(ours("ModelEndpoint", "llama-0"), made))
    service = apply(ours("ModelService", "llama"))
    front = apply(ours("LLMInference", "qwen"))
    for document, owner in (
        (credentials(CREDENTIALS), cluster),
        (wrapped("llama-0-service", CREDENTIALS), made),
        (collection("llama-0-pods", CREDENTIALS), made),
        (backend("llama-0"), endpoint),
        (route("llama", gateway=GATEWAY), service),
        (ours("ModelDeployment", "qwen"), front),
        (release("default-envoy-gateway", SYSTEM), gateway),
    ):
        apply(owned(document, owner))
    apply(wrapped("of-the-team", "team", "ProviderConfig"))
    apply(referring("of-an-administrator", ("patchesFrom", "v1", "Secret", SYSTEM), ("dependsOn", "v1", "Node", None)))
    apply(member("llama-0-pods-0123456", CREDENTIALS))


def scaled_object(name: str) -> Document:
    """Return a ScaledObject of the team's deployment."""
    metadata = {"timezone": "Etc/UTC", "start": "0 1 * * *", "end": "0 2 * * *", "desiredReplicas": "2"}
    spec = {"scaleTargetRef": _scaled(), "triggers": [{"type": "cron", "metadata": metadata}]}
    return _document("keda.sh/v1alpha1", "ScaledObject", name, spec)


def autoscaler(name: str) -> Document:
    """Return a HorizontalPodAutoscaler of the team's deployment."""
    metric = {"metric": {"name": "load"}, "target": {"type": "AverageValue", "averageValue": "1"}}
    metrics = [{"type": "External", "external": metric}]
    spec = {"scaleTargetRef": _scaled(), "maxReplicas": 3, "metrics": metrics}
    return _document("autoscaling/v2", "HorizontalPodAutoscaler", name, spec)


def _scaled() -> Document:
    return {"apiVersion": "modelplane.ai/v1alpha1", "kind": "ModelDeployment", "name": "llama"}


def _document(api_version: str, kind: str, name: str, spec: Document, namespace: str | None = TEAM) -> Document:
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}
