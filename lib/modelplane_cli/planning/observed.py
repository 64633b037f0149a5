"""The nodes and devices of a cluster's pools as its observer counted them, and the quota of its queue, each by itself.

None of these numbers is added to another: what is declared, what is there, what takes new replicas, what may be added,
and what a quota leaves are five things.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane import seen

Json: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class DeviceSight:
    """Devices of one kind of a pool: those that are there, and those that new pods can get."""

    name: str
    observed: int
    allocatable: int


@dataclass(frozen=True, slots=True)
class PoolSight:
    """Nodes of a pool. `growable` is None where no cloud says it."""

    pool: str
    declared: int
    observed: int
    ready: int
    cordoned: int
    allocatable: int
    growable: int | None
    devices: tuple[DeviceSight, ...]


@dataclass(frozen=True, slots=True)
class QueueSight:
    """The quota of the queue in devices: an upper bound, and no free device. `limit` is None without one."""

    name: str
    limit: int | None
    held: int

    @property
    def left(self) -> int | None:
        """Return the devices that the quota leaves, None without a limit."""
        return None if self.limit is None else max(0, self.limit - self.held)


def pools(status: Json) -> tuple[PoolSight, ...]:
    """Return the pools whose nodes are observed, in the order of the status."""
    return tuple(_pools(status))


def _pools(status: Json) -> Iterator[PoolSight]:
    for entry in seen.objects(seen.at(status, "pools")):
        keys = ("declared", "observed", "ready", "cordoned", "allocatable")
        counts = [seen.count(seen.at(entry, "nodes", key)) for key in keys]
        if any(one is None for one in counts):
            continue
        declared, observed, ready, cordoned, allocatable = (one or 0 for one in counts)
        devices = tuple(
            DeviceSight(
                seen.text(one.get("name")),
                seen.count(one.get("observed")) or 0,
                seen.count(one.get("allocatable")) or 0,
            )
            for one in seen.objects(entry.get("devices"))
        )
        growable = seen.count(seen.at(entry, "nodes", "growable"))
        name = seen.text(entry.get("name"))
        yield PoolSight(name, declared, observed, ready, cordoned, allocatable, growable, devices)


def queue(status: Json) -> QueueSight | None:
    """Return the quota of the cluster's queue, None where none is read."""
    told = seen.at(status, "queue")
    name = seen.text(seen.at(told, "name"))
    if not name:
        return None
    return QueueSight(name, seen.count(seen.at(told, "limit")), seen.count(seen.at(told, "held")) or 0)
