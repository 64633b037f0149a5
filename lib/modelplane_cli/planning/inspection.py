"""The state of one ModelService, ModelEndpoint, InferenceCluster or ModelCache, with the causes of what is amiss.

A cause is a condition of the object itself or of one that it stands on: of an endpoint its replica, and of that its
cluster. The cause that stands deepest is first, because the others follow from it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

from modelplane import names, seen, words
from modelplane.api import inference_cluster, model_cache, replica, replica_endpoint, service
from modelplane.errors import ModelplaneError
from modelplane.labels import LabelSelector
from modelplane_cli import shorts
from modelplane_cli.planning import cache_state, capacity, causes, observed, replicas, routes, service_rules
from modelplane_cli.planning.cache_state import CacheState
from modelplane_cli.planning.capacity import PoolUse
from modelplane_cli.planning.observed import PoolSight, QueueSight
from modelplane_cli.planning.replicas import DEPLOYMENT
from modelplane_cli.planning.routes import SERVICE, Route
from modelplane_cli.simulator import conditions
from modelplane_cli.simulator.offline import World
from modelplane_cli.simulator.store import Key
from modelplane_cli.simulator.verdict import Failure

Json: TypeAlias = Any
_Labelled: TypeAlias = tuple[Key, Mapping[str, str]]

SHORT = {kind: short for short, kind in shorts.KINDS.items()}
"""The short names of the kinds that `explain` takes."""
_NAMED = 3


@dataclass(frozen=True, slots=True)
class Backend:
    """An endpoint among those of a service. `causes` are those of its replica and its cluster too."""

    name: str
    cluster: str
    replica: str
    is_ready: bool
    share: Fraction
    causes: tuple[Failure, ...]


@dataclass(frozen=True, slots=True)
class ServiceState:
    """A ModelService with its route and endpoints, those that are not ready first.

    Replicas that would have a matching endpoint if they served are among them. `causes` are those of the service, and
    of the deployments that it selects.
    """

    key: Key
    route: Route
    backends: tuple[Backend, ...]
    causes: tuple[Failure, ...]
    rules: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """Return the answer in one sentence."""
        ready, matched = self.route.ready, len(self.backends)
        said = f"{ready} of {_count(matched, 'endpoint')} {'is' if ready == 1 else 'are'} ready"
        if self.route.trouble:
            return f"{said}; {self.route.trouble}" if matched else self.route.trouble
        return said if matched else "it selects no endpoint"

    @property
    def is_as_wanted(self) -> bool:
        """Return whether requests reach every group that wants them, and every endpoint is ready."""
        return not (self.route.trouble or self.causes) and all(one.is_ready for one in self.backends)


@dataclass(frozen=True, slots=True)
class EndpointState:
    """A ModelEndpoint. `services` are the services that select it, each with its share of their requests."""

    key: Key
    url: str
    backend: Backend
    services: tuple[tuple[str, Fraction], ...]

    @property
    def message(self) -> str:
        """Return the answer in one sentence."""
        leads = f"it leads to {self.url or 'no URL'}"
        if not self.is_as_wanted:
            return f"{leads} and is not ready"
        if not self.services:
            return f"{leads} and is ready, but no ModelService selects it"
        return f"{leads} and is ready"

    @property
    def is_as_wanted(self) -> bool:
        """Return whether it is ready."""
        return self.backend.is_ready and not self.backend.causes


@dataclass(frozen=True, slots=True)
class Tenant:
    """A replica on a cluster, with the cluster's word on it and the cause where it is not ready."""

    namespace: str
    name: str
    admission: str
    reason: str
    message: str
    cause: Failure | None


@dataclass(frozen=True, slots=True)
class ClusterState:
    """An InferenceCluster with its pools and replicas, those that are not as wanted first."""

    key: Key
    taints: tuple[str, ...]
    pools: tuple[PoolUse, ...]
    tenants: tuple[Tenant, ...]
    capacity: str
    causes: tuple[Failure, ...]
    observed: tuple[PoolSight, ...] = ()
    queue: QueueSight | None = None

    @property
    def message(self) -> str:
        """Return the answer in one sentence."""
        held = f"{_count(len(self.tenants), 'replica')}, {_count(len(self.pools), 'pool')}"
        if self.causes:
            return f"{held}; {self.causes[0].condition} is {self.causes[0].status} ({self.causes[0].reason})"
        waiting = [one for one in self.tenants if one.admission != "Admitted"]
        if waiting:
            told = words.first([f"{one.namespace}/{one.name}" for one in waiting], _NAMED)
            return f"{held}; not admitted: {told}"
        failing = [one for one in self.tenants if one.cause is not None]
        if failing:
            told = words.first([f"{one.namespace}/{one.name}" for one in failing], _NAMED)
            return f"{held}; not ready: {told}"
        return f"{held}; it is ready"

    @property
    def is_as_wanted(self) -> bool:
        """Return whether the cluster is ready and runs every replica that names it."""
        return not self.causes and all(one.admission == "Admitted" and one.cause is None for one in self.tenants)


State: TypeAlias = ServiceState | EndpointState | ClusterState | CacheState
KINDS = (SERVICE, replica_endpoint.KIND, inference_cluster.KIND, model_cache.KIND)
"""The kinds of which a state can be told."""


def stuck(written: World, key: Key) -> tuple[Failure, ...]:
    """Return the causes that only the control plane knows: that it could not reconcile the object, as was written."""
    return tuple(cause for cause in causes.of(written, key) if (cause.condition, cause.status) == ("Synced", "False"))


def with_causes(state: State, more: tuple[Failure, ...]) -> State:
    """Return the state with causes of the object itself before the others."""
    if isinstance(state, EndpointState):
        return replace(state, backend=replace(state.backend, causes=(*more, *state.backend.causes)))
    return replace(state, causes=(*more, *state.causes))


def of(world: World, key: Key) -> State:
    """Return the state of an object of one of `KINDS`, as its documents and the functions say it."""
    if key.kind == SERVICE:
        return _service(world, key)
    if key.kind == model_cache.KIND:
        return cache_state.of(world, key)
    return _endpoint(world, key) if key.kind == replica_endpoint.KIND else _cluster(world, key)


def subject(key: Key) -> str:
    """Return an object as `explain` takes it, and other objects by kind and name."""
    return f"{SHORT.get(key.kind, key.kind)}/{key.name}"


# --- services and endpoints -------------------------------------------------------------------------------------------


def _service(world: World, key: Key) -> ServiceState:
    resource = world.store.get(key) or {}
    nothing = Route(key.namespace, key.name, "", (), "no function has decided it")
    route = routes.one(world.store, key) or nothing
    entries = seen.objects(seen.at(resource.get("status"), "backends"))
    found: dict[str, tuple[bool, Fraction]] = {}
    for entry, share in zip(entries, routes.shares(entries), strict=True):
        name = seen.text(entry.get("endpoint"))
        is_ready, sum_ = found.get(name, (False, Fraction()))
        found[name] = (is_ready or entry.get("ready") is True, sum_ + share)
    backends = [
        _backend(world, Key(names.GROUP, replica_endpoint.KIND, key.namespace, name), is_ready=is_ready, share=share)
        for name, (is_ready, share) in found.items()
    ]
    selectors = _selectors(resource)
    backends += _missing(world, key.namespace, selectors)
    backends.sort(key=lambda one: (one.is_ready, one.cluster, one.name))
    own = (*causes.of(world, key), *_selected(world, key.namespace, selectors))
    return ServiceState(key, route, tuple(backends), own, service_rules.of(resource))


def _selectors(resource: Mapping[str, Json]) -> tuple[LabelSelector, ...]:
    try:
        return tuple(group.selector for group in service.decode(resource).groups)
    except ModelplaneError:
        return ()  # the route says what is wrong with it


def _missing(world: World, namespace: str, selectors: Iterable[LabelSelector]) -> Iterator[Backend]:
    """Yield the replicas that serve nothing and so have no endpoint, as far as a selector would match it."""
    spots = ((names.GROUP, replica.KIND), (names.GROUP, replica_endpoint.KIND))
    unserved = world.store.standing("unserved", spots, lambda: _by_namespace(_unserved(world)))
    for key, labels in unserved.get(namespace, ()):
        if any(selector.matches(labels) for selector in selectors):
            cluster = labels[names.LABEL_CLUSTER]
            found = tuple(_below(world, key, cluster))
            yield Backend(key.name, cluster, key.name, is_ready=False, share=Fraction(), causes=found)


def _selected(world: World, namespace: str, selectors: Iterable[LabelSelector]) -> Iterator[Failure]:
    """Yield the causes of the deployments whose replicas a selector would match, wherever they are placed."""
    asked = [_without_place(selector) for selector in selectors]
    spots = ((names.GROUP, DEPLOYMENT),)
    known = world.store.standing("deployments", spots, lambda: _by_namespace(_deployments(world)))
    for key, labels in known.get(namespace, ()):
        if any(selector.matches(labels) for selector in asked):
            yield from causes.of(world, key)


def _unserved(world: World) -> Iterator[_Labelled]:
    """Yield the replicas without an endpoint, with the labels that it would have."""
    for key in world.store.of_kind(names.GROUP, replica.KIND):
        if world.store.get(Key(names.GROUP, replica_endpoint.KIND, key.namespace, key.name)) is None:
            with contextlib.suppress(ModelplaneError):
                resource = world.store.get(key) or {}
                where = seen.text(seen.at(resource, "spec", "clusterName"))
                cluster = Key(names.GROUP, inference_cluster.KIND, "", where)
                place = replica_endpoint.place(seen.at(world.store.get(cluster), "metadata", "labels"), None)
                yield key, {**replica_endpoint.labels(resource), **place}


def _deployments(world: World) -> Iterator[_Labelled]:
    """Yield the deployments, with the labels that the endpoints of all their replicas have."""
    for key in world.store.of_kind(names.GROUP, DEPLOYMENT):
        template = seen.at((world.store.get(key) or {}).get("spec"), "workers", "template", "metadata", "labels")
        own = {str(name): str(value) for name, value in template.items()} if isinstance(template, Mapping) else {}
        yield key, {**own, names.LABEL_DEPLOYMENT: key.name, names.LABEL_API: replica_endpoint.API}


def _by_namespace(every: Iterable[_Labelled]) -> Mapping[str, Sequence[_Labelled]]:
    found: dict[str, list[_Labelled]] = {}
    for one in every:
        found.setdefault(one[0].namespace, []).append(one)
    return found


def _without_place(selector: LabelSelector) -> LabelSelector:
    """Return the selector without what only a placed replica has."""
    placed = (names.LABEL_CLUSTER, names.LABEL_ENDPOINT, *names.LABELS_OF_PLACE)
    return LabelSelector(
        tuple((name, value) for name, value in selector.match_labels if name not in placed),
        tuple(one for one in selector.match_expressions if one.key not in placed),
    )


def _backend(world: World, key: Key, *, is_ready: bool, share: Fraction) -> Backend:
    labels = seen.at(world.store.get(key), "metadata", "labels")
    cluster = seen.text(seen.at(labels, names.LABEL_CLUSTER))
    of_replica = Key(names.GROUP, replica.KIND, key.namespace, key.name)
    is_ours = bool(cluster) and world.store.get(of_replica) is not None
    own = causes.of(world, key) if world.store.get(key) is not None else ()
    deeper = _below(world, of_replica, cluster) if is_ours and (own or not is_ready) else ()
    return Backend(key.name, cluster, key.name if is_ours else "", is_ready, share, (*deeper, *own))


def _below(world: World, of_replica: Key, cluster: str) -> Iterator[Failure]:
    """Yield the causes of a replica's cluster, then its own."""
    of_cluster = Key(names.GROUP, inference_cluster.KIND, "", cluster)
    if world.store.get(of_cluster) is not None:
        yield from causes.of(world, of_cluster)
    yield from causes.of(world, of_replica)


def _endpoint(world: World, key: Key) -> EndpointState:
    resource = world.store.get(key) or {}
    is_ready = seen.at(resource.get("status"), "ready") is True
    services = []
    for one in world.store.of_kind(names.GROUP, SERVICE):
        entries = seen.objects(seen.at((world.store.get(one) or {}).get("status"), "backends"))
        if one.namespace != key.namespace:
            continue
        own = [
            share
            for entry, share in zip(entries, routes.shares(entries), strict=True)
            if entry.get("endpoint") == key.name
        ]
        if own:
            services.append((one.name, sum(own, Fraction())))
    backend = _backend(world, key, is_ready=is_ready, share=Fraction())
    url = seen.text(seen.at(resource.get("spec"), "url"))
    return EndpointState(key, url, backend, tuple(sorted(services)))


# --- clusters ---------------------------------------------------------------------------------------------------------


def _cluster(world: World, key: Key) -> ClusterState:
    resource = world.store.get(key) or {}
    known = capacity.of(world.store, key.name)
    taints = () if known is None else tuple(f"{one.key}={one.value}:{one.effect}" for one in known[0].taints)
    tenants = sorted(
        _tenants(world, key, resource.get("status")),
        key=lambda one: (one.admission == "Admitted", one.cause is None, one.namespace, one.name),
    )
    told = conditions.find(resource, "CapacityKnown") or {}
    return ClusterState(
        key=key,
        taints=taints,
        pools=() if known is None else known[1],
        tenants=tuple(tenants),
        capacity=seen.text(told.get("message")),
        causes=causes.of(world, key),
        observed=observed.pools(resource.get("status")),
        queue=observed.queue(resource.get("status")),
    )


def _tenants(world: World, key: Key, status: Json) -> Iterator[Tenant]:
    """Yield the replicas that name a cluster, and those that it counts although their replica is gone."""
    listed = seen.at(status, "admitted")
    admitted = {seen.text(one) for one in listed} if isinstance(listed, list) else set()
    answers = {
        seen.text(entry.get("replica")): (admission, seen.text(entry.get("reason")), seen.text(entry.get("message")))
        for admission, part in (("Pending", "pending"), ("Refused", "refused"))
        for entry in seen.objects(seen.at(status, part))
    }
    there = {
        names.qualified(one.namespace, one.name) for one in replicas.placed(world.store).by_cluster.get(key.name, ())
    }
    for name in sorted(admitted | answers.keys() | there):
        waiting = ("Pending", "", "the cluster has not decided yet")
        said = ("Admitted", "", "") if name in admitted else answers.get(name, waiting)
        namespace, _, short = name.partition("/")
        found = causes.of(world, Key(names.GROUP, replica.KIND, namespace, short)) if name in there else ()
        yield Tenant(namespace, short, *said, found[0] if found else None)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
