"""Placement of a deployment's replicas on clusters: pure functions from a snapshot to a decision with its reasons.

The front door: `schedule` (a deployment proposes), `admit` (a cluster decides) and `explain` (why; with
`explain_replica`, `standings`, `helpless` and `ClusterTrial` about details of it). What goes in is in `snapshot`, what
comes out in `decision`. The composition functions and the command call the same ones, so what is explained is what
happens.

Never here: a clock, a random number, a log line, a network call, a manifest, an answer that depends on the order of
its inputs.
"""

from modelplane.placement.admission import admit
from modelplane.placement.diagnosis.explain import Explanation, explain, schedule
from modelplane.placement.diagnosis.shortfall import helpless
from modelplane.placement.diagnosis.standing import ReplicaExplanation, Standing, explain_replica, standings
from modelplane.placement.diagnosis.trial import ClusterTrial
from modelplane.placement.scheduling.filters import is_drained, untolerated

__all__ = [
    "ClusterTrial",
    "Explanation",
    "ReplicaExplanation",
    "Standing",
    "admit",
    "explain",
    "explain_replica",
    "helpless",
    "is_drained",
    "schedule",
    "standings",
    "untolerated",
]
