"""The queries of every engine and target, and the recording rule of the documentation, by the engine of Prometheus."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from modelplane.scaling import queries
from modelplane.scaling.model import Metric
from modelplane.workload.model import EngineType
from tests.conformance.scaling import promql
from tests.support import live

Series = dict[str, str]
PAGE = Path(__file__).resolve().parents[3] / "docs" / "scaling.md"
ENGINES = (EngineType.VLLM, EngineType.SGLANG, EngineType.LLAMACPP)


@pytest.fixture(scope="module", autouse=True)
def _needs() -> None:
    live.needs("scaling", "go")


def labels(deployment: str, replica: str, pod: str, namespace: str = "ml-team") -> str:
    """Return the labels of a pod, as the PodMonitor of the documentation copies them."""
    names = {"namespace": namespace, "deployment": deployment, "replica": replica}
    own = ",".join(f'modelplane_ai_{key}="{value}"' for key, value in names.items())
    return f'{{{own},pod="{pod}"}}'


def fleet(series: str, samples: str, *, of_others: str) -> Series:
    """Return a series of three engines in two replicas, and those of two deployments that must not count."""
    return {
        f"{series}{labels('llama', 'llama-0', 'a')}": samples,
        f"{series}{labels('llama', 'llama-0', 'b')}": samples,
        f"{series}{labels('llama', 'llama-1', 'c')}": samples,
        f"{series}{labels('llama-2', 'llama-2-0', 'd')}": of_others,
        f"{series}{labels('llama', 'llama-0', 'e', 'team-b')}": of_others,
    }


def names(engine: EngineType, metric: Metric) -> list[str]:
    """Return the series that a query reads."""
    query = queries.load(engine, metric, namespace="n", deployment="d")
    return list(dict.fromkeys(re.findall(r"([a-z]+:\w+)\{", query)))


CASES = [
    pytest.param(engine, metric, id=f"{engine}-{metric}")
    for engine in ENGINES
    for metric in Metric
    if queries.has(engine, metric)
]


@pytest.mark.parametrize(("engine", "metric"), CASES)
def test_a_query_counts_its_deployment_alone_on_all_clusters(engine: EngineType, metric: Metric) -> None:
    rate, share = metric is Metric.TOKENS_PER_SECOND, metric is Metric.KV_CACHE_USAGE
    samples, others = (promql.counter(4), promql.counter(99)) if rate else (promql.gauge(4), promql.gauge(99))
    if share:
        samples = promql.gauge(0.25)
    first, *rest = names(engine, metric)
    series = fleet(first, samples, of_others=others)
    for one in rest if metric is Metric.REQUESTS else ():
        series |= fleet(one, samples, of_others=others)
    query = queries.load(engine, metric, namespace="ml-team", deployment="llama")
    gone = queries.load(engine, metric, namespace="ml-team", deployment="gone")
    found, without = promql.ask(series, [query, gone])
    # Three engines count four each, of both series where there are two; a share is averaged within a replica.
    assert found == pytest.approx(50 if share else 24 if metric is Metric.REQUESTS else 12)
    assert without is None, "no engine is no load of zero"


def test_a_name_from_before_is_read_where_the_new_one_is_not_there() -> None:
    series = {f"vllm:gpu_cache_usage_perc{labels('llama', 'llama-0', 'a')}": promql.gauge(0.5)}
    query = queries.load(EngineType.VLLM, Metric.KV_CACHE_USAGE, namespace="ml-team", deployment="llama")
    assert promql.ask(series, [query]) == [50]


def gateway(service: str, *, active: float, per_second: float, namespace: str = "ml-team") -> Series:
    """Return what Envoy counts of a service."""
    label = f'{{envoy_cluster_name="httproute/{namespace}/{service}/rule/0"}}'
    return {
        f"envoy_cluster_upstream_rq_active{label}": promql.gauge(active),
        f"envoy_cluster_upstream_rq_total{label}": promql.counter(per_second),
    }


OTHERS = {
    **gateway("chatter", active=9, per_second=9),
    **gateway("chat", active=9, per_second=9, namespace="team-b"),
    **gateway("chat-v2", active=9, per_second=9),
}
IDLE = [
    pytest.param({**gateway("chat", active=0, per_second=0), **OTHERS}, 0, 0, id="nobody asks"),
    pytest.param({**gateway("chat", active=0, per_second=2), **OTHERS}, 2, None, id="somebody asked"),
    pytest.param({**gateway("chat", active=1, per_second=0), **OTHERS}, 1, None, id="somebody waits"),
    pytest.param(OTHERS, None, None, id="nobody knows"),
]


@pytest.mark.parametrize(("series", "asked", "load"), IDLE)
def test_what_sleeps_is_idle_only_where_nobody_asks(series: Series, asked: float | None, load: float | None) -> None:
    query = queries.requests("ml-team", ["chat"])
    loads = [
        queries.load(EngineType.VLLM, metric, namespace="ml-team", deployment="llama", idle=query) for metric in Metric
    ]
    assert promql.ask(series, [query, *loads]) == [asked, *(load for _ in loads)]
    running = fleet("vllm:num_requests_waiting", promql.gauge(4), of_others=promql.gauge(9))
    assert promql.ask({**series, **running}, [loads[0]]) == [12], "an engine that answers is believed"


def test_the_recording_rule_of_the_documentation_counts_the_pods_of_a_deployment() -> None:
    blocks = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    (rule,) = [yaml.safe_load(one) for one in blocks if "kind: PrometheusRule" in one]
    (found,) = rule["spec"]["groups"][0]["rules"]
    assert found["record"] == queries.CPU_SERIES
    pod = 'namespace="ml-team",pod="llama-0-a"'
    own = 'label_modelplane_ai_namespace="ml-team",label_modelplane_ai_deployment="llama"'
    series = {
        f'container_cpu_usage_seconds_total{{{pod},container="engine"}}': promql.counter(1.5),
        f'container_cpu_usage_seconds_total{{{pod},container=""}}': promql.counter(1.5),
        'container_cpu_usage_seconds_total{namespace="kube-system",pod="dns",container="dns"}': promql.counter(7),
        f"kube_pod_labels{{{pod},{own}}}": "1x30",
        'kube_pod_labels{namespace="kube-system",pod="dns"}': "1x30",
    }
    assert promql.ask(series, [found["expr"]]) == [pytest.approx(1.5)]


def test_a_query_that_is_no_query_is_told() -> None:
    with pytest.raises(promql.Wrong, match="parse error"):
        promql.ask({}, ["sum(("])
