"""The headroom of a fleet by groups of clusters: those of a region, of another label, or with nodes of a class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane import names
from modelplane.api import inference_cluster
from modelplane.errors import InvalidInput
from modelplane_cli.planning import happenings, headroom, simulation
from modelplane_cli.planning.headroom import Clusters, Search, Trial
from modelplane_cli.planning.rehearsal import Rehearsal
from modelplane_cli.simulator.store import Store

Json: TypeAlias = Any

CLASS = "class"
_KEYS = {"region": names.LABEL_REGION}


@dataclass(frozen=True, slots=True)
class Row:
    """A group of clusters: the loss of all of them at once, and how many of them may be lost, whichever they are.

    `largest` is the largest loss inside the group that was found to fit. `complete` False: a larger one may.
    """

    name: str
    whole: Trial
    any_clusters: int
    largest: Trial | None
    complete: bool


@dataclass(frozen=True, slots=True)
class Groups:
    """The groups by a label, or by the class of nodes. `ungrouped` are the clusters that have no such label or class.

    `any_groups`: whichever so many groups are lost, everything still fits. `largest` are the groups of the largest loss
    that fits.
    """

    by: str
    rows: tuple[Row, ...]
    ungrouped: tuple[str, ...]
    any_groups: int
    largest: tuple[tuple[str, ...], Trial] | None
    complete: bool


def of(search: Search, asked: str) -> Groups:
    """Return the headroom by `asked`: `class`, `region`, or the key of a label.

    Raises: InvalidInput when no cluster has such a label.
    """
    store, by = search.rehearsal.store, _KEYS.get(asked, asked)
    members = _by_class(store) if by == CLASS else _by_label(store, by)
    if not members and search.sizes:
        raise InvalidInput(f"--by {asked}: {_nothing(search.rehearsal, by)}")
    since = search.rehearsed
    found = headroom.walk(search, members, since)
    alone = dict(zip(sorted(members), found.singles, strict=True))
    best = max(found.fitting(), key=lambda one: (one[1].devices, len(one[1].clusters), one[0]), default=None)
    rows = tuple(_group(search, name, alone[name], since) for name in sorted(members))
    ungrouped = frozenset(search.sizes).difference(*members.values())
    return Groups(by, rows, tuple(sorted(ungrouped)), found.proven, best, found.complete)


def _group(search: Search, name: str, whole: Trial, since: int) -> Row:
    among = frozenset(whole.clusters)
    found = headroom.walk(search, {one: frozenset((one,)) for one in among}, since)
    fits = [trial for _, trial in found.fitting()]
    fits += [whole] if whole.fits else []
    fits += [] if found.complete or whole.fits else search.larger(among)
    proven = len(among) if whole.fits else found.proven
    return Row(name, whole, proven, headroom.largest(fits), found.complete or whole.fits)


def _clusters(store: Store) -> dict[str, Mapping[str, Json]]:
    return {key.name: store.get(key) or {} for key in store.of_kind(names.GROUP, inference_cluster.KIND)}


def _by_class(store: Store) -> dict[str, Clusters]:
    found: dict[str, set[str]] = {}
    for name, resource in _clusters(store).items():
        for pool in (resource.get("spec") or {}).get("nodePools") or ():
            found.setdefault(str(pool["className"]), set()).add(name)
    return {one: frozenset(members) for one, members in found.items()}


def _labels(resource: Mapping[str, Json]) -> Mapping[str, Json]:
    return (resource.get("metadata") or {}).get("labels") or {}


def _by_label(store: Store, key: str) -> dict[str, Clusters]:
    found: dict[str, set[str]] = {}
    for name, resource in _clusters(store).items():
        if key in _labels(resource):
            found.setdefault(str(_labels(resource)[key]), set()).add(name)
    return {one: frozenset(members) for one, members in found.items()}


def _nothing(rehearsal: Rehearsal, by: str) -> str:
    if by == CLASS:
        return "no InferenceCluster has a pool"
    return f"no InferenceCluster has the label {by}; {happenings.label_keys(rehearsal)}"


def encode(groups: Groups) -> dict[str, Json]:
    """Return the headroom by groups as JSON."""
    return {
        "by": groups.by,
        "rows": [
            {
                "group": row.name,
                "clusters": list(row.whole.clusters),
                "devices": row.whole.devices,
                "fits": row.whole.fits,
                "unplaced": [simulation.encode_unplaced(one) for one in row.whole.worse],
                "anyClusters": row.any_clusters,
                "largest": headroom.encode_loss(row.largest),
                "complete": row.complete,
            }
            for row in groups.rows
        ],
        "ungrouped": list(groups.ungrouped),
        "anyGroups": groups.any_groups,
        "largest": _largest(groups),
        "complete": groups.complete,
    }


def _largest(groups: Groups) -> Json:
    if groups.largest is None:
        return None
    which, trial = groups.largest
    return {"groups": list(which), **headroom.encode_loss(trial)}
