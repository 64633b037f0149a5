"""A rendered Kubernetes object and the rule by which its observed state is judged.

Rendering may never read anything: a renderer is a function of a replica and of facts about its cluster.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any, TypeAlias

from modelplane.workload.site import ClusterFacts

__all__ = ["EXISTS", "NOTHING", "ClusterFacts", "Lifecycle", "Manifest", "Purpose", "Readiness"]

Json: TypeAlias = Any


class Lifecycle(StrEnum):
    """What may be done to the object on its cluster."""

    OWN = "Own"
    """Created, updated and deleted with its owner."""
    KEEP = "Keep"
    """Created and updated, never deleted: others may live in it (a Namespace)."""
    OBSERVE = "Observe"
    """Only read."""


class Purpose(StrEnum):
    """The part an object plays for its replica; whoever handles objects asks for this and never for a kind."""

    WORKLOAD = "workload"
    """Runs pods. A change of it restarts them."""
    POD_INPUT = "pod-input"
    """Read when pods are made (a claim template, a preset). A change of it restarts or unseats pods."""
    ROUTE = "route"
    """Leads requests to the pods; nothing of it concerns the pods themselves."""
    SUPPORT = "support"
    """Stands beside the workload and may follow the cluster at any time."""
    SHARED = "shared"
    """Used by replicas of many deployments; nothing in it speaks of one of them."""


@dataclass(frozen=True, slots=True)
class Readiness:
    """When the object counts as ready: it exists (`cel` empty), or the CEL query over `object` is true."""

    cel: str = ""


EXISTS = Readiness()
NOTHING: Mapping[str, str] = MappingProxyType({})
"""The names of what stands, by key, where nothing does."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """One bare object as it shall stand on its cluster.

    `key` is the stable composition key, unique within its composite, e.g. "workload" or "claim-decode"; changing it
    deletes and re-creates the object. `comes_first`: the workload is created once this is there, because its controller
    looks for it once and not again.
    """

    key: str
    resource: Mapping[str, Json]
    purpose: Purpose = Purpose.SUPPORT
    readiness: Readiness = EXISTS
    lifecycle: Lifecycle = Lifecycle.OWN
    comes_first: bool = False
