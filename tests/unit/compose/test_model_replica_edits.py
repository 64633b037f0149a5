"""ModelReplica: what is rendered is what is desired. An edit of a composed Object is told and put back."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable
from typing import Any

import pytest

from modelplane import names
from modelplane.topology.shape import Topology
from modelplane.workload.model import Replica, Role
from modelplane_functions.exchange import Outcome
from tests.support import replica_world as world
from tests.support import replicas as build

Json = Any

GANG = world.replica(world.role(topology=Topology(tensor=8, pipeline=2)))
PREFILL_GANG = world.replica(
    world.role(), world.role(Role.PREFILL, topology=Topology(data=16)), name="frontier-of-a-very-long-name-indeed"
)


def _bare(children: Json, key: str = "workload") -> Json:
    return children[key]["spec"]["forProvider"]["manifest"]


def _claims(children: Json) -> str:
    return str(next(key for key in children if key.startswith("claims-")))


def _fifty_of_another_image(children: Json) -> None:
    spec = _bare(children)["spec"]
    spec["replicas"] = 50
    spec["template"]["containers"][0]["image"] = "miner:latest"


def _all_devices(children: Json) -> None:
    _bare(children, _claims(children))["spec"]["spec"]["devices"]["requests"][0]["exactly"]["count"] = 64


def _another_name(children: Json) -> None:
    _bare(children)["metadata"]["name"] = "somebody-elses"


def _another_namespace(children: Json) -> None:
    _bare(children)["metadata"]["namespace"] = "kube-system"


def _another_kind(children: Json) -> None:
    _bare(children).update(apiVersion="v1", kind="Pod")


def _nothing(children: Json) -> None:
    children["workload"]["spec"]["forProvider"]["manifest"] = {}


def _no_longer_an_object(children: Json) -> None:
    children["workload"]["spec"]["forProvider"] = "x"


def _without_its_mark(children: Json) -> None:
    _fifty_of_another_image(children)
    del children["workload"]["metadata"]["annotations"][names.ANNOTATION_RENDERED_FROM]


EDITS: tuple[Callable[[Json], None], ...] = (
    _fifty_of_another_image,
    _all_devices,
    _another_name,
    _another_namespace,
    _another_kind,
    _nothing,
    _no_longer_an_object,
    _without_its_mark,
)


def _other_nodes() -> Json:
    cluster = world.cluster()
    cluster["spec"]["nodePools"][0]["nodeSelector"] = {"moved": "on"}
    return cluster


def _manifests(outcome: Outcome) -> Json:
    return {key: child.resource["spec"]["forProvider"]["manifest"] for key, child in outcome.children.items()}


@pytest.mark.parametrize(
    "cluster", [pytest.param(world.cluster, id="as it was"), pytest.param(_other_nodes, id="the pool was edited since")]
)
@pytest.mark.parametrize("edit", [pytest.param(each, id=each.__name__.strip("_")) for each in EDITS])
def test_an_edited_object_is_put_back(edit: Callable[[Json], None], cluster: Callable[[], Json]) -> None:
    document, children = world.running()
    edited = copy.deepcopy(children)
    edit(edited)
    outcome = world.compose(document, cluster(), children=edited)
    wanted = _manifests(world.compose(world.composite(), cluster()))
    assert _manifests(outcome) == wanted
    settled = world.compose({**document, "status": outcome.status}, cluster(), children=world.applied(outcome))
    assert _manifests(settled) == wanted
    assert not settled.events


def test_an_edit_is_told_once() -> None:
    document, children = world.running()
    _fifty_of_another_image(children)
    outcome = world.compose(document, _other_nodes(), children=children)
    assert [str(event.reason) for event in outcome.events] == ["ObjectEdited"]
    assert outcome.events[0].message.startswith("workload was changed by another client")


def test_how_an_object_is_judged_and_deleted_is_put_back_too() -> None:
    document, children = world.running(GANG)
    before = copy.deepcopy(children)
    for child in children.values():
        child["spec"].update(readiness={"policy": "SuccessfulCreate"}, managementPolicies=["*"], watch=False)
    outcome = world.compose(document, _other_nodes(), children=children)
    assert {key: child.resource["spec"] for key, child in outcome.children.items()} == {
        key: child["spec"] for key, child in before.items()
    }


def test_what_an_earlier_version_made_is_deleted_in_the_foreground_too_and_nothing_else_changes() -> None:
    document, children = world.running()
    before = copy.deepcopy(children)
    assert _bare(children)["metadata"].pop("finalizers") == ["foregroundDeletion"]
    outcome = world.compose(document, world.cluster(), children=children)
    assert {key: one.resource["spec"] for key, one in outcome.children.items()} == {
        key: one["spec"] for key, one in before.items()
    }
    assert not outcome.events


@pytest.mark.parametrize("value", [pytest.param(None, id="one node"), pytest.param(GANG, id="gang")])
def test_an_edited_pool_is_no_edit_of_an_object(value: Replica | None) -> None:
    document, children = world.running(value)
    for _ in range(3):
        outcome = world.compose(document, _other_nodes(), children=children)
        assert _manifests(outcome)["workload"] == _bare(children)
        assert not outcome.events
        document["status"], children = outcome.status, world.applied(outcome)


def test_a_replica_of_an_earlier_version_is_taken_as_it_runs() -> None:
    """That version noted nothing in the status; what it rendered stays, and is noted now."""
    document, children = world.running()
    status = document["status"]
    document["status"] = {key: value for key, value in status.items() if key != "rendered"}
    outcome = world.compose(document, _other_nodes(), children=children)
    assert _manifests(outcome)["workload"] == _bare(children)
    assert outcome.status["rendered"] == status["rendered"]


def test_an_old_answer_in_the_cache_is_no_edit() -> None:
    """The replica was changed, its status says so, and Crossplane still shows the objects of before."""
    _, stale = world.running()
    changed = world.replica(world.role(pod_template=build.template("vllm/vllm-openai:v0.24.0")))
    document, _ = world.running(changed)
    outcome = world.compose(document, world.cluster(), children=stale)
    assert not [event for event in outcome.events if event.reason == "ObjectEdited"]


# --- names that an earlier version gave -------------------------------------------------------------------------------


def _renamed(value: Json, old: str, new: str) -> Json:
    if isinstance(value, dict):
        return {_renamed(key, old, new): _renamed(below, old, new) for key, below in value.items()}
    if isinstance(value, list):
        return [_renamed(below, old, new) for below in value]
    return value.replace(old, new) if isinstance(value, str) else value


def _as_before(children: Json, name: str) -> tuple[Json, str]:
    """Return the children as the version before named them: digests of five digits."""
    present = _bare(children)["metadata"]["name"]
    digest = hashlib.sha256(name.encode()).hexdigest()[:5]
    former = f"{name[:24].rstrip('-.')}-{digest}"
    renamed = _renamed(copy.deepcopy(children), present, former)
    for key in [key for key in renamed if key.startswith("claims-")]:
        renamed = _renamed(renamed, key.removeprefix("claims-"), key.removeprefix("claims-")[:-5])
    return renamed, former


@pytest.mark.parametrize("change", [pytest.param(False, id="as it is"), pytest.param(True, id="one worker more")])
def test_upgrade_keeps_the_names_of_what_runs(change: bool) -> None:  # noqa: FBT001 - a table's column
    document, children = world.running(PREFILL_GANG)
    cluster = world.cluster(admitted=[f"ml-team/{PREFILL_GANG.name}"])
    document["status"].pop("rendered", None)
    former, name = _as_before(world.applied(world.compose(document, cluster, children=children)), PREFILL_GANG.name)
    assert name != PREFILL_GANG.name
    if change:
        document["spec"]["workers"]["count"] = 2
    outcome = world.compose(document, cluster, children=former)
    assert outcome.children.keys() == former.keys()
    made = _manifests(outcome)
    for key, manifest in made.items():
        assert manifest["metadata"]["name"] == _bare(former, key)["metadata"]["name"], key
    refs = [ref["name"] for rule in made["route"]["spec"]["rules"] for ref in rule["backendRefs"]]
    assert all(ref.startswith(name) for ref in refs), "the route leads to what runs"
    assert made["workload"]["spec"]["template"] == _bare(former)["spec"]["template"], "no pod is started anew"


def test_two_replicas_that_were_given_one_name_part() -> None:
    """The one that was overwritten says so, serves nobody, and gets a workload of its own name."""
    document, children = world.running(PREFILL_GANG)
    cluster = world.cluster(admitted=[f"ml-team/{PREFILL_GANG.name}"])
    former, name = _as_before(world.applied(world.compose(document, cluster, children=children)), PREFILL_GANG.name)
    there = former["workload"]["status"]["atProvider"]["manifest"]
    there["metadata"]["labels"][names.LABEL_REPLICA] = "frontier-of-another"
    outcome = world.compose(document, cluster, children=former)
    assert world.conditions(outcome)["WorkloadReady"] == ("False", "NameTaken")
    assert world.conditions(outcome)["Serving"][0] == "False"
    assert "belongs to replica frontier-of-another" in world.message(outcome, "WorkloadReady")
    made = _manifests(outcome)
    assert made["workload"]["metadata"]["name"] not in (name, PREFILL_GANG.name)
    refs = [ref["name"] for rule in made["route"]["spec"]["rules"] for ref in rule["backendRefs"]]
    assert all(ref.startswith(made["workload"]["metadata"]["name"]) for ref in refs)
