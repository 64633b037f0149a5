"""Scaling as its author wants it, the platform's part of it, and the facts that decide on a scaler.

All targets are per replica. A scaler divides the sum over all clusters by them, so that replicas which still load their
weights do not make it ask for more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from modelplane.workload.model import EngineType


class Metric(StrEnum):
    """A measure of the load of one replica."""

    WAITING_REQUESTS = "waitingRequests"
    REQUESTS = "requests"
    KV_CACHE_USAGE = "kvCacheUsage"
    TOKENS_PER_SECOND = "tokensPerSecond"
    CPU = "cpu"


@dataclass(frozen=True, slots=True)
class Target:
    """The wanted load of one replica, as a decimal number in the unit of the metric."""

    metric: Metric
    per_replica: str


@dataclass(frozen=True, slots=True)
class Window:
    """A time of the week with at least so many replicas. `start` and `end` are cron expressions of five fields."""

    timezone: str
    start: str
    end: str
    replicas: int


@dataclass(frozen=True, slots=True)
class Scaling:
    """The author's wish. `zero_after_seconds` is None where at least `least` replicas always run."""

    namespace: str
    deployment: str
    least: int
    most: int
    targets: tuple[Target, ...] = ()
    windows: tuple[Window, ...] = ()
    zero_after_seconds: int | None = None
    gateway: str = "default"


class Scaler(StrEnum):
    """The controller that writes the number of replicas."""

    KEDA = "KEDA"
    HPA = "HPA"


@dataclass(frozen=True, slots=True)
class Prometheus:
    """The endpoint that answers for all clusters and for the fleet's gateway.

    `authentication` names a ClusterTriggerAuthentication of KEDA, empty where the endpoint asks for none. `modes` are
    KEDA's names of its use.
    """

    address: str
    authentication: str = ""
    modes: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    polling_seconds: int = 15


@dataclass(frozen=True, slots=True)
class Platform:
    """The platform's part, from the gateway of this name. `scaler` None leaves the choice to what is installed."""

    gateway: str
    scaler: Scaler | None = None
    prometheus: Prometheus | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """The composed scaler that exists. `sleeps` tells whether it may scale to zero."""

    scaler: Scaler
    sleeps: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts beside the wish.

    `platform` is None where it is not known, and `unknown` says why. `has_keda` is None where that is not known.
    `rivals` are the scalers of others on the same deployment, in words. `services` send requests to it; with
    `is_waked` the requests of one of them are counted also while it has no replica.
    """

    engine: EngineType
    platform: Platform | None
    unknown: str = ""
    has_keda: bool | None = None
    standing: Standing | None = None
    rivals: tuple[str, ...] = ()
    services: tuple[str, ...] = ()
    is_waked: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decision on the scaler.

    `scaler` is composed anew, None where none is. With `is_held` the existing one stays as it is. A fault has a reason
    and a message, and both may stand beside a scaler that is composed. `sleeps` lets it scale to zero.
    """

    scaler: Scaler | None = None
    is_held: bool = False
    sleeps: bool = False
    reason: str = ""
    message: str = ""
