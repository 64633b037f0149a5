"""A world that goes on: settle it, change something, settle again, and see every moment in between.

What may never happen here: a moment that the functions did not bring about themselves.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane_cli.planning.replicas import ObservedReplicas, Observer
from modelplane_cli.simulator import assumption, contention, remote, surroundings
from modelplane_cli.simulator.crossplane import Crossplane
from modelplane_cli.simulator.definitions import Definitions
from modelplane_cli.simulator.offline import Assume, World
from modelplane_cli.simulator.pipeline import Function, Handed
from modelplane_cli.simulator.record import Record
from modelplane_cli.simulator.settle import Settled, Told, settle, untold
from modelplane_cli.simulator.store import Key, Object, Store

Json: TypeAlias = Any

_UNREACHABLE = {
    "type": "Synced",
    "status": "False",
    "reason": "ReconcileError",
    "message": "observe failed: the cluster does not answer",
}


@dataclass(frozen=True, slots=True)
class Act:
    """The result of one settling. `moments` are the replicas before it, and after each round in which they changed.

    `world` is the state it ended in, with the record of this act alone.
    """

    moments: tuple[ObservedReplicas, ...]
    world: World

    @property
    def before(self) -> ObservedReplicas:
        """Return the replicas as the act began."""
        return self.moments[0]

    @property
    def after(self) -> ObservedReplicas:
        """Return the replicas as the act ended."""
        return self.moments[-1]


class Rehearsal:
    """A store and the real functions around it. Objects that come with a status are taken as observed."""

    def __init__(
        self,
        objects: Mapping[Key, Mapping[str, Json]],
        definitions: Definitions,
        function: Function | Handed,
        told: Told = untold,
    ) -> None:
        self.store = Store()
        for key in sorted(objects):
            self.store.put(dict(objects[key]))
        self._definitions = definitions
        self._crossplane = Crossplane(self.store, definitions, function)
        self._told = told
        self._observed = frozenset(key for key in objects if assumption.is_observation(objects[key]))
        self._assumed: dict[Key, surroundings.Footing] = {}
        self._lost: frozenset[str] = frozenset()
        self._silent: frozenset[str] = frozenset()
        self._observer = Observer(self.store)

    @property
    def lost(self) -> frozenset[str]:
        """Return the clusters that are gone for good."""
        return self._lost

    def replicas(self) -> ObservedReplicas:
        """Return the replicas now."""
        return self._observer.replicas(self._lost)

    def fork(self, asleep: frozenset[Key] = frozenset()) -> Rehearsal:
        """Return a rehearsal of its own that begins where this one stands; composites `asleep` stay as they are.

        Nobody is told of what happens there.
        """
        other = copy.copy(self)
        other._told, other._assumed = untold, dict(self._assumed)
        other.store = self.store.copy()
        other._crossplane = self._crossplane.carried_on(other.store, asleep)
        other._observer = self._observer.carried_on(other.store)
        return other

    # --- changes from outside -------------------------------------------------------------------------------------

    def apply(self, resource: Mapping[str, Json], key: Key) -> None:
        """Put what an author wrote, as `kubectl apply` does: what others wrote into the object stays."""
        there = self.store.get(key)
        new = dict(resource)
        if there is not None and "status" not in new and there.get("status") is not None:
            new["status"] = there["status"]
        if there is not None:
            new["metadata"] = {**_kept(there["metadata"]), **new["metadata"]}
            machinery = (there.get("spec") or {}).get("crossplane")
            if machinery is not None:
                new["spec"] = {"crossplane": machinery, **(new.get("spec") or {})}
        self.store.put(new)

    def remove(self, key: Key) -> None:
        """Delete an object and all that it controls."""
        self.store.remove(key)

    def lose(self, clusters: Iterable[str]) -> None:
        """Let clusters be gone for good: nothing on them answers any more, and their InferenceCluster is deleted."""
        lost = frozenset(clusters)
        self._lost |= lost
        for name in sorted(lost):
            self.remove(Key("modelplane.ai", "InferenceCluster", "", name))

    def silence(self, clusters: Iterable[str]) -> None:
        """Let clusters not answer any more: what is on them is not observed, and their InferenceCluster stays."""
        self._silent |= frozenset(clusters)

    # --- settling -------------------------------------------------------------------------------------------------

    def settle(self, enough: Callable[[ObservedReplicas], bool] = lambda _replicas: False) -> Act:
        """Return the world that the functions make of the present store, after everything composed has come up.

        Or until the replicas of a round are `enough`.
        """
        moments = [self.replicas()]
        # Each act has a record of its own.
        self._crossplane = crossplane = self._crossplane.carried_on(self.store)

        def happens(store: Store) -> list[Key]:
            changed = [
                *self._sever(store),
                *assumption.Ready(self._observed | self._severed(store), self._assumed)(store),
            ]
            now = self.replicas()
            if now != moments[-1]:
                moments.append(now)
            return changed

        settled = settle(self.store, crossplane, happens, told=self._told, enough=lambda: enough(moments[-1]))
        settled.record.bugs.update(dict.fromkeys(contention.fights(self.store)))
        now = self.replicas()
        if now != moments[-1]:
            moments.append(now)
        world = World(self.store, settled, self._definitions, frozenset(self.store), Assume.READY)
        return Act(tuple(moments), world)

    def _severed(self, store: Store) -> frozenset[Key]:
        """Return the Objects on clusters that do not answer; nothing new is known of them."""
        cut = self._lost | self._silent
        if not cut:
            return frozenset()
        return frozenset(
            key
            for key in store.of_kind(remote.KUBERNETES, "Object")
            if remote.cluster_of(store.get(key) or _NOTHING, store) in cut
        )

    def _sever(self, store: Store) -> list[Key]:
        """Write what provider-kubernetes reports of Objects it cannot reach: the last state seen, out of sync."""
        changed = []
        for key in sorted(self._severed(store)):
            resource = store.get(key) or _NOTHING
            status = dict(resource.get("status") or {})
            others = [entry for entry in status.get("conditions") or () if entry.get("type") != "Synced"]
            status["conditions"] = [*others, dict(_UNREACHABLE)]
            if store.put({**resource, "status": status}):
                changed.append(key)
        return changed


def joined(acts: Sequence[Act]) -> Act:
    """Return all acts after the first as one that begins where the first ended."""
    record = Record()
    for act in acts[1:]:
        record.deletions += act.world.settled.record.deletions
        record.events.update(act.world.settled.record.events)
        record.bugs.update(act.world.settled.record.bugs)
    last = acts[-1].world
    rounds = sum(act.world.settled.rounds for act in acts[1:])
    world = World(last.store, Settled(rounds, record), last.definitions, last.given, last.assume)
    moments = (acts[0].after, *(moment for act in acts[1:] for moment in act.moments))
    return Act(moments, world)


_NOTHING: Object = {"metadata": {}}


def _kept(metadata: Mapping[str, Json]) -> dict[str, Json]:
    """Return what an author's document does not say about an object that exists."""
    return {name: value for name, value in metadata.items() if name not in ("labels", "annotations", "namespace")}
