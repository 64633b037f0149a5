"""What stands around Crossplane: the provider that writes to workload clusters, and the controllers that report.

The provider writes with force, as provider-kubernetes does: of two Objects that name one remote object the last one
wins, and that the object has more than one writer is noted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from modelplane.render.backends import selection
from modelplane_cli.simulator import assumed_routing

if TYPE_CHECKING:
    from tests.attack.plane import Identity, Plane

Json = Any


@dataclass
class Standing:
    """A remote object, and the Objects that have written it."""

    manifest: Json
    writers: set[str] = field(default_factory=set)


def report(plane: Plane) -> None:
    """Write what is wanted to the workload clusters, and what controllers say back."""
    for wrapped in list(plane.of_kind("Object")):
        place = place_of(plane, wrapped)
        if place:
            _write(plane, place, wrapped)
    for kind, said in (("HTTPRoute", _route), ("Backend", _backend), ("Gateway", _gateway)):
        for document in list(plane.of_kind(kind)):
            _say(plane, document, said(plane, document))
    for kind in ("BackendTrafficPolicy", "ClientTrafficPolicy", "EnvoyExtensionPolicy", "SecurityPolicy"):
        for document in list(plane.of_kind(kind)):
            _say(plane, document, assumed_routing.policy(document))
    for document in list(plane.of_kind("Release")):
        ready = {"type": "Ready", "status": "True", "reason": "Available"}
        _say(plane, document, {"atProvider": {"state": "deployed"}, "conditions": [ready]})


def place_of(plane: Plane, wrapped: Mapping[str, Json]) -> str:
    """Return the Secret whose credentials an Object is written with, empty while its configuration is missing."""
    reference = wrapped["spec"].get("providerConfigRef") or {}
    namespace = "" if reference.get("kind") == "ClusterProviderConfig" else wrapped["metadata"].get("namespace", "")
    config = plane.get(str(reference.get("kind")), namespace, str(reference.get("name")))
    secret = ((config.get("spec") or {}).get("credentials") or {}).get("secretRef") or {}
    return f"{secret['namespace']}/{secret['name']}" if secret else ""


def remote_identity(wrapped: Mapping[str, Json]) -> Identity:
    """Return what an Object names on its cluster."""
    manifest = wrapped["spec"]["forProvider"]["manifest"]
    metadata = manifest.get("metadata") or {}
    return manifest["kind"], metadata.get("namespace", ""), metadata.get("name", wrapped["metadata"]["name"])


def collect(plane: Plane, gone: Mapping[str, Json]) -> None:
    """Delete what a deleted Object stood for, unless it may not be deleted with it."""
    place, policies = place_of(plane, gone), gone["spec"].get("managementPolicies") or ["*"]
    if place and {"*", "Delete"} & set(policies):
        plane.remote.get(place, {}).pop(remote_identity(gone), None)


def _write(plane: Plane, place: str, wrapped: Json) -> None:
    policies = wrapped["spec"].get("managementPolicies") or ["*"]
    manifest = wrapped["spec"]["forProvider"]["manifest"]
    standing = plane.remote.setdefault(place, {})
    key = remote_identity(wrapped)
    if policies != ["Observe"]:
        there = standing.setdefault(key, Standing(manifest))
        there.manifest = manifest
        there.writers.add(str(wrapped["metadata"]["uid"]))
    elif manifest["kind"] == "Gateway":
        manifest = {**manifest, "spec": {"listeners": [assumed_routing.listener("http")]}}
    seen = {**manifest, "metadata": {**manifest["metadata"], "generation": 1}}
    if not plane.is_silent(manifest):
        said = _remote_status(place, manifest, standing)
        seen = seen if said is None else {**seen, "status": said}
    conditions = [{"type": kind, "status": "True", "reason": "Available"} for kind in ("Ready", "Synced")]
    _say(plane, wrapped, {"atProvider": {"manifest": seen}, "conditions": conditions})


def _remote_status(place: str, manifest: Json, standing: Mapping[Identity, Standing]) -> Json:
    address = f"gateway.{place.replace('/', '.')}.example.com"
    group, kind = manifest["apiVersion"].rpartition("/")[0], manifest["kind"]
    if kind == "Gateway":
        return assumed_routing.gateway(manifest, address)
    if kind == "HTTPRoute":
        return assumed_routing.http_route(manifest, lambda *_identity: True)
    for backend in selection.BACKENDS.values():
        if (group, kind) in backend.KINDS:
            return backend.assume(manifest, address, lambda _group, *key: key in standing)
    return None


def _route(plane: Plane, document: Json) -> Json:
    return assumed_routing.http_route(document, lambda _group, *key: key in plane.objects)


def _backend(_plane: Plane, document: Json) -> Json:
    return assumed_routing.backend(document)


def _gateway(_plane: Plane, document: Json) -> Json:
    return assumed_routing.gateway(document, "203.0.113.10")


def _say(plane: Plane, document: Json, status: Json) -> None:
    key = (document["kind"], document["metadata"].get("namespace", ""), document["metadata"]["name"])
    plane.objects[key] = {**plane.objects[key], "status": status}
