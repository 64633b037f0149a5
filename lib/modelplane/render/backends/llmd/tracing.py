"""Traces of the picker and of the sidecars, where the cluster has a collector."""

from __future__ import annotations

from typing import Any, TypeAlias

from modelplane.workload.site import ClusterFacts

Json: TypeAlias = Any


def arguments(facts: ClusterFacts) -> tuple[str, ...]:
    """Return the flag, which is on by default in the picker and off in the sidecar."""
    return ("--tracing=false" if facts.tracing is None else "--tracing=true",)


def env(service: str, facts: ClusterFacts) -> dict[str, Json]:
    """Return the variables of a container as `env`, nothing without tracing."""
    if facts.tracing is None:
        return {}
    # Exact: a percentage has at most two digits behind the point.
    share = f"{facts.tracing.sampling_percent // 100}.{facts.tracing.sampling_percent % 100:02}"
    values = {
        "OTEL_SERVICE_NAME": service,
        "OTEL_EXPORTER_OTLP_ENDPOINT": facts.tracing.endpoint,
        "OTEL_TRACES_EXPORTER": "otlp",
        "OTEL_TRACES_SAMPLER": "parentbased_traceidratio",
        "OTEL_TRACES_SAMPLER_ARG": share,
    }
    return {"env": [{"name": name, "value": value} for name, value in values.items()]}
