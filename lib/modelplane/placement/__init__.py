"""Placement of a deployment's replicas on clusters: pure functions from a snapshot to a decision with its reasons.

A deployment proposes replicas with `schedule`, a cluster admits them with `admit`, and `explain` gives the reasons.
`retain` is `schedule` for a deployment that has to look at no cluster beside its own. `explain_replica`, `standings`,
`helpless` and `ClusterTrial` give further details. `smallest_moves` finds the replicas that would have to move
elsewhere. `ways` says how the matching devices of each cluster are claimed, for the choice of a backend. A quota
answers clusters with `grant`. `snapshot` holds the inputs and `decision` the results. The composition functions and the
command call the same functions, so an explanation describes what happens.

This package uses no clock, random number, log, network or manifest, and no answer depends on the order of the inputs.
"""

from modelplane.placement.admission import admit
from modelplane.placement.diagnosis.explain import Explanation, explain, retain, schedule
from modelplane.placement.diagnosis.moves import Moves, smallest_moves
from modelplane.placement.diagnosis.relocation import Location, Move, Party, Scene
from modelplane.placement.diagnosis.shortfall import helpless
from modelplane.placement.diagnosis.standing import ReplicaExplanation, Standing, explain_replica, standings
from modelplane.placement.diagnosis.trial import ClusterTrial
from modelplane.placement.granting import grant
from modelplane.placement.scheduling.claiming import ways
from modelplane.placement.scheduling.filters import is_drained, untolerated

__all__ = [
    "ClusterTrial",
    "Explanation",
    "Location",
    "Move",
    "Moves",
    "Party",
    "ReplicaExplanation",
    "Scene",
    "Standing",
    "admit",
    "explain",
    "explain_replica",
    "grant",
    "helpless",
    "is_drained",
    "retain",
    "schedule",
    "smallest_moves",
    "standings",
    "untolerated",
    "ways",
]
