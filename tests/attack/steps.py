"""Steps of attacks, and the fleet after each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from tests.attack import documents as of
from tests.attack import judge
from tests.attack.documents import TEAM
from tests.attack.plane import Plane, identity
from tests.attack.play import Guard, Play, Theft, copies, must

Json = Any
Change: TypeAlias = Callable[[Json], Json]
DRAIN = {"key": "drain", "value": "now", "effect": "NoExecute"}


def in_steps(plane: Plane, *steps: Theft, keep: bool = True) -> Iterator[Plane]:
    """Yield the fleet after the steps, in either order of controllers. It settles after each one."""
    for made, backwards in copies(plane, keep=keep):
        for step in steps:
            step(made)
            made.settle(backwards=backwards)
        judge.no_route_dangles(made)
        must(not made.errors, f"{made.errors[:1]}")
        yield made


def two_clusters(play: Play, *more: Json, **spec: Json) -> Plane:
    """Return a fleet of two clusters of one node each, a deployment of two replicas, its service and `more`."""
    clusters = (of.cluster(nodes=1), of.cluster("west", nodes=1))
    return play.settled(of.node_class(), *clusters, of.gateway(), of.deployment(**spec), of.service(), *more)


def edited(name: str, change: Any) -> Theft:
    return lambda made: made.edit("ModelReplica", TEAM, name, change)


def scaled(count: int) -> Theft:
    return lambda made: made.edit("ModelDeployment", TEAM, "first", lambda one: one["spec"].update(replicas=count))


def drained(effect: str) -> Theft:
    taint = {**DRAIN, "effect": effect}
    return lambda made: made.edit("InferenceCluster", "", "east", lambda one: one["spec"].update(taints=[taint]))


def undrained(made: Plane) -> None:
    made.edit("InferenceCluster", "", "east", lambda one: one["spec"].pop("taints"))


def with_spec(**spec: Json) -> Change:
    return lambda one: one["spec"].update(spec)


def at_config(name: str) -> Change:
    return lambda one: one["spec"]["providerConfigRef"].update(name=name)


def looked_at(step: Theft, guard: Guard) -> Theft:
    """Return a step before which the guard looks at what the step before it has led to."""

    def both(made: Plane) -> None:
        guard(made)
        step(made)

    return both


def unlabelled(made: Plane) -> None:
    for one in list(made.of_kind("ModelReplica")):
        made.edit(*identity(one), lambda it: it["metadata"].update(labels={}))
