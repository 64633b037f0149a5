"""Laws of propose, admit, bind under any order of control loops that read old snapshots.

Every schedule is made from a number, which is in the test's message when it fails:
`MODELPLANE_SCHEDULE=<number> pytest tests/property/test_interleaving.py` runs that one alone, and
`MODELPLANE_SCHEDULES=<count>` as many as wanted.
"""

# Schedules need to be the same tomorrow, and no secret.
# ruff: noqa: S311

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from modelplane import placement
from tests.support import fleet
from tests.support.interleaving import Fleet

Json = Any

DEFAULT, LONG = 40, 2500
STEPS = 70


def numbers(count: int) -> Iterator[int]:
    """Yield the numbers of the schedules to run."""
    only = os.environ.get("MODELPLANE_SCHEDULE")
    if only is not None:
        yield int(only)
    else:
        yield from range(int(os.environ.get("MODELPLANE_SCHEDULES", count)))


def cluster(name: str, nodes: int) -> Json:
    """Return a cluster that has published nothing yet but that it is empty and ready."""
    return fleet.inference_cluster(name, nodes=nodes)


def deployment(name: str, *, replicas: int, tensor: int, **spec: Json) -> Json:
    found = fleet.model_deployment(name, replicas=replicas)
    found["spec"]["workers"]["topology"]["tensor"] = tensor
    found["spec"].update(spec)
    return found


def contended(rng: random.Random, deployments: int) -> Fleet:
    """Return a fleet that is short of room for what its deployments want together."""
    clusters = {name: cluster(name, rng.choice([1, 1, 2])) for name in ("a", "b", "c")[: rng.choice([1, 2, 2, 3])]}
    wanted = {
        name: deployment(
            name,
            replicas=rng.randint(1, 3),
            tensor=rng.choice([2, 4, 8, 8]),  # powers of two, so that what fits is a matter of sums
            priority=rng.choice([0, 0, 10]),
            placement={"strategy": rng.choice(["Spread", "Pack"]), "maxReplicasPerCluster": rng.choice([0, 0, 1])},
        )
        for name in ("x", "y", "z")[:deployments]
    }
    return Fleet(rng, wanted, clusters)


class Watch:
    """Asks after every action whether a law was broken."""

    def __init__(self, world: Fleet) -> None:
        self._world = world
        self._ran: dict[str, tuple[str, int]] = {}
        self.trace: list[str] = []
        self.has_room = True

    def look(self) -> None:
        world = self._world
        for name in world.clusters:
            used, capacity = world.used(name), world.capacity(name)
            assert used <= capacity or not self.has_room, (
                f"{name} carries {used} of {capacity} devices after {self.trace[-12:]}"
            )
        now = {name: (place, devices) for name, place, devices in world.rendered()}
        for name, was in self._ran.items():
            assert now.get(name) == was, f"{name} ran as {was} and is {now.get(name)} after {self.trace[-12:]}"
            assert not world.replicas[name]["metadata"].get("deletionTimestamp"), f"{name} ran and is deleted"
        self._ran = now

    def run(self, steps: int) -> None:
        for _ in range(steps):
            self.trace.append(self._world.step())
            self.look()


def everything_is_placed_or_nothing_fits(world: Fleet) -> None:
    for name, one in world.deployments.items():
        status, spec = one["status"], one["spec"]
        assert status["replicas"] + status["unscheduledReplicas"] == spec["replicas"]
        if not status["unscheduledReplicas"]:
            continue
        wants = spec["workers"]["topology"]["tensor"]
        most = spec["placement"]["maxReplicasPerCluster"]
        for place in world.clusters:
            own = sum(
                replica["spec"]["clusterName"] == place and replica["spec"]["deploymentRef"]["name"] == name
                for replica in world.replicas.values()
            )
            free = world.capacity(place) - world.used(place)
            assert free < wants or (most and own >= most), f"{name} misses a place and {place} has {free} free"


def contend(number: int, deployments: int) -> None:
    """Run one schedule of deployments that want the same room."""
    rng = random.Random(number)
    world = contended(rng, deployments)
    watch = Watch(world)
    watch.run(STEPS)
    world.settle()
    watch.look()
    everything_is_placed_or_nothing_fits(world)
    for name in world.clusters:
        published = world.clusters[name]["status"]["pools"][0]
        assert published["free"]["gpu"] == world.capacity(name) - world.used(name), "the ledger is what runs"


def contend_each(schedules: int, deployments: int) -> None:
    """Run that many schedules, and name the first that breaks a law."""
    for number in numbers(schedules):
        try:
            contend(number, deployments)
        except AssertionError as error:
            raise AssertionError(f"schedule {number} of {deployments} deployments: {error}") from error


@pytest.mark.parametrize("deployments", [2, 3])
def test_nobody_is_double_booked_nobody_moves_and_all_settles(deployments: int) -> None:
    """Laws: never-overcommit; bound stays bound; the fleet comes to rest, with nothing missing that would fit."""
    contend_each(DEFAULT, deployments)


def test_both_take_the_last_place_and_one_gets_it() -> None:
    """Two deployments decide on the same snapshot; the cluster admits one, the other one says why it waits."""
    world = Fleet(
        random.Random(0),
        {name: deployment(name, replicas=1, tensor=8) for name in ("x", "y")},
        {"a": cluster("a", 1)},
    )
    # Neither sees the other's proposal, since no cluster has spoken in between.
    world.reconcile_deployment("x")
    world.reconcile_deployment("y")
    assert {one["spec"]["clusterName"] for one in world.replicas.values()} == {"a"}, "both proposed the same place"
    world.settle()
    assert [name for name, _, _ in world.rendered()] == ["x-0"]
    status = world.deployments["y"]["status"]
    assert (status["replicas"], status["unscheduledReplicas"]) == (0, 1)
    assert "0/1 clusters fit" in status["unschedulable"]["message"]


def blink(world: Fleet, name: str) -> None:
    """Let a cluster be not ready for as long as its function does not say otherwise."""
    one = world.clusters[name]
    conditions = [
        {**entry, "status": "False"} if entry["type"] == "ClusterReady" else entry
        for entry in one["status"]["conditions"]
    ]
    world.clusters[name] = {**one, "status": {**one["status"], "conditions": conditions}}
    world.remember()


@pytest.mark.parametrize("event", ["blink", "cordon", "shrink", "scale up"])
def test_what_runs_is_not_touched_by_what_happens_around_it(event: str) -> None:
    """Law: only a drain, an edit or fewer wanted replicas ever take away what runs."""
    for number in numbers(DEFAULT // 4):
        rng = random.Random(number)
        world = contended(rng, 2)
        watch = Watch(world)
        watch.run(STEPS // 2)
        world.settle()
        watch.look()
        name = rng.choice(sorted(world.clusters))
        one = world.clusters[name]
        if event == "blink":
            blink(world, name)
        elif event == "cordon":
            taints = [{"key": "cordon", "effect": "NoSchedule"}]
            world.clusters[name] = {**one, "spec": {**one["spec"], "taints": taints}}
        elif event == "shrink":
            pools = [{**one["spec"]["nodePools"][0], "nodeCount": 0}]
            world.clusters[name] = {**one, "spec": {**one["spec"], "nodePools": pools}}
            watch.has_room = False  # over-committed now, by the platform team and by nobody else
        else:
            for deployed in world.deployments.values():
                deployed["spec"]["replicas"] += 1
        world.remember()
        try:
            watch.run(STEPS // 2)
            world.settle()
            watch.look()
        except AssertionError as error:
            raise AssertionError(f"schedule {number} with {event}: {error}") from error


def test_a_drain_moves_without_a_gap() -> None:
    """Law: successor first. While a cluster is drained as many replicas serve as did, and none stays there."""
    for number in numbers(DEFAULT // 4):
        rng = random.Random(number)
        world = Fleet(
            rng,
            {name: deployment(name, replicas=rng.randint(1, 3), tensor=rng.choice([1, 2])) for name in ("x", "y")},
            {name: cluster(name, 2) for name in ("a", "b")},
        )
        world.settle()
        before = {name: serving(world, name) for name in world.deployments}
        one = world.clusters["a"]
        world.clusters["a"] = {**one, "spec": {**one["spec"], "taints": [{"key": "drain", "effect": "NoExecute"}]}}
        world.remember()
        for _ in range(STEPS):
            did = world.step()
            for name, count in before.items():
                assert serving(world, name) >= count, f"schedule {number}: a gap in {name} after {did}"
        world.settle()
        assert {replica["spec"]["clusterName"] for replica in world.replicas.values()} == {"b"}, f"schedule {number}"
        assert {name: serving(world, name) for name in world.deployments} == before, f"schedule {number}"


def serving(world: Fleet, deployed: str) -> int:
    """Return how many replicas of a deployment serve and are not being deleted."""
    return sum(
        any(entry["type"] == "Serving" and entry["status"] == "True" for entry in replica["status"]["conditions"])
        for replica in world.replicas.values()
        if replica["spec"]["deploymentRef"]["name"] == deployed
        and "status" in replica
        and not replica["metadata"].get("deletionTimestamp")
    )


def test_the_law_can_be_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cluster that admits whatever it is asked for is caught, so the schedules above do contend."""
    real = placement.admit

    def admit(pools: Any, accounting: Any, claims: Any, *asked: Any) -> Any:
        return real(pools, accounting, [replace(claim, holds=True) for claim in claims], *asked)

    monkeypatch.setattr(placement, "admit", admit)
    broken = 0
    for number in range(DEFAULT // 4):
        try:
            contend(number, 2)
        except AssertionError as error:
            broken += "devices after" in str(error)
    assert broken > 0, "no schedule tells an honest ledger from one that is not kept"


@pytest.mark.slow
@pytest.mark.parametrize("deployments", [2, 3])
def test_thousands_of_schedules(deployments: int) -> None:
    contend_each(LONG, deployments)
