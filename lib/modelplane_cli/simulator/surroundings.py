"""The surroundings in which a status is assumed: what stands beside an object, and who refers to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane import names
from modelplane.api import serving_stack
from modelplane.render.backend import Backend
from modelplane.render.backends import selection
from modelplane_cli.simulator.assumed_routing import GATEWAY_API
from modelplane_cli.simulator.remote import KUBERNETES, Identity, cluster_of, identity, kind_of, manifest_of, owner_of
from modelplane_cli.simulator.store import Key, Object, Store, group_of, key_of

Json: TypeAlias = Any

_NOBODY = Key("", "", "", "")

Footing: TypeAlias = tuple[Any, ...]
"""The versions from which the assumed status of an Object is made. Equal footings give equal statuses."""


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
        if backend_of(kind) is not None:
            beside = tuple(sorted(self.beside(resource)))
        elif kind == (GATEWAY_API, "Gateway"):
            made = made_gateway(cluster_of(resource, self.store), self.store)
            beside = (0 if made is None else self.store.version(key_of(made)),)
        return self.store.version(key), self.store.version(owner_of(resource) or _NOBODY), beside

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


def made_gateway(cluster: str, store: Store) -> Object | None:
    """Return the Object of the Gateway that the stack of a cluster makes, None where it makes none (yet)."""
    for key in store.controlled_by(Key(names.GROUP, serving_stack.KIND, "", cluster)):
        found = store.get(key) or {}
        if key.kind == "Object" and kind_of(manifest_of(found)) == (GATEWAY_API, "Gateway"):
            return found if manifest_of(found).get("spec") else None
    return None


def backend_of(kind: tuple[str, Json]) -> Backend | None:
    """Return the backend whose controllers report on objects of a kind, None where no backend's do."""
    return next((backend for backend in selection.BACKENDS.values() if kind in backend.KINDS), None)


def _place(resource: Mapping[str, Json]) -> tuple[str, str]:
    config = (resource.get("spec") or {}).get("providerConfigRef") or {}
    return str(resource["metadata"].get("namespace") or ""), f"{config.get('kind')}/{config.get('name')}"
