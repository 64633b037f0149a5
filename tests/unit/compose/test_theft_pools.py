"""Whoever renames a pool gets no node twice: what runs is counted on the pool with its nodes."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from modelplane import names
from modelplane.errors import InvalidInput
from modelplane_functions.exchange import Outcome
from tests.support import cluster_world
from tests.support.cluster_world import Running

Json = Any
FULL = 16
NODES = {"example.com/pool": "h100"}


def test_a_pool_that_is_listed_twice_is_refused_by_its_name() -> None:
    running = Running()
    running.cluster["spec"]["nodePools"] *= 2
    with pytest.raises(Exception, match=r'spec\.nodePools\[1\]\.name: pool "gpu" is listed twice'):
        running.compose()


def _renamed(running: Running, name: str, selector: Json) -> None:
    (pool,) = running.cluster["spec"]["nodePools"]
    pool["name"] = name
    pool.pop("nodeSelector", None)
    if selector is not None:
        pool["nodeSelector"] = selector


def _asking(running: Running, pool: str) -> Outcome:
    """Return what the function decides on a further replica of the deployment in the pool."""
    running.add("late-0", pool=pool)
    return running.step()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(NODES, NODES, id="labels of the platform"),
        pytest.param(None, {names.LABEL_POOL: "gpu"}, id="the default of the first name"),
    ],
)
def test_a_pool_with_another_name_and_the_same_nodes_counts_what_runs_on_them(before: Json, after: Json) -> None:
    running = Running(replicas=FULL)
    _renamed(running, "gpu", before)
    running.step()
    _renamed(running, "main", after)
    for _ in range(3):
        outcome = running.step()
        assert (len(cluster_world.admitted(outcome)), cluster_world.pods(outcome)) == (FULL, FULL), (
            "what runs there is counted, look after look"
        )
    assert 'the replicas of pool "gpu", which is not declared' in str(outcome.conditions)
    outcome = _asking(running, "main")
    assert cluster_world.told(outcome, "refused") == {"late-0": "InsufficientDevices"}
    _renamed(running, "third", after)
    assert cluster_world.pods(running.step()) == FULL, "and under the next name"
    _renamed(running, "gpu", before)
    outcome = running.step()
    assert (len(cluster_world.admitted(outcome)), cluster_world.pods(outcome)) == (FULL, FULL), (
        "and under its own again"
    )
    assert outcome.status["pools"] == [entry for entry in outcome.status["pools"] if entry["name"] == "gpu"]


def test_a_pool_that_is_away_for_a_while_is_known_by_its_nodes_when_it_is_back_under_another_name() -> None:
    running = Running(replicas=FULL)
    _renamed(running, "gpu", NODES)
    running.step()
    (pool,) = running.cluster["spec"]["nodePools"]
    running.cluster["spec"]["nodePools"] = [{**pool, "name": "other", "nodeSelector": {"example.com/pool": "other"}}]
    assert running.step().status["pools"][0]["name"] == "other"
    running.cluster["spec"]["nodePools"].insert(0, {**pool, "name": "main"})
    assert cluster_world.told(_asking(running, "main"), "refused") == {"late-0": "InsufficientDevices"}


def _others(**more: Json) -> Json:
    return {"name": "main", "nodeSelector": {"example.com/pool": "others"}, **more}


def test_a_pool_that_was_declared_beside_one_that_is_gone_counts_nothing_of_it() -> None:
    running = Running(replicas=FULL)
    running.step()
    pools = running.cluster["spec"]["nodePools"]
    pools.append({**pools[0], **_others()})
    running.step()
    del pools[0]
    running.step()
    outcome = _asking(running, "main")
    assert (len(cluster_world.admitted(outcome)), cluster_world.pods(outcome)) == (FULL + 1, 1)
    assert [entry["name"] for entry in outcome.status["pools"]] == ["main"]


@pytest.mark.parametrize("selector", [NODES, None], ids=["labels of the platform", "the default"])
@pytest.mark.parametrize("between", [0, 2], ids=["at once", "away for a while"])
def test_a_pool_with_another_name_and_other_labels_counts_what_may_run_on_its_nodes(
    selector: Json, between: int
) -> None:
    running = Running(replicas=FULL)
    _renamed(running, "gpu", selector)
    running.step()
    (pool,) = running.cluster["spec"]["nodePools"]
    running.cluster["spec"]["nodePools"] = []
    for _ in range(between):
        running.step()
    running.cluster["spec"]["nodePools"] = [{**pool, **_others()}]
    for _ in range(3):
        outcome = running.step()
        assert (len(cluster_world.admitted(outcome)), cluster_world.pods(outcome)) == (FULL, FULL), "look after look"
    assert 'declare pool "gpu" beside it until its replicas are gone' in str(outcome.conditions)
    assert cluster_world.told(_asking(running, "main"), "refused") == {"late-0": "InsufficientDevices"}
    running.cluster["spec"]["nodePools"].append(pool)
    outcome = running.step()
    assert len(cluster_world.admitted(outcome)) == FULL + 1, "declared beside each other they are other nodes"


def test_a_pool_that_grows_when_another_goes_counts_what_may_run_on_its_nodes() -> None:
    running = Running(replicas=FULL)
    pools = running.cluster["spec"]["nodePools"]
    pools.append({**pools[0], **_others(nodeCount=0)})
    running.step()
    running.cluster["spec"]["nodePools"] = [{**pools[1], "nodeCount": pools[0]["nodeCount"]}]
    running.step()
    assert cluster_world.told(_asking(running, "main"), "refused") == {"late-0": "InsufficientDevices"}


def test_a_pool_whose_class_names_its_devices_otherwise_counts_whole_nodes() -> None:
    running = Running(replicas=FULL)
    running.step()
    node_class = copy.deepcopy(running.classes[0])
    node_class["metadata"]["name"] = "renamed"
    node_class["spec"]["devices"][0]["name"] = "accelerator"
    running.classes.append(node_class)
    (pool,) = running.cluster["spec"]["nodePools"]
    running.cluster["spec"]["nodePools"] = [{**pool, **_others(className="renamed")}]
    outcome = running.step()
    assert outcome.status["pools"][0]["free"] == {"accelerator": 0}
    assert outcome.status["pools"][0]["overcommitted"] is True


@pytest.mark.parametrize(
    ("first", "second", "path"),
    [
        pytest.param(NODES, NODES, r"spec\.nodePools\[1\]\.nodeSelector", id="equal"),
        pytest.param(NODES, {**NODES, "zone": "a"}, r"spec\.nodePools\[1\]", id="the second within the first"),
        pytest.param({**NODES, "zone": "a"}, NODES, r"spec\.nodePools\[1\]", id="the first within the second"),
        pytest.param(None, {names.LABEL_POOL: "gpu"}, r"spec\.nodePools\[1\]", id="the default of the first"),
    ],
)
def test_two_pools_of_the_same_nodes_are_refused(first: Json, second: Json, path: str) -> None:
    running = Running(replicas=3)
    _renamed(running, "gpu", first)
    (pool,) = running.cluster["spec"]["nodePools"]
    running.cluster["spec"]["nodePools"] = [pool, {**pool, "name": "twice", "nodeSelector": second}]
    with pytest.raises(InvalidInput, match=path + r'.*pools "gpu" and "twice" select the same nodes'):
        running.compose()


def test_two_pools_that_labels_tell_apart_are_taken() -> None:
    running = Running(replicas=3)
    _renamed(running, "gpu", {**NODES, "zone": "a"})
    (pool,) = running.cluster["spec"]["nodePools"]
    running.cluster["spec"]["nodePools"] = [pool, {**pool, "name": "other", "nodeSelector": {**NODES, "zone": "b"}}]
    assert cluster_world.pods(running.step()) == 3


@pytest.mark.parametrize("odd", [7, "x", [], {"a": 1}, None, ["main", 7, None], [{}]], ids=repr)
def test_published_heirs_of_another_type_say_nothing(odd: Json) -> None:
    running = Running(replicas=3)
    running.cluster["status"]["pools"].append({"name": "gone", "countedOn": odd})
    running.cluster["status"]["pools"][0].update(countedOn=odd, nodes=odd)
    assert cluster_world.pods(running.step()) == 3


@pytest.mark.parametrize("odd", [7, "x", [], {"a": 1}, {"a": {"b": "c"}}, None, [{"a": "b"}]], ids=repr)
def test_a_published_selector_of_another_type_says_nothing(odd: Json) -> None:
    running = Running(replicas=3)
    running.cluster["status"]["pools"].append({"name": "gone", "nodeSelector": odd})
    running.cluster["status"]["pools"][0]["nodeSelector"] = odd
    outcome = running.step()
    assert cluster_world.pods(outcome) == 3
    assert [entry["name"] for entry in outcome.status["pools"]] == ["gpu"]
    assert "nodeSelector" not in outcome.status["pools"][0]
