"""Status of a ModelReplica, written completely each time, and the parts of the last one that still apply."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane import names, seen
from modelplane.api.fields import Field
from modelplane.api.inference_cluster import GatewayAddress
from modelplane.workload.model import Replica, Role

Json: TypeAlias = Any

# A replica in one of these phases has been rendered: whatever is said later, it holds its place.
_BOUND_PHASES = frozenset({"Queued", "Starting", "Running", "Degraded", "Failed"})


@dataclass(frozen=True, slots=True)
class Before:
    """The last reported phase (empty at first), ready workers, and address."""

    phase: str
    workers: Mapping[Role, int]
    address: Mapping[str, Json] | None


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a cluster that does not admit a replica, or not yet."""

    reason: str
    message: str


def decode(status: Mapping[str, Json]) -> Before:
    """Return the parts of the last status that still apply; an invalid part is ignored."""
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
    """Return the status without observedGeneration."""
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
    """Return the part of the status with observedGeneration, empty if the object has no generation.

    If `is_rendered` is False an earlier spec runs, and its generation is kept.
    """
    generation = Field(resource).at("metadata", "generation")
    if not generation.is_set:
        return {}
    if is_rendered:
        return {"observedGeneration": generation.integer()}
    earlier = generation.integer() - 1
    told = seen.count(seen.at(resource, "status", "observedGeneration"))
    return {"observedGeneration": earlier if told is None else min(earlier, told)}


def answer(told: Field, key: str) -> Answer | None:
    """Return the answer about one replica in status.refused or status.pending of a cluster, None if there is none."""
    found = None
    for entry in told.items():
        if entry.at("replica").optional() == key:
            found = Answer(entry.at("reason").text("Refused"), entry.at("message").text("no message"))
    return found


def is_bound(resource: Mapping[str, Json]) -> bool:
    """Return whether the replica has been rendered onto its cluster.

    Where no phase is told, a replica may run of which Crossplane has noted composed objects: somebody wiped its status.
    """
    phase = seen.text(seen.at(resource, "status", "phase"))
    return phase in _BOUND_PHASES if phase else bool(seen.at(resource, "spec", "crossplane", "resourceRefs"))


def is_current(resource: Mapping[str, Json]) -> bool:
    """Return whether the status refers to the current spec."""
    generation, told = seen.at(resource, "metadata", "generation"), seen.at(resource, "status", "observedGeneration")
    if generation is None or told is None:
        return True
    processed = seen.count(told)
    return processed is not None and processed >= generation


def address(replica: Replica, gateway: GatewayAddress | None, before: Before) -> Mapping[str, Json] | None:
    """Return the address of the replica at its cluster's gateway, else its last one."""
    if gateway is None:
        return before.address
    told: dict[str, Json] = {
        "host": names.internal_host(replica.namespace, replica.name),
        "address": gateway.address,
        "port": gateway.port,
        "scheme": gateway.scheme,
    }
    if gateway.server_name:
        told |= {"serverName": gateway.server_name, "authorities": gateway.authorities}
    return told
