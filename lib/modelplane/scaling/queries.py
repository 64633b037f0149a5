"""Queries of the load in the language of Prometheus, over all clusters at once.

Engines name neither deployment nor cluster. The labels of their pods do, which the platform's scrape configuration
copies (`modelplane_ai_namespace`, `modelplane_ai_deployment`, `modelplane_ai_replica`). Every name in a query is a
Kubernetes name, so nothing in it has to be escaped but the dot in a regular expression.
Source: vLLM 0.23 and 0.8 (metrics/loggers.py), SGLang 0.5 (metrics/collector.py), llama.cpp (tools/server), Envoy 1.36
(cluster statistics), Envoy Gateway v1.9 (names of clusters).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from modelplane.scaling.model import Metric
from modelplane.workload.model import EngineType

CPU_SERIES: Final = "modelplane:cpu_cores"
"""The series of a recording rule: cores in use by the pods of a replica. No engine publishes it."""

_WAITING, _RUNNING, _CACHE, _TOKENS = "waiting", "running", "cache", "tokens"
_SERIES: Final[Mapping[EngineType, Mapping[str, tuple[str, ...]]]] = {
    EngineType.VLLM: {
        _WAITING: ("vllm:num_requests_waiting",),
        _RUNNING: ("vllm:num_requests_running",),
        _CACHE: ("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"),
        _TOKENS: ("vllm:generation_tokens_total",),
    },
    EngineType.SGLANG: {
        _WAITING: ("sglang:num_queue_reqs",),
        _RUNNING: ("sglang:num_running_reqs",),
        _CACHE: ("sglang:token_usage",),
        _TOKENS: ("sglang:generation_tokens_total",),
    },
    EngineType.LLAMACPP: {
        _WAITING: ("llamacpp:requests_deferred",),
        _RUNNING: ("llamacpp:requests_processing",),
        _TOKENS: ("llamacpp:tokens_predicted_total",),
    },
}
"""The series of each engine by what they say; those of a newer version first."""

_NEEDS: Final[Mapping[Metric, tuple[str, ...]]] = {
    Metric.WAITING_REQUESTS: (_WAITING,),
    Metric.REQUESTS: (_RUNNING, _WAITING),
    Metric.KV_CACHE_USAGE: (_CACHE,),
    Metric.TOKENS_PER_SECOND: (_TOKENS,),
    Metric.CPU: (),
}
_RATE: Final = "2m"


def has(engine: EngineType, metric: Metric) -> bool:
    """Return whether the load of the engine can be read by the metric."""
    return set(_NEEDS[metric]) <= _SERIES.get(engine, {}).keys()


def load(engine: EngineType, metric: Metric, *, namespace: str, deployment: str, idle: str = "") -> str:
    """Return the query of the sum over all replicas, without a value while no engine answers. `has` must be true.

    `idle` is the query of the requests at the gateway. With it the load is also zero, instead of unknown, while no
    engine answers and nobody asks: the deployment sleeps. It stays unknown where somebody asks, or that is unknown too.
    """
    found = _load(engine, metric, namespace, deployment)
    return f"{found} or ({idle} == 0)" if idle else found


def _load(engine: EngineType, metric: Metric, namespace: str, deployment: str) -> str:
    own = f'{{modelplane_ai_namespace="{namespace}", modelplane_ai_deployment="{deployment}"}}'
    series = _SERIES.get(engine, {})

    def total(what: str) -> str:
        return f"sum({_any(series[what], own)})"

    match metric:
        case Metric.WAITING_REQUESTS:
            return total(_WAITING)
        case Metric.REQUESTS:
            return f"{total(_RUNNING)} + {total(_WAITING)}"
        case Metric.KV_CACHE_USAGE:
            return f"100 * sum(avg by (modelplane_ai_replica) ({_any(series[_CACHE], own)}))"
        case Metric.TOKENS_PER_SECOND:
            (name,) = series[_TOKENS]
            return f"sum(rate({name}{own}[{_RATE}]))"
        case Metric.CPU:
            return f"sum({CPU_SERIES}{own})"


def requests(namespace: str, services: Sequence[str]) -> str:
    """Return the query of the requests of services at the gateway: those under way, and those of the last minutes.

    Envoy names a cluster after the route and its rule. `services` are the names of routes, which are those of their
    services on a gateway of type Envoy.
    """
    named = "|".join(one.replace(".", "[.]") for one in sorted(services))
    label = f'{{envoy_cluster_name=~"httproute/{namespace}/({named})/rule/.*"}}'
    return f"sum(envoy_cluster_upstream_rq_active{label}) + sum(rate(envoy_cluster_upstream_rq_total{label}[{_RATE}]))"


def _any(series: Sequence[str], own: str) -> str:
    return " or ".join(f"{name}{own}" for name in series)
