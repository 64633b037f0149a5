"""InferenceCluster whose nodes and devices are observed: what is counted, what it bounds, and what it never takes."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from modelplane.render import observer
from modelplane_functions.exchange import Condition, Outcome, Ready, Truth
from tests.support.cluster_world import admitted, synced, told
from tests.support.observed_nodes import Watched, device, node, resource_slice, whole

Json = Any


def _condition(outcome: Outcome) -> Condition:
    return next(one for one in outcome.conditions if one.type == "CapacityObserved")


def _counts(watched: Watched) -> tuple[int, int, int, int]:
    nodes = watched.pool()["nodes"]
    return nodes["observed"], nodes["ready"], nodes["cordoned"], nodes["allocatable"]


def test_what_is_there_is_published_beside_what_is_declared() -> None:
    watched = Watched()
    outcome = watched.compose()
    assert _condition(outcome).reason == "ObservationPending"
    assert outcome.status["pools"][0]["nodes"] == {"declared": 2}
    watched.look()
    outcome = watched.compose()
    assert outcome.status["pools"][0]["nodes"] == {
        "declared": 2, "observed": 2, "ready": 2, "cordoned": 0, "allocatable": 2,
        "cpu": "64000m", "memory": f"{512 << 20}Ki",
    }  # fmt: skip
    assert outcome.status["pools"][0]["devices"] == [{"name": "gpu", "observed": 16, "allocatable": 16}]
    assert (_condition(outcome).status, _condition(outcome).reason) == (Truth.TRUE, "Observed")
    assert outcome.ready is Ready.TRUE
    assert outcome.children[observer.MAP_KEY].resource["spec"]["managementPolicies"] == ["Observe", "Create"]


def test_without_the_field_nothing_is_composed() -> None:
    watched = Watched()
    watched.look()
    watched.step()
    del watched.cluster["spec"]["observe"]
    outcome = watched.compose()
    assert not {observer.KEY, observer.MAP_KEY} & outcome.children.keys()
    assert outcome.status["pools"][0]["nodes"] == {"declared": 2}
    assert "devices" not in outcome.status["pools"][0]


@pytest.mark.parametrize(
    ("changed", "counts", "says"),
    [
        pytest.param({"ready": False}, (2, 1, 0, 1), "1 node not ready", id="not ready"),
        pytest.param({"cordoned": True}, (2, 2, 1, 1), "1 node cordoned", id="cordoned"),
    ],
)
def test_a_node_that_rests_takes_nothing_new_and_loses_nothing(
    changed: Json, counts: tuple[int, int, int, int], says: str
) -> None:
    watched = Watched(replicas=9)
    watched.nodes[0] = node("n0", **changed)
    watched.look()
    outcome = watched.step()
    assert _counts(watched) == counts
    assert len(admitted(outcome)) == 9, "what stands stays, though one node holds eight of them"
    assert outcome.status["pools"][0]["overcommitted"] is True
    assert says in _condition(outcome).message
    watched.add("llama-99")
    assert told(watched.compose(), "refused") == {"llama-99": "InsufficientDevices"}
    watched.nodes[0] = node("n0")
    watched.look()
    assert "llama-99" in admitted(watched.compose())


def test_a_taint_that_replicas_do_not_tolerate_keeps_new_ones_off() -> None:
    watched = Watched()
    watched.nodes[0]["spec"]["taints"] = [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}]
    watched.nodes[1]["spec"]["taints"] = [{"key": "maintenance", "value": "x", "effect": "NoExecute"}]
    watched.look()
    assert _counts(watched) == (2, 2, 0, 1)
    watched.cluster["spec"]["nodePools"][0]["taints"] = [{"key": "maintenance", "effect": "NoExecute"}]
    watched.step()
    watched.look()
    assert _counts(watched) == (2, 2, 0, 2)


def test_a_node_with_a_tainted_or_missing_device_takes_nothing_new() -> None:
    watched = Watched()
    dead: Json = {"taints": [{"key": "gpu.nvidia.com/xid", "effect": "NoExecute"}]}
    watched.slices[0] = resource_slice("n0", [device("gpu-0", **dead), *(device(f"gpu-{i}") for i in range(1, 8))])
    watched.slices[1] = whole("n1", 7)
    watched.look()
    outcome = watched.compose()
    assert _counts(watched) == (2, 2, 0, 0)
    assert outcome.status["pools"][0]["devices"] == [{"name": "gpu", "observed": 15, "allocatable": 14}]
    assert "1 node with 7 of 8 gpu; " in _condition(outcome).message
    assert "8 of 8 gpu, 1 of them tainted" in _condition(outcome).message
    assert len(admitted(outcome)) == 3


def test_a_pool_of_slices_that_is_not_complete_counts_for_nothing() -> None:
    watched = Watched()
    watched.slices[0] = resource_slice("n0", [device(f"gpu-{i}") for i in range(8)], count=2)
    watched.slices.append(resource_slice("n1", [device("gpu-0")], generation=0))  # of before
    watched.look()
    assert _counts(watched) == (2, 2, 0, 1)


def test_a_class_that_lies_is_told_with_the_attribute_and_both_values() -> None:
    watched = Watched()
    watched.slices = [whole(f"n{index}", memory="80Gi", architecture="Blackwell") for index in range(2)]
    watched.look()
    outcome = watched.compose()
    found = _condition(outcome)
    assert (found.status, found.reason) == (Truth.FALSE, "ClassDiffers")
    assert 'attribute architecture of device "gpu" is Hopper in the class and Blackwell on 16 devices' in found.message
    assert 'capacity memory of device "gpu" is 81559Mi in the class and 80Gi on 16 devices' in found.message
    assert _counts(watched) == (2, 2, 0, 2), "it is told, and takes no capacity"
    assert outcome.ready is Ready.TRUE


def test_what_is_observed_adds_nothing_to_what_is_declared() -> None:
    watched = Watched()
    watched.nodes += [node("n2"), node("n3")]
    watched.slices += [whole("n2"), whole("n3")]
    watched.look()
    outcome = watched.compose()
    assert outcome.status["pools"][0]["nodes"]["allocatable"] == 4
    assert outcome.status["pools"][0]["free"] == {"gpu": 13}
    assert outcome.status["summary"]["devices"] == 16


def test_a_pool_that_grows_counts_a_resting_node_among_those_it_may_have() -> None:
    watched = Watched()
    watched.cluster["spec"]["nodePools"][0] = {
        **watched.cluster["spec"]["nodePools"][0], "nodeCount": 1, "maxNodeCount": 3,
    }  # fmt: skip
    watched.nodes[0] = node("n0", ready=False)
    watched.step()
    watched.look()
    watched.step()
    assert watched.pool()["free"] == {"gpu": 5}, "of the node that is there"
    for number in range(14):
        watched.add(f"more-{number:02}")
    outcome = watched.compose()
    assert len(admitted(outcome)) == 16, "two nodes of three: the third rests"


def test_the_bytes_that_the_docs_tell_are_those_of_the_program() -> None:
    watched = Watched(1, nodes=100)
    alike = len(watched.look().encode())
    for index in range(2):
        watched.nodes[index] = node(f"n{index}", ready=False)
        watched.nodes[2 + index] = node(f"n{2 + index}", cordoned=True)
        watched.slices[4 + index] = whole(f"n{4 + index}", gpus=7)
        watched.slices[6 + index] = whole(f"n{6 + index}", architecture="Ampere")
        tainted = device("gpu-0", taints=[{"key": "sick", "effect": "NoSchedule"}])
        watched.slices[8 + index] = resource_slice(
            f"n{8 + index}", [tainted, *(device(f"gpu-{i}") for i in range(1, 8))]
        )
    differing = len(watched.look().encode())
    docs = Path(__file__).resolve().parents[3] / "docs"
    assert (
        f"{alike} where all nodes are alike, {differing:,} where 10 differ in five ways"
        in (docs / "capacity.md").read_text()
    )
    assert f"| {alike} to {differing:,} |" in (docs / "decisions.md").read_text()


def _unreadable(watched: Watched) -> None:
    watched.children[observer.MAP_KEY]["status"] = {
        "conditions": [
            {**synced("False", "cannot connect")[0], "lastTransitionTime": "2026-01-01T00:00:00Z"},
        ]
    }


def _not_running(watched: Watched) -> None:
    manifest = watched.children[observer.KEY]["status"]["atProvider"]["manifest"]
    manifest["status"] = {
        "conditions": [{"type": "Available", "status": "False", "lastTransitionTime": "2026-01-01T00:00:00Z"}]
    }


BLINKS = {
    "gone": lambda watched: watched.children.pop(observer.MAP_KEY),
    "both gone": lambda watched: [watched.children.pop(key) for key in (observer.MAP_KEY, observer.KEY)],
    "unreadable": _unreadable,
    "empty": lambda watched: watched.writes(""),
    "no JSON": lambda watched: watched.writes("{"),
    "deep": lambda watched: watched.writes("[" * 60_000),
    "large": lambda watched: watched.writes('{"version": 1, "pools": []}' + " " * 70_000),
    "another version": lambda watched: watched.writes('{"version": 2, "pools": []}'),
    "no pool": lambda watched: watched.writes('{"version": 1, "pools": []}'),
    "no object": lambda watched: watched.writes("[1, 2]"),
    "a number": lambda watched: watched.writes(7),
    "many nodes": lambda watched: watched.writes(
        '{"version": 1, "pools": [{"name": "gpu", "asked": "x", "shapes": [{"nodes": 99999999999, "state": "Ready"}]}]}'
    ),
    "many devices": lambda watched: watched.writes(
        '{"version": 1, "pools": [{"name": "gpu", "asked": "x", "kinds": [{"driver": "a"}], "shapes": '
        '[{"nodes": 1, "state": "Ready", "devices": [[0, 4096], [0, 1]]}]}]}'
    ),
    "an index": lambda watched: watched.writes(
        '{"version": 1, "pools": [{"name": "gpu", "asked": "x", '
        '"shapes": [{"nodes": 1, "state": "Ready", "devices": [[9, 1]]}]}]}'
    ),
    "another question": lambda watched: watched.writes('{"version": 1, "pools": [{"name": "gpu", "asked": "x"}]}'),
}


@pytest.mark.parametrize("blink", BLINKS.values(), ids=BLINKS)
def test_what_was_known_holds_while_it_cannot_be_read(blink: Json) -> None:
    watched = Watched()
    watched.nodes[0] = node("n0", cordoned=True)
    watched.look()
    watched.step()
    watched.look()
    watched.step()
    known = copy.deepcopy(watched.cluster["status"]["pools"])
    watched.look()
    blink(watched)
    outcome = watched.step()
    assert outcome.status["pools"] == known
    assert _condition(outcome).status is Truth.UNKNOWN
    assert "the last known numbers hold" in _condition(outcome).message
    assert {observer.KEY, observer.MAP_KEY} <= outcome.children.keys()
    assert outcome.ready is Ready.TRUE


def test_an_observer_that_does_not_look_is_told_with_the_time() -> None:
    watched = Watched()
    watched.look()
    _not_running(watched)
    found = _condition(watched.compose())
    assert (found.status, found.reason) == (Truth.UNKNOWN, "ObserverNotRunning")
    assert "since 2026-01-01T00:00:00Z" in found.message
    _unreadable(watched)
    assert "cannot be read since 2026-01-01T00:00:00Z: cannot connect" in _condition(watched.compose()).message


def test_what_an_observer_of_before_has_left_is_not_read() -> None:
    watched = Watched()
    watched.nodes[0] = node("n0", cordoned=True)
    watched.look()
    watched.children[observer.KEY]["status"] = {}
    outcome = watched.compose()
    assert outcome.status["pools"][0]["nodes"] == {"declared": 2}
    assert _condition(outcome).reason == "ObserverNotRunning"


def test_a_class_that_blinks_asks_nothing_else() -> None:
    watched = Watched()
    watched.look()
    watched.step()
    before = copy.deepcopy(watched.children[observer.KEY])
    classes, watched.classes = watched.classes, []
    outcome = watched.step()
    assert outcome.children[observer.KEY].resource["spec"] == before["spec"]
    assert outcome.status["pools"][0]["nodes"]["allocatable"] == 2
    watched.classes = classes
    assert watched.step().children[observer.KEY].resource["spec"] == before["spec"]


@pytest.mark.parametrize("key", [observer.KEY, observer.MAP_KEY])
def test_what_a_provider_reports_is_told_on_one_line_of_bounded_length(key: str) -> None:
    watched = Watched()
    watched.look()
    said = {**synced("False")[0], "message": "is forbidden:\n" + "x" * 90_000}
    watched.children[key]["status"]["conditions"] = [said]
    told = _condition(watched.compose()).message
    assert "is forbidden: xxx" in told
    assert "apply examples/rbac-workload.yaml" in told
    assert len(told) < 900


def test_fields_that_are_not_known_are_ignored_and_named() -> None:
    watched = Watched()
    text = watched.look()
    watched.writes(text.replace('"version":1', '"version":1,"later":{"a":[]}'))
    found = _condition(watched.compose())
    assert found.status is Truth.TRUE
    assert "ignored: later" in found.message


def test_devices_of_a_plugin_are_those_that_the_kubelet_counts() -> None:
    watched = Watched()
    (gpu,) = watched.classes[0]["spec"]["devices"]
    gpu.pop("deviceClassName")
    gpu |= {"claim": "DevicePlugin", "resourceName": "nvidia.com/gpu"}
    watched.step()
    counts: list[Json] = [{"nvidia.com/gpu": "8"}, {"nvidia.com/gpu": "7"}]
    watched.nodes = [node(f"n{index}", **one) for index, one in enumerate(counts)]
    watched.look()
    assert _counts(watched) == (2, 2, 0, 1)


def test_the_text_is_the_same_however_the_lists_are_ordered() -> None:
    watched = Watched()
    watched.nodes[0] = node("n0", cordoned=True)
    first = watched.look()
    watched.nodes.reverse()
    watched.slices.reverse()
    assert watched.look() == first
    assert len(first) < 1000
