"""Causes for which a replica waits in a queue, in the order in which they are told, and words of all queues."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum

from modelplane import seen, units
from modelplane.errors import InvalidInput, Unsupported
from modelplane.render import pod_errors
from modelplane.render.backend import Problem
from modelplane.render.scheduler import Json, Object
from modelplane.workload.model import Replica
from modelplane.workload.site import ClusterFacts

cut = pod_errors.cut
_EXPONENT_MAX = 12


class Rank(IntEnum):
    """The order of causes: what does not end by waiting comes first."""

    MISSING = 1
    REFUSED = 2
    STOPPED = 3
    CHECKED = 4
    PREEMPTED = 5
    PENDING = 6


@dataclass(frozen=True, slots=True, order=True)
class Waiting:
    """One entry of a queue that waits: its rank, a stable reason, and a message with the queue's own words."""

    rank: Rank
    reason: str
    message: str

    def problem(self, more: str = "") -> Problem:
        """Return the problem of the replica. `more` is added to the message."""
        return Problem(self.reason, self.message + more, is_queued=True)


def message(condition: Object | None) -> str:
    """Return the message of a condition, or its reason, on one line of bounded length."""
    told = seen.text(seen.at(condition, "message")) or seen.text(seen.at(condition, "reason"))
    return cut(told) or "no message"


def check_backend(backend: str, refused: Mapping[str, str], scheduler: str, instead: str) -> None:
    """Check that a scheduler can queue a backend. Raises: Unsupported with the reason in `refused`, and what can."""
    if backend in refused:
        raise Unsupported(
            f"{backend} cannot be queued by {scheduler}: {refused[backend]}; use {instead} there",
            reason="BackendUnavailable",
        )


def priority_class(replica: Replica, facts: ClusterFacts) -> str:
    """Return the class of the cluster for the priority of a replica: that with the greatest minimum it reaches.

    It is empty where the cluster maps no class to the priority.
    """
    reached = [(least, name) for least, name in facts.priority_classes if replica.priority >= least]
    return max(reached, default=(0, ""))[1]


def whole(quantity: Json) -> int | None:
    """Return a quantity of devices as a whole number, rounded down; None for none, and for what is no quantity."""
    if isinstance(quantity, bool) or not isinstance(quantity, int | str):
        return None
    try:
        found = units.quantity(str(quantity))
    except InvalidInput:
        return None
    if found.exponent > _EXPONENT_MAX:
        return None  # more than any cluster has
    scale: int = 10 ** abs(found.exponent)
    return max(0, found.unscaled * scale if found.exponent >= 0 else found.unscaled // scale)


def added(amounts: Iterable[int | None]) -> int | None:
    """Return the sum of amounts, None if one of them is not limited."""
    known = list(amounts)
    return None if None in known else sum(one for one in known if one is not None)


def unscheduled(pods: Iterable[Object], scheduler: str, where: str) -> Iterator[Waiting]:
    """Yield the causes for which pods of a scheduler have no node, in its own words."""
    for pod in pods:
        condition = seen.condition(pod.get("status"), "PodScheduled")
        is_its = seen.text(seen.at(pod, "spec", "schedulerName")) == scheduler
        if is_its and seen.verdict(condition) is False and not seen.at(pod, "metadata", "deletionTimestamp"):
            name = cut(seen.text(seen.at(pod, "metadata", "name")))
            yield Waiting(Rank.PENDING, "QueuePending", f"pod {name} waits in {where}: {message(condition)}")
