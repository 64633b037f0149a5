"""The replicas of every backend that are asked field by field: each shape in each state."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace

from modelplane.workload.model import Replica
from tests.support import any_backend
from tests.support.any_backend import FEATURES, State
from tests.support.situations import Situation

_LEFT_OUT = {"no model", "prefill", "many workers", "nothing claimed"}
"""Features without which a replica has more fields."""


@functools.cache
def situations() -> tuple[Situation, ...]:
    """Return the replicas of `of` of every backend in every state, and those of more images where all is new."""
    return tuple(
        replace(any_backend.situation(replica, state), example=f"{backend}, {shape}, {state}", shape=shape)
        for backend in any_backend.NAMES
        for shape, replica in {**of(backend), **_more(backend)}.items()
        for state in (State if shape in of(backend) else (State.NEW,))
    )


@functools.cache
def of(backend: str) -> Mapping[str, Replica]:
    """Return a replica with many features, one with two roles where the backend takes it, and a plain one."""
    plain = any_backend.plain(backend)
    found = {"many features": _with_many(plain[0])}
    for one in plain:
        apart = any_backend.apart(one)
        if any_backend.is_taken(apart):
            found["two roles"] = _with_many(apart)
            break
    return {**found, "plain": plain[0]}


def _more(backend: str) -> Mapping[str, Replica]:
    return {f"plain {number}": one for number, one in enumerate(any_backend.plain(backend)) if number}


def _with_many(replica: Replica) -> Replica:
    """Return the replica with every feature that its backend takes, one after another."""
    for name in sorted(FEATURES.keys() - _LEFT_OUT):
        more = FEATURES[name](replica)
        if any_backend.is_taken(more):
            replica = more
    return replica
