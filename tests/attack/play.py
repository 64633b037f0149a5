"""What an attack is played with: settled fleets, the server, and the order in which controllers look."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import grpc

from tests.attack import documents, judge
from tests.attack.plane import Plane
from tests.support import functionserver

Json = Any
Theft: TypeAlias = Callable[[Plane], object]
Guard: TypeAlias = Callable[[Plane], None]


@dataclass
class Play:
    """The server that is attacked. `thorough` plays the long form of an attack."""

    server: functionserver.Server
    channel: grpc.Channel
    folder: Path
    thorough: bool
    _settled: dict[str, Plane] = field(default_factory=dict)

    def fleet(self, *more: Json) -> Plane:
        """Return a settled fleet of one full cluster, a deployment of two replicas, its service, and `more`."""
        return self.settled(
            documents.node_class(),
            documents.cluster(),
            documents.gateway(),
            documents.deployment(),
            documents.service(),
            *more,
        )

    def settled(self, *given: Json, past_schema: bool = False) -> Plane:
        """Return a fleet of these documents after nothing moves any more. Guards look from the first step."""
        key = repr(given)
        if key not in self._settled:
            plane = Plane(self.channel)
            plane.guards += [judge.within_capacity, judge.no_route_dangles, judge.one_writer_each, judge.host_is_ours]
            for document in given:
                plane.create(document, past_schema=past_schema)
            plane.settle()
            self._settled[key] = plane
        return copy_of(self._settled[key])


def copy_of(plane: Plane) -> Plane:
    """Return a plane of its own that stands as `plane` does."""
    made = copy.copy(plane)
    for name in ("objects", "remote", "_applied", "fatal"):
        setattr(made, name, copy.deepcopy(getattr(plane, name)))
    made.guards, made.errors = list(plane.guards), list(plane.errors)
    return made


def copies(plane: Plane, *, keep: bool) -> Iterator[tuple[Plane, bool]]:
    """Yield a fleet to attack, and whether what is owned is reconciled before its owners.

    With `keep`, all that runs has to stand unchanged after every step.
    """
    for backwards in (False, True):
        made = copy_of(plane)
        if keep:
            made.guards.append(judge.Standing(made))
        else:  # what the attack itself deletes is routed to until its service looks
            made.guards.remove(judge.no_route_dangles)
        yield made, backwards


def after(plane: Plane, *thefts: Theft, keep: bool = True) -> Iterator[Plane]:
    """Yield the fleet after the thefts, in either order of controllers."""
    for made, backwards in copies(plane, keep=keep):
        for theft in thefts:
            theft(made)
        made.settle(backwards=backwards)
        judge.no_route_dangles(made)
        yield made


def each(plane: Plane, thefts: Sequence[Theft], *, keep: bool = True) -> Iterator[Plane]:
    """Yield the fleet after each of the thefts, in either order."""
    for theft in thefts:
        yield from after(plane, theft, keep=keep)


def must(is_so: object, otherwise: str) -> None:
    """Raise Taken when something is not so."""
    if not is_so:
        raise judge.Taken(otherwise)


def runs(plane: Plane, name: str, cluster: str = "east") -> bool:
    """Return whether pods of a replica are to run on a cluster."""
    return any(workload.split()[-1] == name for workload, _ in judge.pods(plane, documents.place(cluster)))
