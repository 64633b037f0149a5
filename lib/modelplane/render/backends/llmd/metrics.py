"""The metrics of engines, as the picker and a Prometheus read them.

Source: llm-d-router v0.10.0 (core-metrics-extractor). trtllm-serve publishes the metrics that the picker reads under
another path than /metrics, and only when it is configured to.
"""

from __future__ import annotations

from collections.abc import Mapping

from modelplane.workload.model import EngineType, Role

_TYPES = {EngineType.VLLM: "vllm", EngineType.SGLANG: "sglang", EngineType.TRTLLM: "trtllm-serve"}
_READABLE = frozenset({EngineType.VLLM, EngineType.SGLANG})


def is_readable(engine: EngineType) -> bool:
    """Return whether the picker can read queue and cache of the engine. A custom engine may be any program."""
    return engine in _READABLE


def path(engine: EngineType) -> str:
    """Return the path of the metrics on the engine's port."""
    return "/prometheus/metrics" if engine is EngineType.TRTLLM else "/metrics"


def labels(engine: EngineType, role: Role) -> Mapping[str, str]:
    """Return the labels from which the picker knows the role and the names of the engine's metrics."""
    known = _TYPES.get(engine)
    return {"llm-d.ai/role": str(role), **({} if known is None else {"llm-d.ai/engine-type": known})}
