"""`--assume ready`: what the controllers around Modelplane would report if all goes well.

One small function per kind, in a table. What the input says about an object wins: an object that came with a status of
its own is never assumed about. An assumed status is marked by an annotation, so that it is not mistaken for an
observation when the output is read back in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

from modelplane.render.clouds import selection as clouds
from modelplane.render.provisioning import Provisioner
from modelplane.render.stack import releases
from modelplane_cli.simulator import assumed_ai, assumed_certificates, assumed_remote, assumed_routing
from modelplane_cli.simulator.assumed_remote import ASSUMED_DOMAIN, AVAILABLE
from modelplane_cli.simulator.assumed_routing import ENVOY, GATEWAY_API
from modelplane_cli.simulator.remote import KUBERNETES, cluster_of
from modelplane_cli.simulator.store import Key, Object, Store, group_of, key_of
from modelplane_cli.simulator.surroundings import Footing, Surroundings

Json: TypeAlias = Any

ANNOTATION = "render.modelplane.ai/assumed"

HELM = "helm.m.crossplane.io"
KEDA, AUTOSCALING = "keda.sh", "autoscaling"

_SYNCED = {"type": "Synced", "status": "True", "reason": "ReconcileSuccess"}
_ABSENT = {
    "type": "Synced",
    "status": "False",
    "reason": "ReconcileError",
    "message": "observe failed: external resource does not exist",
}
_POLICIES = ("BackendTrafficPolicy", "ClientTrafficPolicy", "EnvoyExtensionPolicy", "SecurityPolicy")


def is_observation(resource: Mapping[str, Json]) -> bool:
    """Return whether an input document says how an object really is."""
    annotations = resource["metadata"].get("annotations") or {}
    return bool(resource.get("status")) and ANNOTATION not in annotations


@dataclass(slots=True)
class Ready:
    """Assumes that everything composed comes up, except about `observed` objects.

    `known` is on what footing Objects were assumed about before, in this store or in one that it is a copy of.
    """

    observed: frozenset[Key]
    known: dict[Key, Footing] = field(default_factory=dict)

    def __call__(self, store: Store) -> list[Key]:
        """Write assumed statuses into `store`; return the objects that changed."""
        changed = assumed_ai.make_routes(store)
        around = Surroundings(store)
        for (group, kind), rule in _rules().items():
            for key in store.of_kind(group, kind):
                if key not in self.observed and not self._is_known(around, key) and self._assume(around, key, rule):
                    changed.append(key)
        return changed + list(self._requests(store))

    def _requests(self, store: Store) -> Iterator[Key]:
        """Yield the keys of new CertificateRequests, which cert-manager makes and nobody composes."""
        for key in store.of_kind(*assumed_certificates.CERTIFICATE):
            made = None if key in self.observed else assumed_certificates.request(store.get(key) or {})
            if made is not None and key_of(made) not in self.observed:
                made["metadata"]["annotations"] = {ANNOTATION: "ready"}
                if store.put(made):
                    yield key_of(made)

    def _is_known(self, around: Surroundings, key: Key) -> bool:
        return key in self.known and self.known[key] == around.footing(key)

    def _assume(self, around: Surroundings, key: Key, rule: Rule) -> bool:
        resource = around.store.get(key)
        if resource is None:
            return False
        status = rule(resource, around)
        metadata = dict(resource["metadata"])
        metadata["annotations"] = {**(metadata.get("annotations") or {}), ANNOTATION: "ready"}
        changed = around.store.put({**resource, "metadata": metadata, "status": status})
        if (key.group, key.kind) == (KUBERNETES, "Object"):
            self.known[key] = around.footing(key)
        return changed


def nothing(store: Store) -> list[Key]:
    """Assume nothing: what the input does not say has not happened."""
    return []


Rule: TypeAlias = Callable[[Object, Surroundings], dict[str, Json]]


# --- one function per kind --------------------------------------------------------------------------------------------


def _object(resource: Object, around: Surroundings) -> dict[str, Json]:
    """provider-kubernetes: the manifest stands on its cluster, and the Object is ready by its own policy.

    A cluster is bare until something is installed on it, so that a stack finds nothing of others there.
    """
    if releases.is_question(resource):
        return {"conditions": [dict(_ABSENT)]}
    cluster = cluster_of(resource, around.store)
    manifest = assumed_remote.observed_manifest(resource, cluster, around.store)
    remote = assumed_remote.status(resource, manifest, cluster, around)
    if remote is not None:
        # A server counts generations and a controller says which one it has seen; here each object is in its first.
        manifest = {**manifest, "metadata": {**manifest["metadata"], "generation": 1}, "status": remote}
    return {
        "atProvider": {"manifest": manifest},
        "conditions": [assumed_remote.ready(resource, manifest), dict(_SYNCED)],
    }


def _provider_config(resource: Object, around: Surroundings) -> dict[str, Json]:
    """provider-kubernetes: it counts who uses it."""
    return {"users": around.users(resource["metadata"]["name"])}


def _release(resource: Object, around: Surroundings) -> dict[str, Json]:
    chart = (resource.get("spec") or {}).get("forProvider", {}).get("chart") or {}
    version = {"version": chart["version"]} if chart.get("version") else {}
    return {
        "atProvider": {"state": "deployed", "revision": 1, **version},
        "conditions": [dict(AVAILABLE), dict(_SYNCED)],
    }


def _gateway(resource: Object, around: Surroundings) -> dict[str, Json]:
    return assumed_routing.gateway(resource, f"{resource['metadata']['name']}.gateway.{ASSUMED_DOMAIN}")


def _backend(resource: Object, around: Surroundings) -> dict[str, Json]:
    """Envoy Gateway: it looks at the Backends that routes refer to, and at no other."""
    return assumed_routing.backend(resource) if around.is_routed(resource) else {}


def _http_route(resource: Object, around: Surroundings) -> dict[str, Json]:
    return assumed_routing.http_route(resource, lambda *identity: around.store.get(Key(*identity)) is not None)


def _scaled_object(resource: Object, around: Surroundings) -> dict[str, Json]:
    """KEDA: it can read the metrics. Nothing is scaled here, since nobody sends requests."""
    return {"conditions": [{"type": "Ready", "status": "True", "reason": "ScaledObjectReady"}]}


def _autoscaler(resource: Object, around: Surroundings) -> dict[str, Json]:
    """The HPA controller: the same."""
    return {
        "conditions": [
            {"type": "AbleToScale", "status": "True", "reason": "ReadyForNewScale"},
            {"type": "ScalingActive", "status": "True", "reason": "ValidMetricFound"},
        ]
    }


def _only(rule: Callable[[Mapping[str, Json]], dict[str, Json]]) -> Rule:
    return lambda resource, _around: rule(resource)


_RULES: Mapping[tuple[str, str], Rule] = {
    (KUBERNETES, "Object"): _object,
    (KUBERNETES, "ClusterProviderConfig"): _provider_config,
    (HELM, "Release"): _release,
    (GATEWAY_API, "GatewayClass"): _only(assumed_routing.gateway_class),
    (GATEWAY_API, "Gateway"): _gateway,
    (GATEWAY_API, "HTTPRoute"): _http_route,
    (ENVOY, "Backend"): _backend,
    (KEDA, "ScaledObject"): _scaled_object,
    (AUTOSCALING, "HorizontalPodAutoscaler"): _autoscaler,
    **{(ENVOY, kind): _only(assumed_routing.policy) for kind in _POLICIES},
    assumed_certificates.CERTIFICATE: _only(assumed_certificates.certificate),
    assumed_certificates.ISSUER: _only(assumed_certificates.ready),
    **{(assumed_ai.AI_GATEWAY, kind): _only(assumed_ai.accepted) for kind in assumed_ai.KINDS},
}


def _rules() -> Mapping[tuple[str, str], Rule]:
    """Return the rules by group and kind, those of the managed resources of all clouds included."""
    return {**_RULES, **dict(_managed_rules())}


def _managed_rules() -> Iterator[tuple[tuple[str, str], Rule]]:
    for source in clouds.CLOUDS:
        cloud = clouds.provisioner(source)
        if cloud is not None:
            for served in cloud.served():
                yield (group_of(served.api_version), served.kind), partial(_managed, cloud)


def _managed(cloud: Provisioner, resource: Object, around: Surroundings) -> dict[str, Json]:
    """A provider of a cloud: what was asked for is made at once."""
    at_provider = cloud.assumed(resource)
    made = {"atProvider": at_provider} if at_provider else {}
    return {**made, "conditions": [dict(AVAILABLE), dict(_SYNCED)]}
