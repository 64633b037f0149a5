"""The status of a ModelReplica: written in full each time, and what of the last one still stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane import names
from modelplane.api.fields import Field
from modelplane.api.inference_cluster import GatewayAddress
from modelplane.workload.model import Replica, Role

Json: TypeAlias = Any

# A replica in one of these phases has been rendered: whatever is said later, it holds its place.
_BOUND_PHASES = frozenset({"Starting", "Running", "Degraded", "Failed"})


@dataclass(frozen=True, slots=True)
class Before:
    """What was reported last: a phase (empty at first), ready workers, and an address, which may blink."""

    phase: str
    workers: Mapping[Role, int]
    address: Mapping[str, Json] | None


@dataclass(frozen=True, slots=True)
class Answer:
    """Why a cluster does not admit a replica, or not yet."""

    reason: str
    message: str


def decode(status: Mapping[str, Json]) -> Before:
    """Return what still matters of the last status; a part of it that cannot be read says nothing."""
    phase, told, address = status.get("phase"), status.get("workers"), status.get("address")
    roles = {role: told.get(role) for role in Role} if isinstance(told, Mapping) else {}
    counts = {role: entry.get("ready") for role, entry in roles.items() if isinstance(entry, Mapping)}
    return Before(
        phase if isinstance(phase, str) else "",
        {role: ready for role, ready in counts.items() if isinstance(ready, int) and ready >= 0},
        address if isinstance(address, Mapping) else None,
    )


def encode(
    replica: Replica, phase: str, workers: Mapping[Role, int], address: Mapping[str, Json] | None
) -> dict[str, Json]:
    """Return the status, all but the generation it speaks of."""
    status: dict[str, Json] = {
        "phase": str(phase),
        "cluster": replica.cluster,
        "workers": {
            str(bound.spec.role): {"desired": bound.spec.workers, "ready": workers.get(bound.spec.role, 0)}
            for bound in replica.roles
        },
    }
    if address is not None:
        status["address"] = dict(address)
    return status


def encode_generation(resource: Mapping[str, Json], *, is_rendered: bool) -> dict[str, Json]:
    """Return the part of the status that says which spec it speaks of; empty where the server counts none.

    `is_rendered` False: what runs is an earlier spec, of which the last status spoke.
    """
    generation = Field(resource).at("metadata", "generation")
    if not generation.is_set:
        return {}
    if is_rendered:
        return {"observedGeneration": generation.integer()}
    earlier = generation.integer() - 1
    return {"observedGeneration": min(earlier, Field(resource).at("status", "observedGeneration").integer(earlier))}


def answer(told: Field, key: str) -> Answer | None:
    """Return what a cluster tells of one replica in status.refused or status.pending, None where it tells nothing."""
    found = None
    for entry in told.items():
        if entry.at("replica").optional() == key:
            found = Answer(entry.at("reason").text("Refused"), entry.at("message").text("no message"))
    return found


def is_bound(resource: Mapping[str, Json]) -> bool:
    """Return whether the replica has been rendered onto its cluster."""
    return Field(resource).at("status", "phase").text("") in _BOUND_PHASES


def is_current(resource: Mapping[str, Json]) -> bool:
    """Return whether the status speaks of the spec as it is now, not of one that was just rewritten."""
    generation = Field(resource).at("metadata", "generation")
    seen = Field(resource).at("status", "observedGeneration")
    return not generation.is_set or not seen.is_set or seen.integer() >= generation.integer()


def address(replica: Replica, gateway: GatewayAddress | None, before: Before) -> Mapping[str, Json] | None:
    """Return how the replica is reached: at its cluster's gateway now, else where it was reached last."""
    if gateway is None:
        return before.address
    return {
        "host": names.internal_host(replica.namespace, replica.name),
        "address": gateway.address,
        "port": gateway.port,
        "scheme": gateway.scheme,
    }
