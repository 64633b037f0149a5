"""Transport between the fleet's gateway and the gateway of a cluster, and the steps from one to the other.

A cluster that serves moves without a failed request: the new listener is opened beside the old one and seen to work,
then the endpoints use it, and the old one is closed when nothing leads to it any more. Each step is recorded, and taken
again from the record: nothing that is unknown for a moment takes one back.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Transport(StrEnum):
    """The transport of requests to a cluster's gateway."""

    PLAINTEXT = "Plaintext"
    """Requests as the listener takes them from anybody."""
    MUTUAL_TLS = "MutualTLS"
    """TLS in which both gateways show a certificate."""


class Phase(StrEnum):
    """The step of a change of transport."""

    OPENING = "Opening"
    """The listener is made and not seen to work yet; endpoints use the old one, if there is one."""
    MOVING = "Moving"
    """Endpoints are told to use the listener; some may not yet."""
    CLOSING = "Closing"
    """Nothing led to the old listener when it was last looked at."""
    SETTLED = "Settled"
    """The listener is the only one."""


BOTH = frozenset(Transport)


@dataclass(frozen=True, slots=True)
class Record:
    """The transport that endpoints are told, None before there is one, and the step that was published last."""

    serving: Transport | None = None
    phase: Phase | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """The step of now: the transport that endpoints are told, and the listeners that stand."""

    serving: Transport | None
    phase: Phase
    listeners: frozenset[Transport]


def step(wanted: Transport, record: Record, *, is_usable: bool, is_left: bool) -> Step:
    """Return the step that follows a record.

    The listener of `wanted` `is_usable` when it is seen to serve. The other one `is_left` when nothing leads to it,
    which has to be seen twice: a route that was just changed may not have reached the proxies.
    """
    alone = frozenset({wanted})
    if record.serving is None:
        return Step(wanted, Phase.SETTLED, alone) if is_usable else Step(None, Phase.OPENING, alone)
    if record.serving is not wanted:
        if is_usable:
            return Step(wanted, Phase.MOVING, BOTH)
        return Step(record.serving, Phase.OPENING, BOTH)
    if record.phase is Phase.SETTLED or (record.phase is Phase.CLOSING and is_left):
        return Step(wanted, Phase.SETTLED, alone)
    return Step(wanted, Phase.CLOSING if is_left else Phase.MOVING, BOTH)
