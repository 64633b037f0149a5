"""Numbers past the definition: refused where they are read, with the bounds of the definition."""

from __future__ import annotations

from functools import reduce
from pathlib import Path
from typing import Any

import pytest
import yaml

from modelplane.api import device_requests, inference_class, intent, workload
from modelplane.api.fields import Field
from modelplane.errors import InvalidInput
from tests.support import hostile

Json = Any
APIS = Path(__file__).resolve().parents[3] / "apis"
HUGE = 10**15

BOUNDS = [
    ("inferenceclasses", "sharedCounters.[].count", inference_class.UNITS_MAX),
    ("inferenceclasses", "devices.[].count", inference_class.DEVICES_MAX),
    ("modeldeployments", "replicas", intent.REPLICAS_MAX),
    ("modeldeployments", "placement.maxReplicasPerCluster", intent.REPLICAS_MAX),
    ("modeldeployments", "placement.spread.[].maxSkew", intent.REPLICAS_MAX),
    ("modeldeployments", "nodeSelector.devices.[].count", device_requests.DEVICES_MAX),
    ("modeldeployments", "workers.count", workload.WORKERS_MAX),
    ("modeldeployments", "workers.topology.tensor", workload.TENSOR_MAX),
    ("modeldeployments", "workers.topology.pipeline", workload.PIPELINE_MAX),
    ("modeldeployments", "workers.topology.data", workload.DATA_MAX),
    ("modeldeployments", "workers.topology.dataLocal", workload.DATA_LOCAL_MAX),
    ("modelreplicas", "workers.count", workload.WORKERS_MAX),
    ("modelreplicas", "workers.topology.data", workload.DATA_MAX),
]


@pytest.mark.parametrize(("plural", "path", "most"), BOUNDS)
def test_the_bound_is_that_of_the_definition(plural: str, path: str, most: int) -> None:
    definition = yaml.safe_load((APIS / plural / "definition.yaml").read_text())
    schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    found = reduce(lambda at, step: at["items"] if step == "[]" else at["properties"][step], path.split("."), schema)
    assert found["maximum"] == most


@pytest.mark.parametrize(
    "path",
    [
        ("replicas",),
        ("placement", "maxReplicasPerCluster"),
        ("workers", "count"),
        ("workers", "topology", "tensor"),
        ("workers", "topology", "pipeline"),
        ("workers", "topology", "data"),
        ("workers", "topology", "dataLocal"),
    ],
    ids=".".join,
)
@pytest.mark.parametrize("value", [HUGE, -HUGE, 10**5000], ids=["huge", "negative", "longer than any message"])
def test_a_deployment_past_its_definition_is_refused_at_the_field(path: tuple[str, ...], value: int) -> None:
    made = hostile.changed(hostile.world()[2], ("spec", *path), value)
    with pytest.raises(InvalidInput) as caught:
        workload.decode(made["spec"], namespace="t", deployment="m")
        intent.decode(made["spec"], namespace="t", deployment="m", backends=("KServe",), schedulers={"None": ""})
    assert caught.value.path == ("spec", *path)
    assert len(caught.value.message) < 100


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("devices", 0, "count"), HUGE),
        (("devices", 0, "count"), 0),
        (("sharedCounters",), [{"name": "g", "count": HUGE, "counters": {"m": {"value": "1"}}}]),
        (("cost",), {"perNodeHour": "1e99999"}),
        (("cost",), {"perNodeHour": "NaN"}),
        (("cost",), {"perNodeHour": "9" * 33}),
        (("devices", 0, "capacity"), {"memory": {"value": "1e99999"}}),
        (("devices", 0, "capacity"), {"memory": {"value": "9" * 5000}}),
        (("node",), {"cpu": "1e99999"}),
        (("node",), {"memory": "-1e-99999"}),
    ],
)
def test_a_class_past_its_definition_is_refused_at_the_field(path: tuple[str | int, ...], value: Json) -> None:
    made = hostile.changed(hostile.world()[0], ("spec", *path), value)
    with pytest.raises(InvalidInput) as caught:
        inference_class.decode(made)
    assert caught.value.path[: len(path) + 1] == ("spec", *path)
    assert len(caught.value.message) < 150


@pytest.mark.parametrize(
    ("value", "says"), [(0, "at least 1, not 0"), (9, "at most 8, not 9"), (True, "an integer"), (1.5, "an integer")]
)
def test_a_count_out_of_bounds_names_itself_and_the_bound(value: Json, says: str) -> None:
    with pytest.raises(InvalidInput, match=f"x: must be {says}"):
        Field(value, ("x",)).count(least=1, most=8)


def test_a_count_that_is_absent_is_the_default() -> None:
    assert Field(None).count(3, least=1, most=8) == 3
    assert Field(8).count(3, least=1, most=8) == 8
