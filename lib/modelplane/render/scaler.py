"""Scalers of a deployment: a ScaledObject of KEDA, or a HorizontalPodAutoscaler.

Guards against what would remove replicas although nobody decided so, each with its reason beside it. Source: KEDA 2.21
(scaledobject_types.go, scale_scaledobjects.go, fallback.go, prometheus_scaler.go, cron_scaler.go), Kubernetes v1.36
(horizontal.go, replica_calculator.go).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from modelplane import names
from modelplane.scaling import queries
from modelplane.scaling.model import Metric, Platform, Prometheus, Scaling, Target, Window
from modelplane.workload.model import EngineType

Json: TypeAlias = Any

KEDA_KEY: Final = "scaled-object"
HPA_KEY: Final = "autoscaler"
LABEL_NAMESPACE, LABEL_DEPLOYMENT = "modelplane_ai_namespace", "modelplane_ai_deployment"

# An HPA counts pods for Value, and the control plane has none of a model; AverageValue divides by status.replicas.
_TYPE: Final = "AverageValue"
# A replica needs minutes; waiting for a trend costs more than a replica too many, and none is given back for a lull.
_BEHAVIOR: Final[Mapping[str, Json]] = {
    "scaleUp": {
        "stabilizationWindowSeconds": 30,
        "selectPolicy": "Max",
        "policies": [
            {"type": "Pods", "value": 2, "periodSeconds": 120},
            {"type": "Percent", "value": 50, "periodSeconds": 120},
        ],
    },
    "scaleDown": {
        "stabilizationWindowSeconds": 1200,
        "selectPolicy": "Max",
        "policies": [
            {"type": "Pods", "value": 1, "periodSeconds": 300},
            {"type": "Percent", "value": 10, "periodSeconds": 300},
        ],
    },
}
# A trigger that only wakes never asks for a second replica.
_NEVER_A_SECOND: Final = "1000000"

METRICS: Final[Mapping[Metric, str]] = {
    Metric.WAITING_REQUESTS: "modelplane_waiting_requests",
    Metric.REQUESTS: "modelplane_requests",
    Metric.KV_CACHE_USAGE: "modelplane_kv_cache_usage",
    Metric.TOKENS_PER_SECOND: "modelplane_tokens_per_second",
    Metric.CPU: "modelplane_cpu_cores",
}
"""The names of the external metrics that an HPA asks for."""


def scaled_object(
    wanted: Scaling, platform: Platform, engine: EngineType, *, sleeps: bool, services: tuple[str, ...]
) -> dict[str, Json]:
    """Return the ScaledObject. With `sleeps` it scales to zero while no request comes to `services` and no window is.

    It has no `fallback`. Without one, KEDA scales nothing to or from zero while a metric cannot be read, and the HPA
    keeps the number, or adds to it by the other metrics. With one, KEDA takes a trigger that falls back for an active
    one: what sleeps would be waked by a server of metrics that is down.
    """
    spec: dict[str, Json] = {
        "scaleTargetRef": _target(wanted),
        "pollingInterval": 15 if platform.prometheus is None else platform.prometheus.polling_seconds,
        "minReplicaCount": wanted.least,
        "maxReplicaCount": wanted.most,
        "advanced": {"restoreToOriginalReplicaCount": False, "horizontalPodAutoscalerConfig": {"behavior": _BEHAVIOR}},
        "triggers": list(_triggers(wanted, platform.prometheus, engine, services if sleeps else ())),
    }
    if sleeps:
        # A ScaledObject that is new has seen no request yet and would put a busy model to sleep at once.
        after = wanted.zero_after_seconds or 0
        spec |= {"idleReplicaCount": 0, "cooldownPeriod": after, "initialCooldownPeriod": after}
    return _object("keda.sh/v1alpha1", "ScaledObject", wanted, spec)


def _triggers(
    wanted: Scaling, prometheus: Prometheus | None, engine: EngineType, services: tuple[str, ...]
) -> Iterator[dict[str, Json]]:
    asked = queries.requests(wanted.namespace, services) if services else ""
    if prometheus is not None:
        for target in wanted.targets:
            query = queries.load(
                engine, target.metric, namespace=wanted.namespace, deployment=wanted.deployment, idle=asked
            )
            # Cores are in use also while nobody asks; below the target they keep no model awake.
            active = target.per_replica if target.metric is Metric.CPU else "0"
            yield _prometheus(target.metric.value, query, target.per_replica, active, prometheus)
        if asked:
            yield _prometheus("wake", asked, _NEVER_A_SECOND, "0", prometheus)
    for number, window in enumerate(wanted.windows):
        yield _cron(number, window)


def _prometheus(name: str, query: str, threshold: str, active: str, prometheus: Prometheus) -> dict[str, Json]:
    metadata = {
        "serverAddress": prometheus.address,
        "query": query,
        "threshold": threshold,
        "activationThreshold": active,
        # A metric that is gone is no load of zero.
        "ignoreNullValues": "false",
    }
    if prometheus.headers:
        metadata["customHeaders"] = ",".join(f"{key}={value}" for key, value in sorted(prometheus.headers.items()))
    trigger: dict[str, Json] = {"type": "prometheus", "name": name, "metricType": _TYPE, "metadata": metadata}
    if prometheus.authentication:
        # Without modes KEDA takes no notice of the certificates of the authentication.
        if prometheus.modes:
            metadata["authModes"] = prometheus.modes
        trigger["authenticationRef"] = {"name": prometheus.authentication, "kind": "ClusterTriggerAuthentication"}
    return trigger


def _cron(number: int, window: Window) -> dict[str, Json]:
    metadata = {
        "timezone": window.timezone,
        "start": window.start,
        "end": window.end,
        "desiredReplicas": str(window.replicas),
    }
    return {"type": "cron", "name": f"schedule-{number}", "metricType": _TYPE, "metadata": metadata}


def autoscaler(wanted: Scaling) -> dict[str, Json]:
    """Return the HorizontalPodAutoscaler. It asks for external metrics, which the platform's adapter serves."""
    spec: dict[str, Json] = {
        "scaleTargetRef": _target(wanted),
        "minReplicas": wanted.least,
        "maxReplicas": wanted.most,
        "behavior": _BEHAVIOR,
        "metrics": [_external(wanted, target) for target in wanted.targets],
    }
    return _object("autoscaling/v2", "HorizontalPodAutoscaler", wanted, spec)


def _external(wanted: Scaling, target: Target) -> dict[str, Json]:
    labels = {LABEL_NAMESPACE: wanted.namespace, LABEL_DEPLOYMENT: wanted.deployment}
    return {
        "type": "External",
        "external": {
            "metric": {"name": METRICS[target.metric], "selector": {"matchLabels": labels}},
            "target": {"type": _TYPE, "averageValue": target.per_replica},
        },
    }


def _target(wanted: Scaling) -> dict[str, Json]:
    return {"apiVersion": names.API_VERSION, "kind": "ModelDeployment", "name": wanted.deployment}


def _object(api_version: str, kind: str, wanted: Scaling, spec: Mapping[str, Json]) -> dict[str, Json]:
    labels = {names.LABEL_DEPLOYMENT: wanted.deployment}
    metadata = {"name": wanted.deployment, "namespace": wanted.namespace, "labels": labels}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": dict(spec)}
