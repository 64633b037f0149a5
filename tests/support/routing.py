"""Documents around routing as the API server and the gateway's controller would hold them: valid and easy to break."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from modelplane import names
from modelplane.api import endpoint as endpoints
from modelplane.api import gateway as gateways
from modelplane.api import service as services
from modelplane.render import routing, traffic
from modelplane.routing import features, plan
from modelplane_functions.exchange import Outcome

Json = Any

NAMESPACE = "ml-team"
GATEWAY_ADDRESS = "203.0.113.10"


def model_endpoint(
    name: str,
    url: str = "",
    *,
    namespace: str = NAMESPACE,
    labels: Mapping[str, str] | None = None,
    ready: bool = True,
    status: Json = None,
    **spec: Json,
) -> dict[str, Json]:
    """Return an endpoint by hand; ready unless told otherwise."""
    return {
        "apiVersion": names.API_VERSION,
        "kind": "ModelEndpoint",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {names.LABEL_ENDPOINT: name, **(labels or {})},
        },
        "spec": {"url": url or f"https://{name}.example.com", "api": ["OpenAI"], **spec},
        "status": {"backendName": name, "ready": ready} if status is None else status,
    }


def replica_endpoint(name: str, deployment: str, *, cluster: str = "east", **changes: Json) -> dict[str, Json]:
    """Return an endpoint as a deployment composes it: the cluster's gateway, asked for by the replica's own host."""
    namespace = changes.pop("namespace", NAMESPACE)
    document = model_endpoint(
        name,
        changes.pop("url", f"http://gateway.{cluster}.example.com"),
        namespace=namespace,
        host=names.internal_host(namespace, name),
        labels={names.LABEL_DEPLOYMENT: deployment, names.LABEL_CLUSTER: cluster, names.LABEL_API: "openai"},
        **changes,
    )
    owner = {"apiVersion": names.API_VERSION, "kind": "ModelDeployment", "name": deployment, "controller": True}
    document["metadata"]["ownerReferences"] = [owner]
    return document


def group(*, deployment: str = "", endpoint: str = "", **fields: Json) -> dict[str, Json]:
    """Return one entry of a service's endpoints."""
    key = names.LABEL_DEPLOYMENT if deployment else names.LABEL_ENDPOINT
    return {"selector": {"matchLabels": {key: deployment or endpoint}}, **fields}


def model_service(*groups: Json, name: str = "llama", namespace: str = NAMESPACE, **spec: Json) -> dict[str, Json]:
    """Return a service over `groups`."""
    return {
        "apiVersion": names.API_VERSION,
        "kind": "ModelService",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"endpoints": list(groups), **spec},
    }


def inference_gateway(name: str = "default", *, address: str = GATEWAY_ADDRESS, **spec: Json) -> dict[str, Json]:
    """Return a gateway that has its address, unless that is empty."""
    return {
        "apiVersion": names.API_VERSION,
        "kind": "InferenceGateway",
        "metadata": {"name": name},
        "spec": {"type": "Envoy", **spec},
        "status": {"address": address} if address else {},
    }


def condition(kind: str, *, is_true: bool = True, reason: str = "", message: str = "") -> dict[str, Json]:
    """Return a condition as a controller writes it."""
    return {
        "type": kind,
        "status": "True" if is_true else "False",
        "reason": reason or kind,
        "message": message,
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }


def observed(outcome: Outcome) -> dict[str, Json]:
    """Return the children as Crossplane would observe them after applying `outcome`, with a healthy status."""
    children: dict[str, Json] = {}
    for key, child in outcome.children.items():
        resource = copy.deepcopy(dict(child.resource))
        metadata = resource["metadata"] = dict(resource["metadata"])
        metadata["uid"] = f"uid-{key}"
        metadata["managedFields"] = [{"manager": "test"}]
        metadata["annotations"] = {**metadata.get("annotations", {}), "crossplane.io/composition-resource-name": key}
        resource["status"] = healthy(resource)
        children[key] = resource
    return children


def healthy(resource: Json) -> Json:
    """Return the status of an object that its controller has taken in."""
    kind, spec = resource["kind"], resource.get("spec") or {}
    accepted = [condition("Accepted")]
    if kind == "HTTPRoute":
        resolved = [*accepted, condition("ResolvedRefs")]
        return {"parents": [{"parentRef": dict(ref), "conditions": resolved} for ref in spec["parentRefs"]]}
    if kind in {"AIGatewayRoute", "AIServiceBackend", "BackendSecurityPolicy"}:
        return {"conditions": accepted}
    if kind.endswith("Policy") and "targetRefs" in spec:
        return {"ancestors": [{"ancestorRef": dict(ref), "conditions": accepted} for ref in spec["targetRefs"]]}
    if kind == "Gateway":
        return {"addresses": [{"type": "IPAddress", "value": GATEWAY_ADDRESS}], "conditions": [condition("Programmed")]}
    if kind in {"Release", "ModelDeployment", "ModelService"}:
        return {"conditions": [condition("Ready")]}
    return {"conditions": accepted} if kind in {"Backend", "GatewayClass"} else {}


def rendered(document: Json, *groups: list[Json], gateway: Json) -> dict[str, Json]:
    """Return the specs of everything rendered, by kind and name."""
    service, door = services.decode(document), gateways.decode(gateway)
    matched = [[endpoints.candidate(each) for each in group] for group in groups]
    decided = plan.decide(service, matched, features.features(door.type, door.version), door.place)
    manifests = [
        *routing.service_manifests(service, door, decided),
        *traffic.service_manifests(service, decided),
        *(
            manifest
            for group in groups
            for each in group
            for manifest in routing.endpoint_manifests(endpoints.decode(each))
        ),
    ]
    return {f"{each.resource['kind']}/{each.resource['metadata']['name']}": each.resource["spec"] for each in manifests}


def backends(document: Json, *groups: list[Json], gateway: Json) -> list[Json]:
    """Return the Backends that belong to the service alone."""
    service, door = services.decode(document), gateways.decode(gateway)
    matched = [[endpoints.candidate(each) for each in group] for group in groups]
    decided = plan.decide(service, matched, features.features(door.type, door.version), door.place)
    made = [manifest.resource for manifest in routing.service_manifests(service, door, decided)]
    return [dict(each) for each in made if each["kind"] == "Backend"]
