"""Criteria that compare the clusters that can take a replica. The first criterion that differs decides.

A criterion is a field of `Preference`. Its position is its weight, and its annotation describes a difference in words.
The queue of candidates and `explain` know no criterion by name or position.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple, TypeAlias, get_type_hints

from modelplane.placement.scheduling import filters
from modelplane.placement.scheduling.assignment import Goodness, Price
from modelplane.placement.scheduling.board import Board
from modelplane.placement.scheduling.likeness import ANY_LIKENESS, Likeness
from modelplane.placement.snapshot import Intent, Strategy

Difference: TypeAlias = Callable[[Intent, Any, Any], str]
"""The description of a difference between another cluster (first value) and the chosen one (second value)."""


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _spread(intent: Intent, theirs: tuple[int, ...], ours: tuple[int, ...]) -> str:
    keys = ", ".join(constraint.topology_key for constraint in intent.spread)
    return f"spread over {keys}: {_counts(theirs)} replicas against {_counts(ours)}"


def _own(intent: Intent, theirs: int, ours: int) -> str:
    return f"{intent.strategy}: it has {_counted(abs(theirs), 'other replica')} of the deployment against {abs(ours)}"


def _cache(_intent: Intent, _theirs: bool, _ours: bool) -> str:  # noqa: FBT001 - values of a criterion
    return "the model cache is ready on only one of the two"


def _taints(_intent: Intent, theirs: int, ours: int) -> str:
    return f"it has {_counted(theirs, 'untolerated PreferNoSchedule taint')} against {ours}"


def _rank(_intent: Intent, theirs: int, ours: int) -> str:
    return f"its alternatives are {_counted(theirs, 'place')} behind the preferred ones against {ours}"


def _price(_intent: Intent, theirs: Price, ours: Price) -> str:
    def told(price: Price) -> str:
        return "unknown" if price[0] else str(price[1])

    return f"its new nodes would cost {told(theirs)} per hour against {told(ours)}"


def _opened(_intent: Intent, theirs: int, ours: int) -> str:
    return f"it would use {_counted(theirs, 'new node')} against {ours}"


def _left(_intent: Intent, theirs: int, ours: int) -> str:
    return f"it would leave {_counted(theirs, 'device')} free in its pools against {ours}; the tighter fit is preferred"


def _memory(_intent: Intent, theirs: int, ours: int) -> str:
    return f"it would take {theirs >> 20}Mi of device memory against {ours >> 20}Mi; the smaller device is preferred"


def _devices_opened(_intent: Intent, theirs: int, ours: int) -> str:
    return f"its new nodes would have {theirs} devices against {ours}"


def _likeness(_intent: Intent, _theirs: Likeness, _ours: Likeness) -> str:
    return "it is equal in all criteria; the remaining content of the clusters decides"


def _name(_intent: Intent, _theirs: str, _ours: str) -> str:
    return "it is equal in everything else; the name decides"


# A tuple, because the candidates of a large fleet are compared a hundred thousand times in one call.
class Preference(NamedTuple):
    """The rank of a cluster among those that can take the replica; a smaller one is better.

    `spread_counts` is equal for all entries of one queue and empty there. `own_replicas` is negative under Pack.
    `likeness` is the content of the cluster without its name, so that the name decides only between equal clusters. It
    is empty in a bound.
    """

    spread_counts: Annotated[tuple[int, ...], _spread]
    own_replicas: Annotated[int, _own]
    cache_absent: Annotated[bool, _cache]
    disliked_taints: Annotated[int, _taints]
    rank: Annotated[int, _rank]
    price: Annotated[Price, _price]
    memory: Annotated[int, _memory]
    devices_opened: Annotated[int, _devices_opened]
    nodes_opened: Annotated[int, _opened]
    devices_left: Annotated[int, _left]
    likeness: Annotated[Likeness, _likeness]
    name: Annotated[str, _name]


Standing: TypeAlias = tuple[int, bool, int]
"""The standing of a cluster before its devices are compared: own replicas, cache absent, disliked taints."""


def standing(board: Board, name: str) -> Standing:
    """Return the standing of a cluster among those that can take the replica."""
    own = board.tally.replicas_on.get(name, 0)
    cache = board.intent.cache
    absent = cache is not None and name not in cache.ready_clusters
    cluster = board.clusters[name]
    disliked = filters.disliked(cluster, board.intent) if cluster.taints else 0
    return (own if board.intent.strategy is Strategy.SPREAD else -own, absent, disliked)


def bound(shared: Standing, floor: Goodness) -> Preference:
    """Return the lower bound that clusters of one standing and floor share; it has no name."""
    return Preference._make(((), *shared, *floor, ANY_LIKENESS, ""))


def of(
    board: Board, name: str, goodness: Goodness, likeness: Likeness = ANY_LIKENESS, spread_counts: tuple[int, ...] = ()
) -> Preference:
    """Return the preference for a cluster with the score of an assignment there, or with a lower bound on it."""
    return Preference._make((spread_counts, *standing(board, name), *goodness, likeness, name))


def difference(intent: Intent, theirs: Preference, ours: Preference) -> str:
    """Return the first difference in words, with the value of the other cluster first; empty if there is none."""
    hints = get_type_hints(type(ours), include_extras=True)
    for field, one, other in zip(ours._fields, theirs, ours, strict=True):
        if one != other:
            describe: Difference = hints[field].__metadata__[0]
            return describe(intent, one, other)
    return ""


def _counts(value: tuple[int, ...]) -> str:
    return ", ".join(str(one) for one in value)
