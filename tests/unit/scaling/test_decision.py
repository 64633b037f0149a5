"""The decision on a scaler: which is composed, what is held, and what is said."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from modelplane import scaling
from modelplane.scaling import queries
from modelplane.scaling.model import (
    Facts,
    Metric,
    Platform,
    Prometheus,
    Scaler,
    Scaling,
    Standing,
    Target,
    Verdict,
    Window,
)
from modelplane.workload.model import EngineType

METRICS = Prometheus("http://thanos:9090")
WANTED = Scaling("ml-team", "llama", 2, 6, targets=(Target(Metric.REQUESTS, "16"),))
ZERO = replace(WANTED, zero_after_seconds=1800)
WINDOW = Window("Etc/UTC", "0 8 * * *", "0 18 * * *", 3)
BY_CLOCK = replace(WANTED, targets=(), windows=(WINDOW,))
PLATFORM = Platform("default", None, METRICS)
FACTS = Facts(EngineType.VLLM, PLATFORM, has_keda=True)
KEDA, HPA = Standing(Scaler.KEDA), Standing(Scaler.HPA)
AWAKE, ASLEEP = KEDA, Standing(Scaler.KEDA, sleeps=True)


def platform(scaler: Scaler | None, prometheus: Prometheus | None = METRICS) -> Platform:
    return Platform("default", scaler, prometheus)


COMPOSED = [
    pytest.param(WANTED, FACTS, Scaler.KEDA, "KEDA is there", id="keda"),
    pytest.param(WANTED, replace(FACTS, has_keda=False), Scaler.HPA, "KEDA is not there", id="no keda"),
    pytest.param(WANTED, replace(FACTS, standing=KEDA, has_keda=False), Scaler.KEDA, "a blink", id="keda blinks"),
    pytest.param(WANTED, replace(FACTS, standing=KEDA, has_keda=None), Scaler.KEDA, "not asked yet", id="keda unasked"),
    pytest.param(WANTED, replace(FACTS, standing=HPA), Scaler.HPA, "KEDA came later", id="hpa stays"),
    pytest.param(BY_CLOCK, replace(FACTS, standing=HPA), Scaler.KEDA, "an HPA has no clock", id="hpa cannot any more"),
    pytest.param(
        WANTED, replace(FACTS, platform=platform(Scaler.HPA)), Scaler.HPA, "the platform says", id="hpa named"
    ),
    pytest.param(
        WANTED,
        replace(FACTS, platform=platform(Scaler.HPA), standing=KEDA),
        Scaler.HPA,
        "it says so",
        id="hpa replaces",
    ),
    pytest.param(
        WANTED, replace(FACTS, platform=platform(Scaler.KEDA), standing=HPA), Scaler.KEDA, "so", id="keda replaces"
    ),
    pytest.param(
        WANTED,
        replace(FACTS, platform=platform(Scaler.HPA, None)),
        Scaler.HPA,
        "its adapter knows the address",
        id="hpa without prometheus",
    ),
    pytest.param(BY_CLOCK, replace(FACTS, platform=platform(None, None)), Scaler.KEDA, "no metric", id="clock alone"),
    pytest.param(ZERO, replace(FACTS, services=("chat",), is_waked=True), Scaler.KEDA, "a service wakes it", id="zero"),
]


@pytest.mark.parametrize(("wanted", "facts", "scaler", "reason"), COMPOSED)
def test_it_is_composed(wanted: Scaling, facts: Facts, scaler: Scaler, reason: str) -> None:
    found = scaling.decide(wanted, facts)
    assert (found.scaler, found.is_held, found.reason) == (scaler, False, ""), reason


REFUSED = [
    pytest.param(WANTED, replace(FACTS, rivals=("ScaledObject x",)), "ScalerConflict", "ScaledObject x", id="rival"),
    pytest.param(WANTED, replace(FACTS, platform=None, unknown="gone"), "MetricsUnknown", "gone", id="no gateway"),
    pytest.param(WANTED, replace(FACTS, has_keda=None), "KEDAUnknown", "not known yet", id="not asked yet"),
    pytest.param(
        WANTED,
        replace(FACTS, has_keda=None, platform=platform(Scaler.KEDA)),
        "KEDAUnknown",
        "not known yet",
        id="named but not asked yet",
    ),
    pytest.param(
        WANTED,
        replace(FACTS, has_keda=False, platform=platform(Scaler.KEDA)),
        "KEDARequired",
        "chooses KEDA, and KEDA is not installed",
        id="named but not there",
    ),
    pytest.param(ZERO, replace(FACTS, has_keda=False), "KEDARequired", "scaleToZero needs KEDA", id="zero by hpa"),
    pytest.param(BY_CLOCK, replace(FACTS, has_keda=False), "KEDARequired", "schedule needs KEDA", id="clock by hpa"),
    pytest.param(
        BY_CLOCK, replace(FACTS, platform=platform(Scaler.HPA)), "KEDARequired", "chooses HPA", id="clock, hpa named"
    ),
    pytest.param(
        WANTED, replace(FACTS, platform=platform(None, None)), "MetricsUnknown", "names no Prometheus", id="no address"
    ),
    pytest.param(WANTED, replace(FACTS, engine=EngineType.CUSTOM), "NoMetrics", "engine custom", id="opaque engine"),
]


@pytest.mark.parametrize(("wanted", "facts", "reason", "says"), REFUSED)
@pytest.mark.parametrize("standing", [None, ASLEEP])
def test_what_cannot_be_decided_holds_what_exists(
    wanted: Scaling, facts: Facts, reason: str, says: str, standing: Standing | None
) -> None:
    found = scaling.decide(wanted, facts)
    assert (found.scaler, found.is_held, found.reason) == (None, False, reason)
    assert says in found.message
    if reason in ("ScalerConflict", "MetricsUnknown", "NoMetrics"):
        held = scaling.decide(wanted, replace(facts, standing=standing))
        assert (held.scaler, held.is_held) == (None, standing is not None)


def test_a_model_that_nothing_wakes_does_not_go_to_sleep() -> None:
    found = scaling.decide(ZERO, FACTS)
    assert (found.scaler, found.sleeps, found.reason) == (Scaler.KEDA, False, "NothingWakesIt")
    assert "at least 2 stay" in found.message
    assert scaling.decide(ZERO, replace(FACTS, standing=AWAKE)) == found
    # The list of services may be late; the existing scaler knows which they were.
    assert scaling.decide(ZERO, replace(FACTS, standing=ASLEEP)).is_held
    # A schedule wakes it too.
    assert scaling.decide(replace(ZERO, windows=(WINDOW,)), FACTS).sleeps


def test_what_exists_never_goes_by_what_is_known_for_the_moment() -> None:
    """Law: with a wish and a scaler there is always one afterwards, new or held, whatever else is known."""
    wishes = (WANTED, ZERO, BY_CLOCK, replace(ZERO, windows=(WINDOW,)))
    platforms = (None, *(platform(*both) for both in product((None, *Scaler), (None, METRICS))))
    count = 0
    for wish, one, has_keda, standing, rivals, is_waked, engine in product(
        wishes, platforms, (None, True, False), (KEDA, HPA, ASLEEP), ((), ("HPA x",)), (True, False), EngineType
    ):
        facts = Facts(engine, one, "", has_keda, standing, rivals, ("a",), is_waked)
        found = scaling.decide(wish, facts)
        assert found.is_held or found.scaler is not None, facts
        assert not (found.is_held and found.scaler), facts
        assert found != Verdict(), facts
        if found.scaler is Scaler.KEDA and standing is HPA:
            assert has_keda, "a kind that is not served stops the whole reconcile"
        count += 1
    assert count == 4 * 7 * 3 * 3 * 2 * 2 * len(EngineType)


QUERIES = [
    pytest.param(EngineType.VLLM, Metric.WAITING_REQUESTS, "sum(vllm:num_requests_waiting{S})", id="vllm waiting"),
    pytest.param(
        EngineType.SGLANG,
        Metric.REQUESTS,
        "sum(sglang:num_running_reqs{S}) + sum(sglang:num_queue_reqs{S})",
        id="sglang requests",
    ),
    pytest.param(
        EngineType.VLLM,
        Metric.KV_CACHE_USAGE,
        "100 * sum(avg by (modelplane_ai_replica) (vllm:kv_cache_usage_perc{S} or vllm:gpu_cache_usage_perc{S}))",
        id="vllm cache",
    ),
    pytest.param(
        EngineType.LLAMACPP,
        Metric.TOKENS_PER_SECOND,
        "sum(rate(llamacpp:tokens_predicted_total{S}[2m]))",
        id="llamacpp tokens",
    ),
    pytest.param(EngineType.CUSTOM, Metric.CPU, "sum(modelplane:cpu_cores{S})", id="cpu of any engine"),
]


@pytest.mark.parametrize(("engine", "metric", "query"), QUERIES)
def test_a_query_sums_over_all_clusters(engine: EngineType, metric: Metric, query: str) -> None:
    own = '{modelplane_ai_namespace="ml-team", modelplane_ai_deployment="llama"}'
    assert queries.has(engine, metric)
    assert queries.load(engine, metric, namespace="ml-team", deployment="llama") == query.replace("{S}", own)


def test_a_load_is_zero_where_nobody_asks_and_unknown_where_somebody_does() -> None:
    idle = queries.requests("ml-team", ["chat"])
    query = queries.load(EngineType.VLLM, Metric.WAITING_REQUESTS, namespace="a", deployment="b", idle=idle)
    assert query.startswith("sum(vllm:num_requests_waiting{")
    assert query.endswith(f" or ({idle} == 0)")


def test_an_engine_without_a_series_is_not_asked() -> None:
    assert not queries.has(EngineType.LLAMACPP, Metric.KV_CACHE_USAGE)
    assert not any(queries.has(EngineType.TRTLLM, metric) for metric in Metric if metric is not Metric.CPU)


def test_the_requests_of_several_services_wake_a_model() -> None:
    query = queries.requests("ml-team", ["chat.v2", "beta"])
    assert query.count('"httproute/ml-team/(beta|chat[.]v2)/rule/.*"') == 2
