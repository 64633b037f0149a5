"""The conditions of one object that are not as wanted, those that explain most first."""

from __future__ import annotations

from modelplane_cli.simulator import verdict
from modelplane_cli.simulator.offline import World
from modelplane_cli.simulator.store import Key
from modelplane_cli.simulator.verdict import Failure

_SUMMING_UP = frozenset({"Serving", "ReplicasReady"})
"""Conditions that say that something is missing, where others of the same object say why."""


def of(world: World, key: Key) -> tuple[Failure, ...]:
    """Return the conditions of an object that are not as wanted, those that are False first."""
    found = verdict.of(world, key)
    return tuple(sorted(found, key=lambda cause: (cause.status != "False", cause.condition in _SUMMING_UP)))
