"""The largest loss of whole clusters that a fleet takes with everything still placed.

Sets of clusters are tried by size, each by losing them for real in a fork of the world. A set is tried only if all its
parts fit: what does not fit without one cluster does not fit without two.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeAlias

from modelplane import names
from modelplane.api import inference_cluster
from modelplane_cli.planning import capacity, simulation
from modelplane_cli.planning.happenings import Loss
from modelplane_cli.planning.rehearsal import Rehearsal
from modelplane_cli.planning.simulation import Settle, Simulation, Unplaced

Json: TypeAlias = Any

WORLDS_MAX = 200
"""Losses tried before the search stops and says so."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One loss and whether it fits; `worse` are the deployments that then miss more than they do now."""

    clusters: tuple[str, ...]
    devices: int
    worse: tuple[Unplaced, ...]
    simulation: Simulation

    @property
    def fits(self) -> bool:
        """Return whether everything that has a place now has one after the loss."""
        return not self.worse


@dataclass(frozen=True, slots=True)
class Headroom:
    """`any_clusters`: whichever so many clusters are lost, everything still fits. `largest` is by devices.

    `complete` False: the search was stopped, so the largest may be larger and `any_clusters` is what was proven.
    """

    singles: tuple[Trial, ...]
    any_clusters: int
    largest: Trial | None
    tried: int
    complete: bool


def of(rehearsal: Rehearsal, settle: Settle) -> Headroom:
    """Return the headroom of a settled rehearsal, which stays as it is."""
    before = {one.deployment: one.count for one in _missing(simulation.run(rehearsal.fork(), (), settle))}
    sizes = _sizes(rehearsal)
    trials: list[Trial] = []
    fitting: set[frozenset[str]] = {frozenset()}
    singles: tuple[Trial, ...] = ()
    proven = tried = 0
    for size in range(1, len(sizes) + 1):
        candidates = list(_candidates(sorted(sizes), size, fitting))
        if tried + len(candidates) > WORLDS_MAX:
            return _answer(singles, proven, trials, tried, complete=False)
        level = [_trial(rehearsal, settle, clusters, sizes, before) for clusters in candidates]
        tried += len(level)
        singles = tuple(level) if size == 1 else singles
        fits = [trial for trial in level if trial.fits]
        trials += fits
        fitting = {frozenset(trial.clusters) for trial in fits}
        if len(fits) == math.comb(len(sizes), size):
            proven = size
        if not fits:
            break
    return _answer(singles, proven, trials, tried, complete=True)


def _answer(singles: tuple[Trial, ...], proven: int, fits: Iterable[Trial], tried: int, *, complete: bool) -> Headroom:
    largest = max(fits, key=lambda trial: (trial.devices, len(trial.clusters), trial.clusters), default=None)
    return Headroom(singles, proven, largest, tried, complete)


def _candidates(clusters: list[str], size: int, fitting: set[frozenset[str]]) -> Iterator[tuple[str, ...]]:
    for chosen in combinations(clusters, size):
        if all(frozenset(part) in fitting for part in combinations(chosen, size - 1)):
            yield chosen


def _sizes(rehearsal: Rehearsal) -> dict[str, int]:
    """Return the accelerators of each cluster: of every pool the first kind of device that is counted."""
    sizes = dict.fromkeys((key.name for key in rehearsal.store.of_kind(names.GROUP, inference_cluster.KIND)), 0)
    for use in capacity.pools(rehearsal.store):
        first = next(iter(use.devices.values()), None)
        sizes[use.cluster] += first.total if first is not None else 0
    return sizes


def _trial(
    rehearsal: Rehearsal,
    settle: Settle,
    clusters: tuple[str, ...],
    sizes: Mapping[str, int],
    before: Mapping[Any, int],
) -> Trial:
    made = simulation.run(rehearsal.fork(), (Loss(clusters),), settle)
    worse = tuple(one for one in _missing(made) if one.count > before.get(one.deployment, 0))
    return Trial(clusters, sum(sizes[name] for name in clusters), worse, made)


def _missing(made: Simulation) -> tuple[Unplaced, ...]:
    if made.steps:
        return made.steps[-1].unplaced
    return tuple(
        Unplaced(row.id, row.unschedulable.count, (), row.unschedulable.message)
        for row in made.after.deployments
        if row.unschedulable is not None
    )


def encode(headroom: Headroom) -> dict[str, Json]:
    """Return the headroom as JSON."""
    largest = headroom.largest
    return {
        "anyClusters": headroom.any_clusters,
        "largest": None if largest is None else {"clusters": list(largest.clusters), "devices": largest.devices},
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
        "complete": headroom.complete,
    }
