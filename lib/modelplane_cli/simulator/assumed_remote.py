"""Status that the controllers of a workload cluster would report about the objects that stand there."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from modelplane import names
from modelplane.render import certificates, mutual_tls, node_files
from modelplane_cli.simulator import assumed_certificates, assumed_routing
from modelplane_cli.simulator.assumed_routing import ENVOY, GATEWAY_API
from modelplane_cli.simulator.remote import kind_of, manifest_of
from modelplane_cli.simulator.store import Key, Object, Store, group_of
from modelplane_cli.simulator.surroundings import Surroundings, backend_of, made_gateway

Json: TypeAlias = Any

ASSUMED_DOMAIN = "assumed.invalid"
"""Reserved by RFC 2606 so that nobody mistakes an assumed address for a real one."""

AVAILABLE: Mapping[str, Json] = {"type": "Ready", "status": "True", "reason": "Available"}

_OF_STACKS = {("apps", "Deployment"), ("apiregistration.k8s.io", "APIService")}
"""Kinds by which a serving stack sees that its components work, where they are only read."""
_OF_CERTIFICATES: Mapping[tuple[str, Json], Callable[[Mapping[str, Json]], dict[str, Json]]] = {
    assumed_certificates.CERTIFICATE: assumed_certificates.certificate,
    assumed_certificates.ISSUER: assumed_certificates.ready,
    assumed_certificates.REQUEST: assumed_certificates.signed,
    (ENVOY, "ClientTrafficPolicy"): assumed_routing.policy,
}
"""Kinds of a cluster's gateway and its certificates."""
_CLAIM, _JOB = ("", "PersistentVolumeClaim"), ("batch", "Job")
_OF_CACHES: Mapping[tuple[str, Json], Mapping[str, Json]] = {
    _CLAIM: {"phase": "Bound"},
    _JOB: {"succeeded": 1, "conditions": [{"type": "Complete", "status": "True"}]},
    node_files.KIND: {"copies": {"total": 1, "available": 1}},
}


def cluster_address(cluster: str) -> str:
    """Return the address assumed for a workload cluster's own gateway."""
    return f"gateway.{cluster}.{ASSUMED_DOMAIN}"


def observed_manifest(resource: Object, cluster: str, store: Store) -> dict[str, Json]:
    """Return the remote object with what others wrote into it: a Gateway that is only observed has listeners."""
    manifest = manifest_of(resource)
    if kind_of(manifest) in (_CLAIM, node_files.KIND):
        return {**manifest, "metadata": {**manifest["metadata"], "uid": f"assumed-{resource['metadata']['name']}"}}
    if manifest.get("kind") != "Gateway" and not manifest.get("spec"):
        return _given(manifest, store)
    if manifest.get("kind") != "Gateway" or manifest.get("spec"):
        return manifest
    made = made_gateway(cluster, store)
    if made is not None:
        return {**manifest, "spec": manifest_of(made)["spec"]}
    gateway = ((store.get(Key("modelplane.ai", "InferenceCluster", "", cluster)) or {}).get("spec") or {}).get(
        "gateway"
    ) or {}
    if gateway.get("mutualTLS") == "Required":
        listener = mutual_tls.listener(names.bounded(str(gateway.get("name") or "modelplane"), certificates.LEAF_KEY))
    else:
        listener = assumed_routing.listener(str(gateway.get("listener") or "http"))
    return {**manifest, "spec": {"listeners": [listener]}}


def _given(manifest: dict[str, Json], store: Store) -> dict[str, Json]:
    """Return the object with the spec that a document gives it: a queue of the platform, with its quota.

    Nobody says here which kinds have no namespace, so that a document of such a kind stands in the default one.
    """
    group, kind, metadata = group_of(str(manifest.get("apiVersion"))), str(manifest.get("kind")), manifest["metadata"]
    places = [str(metadata["namespace"])] if metadata.get("namespace") else ["", "default"]
    found = (store.get(Key(group, kind, place, str(metadata["name"]))) for place in places)
    spec = next((one["spec"] for one in found if one is not None and one.get("spec")), None)
    return manifest if spec is None else {**manifest, "spec": spec}


def status(resource: Object, manifest: dict[str, Json], cluster: str, around: Surroundings) -> dict[str, Json] | None:
    """Return the status of the remote object, None for kinds that have none."""
    kind = kind_of(manifest)
    if kind in _OF_STACKS and not manifest.get("spec"):
        return {"conditions": [{"type": "Available", "status": "True"}]}
    if kind in _OF_CACHES:
        return copy.deepcopy(dict(_OF_CACHES[kind]))
    if kind == (GATEWAY_API, "Gateway"):
        return assumed_routing.gateway(manifest, cluster_address(cluster))
    if kind == (GATEWAY_API, "HTTPRoute"):
        return assumed_routing.http_route(manifest, lambda *_identity: True)
    if kind in _OF_CERTIFICATES:
        return _OF_CERTIFICATES[kind](manifest)
    backend = backend_of(kind)
    if backend is not None:
        there = around.beside(resource)
        return backend.assume(manifest, cluster_address(cluster), lambda *identity: identity in there)
    return None


def ready(resource: Object, manifest: Mapping[str, Json]) -> dict[str, Json]:
    """Return the Ready condition of an Object by its readiness policy."""
    readiness = (resource.get("spec") or {}).get("readiness") or {}
    policy = readiness.get("policy", "SuccessfulCreate")
    said = (manifest.get("status") or {}).get("conditions") or []
    if policy == "DeriveFromObject":
        is_ready = any(entry.get("type") == "Ready" and entry.get("status") == "True" for entry in said)
    elif policy == "AllTrue":
        is_ready = bool(said) and all(entry.get("status") == "True" for entry in said)
    elif policy == "DeriveFromCelQuery":
        return _by_query(str(readiness.get("celQuery") or ""), manifest)
    else:
        is_ready = True
    return dict(AVAILABLE) if is_ready else {"type": "Ready", "status": "False", "reason": "Unavailable"}


def _by_query(query: str, manifest: Mapping[str, Json]) -> dict[str, Json]:
    """Return Ready by a CEL query over the remote object; an error says so, as the provider does."""
    from kubecel import rules  # noqa: PLC0415 - the engine loads only where a query has to be answered

    try:
        if rules.compile(query, subject="object").evaluate(manifest):
            return dict(AVAILABLE)
        why = ""
    except Exception as error:  # whatever the query does wrong makes the object unavailable, no more
        why = f"cannot evaluate the CEL query: {error}"
    made = {"type": "Ready", "status": "False", "reason": "Unavailable"}
    return {**made, "message": why} if why else made
