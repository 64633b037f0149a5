"""The largest loss of whole clusters that a fleet takes with everything still placed.

Sets of clusters are tried by size, each by losing them for real in a fork of the world. A set is tried only if all its
parts fit: what does not fit without one cluster does not fit without two.

Large fleets are mostly clusters on which nothing stands, and deployments that a loss is no concern of. Both are used:

- A deployment that is at rest, with nothing on what is lost, keeps what it has whatever else happens (it retains), so
  it is not asked again.
- A loss of clusters on which nothing stands takes nothing away from anybody.
- Clusters on which nothing stands, and on which nothing was put when others were lost, may be lost with these: who
  takes the first place that fits takes the same where one he did not take is missing. This is not used where the other
  clusters do take part in the choice, by spread constraints or as the majority of a currency.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, TypeAlias

from modelplane import names
from modelplane.api import inference_class, inference_cluster
from modelplane_cli.planning import capacity, plan, simulation
from modelplane_cli.planning.lineage import Lineage
from modelplane_cli.planning.rehearsal import Act, Rehearsal
from modelplane_cli.planning.replicas import Deployment, ObservedReplicas
from modelplane_cli.planning.simulation import Unplaced
from modelplane_cli.simulator.settle import Told, untold
from modelplane_cli.simulator.store import Key, Store

Json: TypeAlias = Any
Clusters: TypeAlias = frozenset[str]

WORLDS_MAX = 200
"""Losses of several clusters that are rehearsed before the search stops and says so."""
SETS_MAX = 20_000
"""Sets of one size that are looked at at all."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One loss and whether it fits; `worse` are the deployments that then miss more than they do now."""

    clusters: tuple[str, ...]
    devices: int
    worse: tuple[Unplaced, ...]

    @property
    def fits(self) -> bool:
        """Return whether everything that has a place now has one after the loss."""
        return not self.worse


@dataclass(frozen=True, slots=True)
class Headroom:
    """`any_clusters`: whichever so many clusters are lost, everything still fits. `largest` is by devices.

    `complete` False: the search was stopped, so the largest may be larger and `any_clusters` is what was proven.
    `rehearsed` of the losses `tried` were, and what the others lead to follows.
    """

    singles: tuple[Trial, ...]
    any_clusters: int
    largest: Trial | None
    tried: int
    rehearsed: int
    complete: bool


@dataclass(frozen=True, slots=True)
class Walk:
    """The losses of sets of units (clusters, or groups of them), by size of the set; those of one size in order.

    `proven`: whichever so many units are lost, everything still fits.
    """

    levels: tuple[tuple[tuple[tuple[str, ...], Trial], ...], ...]
    proven: int
    complete: bool

    @property
    def tried(self) -> int:
        """Return the number of losses that were evaluated."""
        return sum(len(level) for level in self.levels)

    @property
    def singles(self) -> tuple[Trial, ...]:
        """Return the loss of each unit alone."""
        return tuple(trial for _, trial in self.levels[0]) if self.levels else ()

    def fitting(self) -> Iterator[tuple[tuple[str, ...], Trial]]:
        """Yield the losses that fit, with the units that are lost."""
        return (one for level in self.levels for one in level if one[1].fits)


def of(rehearsal: Rehearsal, told: Told = untold) -> Headroom:
    """Return the headroom of a settled rehearsal, which stays as it is."""
    return clusters(Search(rehearsal, told))


def clusters(search: Search) -> Headroom:
    """Return the headroom by the loss of single clusters and of sets of them."""
    found = walk(search, {name: frozenset((name,)) for name in search.sizes}, search.rehearsed)
    fits = [trial for _, trial in found.fitting()]
    fits += [] if found.complete else search.larger(frozenset(search.sizes))
    return Headroom(found.singles, found.proven, largest(fits), found.tried, search.rehearsed, found.complete)


def walk(search: Search, units: Mapping[str, Clusters], since: int) -> Walk:
    """Return the losses of sets of the units, each a set of clusters. A set is tried if all its parts fit.

    `since` is the number of rehearsals at which WORLDS_MAX begins to count.
    """
    every = sorted(units)
    fitting: set[frozenset[str]] = {frozenset()}
    levels: list[tuple[tuple[tuple[str, ...], Trial], ...]] = []
    proven = 0
    for size in range(1, len(every) + 1):
        candidates = _candidates(every, size, fitting)
        if candidates is None or (size > 1 and search.would_exceed(_losses(candidates, units), since)):
            return Walk(tuple(levels), proven, complete=False)
        losses = zip(candidates, _losses(candidates, units), strict=True)
        level = [
            (chosen, search.trial(lost, f"{at} of {len(candidates)}")) for at, (chosen, lost) in enumerate(losses, 1)
        ]
        levels.append(tuple(level))
        fitting = {frozenset(chosen) for chosen, trial in level if trial.fits}
        if len(fitting) == math.comb(len(every), size):
            proven = size
        if not fitting:
            break
    return Walk(tuple(levels), proven, complete=True)


def _losses(candidates: Iterable[tuple[str, ...]], units: Mapping[str, Clusters]) -> list[tuple[str, ...]]:
    return [tuple(sorted(frozenset[str]().union(*(units[one] for one in chosen)))) for chosen in candidates]


def largest(fits: Iterable[Trial]) -> Trial | None:
    """Return the loss of most devices, None without any."""
    return max(fits, key=lambda trial: (trial.devices, len(trial.clusters), trial.clusters), default=None)


def _candidates(units: list[str], size: int, fitting: set[frozenset[str]]) -> list[tuple[str, ...]] | None:
    """Return the sets of which all parts fit, None where there are too many to look at."""
    alone = sorted(set().union(*fitting)) if size > 1 else units
    if size > 1 and math.comb(len(alone), size) > SETS_MAX:
        return None
    return [
        chosen
        for chosen in combinations(alone, size)
        if all(frozenset(part) in fitting for part in combinations(chosen, size - 1))
    ]


@dataclass(frozen=True, slots=True)
class _Known:
    """A loss that was rehearsed, and the clusters on which anything was put then."""

    lost: Clusters
    touched: Clusters
    worse: tuple[Unplaced, ...]


@dataclass(slots=True)
class Search:
    """Losses of one settled world, rehearsed where what they lead to does not follow from others."""

    rehearsal: Rehearsal
    told: Told
    rehearsed: int = 0
    sizes: dict[str, int] = field(init=False)
    _replicas: ObservedReplicas = field(init=False)
    _occupied: Clusters = field(init=False)
    _restless: frozenset[Deployment] = field(init=False)
    _missing: dict[Deployment, int] = field(init=False)
    _is_plain: bool = field(init=False)
    _known: dict[Clusters, list[_Known]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        store = self.rehearsal.store
        act = self.rehearsal.fork().settle()
        every = plan.deployments(store)
        self.sizes = _sizes(store)
        self._replicas = act.after
        self._occupied = frozenset(replica.cluster for replica in self._replicas.values())
        self._restless = frozenset(_restless(act, every))
        self._missing = {one.deployment: _out(one) for one in simulation.unplaced(act, self.rehearsal.lost, every)}
        self._is_plain = _is_plain(store)

    def trial(self, clusters: tuple[str, ...], where: str) -> Trial:
        """Return the effects of a loss. `where` names the step of the search in progress messages."""
        lost = frozenset(clusters)
        standing = lost & self._occupied
        if not standing:
            return self._trial(clusters, ())
        known = self._follows(lost)
        if known is None:
            self.told(f"loss {where}: {' and '.join(clusters)}")
            known = self._rehearse(clusters)
            self._known.setdefault(standing, []).append(known)
        return self._trial(clusters, known.worse)

    def would_exceed(self, candidates: Iterable[tuple[str, ...]], since: int) -> bool:
        """Return whether the losses may need more rehearsals than WORLDS_MAX, counted from `since`."""
        sets = [frozenset(clusters) for clusters in candidates]
        unknown = sum(1 for lost in sets if lost & self._occupied and self._follows(lost) is None)
        return self.rehearsed - since + unknown > WORLDS_MAX

    def larger(self, among: Clusters) -> Iterator[Trial]:
        """Yield losses of many clusters that fit without a rehearsal: those on which nothing stands, and one more.

        The one more is any whose loss was rehearsed and fits; the clusters to which its replicas went then stay.
        """
        empty = among - self._occupied
        if empty:
            yield self._trial(tuple(sorted(empty)), ())
        for known in (one for found in self._known.values() for one in found if self._is_plain and not one.worse):
            if known.lost <= among:
                yield self._trial(tuple(sorted(known.lost | (empty - known.touched))), ())

    def _trial(self, clusters: tuple[str, ...], worse: tuple[Unplaced, ...]) -> Trial:
        return Trial(clusters, sum(self.sizes[name] for name in clusters), worse)

    def _follows(self, lost: Clusters) -> _Known | None:
        """Return a loss of which this one leads to the same: it lacks only clusters that then nobody chose."""
        for known in self._known.get(lost & self._occupied, ()):
            more = lost - known.lost
            if known.lost <= lost and (not more or (self._is_plain and not more & known.touched)):
                return known
        return None

    def _rehearse(self, clusters: tuple[str, ...]) -> _Known:
        self.rehearsed += 1
        lost = frozenset(clusters)
        concerned = self._restless | {
            replica.deployment for replica in self._replicas.values() if replica.cluster in lost
        }
        every = plan.deployments(self.rehearsal.store)
        world = self.rehearsal.fork(frozenset(one.key for one in every if one not in concerned))
        world.lose(clusters)

        def is_enough(replicas: ObservedReplicas) -> bool:
            """Once all have a place again, what remains is that they come up there, and that who was lost goes."""
            return not self._restless and _all_placed(world.store, replicas, concerned)

        settled = world.settle(is_enough)
        act = Act((self._replicas, *settled.moments), settled.world)
        worse: tuple[Unplaced, ...] = ()
        if not is_enough(act.after):
            missing = simulation.unplaced(act, world.lost, [one for one in every if one in concerned])
            worse = tuple(one for one in missing if _out(one) > self._missing.get(one.deployment, 0))
        placed = {
            replica.cluster for moment in act.moments for id_, replica in moment.items() if id_ not in self._replicas
        }
        return _Known(lost, frozenset(placed), worse)


def _out(one: Unplaced) -> int:
    """Return how many replicas run nowhere; those that should leave and cannot do run."""
    return one.count - one.stuck


def _restless(act: Act, every: Iterable[Deployment]) -> Iterator[Deployment]:
    """Yield the deployments that may still place or move something."""
    resting: dict[Deployment, bool] = {}
    for replica in act.after.values():
        resting[replica.deployment] = resting.get(replica.deployment, True) and replica.serves and replica.admitted
    for row in plan.rows(act.world, Lineage(act.moments), every, None):
        is_whole = row.unschedulable is None and not row.blocked and row.wanted == row.placed == len(row.replicas)
        if not (is_whole and resting.get(row.id, True)):
            yield row.id


def _all_placed(store: Store, replicas: ObservedReplicas, about: Iterable[Deployment]) -> bool:
    """Return whether the deployments have all replicas they want, admitted and on clusters that are there."""
    held = Counter(replica.deployment for replica in replicas.values() if replica.admitted and not replica.lost)
    for one in about:
        resource = store.get(one.key) or {}
        wanted, status = (resource.get("spec") or {}).get("replicas", 1), resource.get("status") or {}
        if held[one] < wanted or status.get("unscheduledReplicas") != 0:
            return False
    return True


def _is_plain(store: Store) -> bool:
    """Return whether who takes a place depends on the clusters he does not take in no way but by their absence."""
    classes = (store.get(key) or {} for key in store.of_kind(names.GROUP, inference_class.KIND))
    costs = ((one.get("spec") or {}).get("cost") or {} for one in classes)
    return len({cost.get("currency") for cost in costs if cost}) <= 1 and not any(
        ((_spec(store, one.key).get("placement") or {}).get("spread")) for one in plan.deployments(store)
    )


def _spec(store: Store, key: Key) -> dict[str, Json]:
    return (store.get(key) or {}).get("spec") or {}


def _sizes(store: Store) -> dict[str, int]:
    """Return the accelerators of each cluster: of every pool the first kind of device that is counted."""
    sizes = dict.fromkeys((key.name for key in store.of_kind(names.GROUP, inference_cluster.KIND)), 0)
    for use in capacity.pools(store):
        first = next(iter(use.devices.values()), None)
        sizes[use.cluster] += first.total if first is not None else 0
    return sizes


def encode(headroom: Headroom) -> dict[str, Json]:
    """Return the headroom as JSON."""
    return {
        "anyClusters": headroom.any_clusters,
        "largest": encode_loss(headroom.largest),
        "singles": [
            {
                "cluster": trial.clusters[0],
                "devices": trial.devices,
                "fits": trial.fits,
                "unplaced": [simulation.encode_unplaced(one) for one in trial.worse],
            }
            for trial in headroom.singles
        ],
        "tried": headroom.tried,
        "rehearsed": headroom.rehearsed,
        "complete": headroom.complete,
    }


def encode_loss(trial: Trial | None) -> Json:
    """Return the clusters and devices of a loss as JSON, null without one."""
    return None if trial is None else {"clusters": list(trial.clusters), "devices": trial.devices}
