"""Scaling as authors and platforms write it: what is read, and what is refused with its field."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane.api import scaling
from modelplane.errors import InvalidInput
from modelplane.scaling.model import Metric, Scaler, Target

Json = Any


def decode(**fields: Json) -> Any:
    return scaling.decode({"scaling": fields}, namespace="ml-team", deployment="llama")


def test_nothing_is_wished_for_without_the_field() -> None:
    assert scaling.decode({}, namespace="a", deployment="b") is None


def test_everything_is_read() -> None:
    window = {"start": "0 8 * * 1-5", "end": "0 18 * * 1-5", "replicas": 4}
    found = decode(
        max=6,
        target={"requests": 16, "kvCacheUsage": 80, "cpu": "1500m"},
        schedule=[window],
        scaleToZero={"after": "1h30m"},
        gatewayRef={"name": "eu"},
    )
    assert (found.least, found.most, found.zero_after_seconds, found.gateway) == (1, 6, 5400, "eu")
    assert found.targets == (
        Target(Metric.REQUESTS, "16"),
        Target(Metric.KV_CACHE_USAGE, "80"),
        Target(Metric.CPU, "1.5"),
    )
    assert found.windows[0].timezone == "Etc/UTC"
    assert decode(max=1, target={"cpu": 6}, scaleToZero={}).zero_after_seconds == 1800


REFUSED = [
    pytest.param({"target": {"requests": 1}}, "spec.scaling.max: is required", id="no max"),
    pytest.param({"max": 2, "min": 3, "target": {"requests": 1}}, "spec.scaling.max: must be at least min", id="max"),
    pytest.param({"max": 2, "min": 0, "target": {"requests": 1}}, "spec.scaling.min: must be at least 1", id="min 0"),
    pytest.param({"max": 2}, "spec.scaling: must have a target or a schedule", id="no aim"),
    pytest.param({"max": 2, "target": {}}, "must have a target or a schedule", id="empty target"),
    pytest.param({"max": 2, "target": {"requests": 0}}, "spec.scaling.target.requests", id="zero requests"),
    pytest.param({"max": 2, "target": {"requests": "many"}}, "spec.scaling.target.requests", id="a word"),
    pytest.param({"max": 2, "target": {"kvCacheUsage": 101}}, "spec.scaling.target.kvCacheUsage", id="over the cache"),
    pytest.param({"max": 2, "target": {"cpu": "many"}}, "spec.scaling.target.cpu", id="no quantity"),
    pytest.param({"max": 2, "target": {"cpu": "0"}}, "spec.scaling.target.cpu: must be from 1m", id="no cpu"),
    pytest.param(
        {"max": 2, "schedule": [{"start": "8", "end": "0 1 * * *", "replicas": 1}]},
        "spec.scaling.schedule[0].start: must be a cron expression",
        id="no cron",
    ),
    pytest.param(
        {"max": 2, "schedule": [{"start": "0 0 * * *", "end": "0 1 * * *", "replicas": 3}]},
        "spec.scaling.schedule[0].replicas: must be at most max (2)",
        id="schedule above max",
    ),
    pytest.param(
        {"max": 2, "target": {"requests": 1}, "scaleToZero": {"after": "soon"}},
        "spec.scaling.scaleToZero.after: must be a duration",
        id="no duration",
    ),
    pytest.param(
        {"max": 2, "target": {"requests": 1}, "scaleToZero": {"after": "5s"}}, "must be from 1m to 720h", id="too soon"
    ),
    pytest.param({"max": 2, "target": []}, "spec.scaling.target", id="a list"),
]


@pytest.mark.parametrize(("fields", "says"), REFUSED)
def test_a_mistake_is_told_with_its_field(fields: Json, says: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        decode(**fields)
    assert says in str(caught.value)


def gateway(**fields: Json) -> Json:
    return {"metadata": {"name": "default"}, "spec": {"scaling": fields}}


def test_the_part_of_the_platform_is_read() -> None:
    authentication = {"name": "metrics", "modes": ["tls", "bearer"]}
    found = scaling.decode_platform(
        gateway(
            autoscaler="KEDA",
            prometheus={"address": "https://t", "authentication": authentication, "headers": {"X-Scope-OrgID": "a"}},
        )
    )
    assert found.scaler is Scaler.KEDA
    assert found.prometheus is not None
    assert (found.prometheus.modes, found.prometheus.headers) == ("bearer,tls", {"X-Scope-OrgID": "a"})
    assert scaling.decode_platform(gateway()).prometheus is None
    assert scaling.decode_platform({"metadata": {"name": "default"}, "spec": {}}).scaler is None


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        pytest.param({"autoscaler": "VPA"}, "spec.scaling.autoscaler", id="another scaler"),
        pytest.param({"prometheus": {}}, "spec.scaling.prometheus.address: is required", id="no address"),
        pytest.param(
            {"prometheus": {"address": "http://t", "authentication": {"name": "a", "modes": ["magic"]}}},
            "spec.scaling.prometheus.authentication.modes",
            id="another mode",
        ),
    ],
)
def test_a_mistake_of_the_platform_is_told_with_its_field(fields: Json, says: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        scaling.decode_platform(gateway(**fields))
    assert says in str(caught.value)


def service(*selectors: Json, name: str = "default") -> Json:
    groups = [{"selector": one} for one in selectors]
    return {"metadata": {"name": "chat"}, "spec": {"gatewayRef": {"name": name}, "endpoints": groups}}


OWN = {"matchLabels": {"modelplane.ai/deployment": "llama"}}
OTHER = {"matchLabels": {"provider": "example"}}


@pytest.mark.parametrize(
    ("document", "wakes", "reason"),
    [
        pytest.param(service(OWN, OTHER), True, "a provider keeps the route", id="with a provider"),
        pytest.param(service(OWN), False, "no route at zero", id="alone"),
        pytest.param(service(OTHER), False, "of others", id="of others"),
        pytest.param(service(OWN, OTHER, name="eu"), False, "counted elsewhere", id="another gateway"),
        pytest.param(
            service({"matchLabels": {"team": "a"}}, OTHER), True, "by a label of its pods", id="by a pod label"
        ),
        pytest.param(
            service({"matchLabels": {"modelplane.ai/deployment": "llama", "modelplane.ai/cluster": "eu"}}, OTHER),
            True,
            "its cluster is not known at zero",
            id="by cluster",
        ),
        pytest.param({"metadata": {"name": "x"}, "spec": {"endpoints": 3}}, False, "nobody's word", id="unreadable"),
        pytest.param({"metadata": {"name": "x"}, "spec": None}, False, "nobody's word", id="empty"),
    ],
)
def test_a_service_wakes_a_model_if_its_route_outlives_the_replicas(document: Json, wakes: object, reason: str) -> None:
    found = scaling.selected(document, deployment="llama", gateway="default", labels={"team": "a"})
    assert found.is_waked is wakes, reason
    assert found.is_served is (bool(wakes) or document == service(OWN)), reason
