"""Which slices count, where devices are, and how nodes become classes and pools."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from modelplane.inventory.survey import Survey
from tests.support import driver_slices as drivers
from tests.unit.inventory.test_drivers import cluster, surveyed

Json = Any


def gpus(where: str, count: int = 2, **more: Any) -> Json:
    return drivers.slice_(drivers.NVIDIA, where, [drivers.nvidia_gpu(where, one) for one in range(count)], **more)


def counted(found: Survey) -> dict[str, tuple[int, int]]:
    """Return the number of nodes and of counted nodes of each pool."""
    return {pool.name: (len(pool.nodes), pool.counted) for pool in found.pools}


# --- slices


def test_the_newest_complete_generation_counts() -> None:
    found = surveyed(gpus("n", 1, generation=3), gpus("n", 4, generation=4), drivers.node("n"), *drivers.shipped())
    assert found.classes[0].devices[0].count == 4
    assert "pool n of gpu.nvidia.com: 1 slice is of an older generation than 4 not used" in found.notes


@pytest.mark.parametrize(
    ("slices", "said"),
    [
        pytest.param(
            [gpus("n", 4, generation=3), gpus("n", 2, generation=4, of=2)],
            "generation 4 is incomplete: 1 of 2 slices are there; the driver is updating it",
            id="incomplete: the older one is not used either",
        ),
        pytest.param([gpus("n", 2, of=2), gpus("n", 2, number=1, of=2)], "names device gpu-0 twice", id="a name twice"),
        pytest.param(
            [
                drivers.slice_(
                    drivers.NVIDIA,
                    "n",
                    [{**drivers.nvidia_gpu("n", 0), "consumesCounters": [{"counterSet": "x", "counters": {}}]}],
                )
            ],
            "has device gpu-0 that consumes counter set x, which is not there",
            id="a counter set that is missing",
        ),
    ],
)
def test_a_pool_that_an_allocator_would_not_use_is_said(slices: list[Json], said: str) -> None:
    found = surveyed(*slices, drivers.node("n"), *drivers.shipped())
    assert found.classes == ()
    assert any(said in note for note in found.notes), found.notes


def _reaching(one: Json, **reach: Any) -> Json:
    made: Json = copy.deepcopy(one)
    del made["spec"]["nodeName"]
    made["spec"] |= reach
    return made


def _term(key: str, *values: str, kind: str = "matchExpressions") -> Json:
    return {"nodeSelectorTerms": [{kind: [{"key": key, "operator": "In", "values": list(values)}]}]}


@pytest.mark.parametrize(
    ("reach", "nodes", "said"),
    [
        pytest.param({"nodeSelector": _term("kubernetes.io/hostname", "a")}, 1, "", id="a label of one node"),
        pytest.param(
            {"nodeSelector": _term("metadata.name", "a", kind="matchFields")}, 1, "", id="the name of one node"
        ),
        pytest.param({"nodeSelector": _term("rack", "r")}, 0, "2 nodes share them (a, b)", id="a label of two nodes"),
        pytest.param({"nodeSelector": _term("rack", "q")}, 0, "selects no node", id="a label of no node"),
        pytest.param({"allNodes": True}, 0, "every node reaches them", id="all nodes"),
        pytest.param({"nodeName": "gone"}, 0, "node gone does not exist", id="a node that is gone"),
    ],
)
def test_devices_belong_to_one_node_or_are_said(reach: Json, nodes: int, said: str) -> None:
    both = [drivers.node(name, {"rack": "r"}) for name in "ab"]
    found = surveyed(_reaching(gpus("x"), **reach), *both, *drivers.shipped())
    assert sum(len(pool.nodes) for pool in found.pools) == nodes
    assert not said or any(said in note for note in found.notes), found.notes


def test_devices_may_each_say_where_they_are() -> None:
    one = _reaching(gpus("x", 3), perDeviceNodeSelection=True)
    where: list[Json] = [{"nodeName": "a"}, {"nodeName": "b"}, {"allNodes": True}]
    one["spec"]["devices"] = [{**device, **reach} for device, reach in zip(one["spec"]["devices"], where, strict=True)]
    found = surveyed(one, drivers.node("a"), drivers.node("b"), *drivers.shipped())
    assert [(device.count, len(found.pools[0].nodes)) for device in found.classes[0].devices] == [(1, 2)]
    assert any("1 device is (gpu-2) left out" in note or "every node reaches them" in note for note in found.notes)


def test_without_nodes_the_slices_say_which_there_are() -> None:
    found = surveyed(gpus("a"), gpus("b"), *drivers.shipped())
    assert counted(found) == {"h100-80gb-hbm3-2x": (2, 2)}
    assert found.pools[0].labels is None


def test_older_versions_of_the_api_are_read() -> None:
    one = gpus("a")
    one["apiVersion"] = "resource.k8s.io/v1beta1"
    one["spec"]["devices"] = [
        {"name": each["name"], "basic": {key: value for key, value in each.items() if key != "name"}}
        for each in one["spec"]["devices"]
    ]
    assert surveyed(one, drivers.node("a")).classes[0].devices[0].count == 2


def test_a_node_of_which_half_is_known_is_left_out() -> None:
    nics = [drivers.slice_(drivers.NET, name, [drivers.nic(name, 0)]) for name in "ab"]
    found = surveyed(gpus("a"), gpus("b", of=2), *nics, drivers.node("a"), drivers.node("b"), *drivers.shipped())
    assert [pool.nodes for pool in found.pools] == [("a",)]
    assert "1 node (b) left out: some of their devices are not known now; ask again later" in found.notes


def test_nodes_with_network_cards_alone_are_left_out() -> None:
    nics = [drivers.slice_(drivers.NET, name, [drivers.nic(name, 0)]) for name in "ab"]
    found = surveyed(gpus("a"), *nics, drivers.node("a"), drivers.node("b"), *drivers.shipped())
    assert [pool.nodes for pool in found.pools] == [("a",)]
    assert "1 node (b) left out: no model runs on their devices, which are network cards" in found.notes


def test_channels_between_nodes_are_no_devices() -> None:
    """GPUs of a plugin beside the driver that is installed for its compute domains alone."""
    channels = [
        {"name": f"channel-{at}", "attributes": {"type": {"string": "channel"}, "id": {"int": at}}} for at in range(3)
    ]
    domain = drivers.device_class("compute-domain-default-channel.nvidia.com", 'device.driver.contains("domain")')
    found = surveyed(
        drivers.slice_("compute-domain.nvidia.com", "a", channels),
        drivers.node("a", drivers.GFD_LABELS, resources={"nvidia.com/gpu": "4"}),
        domain,
    )
    assert [one.resource_name for one in found.classes[0].devices] == ["nvidia.com/gpu"]
    assert "compute-domain.nvidia.com left out: no model runs on its devices" in found.notes


# --- DeviceClasses


def test_devices_that_no_class_selects_are_left_out() -> None:
    found = surveyed(gpus("a"), drivers.node("a"), drivers.device_class("other", 'device.driver == "other"'))
    assert found.classes == ()
    assert "gpu.nvidia.com: devices gpu left out: no DeviceClass selects them; create one" in found.notes


def test_a_class_that_cannot_be_evaluated_selects_nothing() -> None:
    broken = drivers.device_class("a-broken", "device.nothing.here ==")
    aborts = drivers.device_class("b-aborts", 'device.attributes["gpu.nvidia.com"].nothing == 1')
    mine = drivers.device_class("c-mine", 'device.driver == "gpu.nvidia.com"')
    found = surveyed(gpus("a"), drivers.node("a"), broken, aborts, mine)
    assert found.classes[0].devices[0].device_class == "c-mine"


# --- nodes


def test_nodes_that_are_away_are_in_the_pool_and_not_counted() -> None:
    nodes = [
        drivers.node("a"),
        drivers.node("b", unschedulable=True),
        drivers.node("c", ready=False, taints=[{"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}]),
    ]
    found = surveyed(*(gpus(name) for name in "abc"), *nodes, *drivers.shipped())
    assert counted(found) == {"h100-80gb-hbm3-2x": (3, 1)}
    assert any(
        "2 of 3 nodes not counted: b is cordoned, c is not ready; write nodeCount: 3 when they are back" in note
        for note in found.notes
    )


@pytest.mark.parametrize(
    ("memories", "classes"),
    [
        pytest.param(["1930000000Ki", "1929000000Ki", "1900000000Ki"], 1, id="the kernel keeps some"),
        pytest.param(["1930000000Ki", "965000000Ki"], 2, id="half of it"),
    ],
)
def test_memory_that_differs_a_little_splits_nothing(memories: list[str], classes: int) -> None:
    nodes = [drivers.node(f"n{at}", resources={"memory": text}) for at, text in enumerate(memories)]
    found = surveyed(*(gpus(one["metadata"]["name"]) for one in nodes), *nodes, *drivers.shipped())
    assert len(found.classes) == classes
    assert len({one.name for one in found.classes}) == classes
    assert min(one.memory_bytes or 0 for one in found.classes) == min(int(text[:-2]) for text in memories) * 1024


def test_pools_of_a_cloud_share_a_class() -> None:
    label = "eks.amazonaws.com/nodegroup"
    nodes = [drivers.node(name, {label: pool}) for name, pool in (("a", "one"), ("b", "one"), ("c", "Two_2"))]
    found = surveyed(*(gpus(name) for name in "abc"), *nodes, drivers.node("cpu"), *drivers.shipped())
    assert [one.name for one in found.classes] == ["h100-80gb-hbm3-2x"]
    assert [(pool.name, pool.labels) for pool in found.pools] == [
        ("one", ((label, "one"),)),
        ("two-2", ((label, "Two_2"),)),
    ]


def test_other_taints_make_another_pool() -> None:
    mine = [{"key": "team", "value": "x", "effect": "NoSchedule"}]
    vendors = [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]
    nodes = [
        drivers.node("a", {"rack": "1"}, taints=[*mine, *vendors]),
        drivers.node("b", {"rack": "2"}, taints=vendors),
    ]
    found = surveyed(gpus("a"), gpus("b"), *nodes, *drivers.shipped())
    assert sorted(str(taint) for pool in found.pools for taint in pool.taints) == ["team=x:NoSchedule"]
    assert {pool.labels for pool in found.pools} == {(("rack", "1"),), (("rack", "2"),)}
    assert any("the taint team=x:NoSchedule, which replicas will tolerate" in note for note in found.notes)


def test_nodes_that_no_label_tells_apart_are_to_be_labelled() -> None:
    found = surveyed(gpus("a"), drivers.node("a"), drivers.node("b"), *drivers.shipped())
    assert found.pools[0].labels is None
    assert any("label them: kubectl label node a modelplane.ai/pool=h100-80gb-hbm3-2x" in note for note in found.notes)


def test_the_names_of_a_class_stay_when_nodes_come() -> None:
    before = surveyed(*cluster(drivers.nvidia_gpu, nodes=1))
    after = surveyed(*cluster(drivers.nvidia_gpu, nodes=4))
    assert [one.name for one in before.classes] == [one.name for one in after.classes]
    assert [one.name for one in before.pools] == [one.name for one in after.pools]


def test_a_tainted_device_is_another_kind() -> None:
    one = gpus("a", 4)
    one["spec"]["devices"][2]["taints"] = [
        {"key": "gpu.nvidia.com/xid", "value": "79", "effect": "NoExecute", "timeAdded": "2026-11-01T00:00:00Z"}
    ]
    one["spec"]["devices"][3]["taints"] = [{"key": "note", "effect": "None"}]
    found = surveyed(one, drivers.node("a"), *drivers.shipped())
    (made,) = found.classes
    assert any("1 device with the taint gpu.nvidia.com/xid=79:NoExecute" in note for note in found.notes)
    assert [(device.count, [str(taint) for taint in device.taints]) for device in made.devices] == [
        (3, []),
        (1, ["gpu.nvidia.com/xid=79:NoExecute"]),
    ]
