"""The effects of events on a fleet. The real functions settle each event before the next."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeAlias

from modelplane import names
from modelplane_cli.planning import capacity, changes, corrections, plan, routes
from modelplane_cli.planning import rehearsal as rehearsals
from modelplane_cli.planning.changes import Action, Change
from modelplane_cli.planning.happenings import Happening
from modelplane_cli.planning.lineage import Lineage
from modelplane_cli.planning.plan import DeploymentRow, Plan
from modelplane_cli.planning.rehearsal import Act, Rehearsal
from modelplane_cli.planning.replicas import Deployment, ObservedReplica, ObservedReplicas
from modelplane_cli.planning.routes import RouteRow
from modelplane_cli.simulator.offline import World

Json: TypeAlias = Any
Settle: TypeAlias = Callable[[Rehearsal], Act]
Watch: TypeAlias = "Callable[[Act, Step | None], None]"
"""A look at the world as each act ends, the first without a step: the world goes on afterwards."""


@dataclass(frozen=True, slots=True)
class Unplaced:
    """Replicas of one deployment that are wanted and have no place where they may be.

    `replicas` names those that were somewhere before: on a lost cluster, or still on one they should leave (`stuck` of
    them).
    """

    deployment: Deployment
    count: int
    replicas: tuple[str, ...]
    message: str
    stuck: int = 0


@dataclass(frozen=True, slots=True)
class Step:
    """An event and its effects. `stages` list in order which replicas were placed, served and removed."""

    event: str
    is_loss: bool
    changes: tuple[Change, ...]
    unplaced: tuple[Unplaced, ...]
    stages: tuple[tuple[str, ...], ...]
    routes: tuple[RouteRow, ...] = ()

    @property
    def moved(self) -> tuple[Change, ...]:
        """Return the replicas that have a successor now."""
        return tuple(change for change in self.changes if change.action is Action.MOVED)

    @property
    def lost(self) -> tuple[Change, ...]:
        """Return the replicas that stopped serving before a successor served, if any did."""
        return tuple(change for change in self.changes if change.disrupts)

    @property
    def fits(self) -> bool:
        """Return whether replicas have placements and services endpoints, and no decision interrupted a replica."""
        return not self.unplaced and all(row.fits for row in self.routes) and (self.is_loss or not self.lost)


@dataclass(frozen=True, slots=True)
class Simulation:
    """The steps, and the plan from the beginning to the end."""

    steps: tuple[Step, ...]
    after: Plan
    worlds: tuple[World, ...]

    @property
    def fits(self) -> bool:
        """Return whether every step and the resulting plan fit."""
        return all(step.fits for step in self.steps) and self.after.is_settled


def unwatched(_act: Act, _step: Step | None) -> None:
    """Let every moment pass."""


def run(rehearsal: Rehearsal, happenings: Sequence[Happening], settle: Settle, watch: Watch = unwatched) -> Simulation:
    """Return the effects of the happenings, in order, on the world of the rehearsal.

    Raises: InvalidInput for a happening to something that is not there.
    """
    acts = [settle(rehearsal)]
    watch(acts[0], None)
    pools, standing = capacity.pools(rehearsal.store), [routes.of(rehearsal.store)]
    steps: list[Step] = []
    for happening in happenings:
        happening.strike(rehearsal)
        acts.append(settle(rehearsal))
        standing.append(routes.of(rehearsal.store))
        changed = routes.between(standing[-2], standing[-1])
        steps.append(replace(_step(happening, acts[-2], acts[-1], rehearsal.lost), routes=changed))
        watch(acts[-1], steps[-1])
    made = plan.of(rehearsals.joined(acts), pools, rehearsal.lost, routes_before=standing[0])
    after = corrections.corrected(rehearsal, made)
    return Simulation(tuple(steps), after, tuple(act.world for act in acts))


def _step(happening: Happening, before: Act, act: Act, lost: frozenset[str]) -> Step:
    moments = (before.after, *act.moments)
    found = changes.between(Lineage(moments), act.world, lost)
    made = plan.rows(act.world, Lineage(act.moments), plan.deployments(act.world.store), None)
    return Step(
        event=happening.words,
        is_loss=happening.is_loss,
        changes=found,
        unplaced=tuple(_unplaced(made, found)),
        stages=tuple(_stages(moments)),
    )


def unplaced(act: Act, lost: frozenset[str], about: Sequence[Deployment]) -> tuple[Unplaced, ...]:
    """Return the replicas of the deployments that have no place at the end of an act."""
    lineage = Lineage(act.moments)
    found = changes.between(lineage, act.world, lost)
    return tuple(_unplaced(plan.rows(act.world, lineage, about, None), found))


def _unplaced(made: Iterable[DeploymentRow], found: Iterable[Change]) -> Iterator[Unplaced]:
    lost: dict[Deployment, list[ObservedReplica]] = {}
    for change in found:
        if change.action is Action.LOST:
            lost.setdefault(change.replica.deployment, []).append(change.replica)
    for row in made:
        gone = lost.get(row.id, [])
        missing = row.unschedulable
        count = max(missing.count if missing is not None else 0, len(gone)) + len(row.blocked)
        if not count and missing is None:
            continue
        said = [missing.message] if missing is not None else []
        if missing is None and gone:
            said.append(f"{gone[0].cluster} is lost; its replicas are held until other clusters are listed")
        stuck = [blocked.partition(" ")[0] for blocked in row.blocked]
        names_ = dict.fromkeys((*(replica.name for replica in gone), *stuck))
        yield Unplaced(row.id, count, tuple(names_), "; ".join((*said, *row.blocked)), len(stuck))


# --- in stages --------------------------------------------------------------------------------------------------------


def _stages(moments: Sequence[ObservedReplicas]) -> Iterator[tuple[str, ...]]:
    for before, after in pairwise(moments):
        said = tuple(_said(before, after))
        if said:
            yield said


def _said(before: ObservedReplicas, after: ObservedReplicas) -> Iterator[str]:
    for id_, replica in after.items():
        name = names.qualified(replica.id.namespace, replica.name)
        old = before.get(id_)
        served = old is not None and old.serves
        if old is None:
            whose = f" as the successor of {replica.replaces}" if replica.replaces else ""
            yield f"{name} is placed on {replica.cluster}{whose}"
        elif old.written != replica.written:
            yield f"{name} is rewritten on {replica.cluster}"
        if replica.serves and not served:
            yield f"{name} serves on {replica.cluster}"
        elif served and not replica.serves:
            yield f"{name} no longer serves on {replica.cluster}"
    for id_, replica in before.items():
        if id_ not in after:
            yield f"{names.qualified(id_.namespace, replica.name)} is removed from {replica.cluster}"


# --- as JSON ----------------------------------------------------------------------------------------------------------


def encode(simulation: Simulation) -> dict[str, Json]:
    """Return the simulation as JSON. Its keys are a promise: some may be added, none changed."""
    return {"steps": [encode_step(step) for step in simulation.steps], "after": plan.encode(simulation.after)}


def encode_step(step: Step) -> dict[str, Json]:
    """Return one step as JSON."""
    return {
        "event": step.event,
        "fits": step.fits,
        "moved": [plan.encode_change(change) for change in step.moved],
        "lost": [plan.encode_change(change) for change in step.lost],
        "unplaced": [encode_unplaced(one) for one in step.unplaced],
        "changes": [plan.encode_change(change) for change in step.changes],
        "stages": [list(stage) for stage in step.stages],
        "routes": [routes.encode(row) for row in step.routes if row.change != "retained" or not row.fits],
    }


def encode_unplaced(one: Unplaced) -> dict[str, Json]:
    """Return replicas without a placement as JSON."""
    return {
        "namespace": one.deployment.namespace,
        "name": one.deployment.name,
        "count": one.count,
        "replicas": list(one.replicas),
        "message": one.message,
    }
