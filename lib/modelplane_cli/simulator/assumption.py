"""`--assume ready`: what the controllers around Modelplane would report if all goes well.

One small function per kind, in a table. What the input says about an object wins: an object that came with a status of
its own is never assumed about. An assumed status is marked by an annotation, so that it is not mistaken for an
observation when the output is read back in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

from modelplane import names
from modelplane.api import kinds, serving_stack
from modelplane.render import certificates, mutual_tls
from modelplane.render.backend import Backend
from modelplane.render.backends import selection
from modelplane.render.clouds import selection as clouds
from modelplane.render.provisioning import Provisioner
from modelplane.render.stack import releases
from modelplane_cli.simulator import assumed_ai, assumed_certificates, assumed_routing
from modelplane_cli.simulator.assumed_routing import ENVOY, GATEWAY_API
from modelplane_cli.simulator.store import Key, Object, Store, controller_of, group_of, key_of

Json: TypeAlias = Any

ANNOTATION = "render.modelplane.ai/assumed"
ASSUMED_DOMAIN = "assumed.invalid"
"""Reserved by RFC 2606 so that nobody mistakes an assumed address for a real one."""

KUBERNETES = "kubernetes.m.crossplane.io"
HELM = "helm.m.crossplane.io"
KEDA, AUTOSCALING = "keda.sh", "autoscaling"

_SYNCED = {"type": "Synced", "status": "True", "reason": "ReconcileSuccess"}
_ABSENT = {
    "type": "Synced",
    "status": "False",
    "reason": "ReconcileError",
    "message": "observe failed: external resource does not exist",
}
_AVAILABLE = {"type": "Ready", "status": "True", "reason": "Available"}
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
_POLICIES = ("BackendTrafficPolicy", "ClientTrafficPolicy", "EnvoyExtensionPolicy", "SecurityPolicy")


def cluster_address(cluster: str) -> str:
    """Return the address assumed for a workload cluster's own gateway."""
    return f"gateway.{cluster}.{ASSUMED_DOMAIN}"


def is_observation(resource: Mapping[str, Json]) -> bool:
    """Return whether an input document says how an object really is."""
    annotations = resource["metadata"].get("annotations") or {}
    return bool(resource.get("status")) and ANNOTATION not in annotations


Footing: TypeAlias = tuple[Any, ...]
"""The versions from which the assumed status of an Object is made. Equal footings give equal statuses."""


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


_NOBODY = Key("", "", "", "")

Identity: TypeAlias = tuple[str, str, str, str]
"""Group, kind, namespace and name of an object on a workload cluster."""


@dataclass(slots=True)
class Surroundings:
    """The store during one pass of assumptions, which change statuses and no specs."""

    store: Store
    _beside: dict[tuple[str, str], set[Identity]] | None = None
    _users: Counter[Any] | None = None
    _routed: set[tuple[str, str]] | None = None

    def beside(self, resource: Object) -> set[Identity]:
        """Return the objects rendered through the same provider config and from the same namespace as an Object."""
        if self._beside is None:
            self._beside = {}
            for key in self.store.of_kind(KUBERNETES, "Object"):
                other = self.store.get(key) or {}
                self._beside.setdefault(_place(other), set()).add(
                    self.store.derived(key, "identity", lambda one: identity(manifest_of(one)))
                )
        return self._beside.get(_place(resource), set())

    def footing(self, key: Key) -> Footing:
        """Return the inputs of an Object's status: the Object, its composite, and the objects beside it."""
        resource = self.store.get(key) or {"metadata": {}}
        manifest = (resource.get("spec") or {}).get("forProvider", {}).get("manifest") or {}
        kind = (group_of(str(manifest.get("apiVersion") or "")), manifest.get("kind"))
        beside: Footing = ()
        if _backend_of(kind) is not None:
            beside = tuple(sorted(self.beside(resource)))
        elif kind == (GATEWAY_API, "Gateway"):
            made = _made_gateway(cluster_of(resource, self.store), self.store)
            beside = (0 if made is None else self.store.version(key_of(made)),)
        return self.store.version(key), self.store.version(_owner(resource) or _NOBODY), beside

    def users(self, provider_config: str) -> int:
        """Return how many Objects reach their cluster through a ClusterProviderConfig."""
        if self._users is None:
            objects = (self.store.get(key) or {} for key in self.store.of_kind(KUBERNETES, "Object"))
            references = (one.get("spec", {}).get("providerConfigRef") or {} for one in objects)
            self._users = Counter(one.get("name") for one in references if one.get("kind") == "ClusterProviderConfig")
        return self._users[provider_config]

    def is_routed(self, backend: Object) -> bool:
        """Return whether an HTTPRoute of its namespace refers to a Backend."""
        if self._routed is None:
            routes = (self.store.get(key) or {} for key in self.store.of_kind(GATEWAY_API, "HTTPRoute"))
            self._routed = {
                (route["metadata"].get("namespace", ""), reference.get("name", ""))
                for route in routes
                for rule in (route.get("spec") or {}).get("rules") or ()
                for reference in rule.get("backendRefs") or ()
            }
        return (backend["metadata"].get("namespace", ""), backend["metadata"]["name"]) in self._routed


Rule: TypeAlias = Callable[[Object, Surroundings], dict[str, Json]]


# --- one function per kind --------------------------------------------------------------------------------------------


def _object(resource: Object, around: Surroundings) -> dict[str, Json]:
    """provider-kubernetes: the manifest stands on its cluster, and the Object is ready by its own policy.

    A cluster is bare until something is installed on it, so that a stack finds nothing of others there.
    """
    if releases.is_question(resource):
        return {"conditions": [dict(_ABSENT)]}
    cluster = cluster_of(resource, around.store)
    manifest = _observed_manifest(resource, cluster, around.store)
    remote = _remote_status(resource, manifest, cluster, around)
    if remote is not None:
        # A server counts generations and a controller says which one it has seen; here each object is in its first.
        manifest = {**manifest, "metadata": {**manifest["metadata"], "generation": 1}, "status": remote}
    return {"atProvider": {"manifest": manifest}, "conditions": [_object_ready(resource, manifest), dict(_SYNCED)]}


def _provider_config(resource: Object, around: Surroundings) -> dict[str, Json]:
    """provider-kubernetes: it counts who uses it."""
    return {"users": around.users(resource["metadata"]["name"])}


def _release(resource: Object, around: Surroundings) -> dict[str, Json]:
    chart = (resource.get("spec") or {}).get("forProvider", {}).get("chart") or {}
    version = {"version": chart["version"]} if chart.get("version") else {}
    return {
        "atProvider": {"state": "deployed", "revision": 1, **version},
        "conditions": [dict(_AVAILABLE), dict(_SYNCED)],
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
    return {**made, "conditions": [dict(_AVAILABLE), dict(_SYNCED)]}


# --- on a workload cluster --------------------------------------------------------------------------------------------


def manifest_of(resource: Mapping[str, Json]) -> dict[str, Json]:
    """Return the remote object as provider-kubernetes makes it: its name defaults to the Object's."""
    manifest = dict((resource.get("spec") or {}).get("forProvider", {}).get("manifest") or {})
    metadata = dict(manifest.get("metadata") or {})
    metadata.setdefault("name", resource["metadata"]["name"])
    return {**manifest, "metadata": metadata}


def _observed_manifest(resource: Object, cluster: str, store: Store) -> dict[str, Json]:
    """Return the remote object with what others wrote into it: a Gateway that is only observed has listeners."""
    manifest = manifest_of(resource)
    if _kind_of(manifest) == _CLAIM:
        return {**manifest, "metadata": {**manifest["metadata"], "uid": f"assumed-{resource['metadata']['name']}"}}
    if manifest.get("kind") != "Gateway" and not manifest.get("spec"):
        return _given(manifest, store)
    if manifest.get("kind") != "Gateway" or manifest.get("spec"):
        return manifest
    made = _made_gateway(cluster, store)
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


def _made_gateway(cluster: str, store: Store) -> Object | None:
    """Return the Object of the Gateway that the stack of a cluster makes, None where it makes none (yet)."""
    for key in store.controlled_by(Key(names.GROUP, serving_stack.KIND, "", cluster)):
        found = store.get(key) or {}
        if key.kind == "Object" and _kind_of(manifest_of(found)) == (GATEWAY_API, "Gateway"):
            return found if manifest_of(found).get("spec") else None
    return None


def _given(manifest: dict[str, Json], store: Store) -> dict[str, Json]:
    """Return the object with the spec that a document gives it: a queue of the platform, with its quota.

    Nobody says here which kinds have no namespace, so that a document of such a kind stands in the default one.
    """
    group, kind, metadata = group_of(str(manifest.get("apiVersion"))), str(manifest.get("kind")), manifest["metadata"]
    places = [str(metadata["namespace"])] if metadata.get("namespace") else ["", "default"]
    found = (store.get(Key(group, kind, place, str(metadata["name"]))) for place in places)
    spec = next((one["spec"] for one in found if one is not None and one.get("spec")), None)
    return manifest if spec is None else {**manifest, "spec": spec}


def cluster_of(resource: Mapping[str, Json], store: Store) -> str:
    """Return the InferenceCluster an Object stands on: of its owner, else the name of its provider config."""
    owner = _owner(resource)
    kind = None if owner is None else kinds.KINDS.get(owner.kind)
    if owner is not None and kind is not None and kind.cluster_of is not None:
        cluster = kind.cluster_of(store.get(owner) or {"metadata": {"name": owner.name}})
        if cluster:
            return cluster
    return str(((resource.get("spec") or {}).get("providerConfigRef") or {}).get("name") or "default")


def _owner(resource: Mapping[str, Json]) -> Key | None:
    """Return the key of the composite that controls an Object, None for one that is not composed by ours."""
    owner = controller_of(resource) or {}
    kind = str(owner.get("kind"))
    if group_of(str(owner.get("apiVersion") or "")) != names.GROUP or kind not in kinds.KINDS:
        return None
    namespace = str(resource["metadata"].get("namespace") or "") if kinds.KINDS[kind].is_namespaced else ""
    return Key(names.GROUP, kind, namespace, str(owner.get("name")))


def _remote_status(
    resource: Object, manifest: dict[str, Json], cluster: str, around: Surroundings
) -> dict[str, Json] | None:
    """Return the status of the remote object, None for kinds that have none."""
    kind = _kind_of(manifest)
    if kind in _OF_STACKS and not manifest.get("spec"):
        return {"conditions": [{"type": "Available", "status": "True"}]}
    if kind == _CLAIM:
        return {"phase": "Bound"}
    if kind == _JOB:
        return {"succeeded": 1, "conditions": [{"type": "Complete", "status": "True"}]}
    if kind == (GATEWAY_API, "Gateway"):
        return assumed_routing.gateway(manifest, cluster_address(cluster))
    if kind == (GATEWAY_API, "HTTPRoute"):
        return assumed_routing.http_route(manifest, lambda *_identity: True)
    if kind in _OF_CERTIFICATES:
        return _OF_CERTIFICATES[kind](manifest)
    backend = _backend_of(kind)
    if backend is not None:
        there = around.beside(resource)
        return backend.assume(manifest, cluster_address(cluster), lambda *identity: identity in there)
    return None


def _kind_of(manifest: Mapping[str, Json]) -> tuple[str, Json]:
    return group_of(str(manifest.get("apiVersion") or "")), manifest.get("kind")


def _backend_of(kind: tuple[str, Json]) -> Backend | None:
    """Return the backend whose controllers report on objects of a kind, None where no backend's do."""
    return next((backend for backend in selection.BACKENDS.values() if kind in backend.KINDS), None)


def _place(resource: Mapping[str, Json]) -> tuple[str, str]:
    config = (resource.get("spec") or {}).get("providerConfigRef") or {}
    return str(resource["metadata"].get("namespace") or ""), f"{config.get('kind')}/{config.get('name')}"


def identity(manifest: Mapping[str, Json]) -> Identity:
    """Return the identity in the manifest of an Object. The manifest of a bad dump may have none."""
    metadata = manifest["metadata"]
    group = group_of(str(manifest.get("apiVersion") or ""))
    return group, str(manifest.get("kind")), str(metadata.get("namespace") or ""), str(metadata["name"])


def _object_ready(resource: Object, manifest: Mapping[str, Json]) -> dict[str, Json]:
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
    return dict(_AVAILABLE) if is_ready else {"type": "Ready", "status": "False", "reason": "Unavailable"}


def _by_query(query: str, manifest: Mapping[str, Json]) -> dict[str, Json]:
    """Return Ready by a CEL query over the remote object; an error says so, as the provider does."""
    from kubecel import rules  # noqa: PLC0415 - the engine loads only where a query has to be answered

    try:
        if rules.compile(query, subject="object").evaluate(manifest):
            return dict(_AVAILABLE)
        why = ""
    except Exception as error:  # whatever the query does wrong makes the object unavailable, no more
        why = f"cannot evaluate the CEL query: {error}"
    made = {"type": "Ready", "status": "False", "reason": "Unavailable"}
    return {**made, "message": why} if why else made
