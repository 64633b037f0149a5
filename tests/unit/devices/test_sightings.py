"""What an observer counts of every class that we ship: whole where the cluster has what the class says, else told."""

from __future__ import annotations

import copy
import dataclasses
import functools
from pathlib import Path
from typing import Any

import pytest
import yaml

from modelplane import units
from modelplane.api import inference_class, inference_cluster, observation
from modelplane.api.fields import Field
from modelplane.devices import sightings
from modelplane.devices.model import Claim, NodeClass
from modelplane.devices.sightings import Seen
from modelplane.placement.snapshot import NodeCounts, Pool
from modelplane.render import observer
from tests.conformance.scheduler import hardware
from tests.support import fleet
from tests.support.observed_nodes import program

Json = Any
EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
NODES = 3


@functools.cache
def _classes() -> dict[str, Json]:
    documents = [one for file in sorted(EXAMPLES.rglob("*.yaml")) for one in yaml.safe_load_all(file.read_text())]
    found = [one for one in documents if isinstance(one, dict) and one.get("kind") == "InferenceClass"]
    return {one["metadata"]["name"]: one for one in found}


def _judged(document: Json, node_class: NodeClass | None = None, *, change: Json = None) -> Seen:
    """Return what is judged of nodes with the devices of a class; `change` changes a list of nodes and slices first."""
    cluster = fleet.inference_cluster("a", nodes=NODES, class_name=document["metadata"]["name"])
    there = copy.deepcopy(list(hardware.nodes(cluster, {document["metadata"]["name"]: document}, "a")))
    if change is not None:
        change(there)
    node_class = node_class or inference_class.decode(document)
    asked = observer.question(
        [Pool("gpu", node_class.name, node_class, NodeCounts(NODES))], inference_cluster.decode_facts(cluster)
    )
    nodes, slices = ([one for one in there if one["kind"] == kind] for kind in ("Node", "ResourceSlice"))
    text = program()["summary"](asked, nodes, slices)
    (sight,) = observation.decode(text).pools.values()
    assert sight.asked == observer.digests(asked)["gpu"]
    return sightings.judge(sight, node_class)


@pytest.mark.parametrize("name", sorted(_classes()))
def test_nodes_with_what_a_class_says_are_allocatable(name: str) -> None:
    document = _classes()[name]
    judged = _judged(document)
    assert (judged.observed, judged.ready, judged.cordoned, judged.allocatable) == (NODES, NODES, 0, NODES)
    assert not judged.lacks
    assert not judged.differs
    claimed = [one for one in inference_class.decode(document).devices if one.claim is not Claim.SYNTHETIC]
    assert {one.name for one in judged.devices} == {one.name for one in claimed}
    assert all(one.observed == one.allocatable >= NODES for one in judged.devices)


@pytest.mark.parametrize("name", sorted(_classes()))
def test_every_value_of_a_class_that_differs_is_told(name: str) -> None:
    document = _classes()[name]
    node_class = inference_class.decode(document)
    for position, device in enumerate(node_class.devices):
        alike = [one for one in node_class.devices if one.driver == device.driver]
        if device.claim is not Claim.DRA or len(alike) > 1 or not device.capacity:
            continue
        (capacity, amount), *others = device.capacity
        half = str(units.quantity(amount).ceil() // 2)
        lies = dataclasses.replace(device, capacity=((capacity, half), *others))
        devices = (*node_class.devices[:position], lies, *node_class.devices[position + 1 :])
        judged = _judged(document, dataclasses.replace(node_class, devices=devices))
        assert any(
            f'capacity {capacity} of device "{device.name}" is {half} in the class and {amount} on' in text
            for text in judged.differs
        )
        assert judged.allocatable == NODES


def test_memory_and_processors_that_a_node_lacks_are_told() -> None:
    document = fleet.inference_class()
    document["spec"]["node"] = {"cpu": "208", "memory": "2867Gi"}

    def smaller(there: list[Json]) -> None:
        there[0]["status"]["allocatable"] |= {"cpu": "190", "memory": "2800Gi"}

    judged = _judged(document, change=smaller)
    assert judged.differs == (
        "cpu of a node is 208000m in the class and 190000m on the smallest node",
        "memory of a node is 2935808Mi in the class and 2867200Mi on the smallest node",
    )
    assert judged.allocatable == NODES


def test_nodes_that_all_differ_are_counted_within_the_bounds() -> None:
    document = fleet.inference_class(count=100)

    def differ(there: list[Json]) -> None:
        (first, slice_) = there[0], there[1]
        there.clear()
        for number in range(90):
            name = f"n{number}"
            node, published = copy.deepcopy(first), copy.deepcopy(slice_)
            node["metadata"] |= {"name": name}
            published["spec"] |= {"nodeName": name, "pool": {**published["spec"]["pool"], "name": name}}
            published["spec"]["devices"] = published["spec"]["devices"][: number + 5]
            there += [node, published]

    judged = _judged(document, change=differ)
    assert judged.observed == 90
    assert "26 nodes too different from the others to be counted" in judged.lacks


def test_the_program_keeps_the_bounds_that_are_read() -> None:
    names = program()
    assert (names["KINDS_MAX"], names["SHAPES_MAX"], names["LARGEST"]) == (
        sightings.KINDS_MAX, sightings.SHAPES_MAX, sightings.BYTES_MAX,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("4", 4000),
        ("3920m", 3920),
        ("1.5", 1500),
        ("2867Gi", 2867 * 1024**3 * 1000),
        ("100Ki", 102400000),
        ("x", None),
        ("1e3", 10**6),
        ("1E3", 10**6),
        ("5E", 5 * 10**21),
        ("15e-1", 1500),
        ("1e999999999", None),
        ("", 0),
        ("None", None),
    ],
)
def test_the_program_reads_quantities(text: str, amount: int | None) -> None:
    assert program()["thousandths"](text) == amount


def test_the_program_asks_for_slices_only_where_a_class_has_devices_of_dra() -> None:
    names, paths = program(), list[str]()
    mine, other = {"spec": {"driver": "gpu.nvidia.com"}}, {"spec": {"driver": "dra.cpu"}}

    def call(_: str, path: str) -> Json:
        paths.append(path.partition("?")[0])
        return {"items": [mine, other]}

    names["call"] = call
    assert list(names["slices_of"]({"pools": [{"drivers": {}}]})) == []
    assert paths == []
    assert list(names["slices_of"]({"pools": [{"drivers": {"gpu.nvidia.com": {}}}]})) == [mine]
    assert paths == ["/apis/resource.k8s.io/v1/resourceslices"]


@pytest.mark.parametrize(
    ("counts", "present", "usable"),
    [
        pytest.param(NodeCounts(4), 4, 4, id="declared"),
        pytest.param(NodeCounts(4, allocatable=3, observed=4), 3, 3, id="one rests"),
        pytest.param(NodeCounts(4, allocatable=6, observed=6), 4, 4, id="more than declared"),
        pytest.param(NodeCounts(1, maximum=8, observed=3, allocatable=2), 2, 7, id="one of a pool that grows rests"),
        pytest.param(NodeCounts(1, maximum=8, observed=0, allocatable=0), 0, 8, id="empty"),
        pytest.param(NodeCounts(1, maximum=2, observed=9, allocatable=9), 2, 2, id="above the maximum"),
        pytest.param(NodeCounts(4, allocatable=0, observed=4), 0, 0, id="all rest"),
    ],
)
def test_what_is_observed_bounds_what_is_placed(counts: NodeCounts, present: int, usable: int) -> None:
    assert (counts.present, counts.usable) == (present, usable)


def test_nodes_that_are_published_bound_placement() -> None:
    cluster = fleet.inference_cluster("a", nodes=4)
    cluster["status"]["pools"][0]["nodes"] |= {"observed": 4, "ready": 4, "cordoned": 1, "allocatable": 3}
    node_class = inference_class.decode(fleet.inference_class())
    (pool,) = inference_cluster.decode(cluster, {"h100-8x": node_class}).pools
    assert (pool.nodes.present, pool.nodes.usable) == (3, 3)
    (declared,) = inference_cluster.decode_pools(Field(cluster).at("spec"), {}, {})
    assert declared.nodes.present == 4
