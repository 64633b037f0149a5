"""The cause that keeps a replica down and lies in its cluster: what another place would mend, and waiting may not.

An engine that crashes or an image that cannot be pulled would be no better elsewhere, so neither is a cause.
Source: Kubernetes v1.36 (core/v1 PodConditionReason; pkg/controller/tainteviction, pkg/controller/devicetainteviction).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, TypeAlias

from modelplane import seen

Json: TypeAlias = Any


class Outage(StrEnum):
    """The cause of an outage."""

    NODE_LOST = "NodeLost"
    """The node of a pod is not ready, or has a taint that ends the pod."""
    DEVICE_TAINTED = "DeviceTainted"
    """A device of a pod is tainted or not healthy."""
    PREEMPTED = "Preempted"
    """The queue of the cluster took its place for another one."""
    UNSCHEDULABLE = "Unschedulable"
    """Its pods find no node any more."""


_EVICTIONS = {
    "DeletionByTaintManager": Outage.NODE_LOST,
    "DeletionByDeviceTaintManager": Outage.DEVICE_TAINTED,
}
_REASONS = {
    "Preempted": Outage.PREEMPTED,
    "DeviceUnhealthy": Outage.DEVICE_TAINTED,
    "Unschedulable": Outage.UNSCHEDULABLE,
}


def are_scheduled(pods: Iterable[Mapping[str, Json]]) -> bool:
    """Return whether there are pods, and each has a node."""
    found = [seen.verdict(seen.condition(seen.at(pod, "status"), "PodScheduled")) is True for pod in pods]
    return bool(found) and all(found)


def cause(pods: Iterable[Mapping[str, Json]], reason: str) -> Outage | None:
    """Return the cause by the pods of a replica, those that are being deleted included, and by its own reason."""
    found = []
    for pod in pods:
        disrupted = seen.condition(seen.at(pod, "status"), "DisruptionTarget")
        if seen.verdict(disrupted) is True:
            found.append(_EVICTIONS.get(seen.text(disrupted.get("reason"))))
    return min((one for one in found if one is not None), key=list(Outage).index, default=_REASONS.get(reason))
