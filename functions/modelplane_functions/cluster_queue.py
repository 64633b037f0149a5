"""The quota of a cluster's queue: the Object that observes it, and how many devices it allows.

A quota is an upper bound: no more devices are admitted than it allows, and what it allows need not be free. What is
admitted already stays admitted when the quota shrinks.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane import names, seen
from modelplane.api import inference_cluster
from modelplane.api.fields import Field
from modelplane.api.inference_cluster import ProviderConfigRef
from modelplane.placement import snapshot
from modelplane.placement.queue_room import QueueRoom
from modelplane.placement.snapshot import Holding
from modelplane.render import objects
from modelplane.render.manifest import Lifecycle, Manifest
from modelplane.render.schedulers import selection as schedulers
from modelplane_functions import cluster_gateway, hold
from modelplane_functions.exchange import Child, Observed, Ready

Json: TypeAlias = Any

KEY = "queue"


@dataclass(frozen=True, slots=True)
class Read:
    """The quota as it was read last, None without a limit, and what is wrong with reading it."""

    name: str = ""
    room: QueueRoom | None = None
    faults: tuple[str, ...] = ()


def read(observed: Observed) -> Read:
    """Return the quota of the queue; the last one that was read holds while it cannot be read."""
    facts = cluster_gateway.facts(observed)
    wanted = schedulers.quota(facts)
    if wanted is None:
        return Read()
    name = seen.text(seen.at(wanted, "metadata", "name"))
    child = observed.children.get(KEY)
    if child is None or not objects.is_object(child) or objects.unwrap(child) != wanted:
        return Read(name, _before(observed, name))
    what = f"{wanted['kind']} {name}"
    synced = objects.condition(child, "Synced")
    holder = objects.observed(child)
    if synced.get("status") == "False":
        told = seen.text(synced.get("message")) or "no reason was reported"
        remedy = "create it, or correct spec.scheduler" if told.endswith("does not exist") else "see the Object"
        if "is forbidden" in told:
            remedy = "apply examples/rbac-workload.yaml on the cluster"
        fault = f"the quota of {what} cannot be read, and its last known value holds: {told}; {remedy}"
        return Read(name, _before(observed, name), (fault,))
    if holder is None:
        return Read(name, _before(observed, name))
    limit = schedulers.limit(facts, holder)
    return Read(name, None if limit is None else QueueRoom(name, limit, 0))


def _before(observed: Observed, name: str) -> QueueRoom | None:
    """Return the published quota of the queue of that name, without what is held."""
    found = hold.published(lambda: inference_cluster.decode_queue(Field(observed.status).at("queue")))
    return QueueRoom(name, found.limit, 0) if found is not None and found.name == name else None


def children(observed: Observed, provider: ProviderConfigRef) -> dict[str, Child]:
    """Return the Object that only observes the queue, none where no quota is read. Nothing waits for it."""
    wanted = schedulers.quota(cluster_gateway.facts(observed))
    if wanted is None:
        return {}
    wrapped = objects.wrap(
        Manifest(KEY, wanted, lifecycle=Lifecycle.OBSERVE),
        provider_config=provider.encode(),
        namespace=names.SYSTEM_NAMESPACE,
        owner=observed.name,
    )
    return {KEY: Child(wrapped, Ready.TRUE if KEY in observed.children else Ready.FALSE)}


def users(observed: Observed) -> int:
    """Return the number of these Objects that are counted as users of the provider configuration."""
    return sum(key == KEY and bool(objects.condition(child, "Synced")) for key, child in observed.children.items())


def encode(found: Read, holdings: Iterable[Holding]) -> dict[str, Json]:
    """Return status.queue, nothing where no quota is read. `holdings` are those of all admitted replicas."""
    if not found.name:
        return {}
    limit = None if found.room is None else found.room.limit
    return {"queue": inference_cluster.encode_queue(found.name, limit, snapshot.devices_of(holdings))}
