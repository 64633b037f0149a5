"""InferenceCluster of a cloud that creates it: its parts, what they report, and that no input takes a part away."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from modelplane import names
from modelplane.api import inference_cluster as decoded
from modelplane.errors import InvalidInput, Unsupported
from modelplane.render import observer
from modelplane_functions.exchange import Outcome, Ready, Truth
from tests.support import cluster_world, observed_nodes, toy_cloud
from tests.support.toy_cloud import BLOCK, RECIPE, SOURCE

Json = Any


@pytest.fixture(autouse=True)
def _toy(monkeypatch: pytest.MonkeyPatch) -> None:
    toy_cloud.use(monkeypatch)


class Created(cluster_world.Running):
    """A cluster of two nodes that the toy makes, with three replicas admitted. `parts` says how far its parts are."""

    def __init__(self, *, steps: int = 4) -> None:
        self.parts: dict[str, Json] = {
            "cloud-network": {"phase": "Ready", "message": "all of it is there"},
            "cloud-cluster": {
                "phase": "Ready",
                "facts": {"gate": "north", "version": "1.36.1", "endpoint": "https://a"},
            },
            "cloud-pool-h100": {"phase": "Ready", "nodes": {"observed": 2, "growable": 0}},
        }
        super().__init__()
        self.children, self.pool = {}, "h100"
        self.cluster["spec"]["cluster"] = {"source": SOURCE, "aks": dict(BLOCK)}
        self.cluster["spec"]["nodePools"][0]["name"] = self.pool
        self.classes[0]["spec"]["provisioning"] = {"provider": SOURCE, "aks": dict(RECIPE)}
        self.cluster.pop("status")
        for replica in self.replicas:
            replica["spec"]["pool"] = self.pool
        for _ in range(steps):
            self.step()

    def step(self) -> Outcome:
        outcome = super().step()
        for key, status in self.parts.items():
            if key in self.children:
                self.children[key]["status"] = copy.deepcopy(status)
        return outcome

    def condition(self, kind: str) -> Any:
        return next(one for one in self.compose().conditions if one.type == kind)


def test_the_parts_are_asked_for_at_once_and_the_access_follows() -> None:
    world = Created(steps=0)
    first = world.compose()
    assert set(first.children) == {"cloud-network", "cloud-cluster", "cloud-pool-h100", "in-use"}
    assert "providerConfigRef" not in first.status
    assert first.ready is Ready.FALSE
    assert next(c for c in first.conditions if c.type == "ClusterReady").reason == "ClusterPending"
    assert first.status["pools"][0]["nodes"] == {"declared": 2, "observed": 0, "growable": 0}
    settled = Created().compose()
    assert {"provider-config", "gateway"} <= set(settled.children)
    assert settled.ready is Ready.TRUE
    assert settled.status["cloud"] == {"phase": "Created", "version": "1.36.1", "endpoint": "https://a"}
    assert len(settled.status["admitted"]) == 3


@pytest.mark.parametrize(
    ("part", "phase"),
    [("cloud-network", "NetworkPending"), ("cloud-cluster", "ClusterPending"), ("cloud-pool-h100", "PoolsPending")],
)
def test_what_is_waited_for_is_said_in_the_words_of_the_part(part: str, phase: str) -> None:
    world = Created()
    world.parts[part] = {"phase": "Failed", "message": "the sandbox is full; buy a larger one"}
    world.step()
    said = world.condition("Provisioned")
    assert (said.status, said.reason) == (Truth.FALSE, phase)
    assert "the sandbox is full; buy a larger one" in said.message


def test_the_ledger_counts_the_nodes_that_the_cloud_reports() -> None:
    world = Created()
    world.parts["cloud-pool-h100"]["nodes"] = {"observed": 1, "growable": 0}
    world.step()
    outcome = world.compose()
    assert outcome.status["pools"][0]["nodes"] == {"declared": 2, "observed": 1, "growable": 0}
    assert outcome.status["pools"][0]["free"] == {"gpu": 5}


def test_a_pool_counts_what_it_can_still_add() -> None:
    world = Created()
    pool = world.cluster["spec"]["nodePools"][0]
    del pool["nodeCount"]
    pool |= {"minNodeCount": 0, "maxNodeCount": 9}
    world.parts["cloud-pool-h100"]["nodes"] = {"observed": 1, "growable": 2}
    world.step()
    world.step()
    (pool,) = decoded.decode(world.cluster, {}).pools
    assert (pool.nodes.present, pool.nodes.usable) == (1, 3), "three nodes, and not the nine that the author allows"


@pytest.mark.parametrize("there", [0, 1, 3, 5])
@pytest.mark.parametrize(
    "told", [pytest.param({"growable": 3}, id="a cloud that counts none"), {"observed": 2, "growable": 1}]
)
def test_nodes_that_are_observed_are_not_counted_a_second_time(told: Json, there: int) -> None:
    world = Created()
    pool = world.cluster["spec"]["nodePools"][0]
    del pool["nodeCount"]
    pool |= {"minNodeCount": 0, "maxNodeCount": 4}
    world.parts["cloud-pool-h100"]["nodes"] = told
    world.cluster["spec"]["observe"] = {}
    for _ in range(3):
        world.step()
    question = observed_nodes.question(world.children[observer.KEY])
    (asked,) = question["pools"]
    nodes = [observed_nodes.node(f"n{number}", pool=asked["labels"][names.LABEL_POOL]) for number in range(there)]
    slices = [observed_nodes.whole(f"n{number}") for number in range(there)]
    text = observed_nodes.program()["summary"](question, nodes, slices)
    for _ in range(3):
        observed_nodes.answer(world.children, text)
        world.step()
    nodes_of = world.cluster["status"]["pools"][0]["nodes"]
    assert (nodes_of["observed"], nodes_of["growable"]) == (there, max(0, 3 - there))
    (found,) = decoded.decode(world.cluster, {}).pools
    assert (found.nodes.present, found.nodes.usable) == (min(there, 4), max(min(there, 4), 3))


def test_an_edit_of_the_recipe_does_not_replace_nodes_under_replicas() -> None:
    world = Created()
    world.classes[0]["spec"]["provisioning"]["aks"] = {"vmSize": "Toy_16"}
    world.cluster["spec"]["nodePools"][0]["zones"] = ["2"]
    pool = world.compose().children["cloud-pool-h100"].resource["spec"]
    assert (pool["recipe"], "zones" in pool["pool"]) == (RECIPE, False)
    world.replicas.clear()
    for _ in range(3):
        world.step()
    pool = world.compose().children["cloud-pool-h100"].resource["spec"]
    assert (pool["recipe"], pool["pool"]["zones"]) == ({"vmSize": "Toy_16"}, ["2"]), "nobody is left on its nodes"


def test_a_pool_that_is_taken_out_goes_when_its_replicas_are_gone() -> None:
    world = Created()
    world.cluster["spec"]["nodePools"][0]["name"] = "other"
    assert {"cloud-pool-h100", "cloud-pool-other"} <= set(world.compose().children)
    world.replicas.clear()
    for _ in range(4):
        world.step()
    assert "cloud-pool-h100" not in world.compose().children


def test_all_problems_are_said_at_once() -> None:
    world = Created(steps=0)
    world.cluster["spec"]["cluster"]["aks"]["location"] = "nowhere"
    world.classes[0]["spec"]["provisioning"]["aks"]["vmSize"] = "Toy_0"
    said = world.condition("Provisioned")
    assert said.reason == "Refused"
    assert "spec.cluster.aks.location: is not a place" in said.message
    assert 'spec.nodePools[0].className: InferenceClass "h100-8x" names vmSize Toy_0; write Toy_8' in said.message
    assert set(world.compose().children) == {"in-use"}


@pytest.mark.parametrize("change", ["refused", "a pool in use is taken out"])
def test_the_fate_of_the_cloud_is_handed_on_whatever_is_wrong(change: str) -> None:
    """Who orphans a cluster because it is refused, and deletes it then, would lose it."""
    world = Created()
    before = {key: child["spec"] for key, child in world.children.items() if key.startswith("cloud-")}
    assert {one["deletionPolicy"] for one in before.values()} == {"Delete"}
    if change == "refused":
        world.classes[0]["spec"]["provisioning"]["aks"] = {}
        world.cluster["spec"]["nodePools"].append({"name": "b", "className": "gone", "nodeCount": 1})
    else:
        world.cluster["spec"]["nodePools"][0]["name"] = "other"
    for wanted in ("Orphan", "Delete", None):
        world.cluster["spec"]["cluster"].pop("deletionPolicy", None)
        world.cluster["spec"]["cluster"] |= {"deletionPolicy": wanted} if wanted else {}
        after = {key: child.resource["spec"] for key, child in world.compose().children.items() if key in before}
        assert after.keys() == before.keys()
        assert {one["deletionPolicy"] for one in after.values()} == {wanted or "Delete"}
        world.cluster["spec"]["cluster"]["deletionPolicy"] = "Keep"
        assert world.compose().children["cloud-cluster"].resource["spec"] == before["cloud-cluster"], "not readable"
        held = after["cloud-pool-h100"]
        assert {**held, "deletionPolicy": ""} == {**before["cloud-pool-h100"], "deletionPolicy": ""}


def test_a_class_without_a_recipe_for_the_cloud_is_named() -> None:
    world = Created(steps=0)
    del world.classes[0]["spec"]["provisioning"]
    assert 'InferenceClass "h100-8x" has no spec.provisioning.aks' in world.condition("Provisioned").message


# --- law 1: hold ------------------------------------------------------------------------------------------------------


def _statuses(status: Json) -> Callable[[Created], None]:
    def changed(world: Created) -> None:
        for key in world.parts:
            world.children[key].pop("status", None)
            if status is not None:
                world.children[key]["status"] = status

    return changed


BREAKS: dict[str, Callable[[Created], Any]] = {
    "class missing": lambda w: w.classes.clear(),
    "class without a recipe": lambda w: w.classes[0]["spec"].pop("provisioning"),
    "class without devices": lambda w: w.classes[0]["spec"].pop("devices"),
    "recipe that the cloud refuses": lambda w: w.classes[0]["spec"]["provisioning"]["aks"].update(vmSize="Toy_0"),
    "recipe of another type": lambda w: w.classes[0]["spec"]["provisioning"].update(aks=[1]),
    "class name with a typo": lambda w: w.cluster["spec"]["nodePools"][0].update(className="typo"),
    "location that the cloud refuses": lambda w: w.cluster["spec"]["cluster"]["aks"].update(location="nowhere"),
    "block emptied": lambda w: w.cluster["spec"]["cluster"]["aks"].clear(),
    "block gone": lambda w: w.cluster["spec"]["cluster"].pop("aks"),
    "block of another type": lambda w: w.cluster["spec"]["cluster"].update(aks="x"),
    "source changed to one that exists": lambda w: w.cluster["spec"]["cluster"].update(source="Existing"),
    "source unknown": lambda w: w.cluster["spec"]["cluster"].update(source="Mars"),
    "network adopted": lambda w: w.cluster["spec"]["cluster"]["aks"].update(subnetId="theirs"),
    "pools removed": lambda w: w.cluster["spec"]["nodePools"].clear(),
    "pool renamed": lambda w: w.cluster["spec"]["nodePools"][0].update(name="other"),
    "pool with a count of another type": lambda w: w.cluster["spec"]["nodePools"][0].update(nodeCount="two"),
    "parts without status": _statuses(None),
    "parts with an empty status": _statuses({}),
    "parts with a status of another type": _statuses("x"),
    "parts with odd fields": _statuses({"phase": 7, "facts": [1], "nodes": {"observed": "2", "growable": -1}}),
    "cluster not observed": lambda w: w.children.pop("cloud-cluster"),
    "configuration not observed": lambda w: w.children.pop("provider-config"),
    "status lost": lambda w: w.cluster.pop("status"),
    "replica unreadable": lambda w: w.replicas[0]["spec"].pop("pool"),
}


@pytest.mark.parametrize("broken", BREAKS)
def test_hold_no_part_and_no_access_is_dropped(broken: str) -> None:
    world = Created()
    BREAKS[broken](world)
    children, admitted = set(world.children), {one["metadata"]["name"] for one in world.replicas}
    try:
        outcome = world.compose()
    except (InvalidInput, Unsupported):
        return  # a FATAL result: nothing is applied
    assert children <= set(outcome.children)
    if broken != "status lost":
        assert {f"ml-team/{name}" for name in admitted} <= set(outcome.status["admitted"])


@pytest.mark.parametrize("first", BREAKS)
def test_hold_nothing_is_dropped_while_it_is_half_made(first: str) -> None:
    """The same before the cluster is reached: a network that was made is never made twice nor forgotten."""
    world = Created(steps=1)
    try:
        BREAKS[first](world)
        children = set(world.children)
        outcome = world.compose()
    except (InvalidInput, Unsupported, KeyError):
        return
    assert children - {"cloud-pool-h100"} <= set(outcome.children)
