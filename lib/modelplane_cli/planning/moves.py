"""Moves of replicas that would make room, found over all documents. They name only replicas that the reader may read.

The function of a deployment sees no replica of another namespace, so its conditions never name one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane import names, placement
from modelplane.api import inference_cluster
from modelplane.errors import InvalidInput, ModelplaneError
from modelplane.placement import Location, Move, Moves, Party, Scene, demand
from modelplane.placement.decision import Closest, ClusterVerdict
from modelplane.placement.snapshot import Fleet
from modelplane_cli.planning import decision
from modelplane_cli.planning.replicas import DEPLOYMENT, Deployment
from modelplane_cli.simulator import pipeline
from modelplane_cli.simulator.store import Store
from modelplane_functions import deployment_sight
from modelplane_functions.deployment_facts import Facts

Json: TypeAlias = Any

NOT_IN_DOCUMENTS = "no change of a document moves one replica; drain it, or select other clusters in its deployment"


@dataclass(frozen=True, slots=True)
class Round:
    """Moves for one deployment (none if earlier moves left room), and the places of its replicas after them."""

    deployment: str
    moves: tuple[Move, ...]
    places: tuple[Location, ...]


@dataclass(frozen=True, slots=True)
class Remainder:
    """Replicas of a deployment for which no moves are known. Without `decided` the search reached its limit."""

    deployment: str
    count: int
    decided: bool


@dataclass(frozen=True, slots=True)
class Defragmentation:
    """The moves that give missing replicas a place, in order."""

    rounds: tuple[Round, ...]
    left: tuple[Remainder, ...]

    @property
    def fits(self) -> bool:
        """Return whether every replica then has a place, and no move interrupts a replica."""
        return not self.left and not any(move.makes_way for one in self.rounds for move in one.moves)


def scene(store: Store) -> Scene:
    """Return the fleet and the deployments of a store. Deployments that cannot be read are left out."""
    decided = dict(_decisions(store))
    classes = next((facts.classes for facts in decided.values()), {})
    clusters = []
    for key in store.of_kind(names.GROUP, inference_cluster.KIND):
        try:
            clusters.append(deployment_sight.recalled(pipeline.resource(store, key), classes))
        except InvalidInput:
            continue
    parties = [Party(facts.demand, facts.intent, facts.current) for facts in decided.values()]
    return Scene.of(Fleet(tuple(clusters)), parties)


def _decisions(store: Store) -> Iterator[tuple[str, Facts]]:
    for key in store.of_kind(names.GROUP, DEPLOYMENT):
        try:
            facts = decision.of(store, Deployment(key.namespace, key.name)).facts
            demand.of(facts.workload)
        except ModelplaneError:
            continue
        yield names.qualified(key.namespace, key.name), facts


def closest(found: Moves, verdicts: tuple[ClusterVerdict, ...]) -> Closest | None:
    """Return the moves as the closest miss: the cluster that the replica would go to, and its verdict now."""
    if found.place is None:
        return None
    place = found.place
    misses = tuple(f"{one.reason}: {one.detail}" for one in verdicts if one.cluster == place.cluster and one.reason)
    pool = next((holding.pool for holding in place.holdings), "")
    return Closest(place.cluster, pool, misses, str(found), ())


def defragmented(before: Scene) -> Defragmentation:
    """Return the moves that give missing replicas a place, the most urgent deployment first.

    Cost: a search per replica that is missing, and a placement of its deployment.
    """
    now, rounds, left = before, [], []
    askers = sorted(before.parties.values(), key=lambda party: (-party.intent.priority, party.key))
    for party in askers:
        found = Moves()
        while True:
            now, places = now.filled(party.key)
            if places or found.moves:
                rounds.append(Round(party.key, found.moves, places))
            lacking = now.lacks(party.key)
            if not lacking:
                break
            found = placement.smallest_moves(now, party.key)
            if not found.moves:
                left.append(Remainder(party.key, lacking, found.decided))
                break
            for move in found.moves:
                if move.makes_way:
                    now = now.without(move.key, move.source)
            for move in found.moves:
                now = now.moved(move)
    return Defragmentation(tuple(rounds), tuple(left))


# --- as JSON ----------------------------------------------------------------------------------------------------------


def encode_moves(found: Moves) -> dict[str, Json]:
    """Return moves that were found as JSON."""
    return {
        "decided": found.decided,
        "wouldFitIf": str(found),
        "place": None if found.place is None else encode_place(found.place),
        "steps": [encode_move(number, move) for number, move in enumerate(found.moves, 1)],
    }


def encode_move(number: int, move: Move) -> dict[str, Json]:
    """Return one move as JSON."""
    namespace, _, name = move.party.partition("/")
    return {
        "step": number,
        "namespace": namespace,
        "deployment": name,
        "replica": move.replica,
        "from": encode_place(move.source),
        "to": encode_place(move.target),
        "makesWay": move.makes_way,
    }


def encode_place(place: Location) -> dict[str, Json]:
    """Return a place as JSON."""
    return {"cluster": place.cluster, "pools": sorted({holding.pool for holding in place.holdings})}


def encode(found: Defragmentation) -> dict[str, Json]:
    """Return a defragmentation as JSON."""
    numbers = iter(range(1, 1 + sum(len(one.moves) for one in found.rounds)))
    return {
        "fits": found.fits,
        "rounds": [
            {
                **_deployment(one.deployment),
                "moves": [encode_move(next(numbers), move) for move in one.moves],
                "thenFits": [encode_place(place) for place in one.places],
            }
            for one in found.rounds
        ],
        "left": [{**_deployment(one.deployment), "count": one.count, "decided": one.decided} for one in found.left],
    }


def _deployment(key: str) -> dict[str, Json]:
    namespace, _, name = key.partition("/")
    return {"namespace": namespace, "name": name}
