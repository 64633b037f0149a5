"""The condition Fits: whether a known model fits the devices of its replica.

It informs, and nothing else depends on it: neither readiness nor a placement nor what runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from modelplane import seen, words
from modelplane.render import fits
from modelplane.render.fits import Judged
from modelplane.workload.model import Replica
from modelplane_functions.exchange import Condition, Observed, Resource, Truth
from modelplane_functions.memory.resources import recall

TYPE = "Fits"
_TOLD = {Truth.FALSE: 3, Truth.UNKNOWN: 1, Truth.TRUE: 1}
"""The number of different messages that one condition has."""
_TRUTHS = {True: Truth.TRUE, False: Truth.FALSE, None: Truth.UNKNOWN}
_ORDER = {Truth.FALSE: 0, Truth.UNKNOWN: 1, Truth.TRUE: 2}
_UNKNOWN = "the model, or what the engine's arguments do with it, is not known"


def of_replica(observed: Observed, replica: Replica) -> Iterator[Condition]:
    """Yield the verdict on the roles of a replica, computed once for its spec; nothing for an unknown model."""
    judged = recall(observed.spec, TYPE, partial(_judged, replica))
    found = [Condition(TYPE, _TRUTHS[one.verdict.holds], one.verdict.reason, _message(replica, one)) for one in judged]
    if found and len(found) < len(replica.roles):
        found.append(Condition(TYPE, Truth.UNKNOWN, "ModelUnknown", f"of a role {_UNKNOWN}"))
    yield from _worst(observed, found)


def of_children(observed: Observed, told: Iterable[tuple[str, Resource | None]]) -> Iterator[Condition]:
    """Yield the worst verdict that named children report; nothing where none reports any."""
    found = []
    for name, child in told:
        condition = seen.conditions(seen.at(child, "status")).get(TYPE)
        if condition is not None:
            reason, message = seen.text(condition.get("reason")), seen.text(condition.get("message"))
            truth = _TRUTHS[seen.verdict(condition)]
            found.append(Condition(TYPE, truth, reason or "Unknown", f"{name}: {message}" if name else message))
    yield from _worst(observed, found)


def _judged(replica: Replica) -> tuple[Judged, ...]:
    return tuple(fits.of_replica(replica))


def _message(replica: Replica, one: Judged) -> str:
    role = f"{one.role}: " if replica.is_disaggregated else ""
    instead = f"; write {one.verdict.instead} or less" if one.verdict.instead else ""
    return f"{role}{one.verdict.message}{instead}"


def _worst(observed: Observed, found: list[Condition]) -> Iterator[Condition]:
    """Yield one condition of the worst truth, with what is told of it; Unknown where there was one and is none now."""
    if found:
        worst = min(found, key=lambda one: _ORDER[one.status])
        same = list(dict.fromkeys(one.message for one in found if one.status is worst.status))
        yield Condition(TYPE, worst.status, worst.reason, words.first(same, _TOLD[worst.status], "; "))
    elif TYPE in seen.conditions(observed.status):
        yield Condition(TYPE, Truth.UNKNOWN, "ModelUnknown", _UNKNOWN)
