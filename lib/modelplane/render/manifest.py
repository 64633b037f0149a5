"""Manifest of a rendered Kubernetes object, with its purpose, lifecycle and readiness.

A renderer reads nothing: it is a function of a replica and of facts about its cluster.
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
    """The lifecycle of the object on its cluster."""

    OWN = "Own"
    """The object is created, updated and deleted with its owner."""
    KEEP = "Keep"
    """The object is created and updated but never deleted, because others may use it (a Namespace)."""
    OBSERVE = "Observe"
    """The object is only read."""


class Purpose(StrEnum):
    """The purpose of an object for its replica. Code that handles objects checks the purpose and never the kind."""

    WORKLOAD = "workload"
    """The object runs pods. A change restarts them."""
    POD_INPUT = "pod-input"
    """The object is read when pods are created (a claim template, a preset). A change restarts pods."""
    ROUTE = "route"
    """The object routes requests to the pods and does not affect the pods."""
    SUPPORT = "support"
    """The object supports the workload and may be updated at any time."""
    SHARED = "shared"
    """The object is used by replicas of many deployments and refers to none of them."""


@dataclass(frozen=True, slots=True)
class Readiness:
    """The readiness of the object: the CEL query over `object` is true; with an empty `cel` the object exists."""

    cel: str = ""


EXISTS = Readiness()
NOTHING: Mapping[str, str] = MappingProxyType({})
"""The names of existing objects by key, where there are none."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """The desired state of one object on its cluster.

    `key` is the stable composition key, unique within its composite, for example "workload" or "claim-decode". A new
    key deletes and re-creates the object. An object that `comes_first` must exist before the workload is created,
    because the controller of the workload looks for it only once. One that `outlives_pods` is deleted in the
    foreground: it is gone when its pods are.
    """

    key: str
    resource: Mapping[str, Json]
    purpose: Purpose = Purpose.SUPPORT
    readiness: Readiness = EXISTS
    lifecycle: Lifecycle = Lifecycle.OWN
    comes_first: bool = False
    outlives_pods: bool = False
