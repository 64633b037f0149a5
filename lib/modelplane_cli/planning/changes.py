"""Replicas that are created, moved, rewritten or removed between two states of a world, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from modelplane import names, placement
from modelplane.api import inference_cluster
from modelplane.errors import ModelplaneError
from modelplane.placement.snapshot import Cluster, Intent
from modelplane_cli.planning import decision
from modelplane_cli.planning.lineage import Fate, Lineage
from modelplane_cli.planning.replicas import Deployment, ObservedReplica
from modelplane_cli.simulator.offline import World
from modelplane_cli.simulator.store import Key


class Action(StrEnum):
    """The change of a replica."""

    CREATED = "created"
    MOVED = "moved"
    REWRITTEN = "rewritten"
    """Written anew where it is, which restarts it."""
    REMOVED = "removed"
    """Not wanted any more."""
    LOST = "lost"
    """The replica is wanted and gone, and has no replacement."""


@dataclass(frozen=True, slots=True)
class Change:
    """One replica's change. `source` is None when it is created, `target` when it has no replacement.

    `interrupted`: for a while it served no longer and its successor did not yet serve.
    """

    action: Action
    source: ObservedReplica | None
    target: ObservedReplica | None
    why: str
    interrupted: bool = False

    @property
    def replica(self) -> ObservedReplica:
        """Return the replica it is about: as it was, or as it is when it is new."""
        found = self.source or self.target
        if found is None:
            raise ValueError("a change is about a replica")
        return found

    @property
    def disrupts(self) -> bool:
        """Return whether somebody who uses the replica notices."""
        return self.action is not Action.REMOVED and (self.interrupted or self.action is Action.LOST)


@dataclass(frozen=True, slots=True)
class Tally:
    """The number of changes by kind. A replica that is moved or rewritten and does not serve for a while is also
    `interrupted`.
    """

    created: int = 0
    moved: int = 0
    rewritten: int = 0
    removed: int = 0
    interrupted: int = 0
    lost: int = 0


def tally(found: Iterable[Change]) -> Tally:
    """Return the number of changes by kind."""
    every = list(found)
    counts = Counter(change.action for change in every)
    return Tally(
        created=counts[Action.CREATED],
        moved=counts[Action.MOVED],
        rewritten=counts[Action.REWRITTEN],
        removed=counts[Action.REMOVED],
        interrupted=sum(change.disrupts and change.action is not Action.LOST for change in every),
        lost=counts[Action.LOST],
    )


def between(lineage: Lineage, world: World, lost: frozenset[str] = frozenset()) -> tuple[Change, ...]:
    """Return the changes from the first moment of a lineage to its last, which is the state of `world`."""
    reasons = _Reasons(world, lost)
    found = [change for fate in lineage.fates() for change in _changed(fate, reasons)]
    found += [Change(Action.CREATED, None, replica, reasons.created(replica)) for replica in lineage.created()]
    return tuple(sorted(found, key=lambda change: (change.replica.deployment, change.replica.id)))


def _changed(fate: Fate, reasons: _Reasons) -> Iterator[Change]:
    was, now = fate.was, fate.now
    if now is not None and now.lost:
        yield Change(Action.LOST, was, None, reasons.moved(was), interrupted=True)
    elif now is None:
        why, is_wanted = reasons.removed(was)
        yield Change(Action.LOST if is_wanted else Action.REMOVED, was, None, why, interrupted=is_wanted)
    elif fate.moved:
        yield Change(Action.MOVED, was, now, reasons.moved(was), interrupted=fate.interrupted)
    elif fate.rewritten:
        # A rewritten pod template replaces the pods where they stand, so it serves nothing in between.
        why = "the deployment was changed and is written into it where it is"
        yield Change(Action.REWRITTEN, was, now, why, interrupted=True)


class _Reasons:
    """Why replicas of a world changed, in the terms of the functions that changed them."""

    def __init__(self, world: World, lost: frozenset[str]) -> None:
        self._world = world
        self._lost = lost
        self._facts: dict[Deployment, tuple[Intent, dict[str, Cluster]] | None] = {}

    def _made_room(self, was: ObservedReplica) -> bool:
        """Return whether its successor was placed so that another replica has room."""
        store = self._world.store
        replicas = (store.get(key) or {} for key in store.of_kind(names.GROUP, "ModelReplica"))
        said = (
            one["metadata"].get("annotations") or {}
            for one in replicas
            if one["metadata"].get("namespace") == was.id.namespace
        )
        return any(
            one.get(names.ANNOTATION_REPLACES) == was.name and names.ANNOTATION_MAKES_ROOM in one for one in said
        )

    def created(self, replica: ObservedReplica) -> str:
        return self._wanted(replica.deployment)

    def moved(self, was: ObservedReplica) -> str:
        """Return the causes for a replica to leave its cluster, in the order in which the scheduler tries them."""
        name = was.cluster
        if name in self._lost:
            return f"cluster {name} is lost"
        if self._world.store.get(Key(names.GROUP, inference_cluster.KIND, "", name)) is None:
            return f"cluster {name} no longer exists"
        facts = self._known(was.deployment)
        if facts is not None and name in facts[1]:
            intent, cluster = facts[0], facts[1][name]
            taint = placement.is_drained(cluster, intent)
            if taint is not None:
                return f"cluster {name} has the taint {taint}:NoExecute"
            gone = {role.pool for role in was.roles} - {pool.name for pool in cluster.pools}
            if gone:
                return f"cluster {name} no longer has pool {', '.join(sorted(gone))}"
        if not was.admitted:
            return f"cluster {name} refused it"
        if self._made_room(was):
            return f"cluster {name} asked it to leave, so that another replica fits"
        return "it runs an earlier version of the deployment"

    def removed(self, was: ObservedReplica) -> tuple[str, bool]:
        """Return the cause of a replica's end, and whether a replacement is still wanted."""
        resource = self._world.store.get(was.deployment.key)
        if resource is None:
            return f"ModelDeployment {was.deployment} does not exist any more", False
        is_wanted = bool((resource.get("status") or {}).get("unscheduledReplicas"))
        start = f"removing {was.name} on {was.cluster}: "
        said = [
            event.message.removeprefix(start)
            for event in self._world.settled.record.events
            if event.about == was.deployment.key and event.message.startswith(start)
        ]
        return (said[-1] if said else self._wanted(was.deployment)), is_wanted

    def _wanted(self, deployment: Deployment) -> str:
        wanted = ((self._world.store.get(deployment.key) or {}).get("spec") or {}).get("replicas", 1)
        return f"{wanted} {'replica is' if wanted == 1 else 'replicas are'} wanted"

    def _known(self, deployment: Deployment) -> tuple[Intent, dict[str, Cluster]] | None:
        if deployment not in self._facts:
            try:
                facts = decision.of(self._world.store, deployment).facts
                self._facts[deployment] = (facts.intent, {one.name: one for one in facts.fleet.clusters})
            except ModelplaneError:
                self._facts[deployment] = None
        return self._facts[deployment]
