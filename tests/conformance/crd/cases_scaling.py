"""Refused wishes for scaling, of a ModelDeployment and of the short form, and the platform's part of it."""

from __future__ import annotations

from typing import Any

from modelplane.structural import Cause
from tests.conformance.crd.case import Case, one

Json = Any
_SCALING = ("spec", "scaling")
_LOAD: Json = {"waitingRequests": 8}
_NIGHT: Json = {"start": "0 22 * * *", "end": "0 6 * * *", "replicas": 1}


def _of(kind: str, short: str) -> tuple[Case, ...]:
    return (
        one(f"{short}-scaling-by-nothing", kind, _SCALING, {"max": 3}, "write target (a load per replica)"),
        one(f"{short}-scaling-by-an-empty-schedule", kind, _SCALING, {"max": 3, "schedule": []}, "write target"),
        one(f"{short}-scaling-without-max", kind, _SCALING, {"target": _LOAD}, Cause.REQUIRED, at="spec.scaling.max"),
        one(f"{short}-scaling-down-up", kind, _SCALING, {"min": 4, "max": 3, "target": _LOAD}, "max must be at least"),
        one(
            f"{short}-schedule-above-max",
            kind,
            _SCALING,
            {"max": 3, "schedule": [{**_NIGHT, "replicas": 4}]},
            "replicas of a schedule must be at most max",
        ),
        one(
            f"{short}-schedule-of-no-time",
            kind,
            _SCALING,
            {"max": 3, "schedule": [{**_NIGHT, "end": _NIGHT["start"]}]},
            "start and end of a schedule must differ",
            at="spec.scaling.schedule.0",
        ),
    )


SCALING: tuple[Case, ...] = (
    *_of("ModelDeployment", "deployment"),
    *_of("LLMInference", "llm"),
    one(
        "gateway-scaling-with-a-credential",
        "InferenceGateway",
        (*_SCALING, "prometheus"),
        {"address": "http://thanos.monitoring:9090", "headers": {"Authorization": "x"}},
        "a credential goes into a ClusterTriggerAuthentication",
        at="spec.scaling.prometheus.headers",
    ),
    one(
        "gateway-scaling-address-with-a-user",
        "InferenceGateway",
        (*_SCALING, "prometheus"),
        {"address": "http://me:secret@thanos:9090"},
        Cause.INVALID,
        at="spec.scaling.prometheus.address",
    ),
)
