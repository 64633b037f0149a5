"""An API server in memory: objects by identity, with the little that offline composition needs of one.

What may never happen here: an answer that depends on the order in which objects were put in, or an object that changes
without a new version (what was decided from it would be taken for current).
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias, TypeVar

Json: TypeAlias = Any
Object: TypeAlias = dict[str, Json]
T = TypeVar("T")
Spot: TypeAlias = tuple[str, ...]
"""An identity, an owner, a kind or a label of a kind. Where two read alike, a change of one is taken for both."""

# Identities are derived, so that a second run gives the same ones. Any fixed namespace does.
_UID_SPACE = uuid.UUID("6d6f6465-6c70-5c61-8e65-2e6169000000")

# Kinds of other groups that live outside namespaces, as far as a fleet's documents hold them.
CLUSTER_SCOPED = frozenset(
    {
        ("", "Namespace"),
        ("", "Node"),
        ("", "PersistentVolume"),
        ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
        ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
        ("apiextensions.crossplane.io", "Composition"),
        ("apiextensions.crossplane.io", "CompositionRevision"),
        ("apiextensions.crossplane.io", "CompositeResourceDefinition"),
        ("apiextensions.k8s.io", "CustomResourceDefinition"),
        ("gateway.networking.k8s.io", "GatewayClass"),
        ("helm.m.crossplane.io", "ClusterProviderConfig"),
        ("kubernetes.m.crossplane.io", "ClusterProviderConfig"),
        ("pkg.crossplane.io", "Configuration"),
        ("pkg.crossplane.io", "DeploymentRuntimeConfig"),
        ("pkg.crossplane.io", "Function"),
        ("pkg.crossplane.io", "Provider"),
        ("protection.crossplane.io", "ClusterUsage"),
        ("rbac.authorization.k8s.io", "ClusterRole"),
        ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
        ("resource.k8s.io", "DeviceClass"),
        ("resource.k8s.io", "ResourceSlice"),
        ("storage.k8s.io", "StorageClass"),
    }
)


class Key(NamedTuple):
    """Identity of an object; versions of one kind are one object."""

    group: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        """Return `Kind namespace/name`."""
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


class Owner(NamedTuple):
    """The owner in an owner reference. It lives in the namespace of the object that it owns, or outside namespaces."""

    group: str
    kind: str
    name: str


def group_of(api_version: str) -> str:
    """Return the group of an apiVersion, empty for the core group."""
    group, slash, _ = api_version.partition("/")
    return group if slash else ""


def key_of(resource: Mapping[str, Json]) -> Key:
    """Return the identity of a complete object."""
    metadata = resource["metadata"]
    return Key(
        group_of(resource["apiVersion"]), resource["kind"], str(metadata.get("namespace") or ""), str(metadata["name"])
    )


def uid_of(key: Key) -> str:
    """Return the uid an object gets here: derived from its identity."""
    return str(uuid.uuid5(_UID_SPACE, "/".join(key)))


def controller_of(resource: Mapping[str, Json]) -> Mapping[str, Json] | None:
    """Return the owner reference of the controller, None where there is none."""
    for reference in resource["metadata"].get("ownerReferences") or ():
        if reference.get("controller"):
            found: Mapping[str, Json] = reference
            return found
    return None


@dataclass(slots=True)
class Store:
    """Objects by identity. Values are treated as immutable: a change puts a new one."""

    _objects: dict[Key, Object] = field(default_factory=dict)
    _versions: dict[Key, int] = field(default_factory=dict)
    _kinds: dict[tuple[str, str], dict[Key, None]] = field(default_factory=dict)
    _owned: dict[Owner, dict[Key, None]] = field(default_factory=dict)
    _labelled: dict[tuple[str, str, str, str], dict[Key, None]] = field(default_factory=dict)
    _sorted: dict[tuple[str, str], list[Key]] = field(default_factory=dict)
    _were: dict[Key, Object | None] = field(default_factory=dict)
    _derived: dict[tuple[Key, str], tuple[int, Any]] = field(default_factory=dict)
    _standing: dict[Hashable, tuple[int, tuple[Spot, ...], Any]] = field(default_factory=dict)
    _moved: dict[Spot, int] = field(default_factory=dict)
    _clock: int = 0

    def put(self, resource: Object) -> bool:
        """Return whether the object was new or differs from what was there."""
        key = key_of(resource)
        before = self._objects.get(key)
        if before == resource:
            return False
        self._clock += 1
        if before is not None:
            self._forget(key, before)
        else:
            self._kinds.setdefault((key.group, key.kind), {})[key] = None
            self._sorted.pop((key.group, key.kind), None)
        self._were.setdefault(key, before)
        self._objects[key] = resource
        for label in _labels(resource):
            self._labelled.setdefault((key.group, key.kind, *label), {})[key] = None
        owner = owner_of(resource)
        if owner is not None:
            self._owned.setdefault(owner, {})[key] = None
        self._versions[key] = self._clock
        self._move(key, resource, owner)
        return True

    def remove(self, key: Key) -> list[Key]:
        """Return the objects deleted with `key`: the object and, as the garbage collector does, all it controls."""
        gone: list[Key] = []
        waiting = [key]
        while waiting:
            here = waiting.pop()
            resource = self._objects.pop(here, None)
            if resource is None:
                continue
            gone.append(here)
            self._clock += 1
            self._were.setdefault(here, resource)
            self._versions.pop(here)
            self._kinds[(here.group, here.kind)].pop(here)
            self._sorted.pop((here.group, here.kind), None)
            self._forget(here, resource)
            waiting.extend(reversed(self.controlled_by(here)))
        return gone

    def copy(self) -> Store:
        """Return a store of its own with the same objects in the same versions, none of them changed yet."""
        other = Store(dict(self._objects), dict(self._versions), _clock=self._clock)
        other._kinds = {kind: dict(keys) for kind, keys in self._kinds.items()}
        other._owned = {owner: dict(keys) for owner, keys in self._owned.items()}
        other._labelled = {label: dict(keys) for label, keys in self._labelled.items()}
        other._derived, other._moved = dict(self._derived), dict(self._moved)
        other._standing = dict(self._standing)
        return other

    def changed(self) -> dict[Key, Object | None]:
        """Return the earlier content of each object put or removed since the last call, None for a new one."""
        were, self._were = self._were, {}
        return were

    def get(self, key: Key) -> Object | None:
        """Return the object, None where there is none."""
        return self._objects.get(key)

    def version(self, key: Key) -> int:
        """Return a number that is new whenever the object changes, 0 while it does not exist."""
        return self._versions.get(key, 0)

    @property
    def now(self) -> int:
        """Return a number that grows with every change."""
        return self._clock

    def is_still(self, spots: Iterable[Spot], since: int) -> bool:
        """Return whether nothing changed at the spots since `now` was `since`; at an owner is what it controls."""
        return all(self._moved.get(spot, 0) <= since for spot in spots)

    def derived(self, key: Key, what: str, make: Callable[[Object], T]) -> T:
        """Return the result of `make` for an object (an empty one when it does not exist), computed once per version.

        Copies of the store share it. It must depend on the object alone.
        """
        version = self.version(key)
        found = self._derived.get((key, what))
        if found is None or found[0] != version:
            found = self._derived[key, what] = (version, make(self._objects.get(key) or {}))
        made: T = found[1]
        return made

    def standing(self, what: Hashable, spots: tuple[Spot, ...], make: Callable[[], T]) -> T:
        """Return the result of `make`, which depends on the spots alone. A change at one of them computes it again.

        Copies of the store share it, as they share what is `derived` from one object.
        """
        found = self._standing.get(what)
        if found is None or not self.is_still(found[1], found[0]):
            found = self._standing[what] = (self._clock, spots, make())
        made: T = found[2]
        return made

    def __iter__(self) -> Iterator[Key]:
        """Yield all identities, sorted."""
        return iter(sorted(self._objects))

    def __len__(self) -> int:
        """Return the number of objects."""
        return len(self._objects)

    def of_kind(self, group: str, kind: str) -> list[Key]:
        """Return all objects of a kind, sorted by "namespace/name" as text, which is Crossplane's order."""
        found = self._sorted.get((group, kind))
        if found is None:
            found = self._sorted[(group, kind)] = sorted(self._kinds.get((group, kind), ()), key=_by_name)
        return list(found)

    def controlled_by(self, owner: Key) -> list[Key]:
        """Return the objects whose controller is `owner`, sorted."""
        owned = self._owned.get(Owner(owner.group, owner.kind, owner.name), ())
        return sorted(key for key in owned if owner.namespace in ("", key.namespace))

    def select(self, kind: tuple[str, str], namespace: str | None, labels: Mapping[str, str]) -> list[Key]:
        """Return the objects of a kind in `namespace` (None: everywhere) that carry `labels`, by namespace and name."""
        found = self.of_kind(*kind)
        if labels:
            # The rarest label first keeps the intersection small.
            sets = sorted((self._labelled.get((*kind, *label), {}) for label in labels.items()), key=len)
            found = sorted((key for key in sets[0] if all(key in other for other in sets[1:])), key=_by_name)
        return found if namespace is None else [key for key in found if key.namespace == namespace]

    def _forget(self, key: Key, resource: Object) -> None:
        for label in _labels(resource):
            self._labelled[(key.group, key.kind, *label)].pop(key, None)
        owner = owner_of(resource)
        if owner is not None:
            self._owned.get(owner, {}).pop(key, None)
        self._move(key, resource, owner)

    def _move(self, key: Key, resource: Object, owner: Owner | None) -> None:
        self._moved[key] = self._moved[key.group, key.kind] = self._clock
        for label in _labels(resource):
            self._moved[(key.group, key.kind, *label)] = self._clock
        if owner is not None:
            self._moved[owner] = self._clock


def owner_of(resource: Mapping[str, Json]) -> Owner | None:
    """Return the controller that an object's owner references name, None when it has none."""
    reference = controller_of(resource)
    if reference is None:
        return None
    group = group_of(str(reference.get("apiVersion") or ""))
    return Owner(group, str(reference.get("kind") or ""), str(reference.get("name") or ""))


def _by_name(key: Key) -> str:
    return f"{key.namespace}/{key.name}"


def _labels(resource: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    labels: Mapping[str, str] = resource["metadata"].get("labels") or {}
    yield from labels.items()
