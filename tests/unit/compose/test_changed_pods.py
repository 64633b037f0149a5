"""A replica that is changed in place counts for what it had too, until the pods from before are seen to have ended."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from modelplane import names
from modelplane.api import admissions
from modelplane.api.fields import Field
from modelplane.render import pod_collection
from modelplane_functions.exchange import Outcome
from tests.support import changing, cluster_world, mutations
from tests.support.changing import applied, lists, of_size
from tests.support.cluster_world import Running

Json = Any
KEY = "ml-team/llama-0"


def of(tensor: int, count: int = 1, replicas: int = 1, nodes: int = 2) -> Running:
    """Return a cluster of some nodes of eight GPUs with admitted replicas of this size."""
    running = Running(replicas=replicas, nodes=nodes)
    of_size(running, tensor=tensor, count=count)
    running.kinds = None  # what came before was never rendered
    for _ in range(2):
        running.step()
    running.kinds = {pod_collection.KIND}
    assert running.step().status["admissions"][0].keys() == {"digest", "workload", "holdings", "replicas", "nodes"}
    return running


def taken(outcome: Outcome) -> int:
    """Return the devices that the ledger counts."""
    (pool,) = outcome.status["pools"]
    return sum(one["pods"] * sum(one["devices"].values()) for one in pool["allocations"])


def record(outcome: Outcome) -> admissions.Record:
    return admissions.decode(Field(outcome.status))[KEY]


def pods(running: Running, number: int = 1, first: int = 0) -> list[Json]:
    """Return pods of the first replica as it is now."""
    return changing.pods_of(running.replicas[0], number, first)


def followed(nodes: int = 2) -> Running:
    """Return a cluster that has a replica of four GPUs in place of eight, and is asked to list its pods."""
    running = of(tensor=8, nodes=nodes)
    of_size(running, tensor=4)
    running.step()
    applied(running)
    running.step()
    assert len(running.collections()) == 1
    return running


def told(outcome: Outcome) -> str:
    return next(one.message for one in outcome.conditions if one.type == "CapacityKnown")


def test_a_smaller_replica_counts_as_before_until_the_pods_from_before_have_ended() -> None:
    running = of(tensor=8)
    before = pods(running)
    of_size(running, tensor=4)
    outcome = running.step()
    assert (taken(outcome), record(outcome).holdings[0].shape.devices) == (8, (("gpu", 4),))
    assert KEY in outcome.status["admitted"], "and it may run as it is now"
    applied(running, seen=1)
    running.step()
    assert running.collections() == [], "the cluster may not have the change yet, so pods from before may still come"
    applied(running, digest="another")
    running.step()
    assert running.collections() == []
    applied(running)
    running.step()
    (collection,) = running.collections()
    assert collection["spec"]["observeObjects"]["selector"]["matchExpressions"][0]["values"] == ["llama-0"]
    outcome = running.step()
    assert taken(outcome) == 8, "nothing is listed yet"
    lists(running, before)
    outcome = running.step()
    assert taken(outcome) == 8
    assert f"{KEY} counts as before its change too, until the pods from before are seen to be gone" in told(outcome)
    assert outcome.ttl_seconds == 30
    lists(running, [*before, *pods(running, first=1)])
    assert taken(running.step()) == 8
    lists(running, pods(running, first=1))
    outcome = running.step()
    assert (taken(outcome), record(outcome).counted) == (4, ())
    outcome = running.step()
    assert (running.collections(), "until" in told(outcome)) == ([], False)
    assert running.compose().kinds == {}


def test_nobody_gets_what_pods_from_before_may_hold() -> None:
    running = of(tensor=8, nodes=1)
    before = pods(running)
    of_size(running, tensor=4)
    running.add("late", **copy.deepcopy(running.replicas[0]["spec"]))
    for _ in range(2):
        outcome = running.step()
        assert cluster_world.told(outcome, "refused") == {"late": "InsufficientDevices"}
    applied(running)
    running.step()
    lists(running, before)
    assert cluster_world.told(running.step(), "refused") == {"late": "InsufficientDevices"}
    lists(running, [])
    assert "late" in cluster_world.admitted(running.step())


def test_fewer_workers_count_as_before_until_the_others_have_ended() -> None:
    running = of(tensor=4, count=4)
    of_size(running, tensor=4, count=2)
    assert taken(running.step()) == 16
    applied(running)
    running.step()
    lists(running, pods(running, 3))
    assert taken(running.step()) == 16
    lists(running, pods(running, 2))
    assert taken(running.step()) == 8


def test_a_change_that_moves_pods_counts_both_where_they_do_not_meet() -> None:
    running = of(tensor=4, count=2, nodes=3)
    of_size(running, tensor=8, count=1)
    outcome = running.step()
    nodes = record(outcome).nodes
    assert taken(outcome) in (8, 12), nodes
    applied(running)
    running.step()
    lists(running, pods(running))
    assert taken(running.step()) == 8


def test_a_change_that_is_taken_back_is_admitted_at_once() -> None:
    running = of(tensor=8, nodes=1)
    started = record(running.step())
    of_size(running, tensor=4)
    running.step()
    of_size(running, tensor=8)
    outcome = running.step()
    assert (taken(outcome), record(outcome).holdings) == (8, started.holdings)
    assert KEY in outcome.status["admitted"]
    assert outcome.status["refused"] == []


def test_several_changes_in_a_row_count_for_the_largest() -> None:
    running = of(tensor=8, nodes=1)
    for tensor in (4, 2, 4, 1):
        of_size(running, tensor=tensor)
        assert taken(running.step()) == 8
    applied(running)
    running.step()
    lists(running, pods(running))
    assert taken(running.step()) == 1


def test_what_was_listed_for_one_change_says_nothing_of_the_next() -> None:
    """Pods of the change before may begin until the cluster has the next one."""
    running = followed(nodes=1)
    lists(running, [])
    of_size(running, tensor=2)
    assert taken(running.step()) == 4
    assert running.collections() == []
    applied(running)
    assert taken(running.step()) == 4
    lists(running, pods(running))
    assert taken(running.step()) == 2


def test_what_was_listed_says_nothing_of_a_change_that_was_admitted_meanwhile() -> None:
    running = followed(nodes=1)
    of_size(running, tensor=2)
    assert taken(running.step()) == 8
    assert running.collections() == []


def test_a_changed_replica_that_is_deleted_counts_as_before() -> None:
    running = of(tensor=8, nodes=1)
    of_size(running, tensor=4)
    running.step()
    running.replicas.clear()
    assert taken(running.step()) == 8
    running.step()
    (collection,) = running.collections()
    assert collection["metadata"]["name"].startswith("a-ending-pods")
    lists(running, [])
    assert taken(running.step()) == 0


def test_what_was_listed_for_a_change_says_nothing_of_a_deleted_replica() -> None:
    running = followed(nodes=1)
    lists(running, [])
    running.replicas.clear()
    running.others = [one for one in running.others if one["metadata"].get("labels")]
    assert taken(running.step()) == 8


def test_a_caller_that_cannot_say_what_is_served_counts_what_was_admitted() -> None:
    running = of(tensor=8)
    running.kinds = None
    of_size(running, tensor=4)
    outcome = running.step()
    assert (taken(outcome), record(outcome).counted) == (4, ())


def test_where_collections_are_not_served_it_counts_as_before_and_that_is_told() -> None:
    running = of(tensor=8)
    running.kinds = set()
    of_size(running, tensor=4)
    running.step()
    applied(running)
    running.step()
    outcome = running.step()
    assert taken(outcome) == 8
    assert f"the pods of {KEY} cannot be listed: the control plane does not serve" in told(outcome)


def test_a_growing_replica_counts_as_what_it_is_now() -> None:
    running = of(tensor=4, nodes=1)
    of_size(running, tensor=8)
    outcome = running.step()
    assert (taken(outcome), record(outcome).counted) == (8, ())


def other_template(pod: Json) -> None:
    pod["spec"]["resourceClaims"][0]["resourceClaimTemplateName"] = "another"


def no_claim(pod: Json) -> None:
    pod["spec"]["resourceClaims"] = []


def no_role(pod: Json) -> None:
    del pod["metadata"]["labels"][names.LABEL_ROLE]


def other_role(pod: Json) -> None:
    pod["metadata"]["labels"][names.LABEL_ROLE] = "prefill"


def other_role_without_devices(pod: Json) -> None:
    other_role(pod)
    no_claim(pod)


def head(pod: Json) -> None:
    no_role(pod)
    no_claim(pod)


def plugin(pod: Json) -> None:
    pod["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = "4"


def no_spec(pod: Json) -> None:
    del pod["spec"]


def ended(pod: Json) -> None:
    pod["spec"]["resourceClaims"] = []
    pod["status"]["phase"] = "Failed"


def as_it_is(pod: Json) -> None:
    """Change nothing."""


@pytest.mark.parametrize(
    ("edit", "is_counted"),
    [
        pytest.param(other_template, True, id="it claims by another template"),
        pytest.param(no_claim, True, id="it claims nothing"),
        pytest.param(no_role, True, id="its role is not known"),
        pytest.param(other_role, True, id="the replica has no such role"),
        pytest.param(plugin, True, id="it counts devices of a plugin"),
        pytest.param(other_role_without_devices, False, id="the replica has no such role, and it has no devices"),
        pytest.param(head, False, id="it has neither role nor devices"),
        pytest.param(no_spec, True, id="its spec was not read"),
        pytest.param(ended, False, id="it has ended"),
        pytest.param(as_it_is, False, id="it is as the replica is now"),
    ],
)
def test_a_pod_is_from_before_unless_its_devices_are_those_of_now(
    edit: Callable[[Json], None], *, is_counted: bool
) -> None:
    running = followed()
    found = pods(running)
    edit(found[0])
    lists(running, found)
    assert taken(running.step()) == (8 if is_counted else 4)


def test_a_collection_that_is_being_deleted_is_not_believed() -> None:
    running = followed()
    lists(running, pods(running))
    for collection in running.collections():
        collection["metadata"]["deletionTimestamp"] = "2026-01-02T00:00:00Z"
    assert taken(running.compose()) == 8


def with_one_from_before() -> Running:
    """Return the cluster whose list has a pod from before the change."""
    running = followed()
    lists(running, pods(of(tensor=8)))
    return running


def freeing(running: Running, document: Json, put: Callable[[Json], None]) -> set[mutations.Path]:
    """Return the fields of a document of which a change frees devices: swapped, emptied, doubled, huge, foreign."""
    found, asked = set(), 0
    for path in mutations.paths(document):
        for mutation in mutations.every(document, path):
            put(mutation.applied(copy.deepcopy(document)))
            try:
                is_counted = taken(running.compose()) == 8
            except (KeyError, TypeError, AttributeError):
                continue  # no API server has an object without kind, name or metadata to answer with
            asked += 1
            if not is_counted:
                found.add(path)
    assert asked > 100
    return found


def test_no_field_of_the_list_frees_what_a_pod_from_before_holds() -> None:
    running = with_one_from_before()
    ((key, collection),) = ((key, one) for key, one in running.children.items() if one["kind"] == pod_collection.KIND)
    assert freeing(running, collection, lambda wrong: running.children.update({key: wrong})) == set()


def test_no_field_of_the_workload_frees_what_a_pod_from_before_holds() -> None:
    running = with_one_from_before()
    (at,) = (place for place, one in enumerate(running.others) if not one["metadata"].get("labels"))
    assert freeing(running, running.others[at], lambda wrong: running.others.__setitem__(at, wrong)) == set()


def test_no_field_of_a_pod_from_before_frees_what_it_holds_but_those_that_say_so() -> None:
    """By these it is found, is a pod of the replica, and has ended."""
    running = with_one_from_before()
    (at,) = (place for place, one in enumerate(running.others) if one["metadata"].get("labels"))
    found = freeing(running, running.others[at], lambda wrong: running.others.__setitem__(at, wrong))
    saying = {"labels", "apiVersion", "kind", "namespace", "phase"}
    assert {path for path in found if not saying & set(path)} <= {("metadata",)}
    assert any("labels" in path for path in found), "or nothing was asked"
