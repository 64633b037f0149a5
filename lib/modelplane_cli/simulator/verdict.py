"""The failures of a world: the conditions of written objects that are not as desired, with their reasons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane_cli.simulator import conditions
from modelplane_cli.simulator.offline import Assume, World
from modelplane_cli.simulator.store import Key

Json: TypeAlias = Any

# Conditions that say something is up. Where nothing is assumed to come up, being not up yet is no failure.
_LIVENESS = frozenset(
    {"Ready", "ReplicasReady", "WorkloadReady", "Serving", "EndpointsReady", "RouteReady", "Reachable", "ClusterReady"}
)
# Conditions that are as desired when they are False.
_COMPLAINTS = frozenset({"StatusStale", "FieldConflict"})
# Conditions that only inform: what they say fails nothing.
_ADVICE = frozenset({"Fits"})
# Said by Crossplane about what the others explain better.
_SUMMARY = frozenset({"Ready"})


@dataclass(frozen=True, slots=True)
class Failure:
    """A condition that is not as desired. `since` is when its status changed, empty where no clock has said it."""

    about: Key
    condition: str
    status: str
    reason: str
    message: str
    since: str = ""

    def __str__(self) -> str:
        """Return one line with the object, the condition and its message."""
        said = f": {self.message}" if self.message else ""
        return f"{self.about}: {self.condition} is {self.status} ({self.reason}){said}"


def failures(world: World) -> list[Failure]:
    """Return the failures of the objects that people wrote.

    With nothing assumed, only decisions count (placed, accepted, synced), not whether pods are up.
    """
    return [failure for key in world.composites() for failure in of(world, key)]


def of(world: World, key: Key) -> list[Failure]:
    """Return the conditions of a composite that are not as desired. A summary is used only without a better one.

    A composite that is ready is as wanted, whatever else it leaves unknown.
    """
    resource = world.store.get(key) or {}
    if world.assume is Assume.READY and all(_is_true(resource, kind) for kind in ("Synced", "Ready")):
        return []
    found = list(_unwanted(world, key))
    explained = [failure for failure in found if failure.condition not in _SUMMARY]
    return explained or found


def _is_true(resource: Mapping[str, Json], kind: str) -> bool:
    found = conditions.find(resource, kind)
    return found is not None and found.get("status") == "True"


def _unwanted(world: World, key: Key) -> Iterator[Failure]:
    resource = world.store.get(key) or {}
    said: list[Mapping[str, Json]] = (resource.get("status") or {}).get("conditions") or []
    for entry in said:
        kind, status = str(entry.get("type")), str(entry.get("status"))
        wanted = "False" if kind in _COMPLAINTS else "True"
        if (
            kind in _ADVICE
            or status == wanted
            or (world.assume is Assume.NOTHING and (kind in _LIVENESS or status == "Unknown"))
        ):
            continue
        since = str(entry.get("lastTransitionTime") or "")
        yield Failure(
            about=key,
            condition=kind,
            status=status,
            reason=str(entry.get("reason") or ""),
            message=str(entry.get("message") or ""),
            since="" if since == conditions.NO_TIME else since,
        )
    if conditions.find(resource, "Synced") is None:
        yield Failure(key, "Synced", "Unknown", "NotReconciled", "it was never reconciled")
