"""The routes of ModelServices: the share of each group and cluster, and the endpoints, before and after.

Shares are of the requests at one moment, from the weights that the function published. A standby (a higher number of
`priority`) has a share only while no endpoint before it is ready.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from modelplane import names, seen
from modelplane.api import replica_endpoint, service
from modelplane.errors import ModelplaneError
from modelplane.labels import LabelSelector
from modelplane.routing.model import Service
from modelplane_cli.planning.replicas import DEPLOYMENT
from modelplane_cli.simulator import conditions
from modelplane_cli.simulator.store import Key, Store

Json: TypeAlias = Any

SERVICE = "ModelService"
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class Part:
    """The part of a cluster in a group: its ready endpoints and its share. An empty `cluster` is outside the fleet."""

    cluster: str
    ready: int
    share: Fraction


@dataclass(frozen=True, slots=True)
class Split:
    """A group of endpoints with one selector. `ready` of the `matched` endpoints are ready."""

    selector: str
    weight: int
    priority: int
    matched: int
    ready: int
    share: Fraction
    parts: tuple[Part, ...]

    @property
    def key(self) -> tuple[str, int]:
        """Return the selector and the priority, by which a group is recognised after a change of weights."""
        return (self.selector, self.priority)


@dataclass(frozen=True, slots=True)
class Route:
    """The route of a service at one moment. `trouble` is empty if every group that wants requests has endpoints."""

    namespace: str
    name: str
    url: str
    groups: tuple[Split, ...]
    trouble: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """Return namespace and name of the service."""
        return (self.namespace, self.name)

    @property
    def ready(self) -> int:
        """Return the number of ready endpoints."""
        return sum(group.ready for group in self.groups)

    @property
    def matched(self) -> int:
        """Return the number of endpoints that a selector matches."""
        return sum(group.matched for group in self.groups)


@dataclass(frozen=True, slots=True)
class RouteRow:
    """A route before and after. `before` is None for a new service, and `after` for a deleted one."""

    before: Route | None
    after: Route | None

    @property
    def route(self) -> Route:
        """Return the route as it is, or as it was before its service was deleted."""
        found = self.after or self.before
        if found is None:
            raise ValueError("a row is about a route")
        return found

    @property
    def change(self) -> str:
        """Return the kind of the change."""
        if self.before is None:
            return "created"
        if self.after is None:
            return "removed"
        return "retained" if self.before == self.after else "changed"

    @property
    def fits(self) -> bool:
        """Return whether every group that wants requests has endpoints, or the service is deleted."""
        return self.after is None or not self.after.trouble

    @property
    def disrupts(self) -> bool:
        """Return whether requests that were served no longer are, though the service is still wanted."""
        if self.fits or self.before is None:
            return False
        return not self.before.trouble or any(_is_cut(was, now) for was, now in pairs(self))


def of(store: Store) -> tuple[Route, ...]:
    """Return the routes of the services that a function has decided, by namespace and name."""
    every = (one(store, key) for key in store.of_kind(names.GROUP, SERVICE))
    return tuple(route for route in every if route is not None)


def one(store: Store, key: Key) -> Route | None:
    """Return the route of one service, None while no function has decided it."""
    resource = store.get(key) or {}
    return _route(store, key, resource) if "status" in resource else None


def between(before: Sequence[Route], after: Sequence[Route]) -> tuple[RouteRow, ...]:
    """Return a row for each route of either, by namespace and name."""
    was, now = ({route.key: route for route in routes} for routes in (before, after))
    return tuple(RouteRow(was.get(key), now.get(key)) for key in sorted(was.keys() | now.keys()))


def _route(store: Store, key: Key, resource: Mapping[str, Json]) -> Route:
    status = resource.get("status")
    url = seen.text(seen.at(status, "url"))
    try:
        decoded = service.decode(resource)
    except ModelplaneError as error:
        return Route(key.namespace, key.name, url, (), str(error))
    entries = seen.objects(seen.at(status, "backends"))
    groups = tuple(_groups(store, decoded, entries))
    return Route(key.namespace, key.name, url, groups, _trouble(store, decoded, groups, resource))


def shares(entries: Sequence[Mapping[str, Json]]) -> list[Fraction]:
    """Return the share of each entry of `status.backends`. Only the entries of the priority in use have one."""
    given = [(seen.count(entry.get("priority")) or 0, seen.count(entry.get("weight")) or 0) for entry in entries]
    in_use = min((priority for priority, weight in given if weight), default=0)
    active = [weight if priority == in_use else 0 for priority, weight in given]
    return [Fraction(weight, sum(active) or 1) for weight in active]


def _groups(store: Store, decoded: Service, entries: Sequence[Mapping[str, Json]]) -> Iterator[Split]:
    every = list(zip(entries, shares(entries), strict=True))
    for index, group in enumerate(decoded.groups):
        members = [(entry, share) for entry, share in every if entry.get("group") == index]
        yield Split(
            selector=group.selector.text(),
            weight=group.weight,
            priority=group.priority,
            matched=len(members),
            ready=sum(entry.get("ready") is True for entry, _ in members),
            share=sum((share for _, share in members), Fraction()),
            parts=tuple(_parts(store, decoded.namespace, members)),
        )


def _parts(store: Store, namespace: str, members: Sequence[tuple[Mapping[str, Json], Fraction]]) -> Iterator[Part]:
    found: dict[str, tuple[int, Fraction]] = {}
    for entry, share in members:
        key = Key(names.GROUP, replica_endpoint.KIND, namespace, seen.text(entry.get("endpoint")))
        cluster = seen.text(seen.at(store.get(key), "metadata", "labels", names.LABEL_CLUSTER))
        ready, sum_ = found.get(cluster, (0, Fraction()))
        found[cluster] = (ready + (entry.get("ready") is True), sum_ + share)
    for cluster, (ready, sum_) in sorted(found.items()):
        yield Part(cluster, ready, sum_)


# --- troubles ---------------------------------------------------------------------------------------------------------


def _trouble(store: Store, decoded: Service, groups: Sequence[Split], resource: Mapping[str, Json]) -> str:
    """Return the reason that requests do not reach every group that wants them, empty if they do."""
    for kind in ("Accepted", "Synced"):
        refused = conditions.find(resource, kind)
        if refused is not None and refused.get("status") == "False":
            return f"{refused.get('reason')}: {refused.get('message')}"
    wanted = [(group, found) for group, found in zip(decoded.groups, groups, strict=True) if group.weight]
    empty = [(group, found) for group, found in wanted if not found.ready]
    if not empty:
        return ""
    said = "; ".join(_empty(found) for _, found in empty)
    said = f"no endpoint receives requests: {said}" if len(empty) == len(wanted) else f"{said}; others get that share"
    hints = [hint for group, found in empty if not found.matched and (hint := _alike(store, decoded, group.selector))]
    return f"{said}; did you mean {' and '.join(hints)}?" if hints else said


def _empty(found: Split) -> str:
    if found.matched:
        return f"none of the {found.matched} endpoints of {found.selector} is ready"
    return f"{found.selector} matches no endpoint"


def _alike(store: Store, decoded: Service, selector: LabelSelector) -> str:
    """Return a label of an endpoint, or a deployment, that reads like one that the selector has and nobody else."""
    labels = [
        seen.at(store.get(key), "metadata", "labels") or {}
        for key in store.of_kind(names.GROUP, replica_endpoint.KIND)
        if key.namespace == decoded.namespace
    ]
    for key, value in selector.match_labels:
        known = {str(entry[key]) for entry in labels if key in entry}
        if key == names.LABEL_DEPLOYMENT:
            known |= {one.name for one in store.of_kind(names.GROUP, DEPLOYMENT) if one.namespace == decoded.namespace}
        close = difflib.get_close_matches(value, sorted(known - {value}), n=1)
        if value not in known and close:
            return f"{key}={close[0]}"
    return ""


# --- as JSON ----------------------------------------------------------------------------------------------------------


def encode(row: RouteRow) -> dict[str, Json]:
    """Return a route before and after as JSON."""
    before, after = row.before, row.after
    return {
        "namespace": row.route.namespace,
        "name": row.route.name,
        "change": row.change,
        "url": after.url or None if after is not None else None,
        "urlBefore": before.url or None if before is not None else None,
        "endpoints": _encode_counts(after),
        "endpointsBefore": _encode_counts(before),
        "groups": [_encode_group(was, now) for was, now in pairs(row)],
        "message": after.trouble if after is not None else "",
    }


def pairs(row: RouteRow) -> Iterator[tuple[Split | None, Split | None]]:
    """Yield the groups before and after: those that are there in their order, then those that are gone."""
    was = list(row.before.groups) if row.before is not None else []
    for now in row.after.groups if row.after is not None else ():
        known = next((group for group in was if group.key == now.key), None)
        if known is not None:
            was.remove(known)
        yield known, now
    for gone in was:
        yield gone, None


def parts(was: Split | None, now: Split | None) -> Iterator[tuple[str, Part, Part]]:
    """Yield the clusters of a group by name, and the part of each before and after."""
    before, after = ({part.cluster: part for part in group.parts} if group is not None else {} for group in (was, now))
    for cluster in sorted(before.keys() | after.keys()):
        nothing = Part(cluster, 0, Fraction())
        yield cluster, before.get(cluster, nothing), after.get(cluster, nothing)


def _is_cut(was: Split | None, now: Split | None) -> bool:
    return was is not None and now is not None and bool(was.ready and now.weight and not now.ready)


def _encode_counts(route: Route | None) -> dict[str, Json]:
    return {"matched": route.matched, "ready": route.ready} if route is not None else {"matched": 0, "ready": 0}


def _encode_group(was: Split | None, now: Split | None) -> dict[str, Json]:
    group = now or was
    if group is None:
        raise ValueError("a pair has a group")
    return {
        "selector": group.selector,
        "weight": now.weight if now is not None else None,
        "priority": group.priority,
        "share": _number(now),
        "shareBefore": _number(was),
        "ready": now.ready if now is not None else 0,
        "readyBefore": was.ready if was is not None else 0,
        "clusters": [
            {
                "cluster": cluster or None,
                "share": _number(after),
                "shareBefore": _number(before),
                "ready": after.ready,
                "readyBefore": before.ready,
            }
            for cluster, before, after in parts(was, now)
        ],
    }


def _number(of_: Split | Part | None) -> float:
    return round(float(of_.share), _DIGITS) if of_ is not None else 0.0
