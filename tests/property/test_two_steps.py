"""Laws of a deployment that asks for the fleet only where its own clusters do not decide.

Deployments, clusters and replicas are reconciled in any order on snapshots of any age, while somebody edits, drains,
scales, deletes and adds. After every reconcile of a deployment the world compares its outcome with that of one that
asks for the whole fleet at once (`two_steps.check`): children, status, conditions and events are the same.
"""

# Schedules need to be the same tomorrow, and no secret.
# ruff: noqa: S311

from __future__ import annotations

import copy
import itertools
import random
from collections.abc import Callable
from typing import Any

import pytest

from modelplane import placement
from modelplane_functions import deployment_sight
from modelplane_functions.compose import model_deployment
from modelplane_functions.exchange import Outcome
from tests.support import exchange, fleet, two_steps
from tests.support.interleaving import Fleet

Json = Any
Event = Callable[[Fleet], None]

DEFAULT, LONG = 12, 1500
EVENTS, STEPS = 4, 12
REGIONS = ("eu", "us")
OTHER_CLASS = "h200-8x"


def world_of(rng: random.Random) -> Fleet:
    """Return a fleet in two regions with room for most of what its deployments want."""
    clusters = {name: _cluster(name, rng) for name in ("a", "b", "c", "d")[: rng.randint(2, 4)]}
    deployments = {name: _deployment(name, rng) for name in ("x", "y")}
    made = Fleet(rng, deployments, clusters)
    made.classes = [fleet.inference_class(), fleet.inference_class(OTHER_CLASS, memory="143771Mi")]
    return made


def _cluster(name: str, rng: random.Random) -> Json:
    found = fleet.inference_cluster(name, nodes=rng.choice([1, 2]), class_name=rng.choice(["h100-8x", OTHER_CLASS]))
    found["metadata"].setdefault("labels", {})["modelplane.ai/region"] = rng.choice(REGIONS)
    return found


def _deployment(name: str, rng: random.Random) -> Json:
    found = fleet.model_deployment(name, replicas=rng.randint(0, 3))
    found["spec"]["workers"]["topology"]["tensor"] = rng.choice([1, 2, 8])
    found["spec"]["placement"] = {
        "strategy": rng.choice(["Spread", "Pack"]),
        "maxReplicasPerCluster": rng.choice([0, 0, 1]),
        "rebalance": rng.choice(["Never", "Never", "Allowed"]),
        "spread": rng.choice([[], [{"topologyKey": "modelplane.ai/region", "maxSkew": 1}]]),
    }
    return found


# --- what happens -----------------------------------------------------------------------------------------------------


def _edit_deployment(world: Fleet, change: Callable[[Json], None]) -> None:
    name = world.rng.choice(sorted(world.deployments))
    edited = copy.deepcopy(world.deployments[name])
    change(edited["spec"])
    world.deployments[name] = edited
    world.remember()


def _edit_cluster(world: Fleet, change: Callable[[Json], None]) -> None:
    name = world.rng.choice(sorted(world.clusters))
    edited = copy.deepcopy(world.clusters[name])
    change(edited)
    world.clusters[name] = edited
    world.remember()


def scale(world: Fleet) -> None:
    _edit_deployment(world, lambda spec: spec.update(replicas=world.rng.randint(0, 4)))


def edit(world: Fleet) -> None:
    def change(spec: Json) -> None:
        image = f"vllm/vllm-openai:v0.{world.rng.randint(10, 99)}.0"
        spec["workers"]["template"]["spec"]["containers"][0]["image"] = image

    _edit_deployment(world, change)


def reshape(world: Fleet) -> None:
    _edit_deployment(world, lambda spec: spec["workers"]["topology"].update(tensor=world.rng.choice([1, 2, 4])))


def narrow(world: Fleet) -> None:
    chosen = world.rng.choice([{}, {"matchLabels": {"modelplane.ai/region": world.rng.choice(REGIONS)}}])
    _edit_deployment(world, lambda spec: spec.update(clusterSelector=chosen))


def select(world: Fleet) -> None:
    wanted = world.rng.choice(["75Gi", "100Gi", "900Gi"])
    cel = f'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("{wanted}")) >= 0'
    _edit_deployment(world, lambda spec: spec.update(nodeSelector={"cel": cel}))


def mistype(world: Fleet) -> None:
    _edit_deployment(world, lambda spec: spec.update(nodeSelector={"cel": "device.driver =="}))


def tolerate(world: Fleet) -> None:
    _edit_deployment(world, lambda spec: spec.update(tolerations=[{"operator": "Exists"}]))


def name_a_backend(world: Fleet) -> None:
    _edit_deployment(world, lambda spec: spec.update(backend=world.rng.choice(["KServe", "Native"])))


def _taint(effect: str) -> Event:
    def event(world: Fleet) -> None:
        _edit_cluster(world, lambda one: one["spec"].update(taints=[{"key": "away", "effect": effect}]))

    return event


def untaint(world: Fleet) -> None:
    _edit_cluster(world, lambda one: one["spec"].pop("taints", None))


def relabel(world: Fleet) -> None:
    region = {"modelplane.ai/region": world.rng.choice(REGIONS)}
    _edit_cluster(world, lambda one: one["metadata"].update(labels=world.rng.choice([{}, region])))


def resize(world: Fleet) -> None:
    _edit_cluster(world, lambda one: one["spec"]["nodePools"][0].update(nodeCount=world.rng.randint(0, 3)))


def rename_pool(world: Fleet) -> None:
    _edit_cluster(world, lambda one: one["spec"]["nodePools"][0].update(name=f"pool-{world.rng.randint(0, 2)}"))


def reclass(world: Fleet) -> None:
    name = world.rng.choice(["h100-8x", OTHER_CLASS, "nowhere"])
    _edit_cluster(world, lambda one: one["spec"]["nodePools"][0].update(className=name))


def lose(world: Fleet) -> None:
    if len(world.clusters) > 1:
        del world.clusters[world.rng.choice(sorted(world.clusters))]
        world.remember()


def gain(world: Fleet) -> None:
    name = f"new-{len(world.history)}"
    world.clusters[name] = _cluster(name, world.rng)
    world.remember()


def edit_class(world: Fleet) -> None:
    edited = copy.deepcopy(world.rng.choice(world.classes))
    edited["spec"]["description"] = f"as of {len(world.history)}"
    if world.rng.random() < 0.5:
        edited["spec"]["devices"][0]["capacity"] = {"memory": {"value": world.rng.choice(["81559Mi", "23034Mi"])}}
    _replace_class(world, edited)


def break_class(world: Fleet) -> None:
    edited = copy.deepcopy(world.rng.choice(world.classes))
    edited["spec"]["devices"][0]["capacity"] = "much"
    _replace_class(world, edited)


def lose_class(world: Fleet) -> None:
    world.classes = world.classes[:1]


def _replace_class(world: Fleet, edited: Json) -> None:
    name = edited["metadata"]["name"]
    world.classes = [edited if one["metadata"]["name"] == name else one for one in world.classes]


EVERY: dict[str, Event] = {
    "scale": scale,
    "edit": edit,
    "reshape": reshape,
    "narrow": narrow,
    "select": select,
    "mistype": mistype,
    "tolerate": tolerate,
    "name a backend": name_a_backend,
    "drain": _taint("NoExecute"),
    "cordon": _taint("NoSchedule"),
    "untaint": untaint,
    "relabel": relabel,
    "resize": resize,
    "rename a pool": rename_pool,
    "reclass": reclass,
    "lose": lose,
    "gain": gain,
    "edit a class": edit_class,
    "break a class": break_class,
    "lose a class": lose_class,
}


# --- laws -------------------------------------------------------------------------------------------------------------


def play(number: int) -> Fleet:
    """Play a schedule; every reconcile of a deployment in it is compared with one that asks for all at once."""
    rng = random.Random(number)
    world, told = world_of(rng), []
    try:
        for _ in range(EVENTS):
            for _ in range(STEPS):
                told.append(world.step())
            happened = rng.choice(sorted(EVERY))
            told.append(f"* {happened}")
            EVERY[happened](world)
            for name in sorted(world.deployments):
                world.reconcile_deployment(name, fresh=True)
    except AssertionError as error:
        raise AssertionError(f"schedule {number}, after {told[-30:]}: {error}") from error
    return world


@pytest.mark.parametrize("number", range(DEFAULT))
def test_law_two_steps_lead_where_one_leads(number: int) -> None:
    play(number)


@pytest.mark.slow
def test_thousands_of_schedules_lead_where_one_step_leads() -> None:
    for number in range(LONG):
        play(number)


@pytest.mark.parametrize("event", sorted(EVERY))
def test_law_each_event_alone_in_a_settled_fleet(event: str) -> None:
    """Play each event in two settled fleets, so that none is left to chance."""
    for number in range(2):
        world = world_of(random.Random(number))
        world.settle()
        EVERY[event](world)
        for _ in range(2):
            for name in sorted(world.deployments):
                world.reconcile_deployment(name, fresh=True)


def test_the_law_can_be_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan that is kept although another cluster matters is caught."""

    def retain(*given: Any) -> Any:
        return placement.schedule(*given)

    monkeypatch.setattr(placement, "retain", retain)
    broken = 0
    for number in range(4):
        try:
            play(number)
        except AssertionError:
            broken += 1
    assert broken


# --- what is asked ----------------------------------------------------------------------------------------------------


def settled() -> Fleet:
    """Return two deployments on clusters of their own, and a cluster that is nobody's."""
    clusters = {name: fleet.inference_cluster(name, nodes=1) for name in ("a", "b", "c")}
    deployments = {}
    for name, region in (("x", "a"), ("y", "b")):
        deployments[name] = fleet.model_deployment(name, replicas=1)
        deployments[name]["spec"]["clusterSelector"] = {"matchLabels": {"only": region}}
        clusters[region]["metadata"].setdefault("labels", {})["only"] = region
    world = Fleet(random.Random(0), deployments, clusters)
    world.settle()
    assert {one["spec"]["clusterName"] for one in world.replicas.values()} == {"a", "b"}
    return world


def asked(world: Fleet, name: str) -> set[str]:
    return set(world.asked[f"ModelDeployment/{name}"])


def test_a_settled_deployment_asks_for_what_it_stands_on_alone() -> None:
    world = settled()
    assert asked(world, "x") == {"cluster/a", "class/h100-8x"}
    assert asked(world, "y") == {"cluster/b", "class/h100-8x"}


FLEET, NOBODY = frozenset({deployment_sight.CLUSTERS}), frozenset[str]()


@pytest.mark.parametrize(
    ("event", "asked_for"),
    [
        pytest.param(lambda spec: spec.update(replicas=0), NOBODY, id="fewer replicas need nobody else"),
        pytest.param(lambda spec: spec.update(replicas=2), FLEET, id="more replicas do"),
        pytest.param(lambda spec: spec["workers"]["topology"].update(tensor=4), FLEET, id="so does an edited template"),
        pytest.param(lambda spec: spec.update(clusterSelector={}), NOBODY, id="other labels move nobody"),
        pytest.param(lambda spec: spec.update(backend="Native"), FLEET, id="another backend is a move"),
        pytest.param(lambda spec: spec.update(nodeSelector={"cel": "device.driver =="}), NOBODY, id="what is refused"),
    ],
)
def test_an_edit_asks_for_the_fleet_only_where_something_is_to_be_placed(
    event: Callable[[Json], None], asked_for: frozenset[str]
) -> None:
    world = settled()
    event(world.deployments["x"]["spec"])
    world.remember()
    world.reconcile_deployment("x", fresh=True)
    assert asked(world, "x") & FLEET == asked_for
    assert deployment_sight.CLUSTERS not in asked(world, "y")


def test_a_pending_deployment_waits_for_the_fleet_and_lets_go_of_it() -> None:
    world = settled()
    world.deployments["x"]["spec"] |= {"replicas": 9}
    world.settle()
    assert deployment_sight.CLUSTERS in asked(world, "x")
    world.deployments["x"]["spec"] |= {"replicas": 8}
    world.settle()
    assert asked(world, "x") == {"cluster/a", "class/h100-8x"}


def test_the_fleet_is_asked_for_in_the_second_call_and_never_taken_back() -> None:
    """Law: what is asked for only grows until it is stable, whatever the last reconcile has left in the request."""
    world = settled()
    composite = copy.deepcopy(world.deployments["x"])
    composite["spec"]["replicas"] = 2
    children = {f"replica-{key}": one for key, one in world.replicas.items() if key.startswith("x-")}
    store = [*world.clusters.values(), *world.classes, *world.replicas.values()]
    for before in ({}, world.asked["ModelDeployment/x"], _everything(composite, children, store).requirements):
        made = exchange.calls(model_deployment.compose, composite, children=children, store=store, before=before)
        keys = [set(one.outcome.requirements) for one in made]
        assert all(one <= other for one, other in itertools.pairwise(keys)), keys
        assert not made[0].outcome.children or deployment_sight.CLUSTERS in before
        assert len(made) <= exchange.ITERATIONS - 2  # one for the name of a new child, and one to spare
        assert two_steps.asks_for_the_fleet(made[-1].outcome)


def _everything(composite: Json, children: dict[str, Json], store: list[Json]) -> Outcome:
    return exchange.settle(model_deployment.compose, composite, children=children, store=store)


def test_a_cluster_that_was_not_asked_for_is_not_missing() -> None:
    """Law: a cluster is gone only where a list says so. A name that finds nothing asks for the list."""
    world = settled()
    composite = world.deployments["x"]
    children = {f"replica-{key}": one for key, one in world.replicas.items() if key.startswith("x-")}
    store = [*world.classes, *world.replicas.values()]
    made = exchange.calls(model_deployment.compose, composite, children=children, store=store)
    assert two_steps.asks_for_the_fleet(made[-1].outcome)
    scheduled = next(one for one in made[-1].outcome.conditions if one.type == "ReplicasScheduled")
    assert scheduled.reason == "ClustersUnknown"
    assert "replica-x-0" in made[-1].outcome.children
