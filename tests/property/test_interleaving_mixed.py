"""The laws of test_interleaving over fleets of several pools, whose pods do not divide their nodes and come in gangs.

Whether pods fit is judged pod by pod on nodes, by trying, and not by the ledger.
`MODELPLANE_SCHEDULE=<number> pytest tests/property/test_interleaving_mixed.py` runs one schedule alone.
"""

# Schedules need to be the same tomorrow, and no secret.
# ruff: noqa: S311

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeAlias

import pytest

from modelplane import placement
from tests.property.test_interleaving import STEPS, numbers
from tests.support import fleet
from tests.support.interleaving import Fleet

Json = Any
Place: TypeAlias = tuple[str, str]
Gang: TypeAlias = tuple[int, int]
"""(pods, each on a node of its own; devices of one pod)."""

DEFAULT, LONG = 25, 1000
POOLS = {"large": ("h100-8x", 8), "small": ("h100-4x", 4)}


def cluster(rng: random.Random, name: str) -> Json:
    """Return a cluster of one or two pools that has published nothing yet but that it is empty and ready."""
    found = fleet.inference_cluster(name)
    found["spec"]["nodePools"] = [
        {"name": pool, "className": POOLS[pool][0], "nodeCount": rng.choice([1, 2, 3])}
        for pool in rng.choice([["large"], ["large", "small"], ["small"], ["large", "small"]])
    ]
    found["status"]["pools"] = []
    return found


def workers(rng: random.Random, template: Json) -> Json:
    """Return workers of one role: any number of devices a pod, one or two nodes."""
    topology = {"tensor": rng.choice([1, 2, 3, 3, 4, 5, 6, 8]), "pipeline": rng.choice([1, 1, 2])}
    return {
        "count": rng.choice([1, 1, 2]),
        "topology": {**topology, "data": 1, "dataLocal": 1, "expert": False},
        "template": template,
    }


def deployment(rng: random.Random, name: str) -> Json:
    """Return a deployment of one role, or of two that may stand on different pools."""
    found = fleet.model_deployment(name, replicas=rng.randint(1, 3))
    spec = found["spec"]
    template = spec["workers"]["template"]
    spec["workers"] = workers(rng, template)
    spec["priority"] = rng.choice([0, 0, 10])
    spec["placement"]["strategy"] = rng.choice(["Spread", "Pack"])
    if rng.random() < 0.3:
        for one in (spec["workers"], decode := workers(rng, template)):
            one["topology"]["pipeline"] = 1
        spec["prefill"] = {"nodeSelector": spec["nodeSelector"], "workers": decode}
    return found


def contended(number: int) -> Fleet:
    """Return a fleet that is short of room for what its deployments want together."""
    rng = random.Random(number)
    clusters = {name: cluster(rng, name) for name in ("a", "b")[: rng.choice([1, 2])]}
    wanted = {name: deployment(rng, name) for name in ("x", "y", "z")[: rng.choice([2, 3])]}
    classes = [fleet.inference_class(name, count=count) for name, count in POOLS.values()]
    return Fleet(rng, wanted, clusters, classes=classes)


def running(world: Fleet) -> Iterator[tuple[str, Place, list[Gang]]]:
    """Yield (replica and role, cluster and pool, gangs) of everything whose pods may exist."""
    for name, _, _ in world.rendered():
        spec = world.replicas[name]["spec"]
        for role, one in (("decode", spec), ("prefill", spec.get("prefill"))):
            if one:
                topology, count = one["workers"]["topology"], one["workers"].get("count", 1)
                span = topology.get("pipeline", 1) * (topology.get("data", 1) // topology.get("dataLocal", 1))
                devices = sum(request["count"] for request in one["devices"])
                yield f"{name} {role}", (spec["clusterName"], one["pool"]), [(span, devices)] * count


def stand(gangs: list[Gang], nodes: int, devices: int) -> bool:
    """Return whether the gangs can stand on the nodes, by trying every way."""
    return _stand(sorted(gangs, key=lambda gang: (-gang[1], gang)), (devices,) * nodes)


def _stand(gangs: list[Gang], free: tuple[int, ...]) -> bool:
    if not gangs:
        return True
    (pods, devices), rest = gangs[0], gangs[1:]
    return any(_stand(rest, left) for left in _ways(pods, devices, free))


def _ways(pods: int, devices: int, free: tuple[int, ...]) -> set[tuple[int, ...]]:
    """Return what can be left, in order of size, when so many different nodes carry one pod more each."""
    found = {(free, frozenset[int]())}
    for _ in range(pods):
        found = {
            ((*left[:node], left[node] - devices, *left[node + 1 :]), used | {node})
            for left, used in found
            for node in range(len(left))
            if node not in used and left[node] >= devices
        }
    return {tuple(sorted(left)) for left, _ in found}


def look(world: Fleet, ran: dict[str, tuple[Place, list[Gang]]]) -> dict[str, tuple[Place, list[Gang]]]:
    """Return what runs now; nothing that ran has moved, and the pods of every pool find nodes."""
    now = {name: (place, gangs) for name, place, gangs in running(world)}
    for name, was in ran.items():
        assert now.get(name) == was, f"{name} ran as {was} and is {now.get(name)}"
    held: dict[Place, list[Gang]] = {}
    for place, gangs in now.values():
        held.setdefault(place, []).extend(gangs)
    for (where, pool), gangs in held.items():
        nodes = next(p["nodeCount"] for p in world.clusters[where]["spec"]["nodePools"] if p["name"] == pool)
        assert stand(gangs, nodes, POOLS[pool][1]), f"{where}/{pool}: {Counter(gangs)} do not stand on {nodes} nodes"
    return now


def contend(number: int) -> int:
    """Run one schedule; return the replica roles that run at its end."""
    world = contended(number)
    ran: dict[str, tuple[Place, list[Gang]]] = {}
    for _ in range(STEPS):
        world.step()
        ran = look(world, ran)
    world.settle()
    ran = look(world, ran)
    for one in world.deployments.values():
        status = one["status"]
        assert status["replicas"] + status["unscheduledReplicas"] == one["spec"]["replicas"]
    for where, one in world.clusters.items():
        for pool in one["status"]["pools"]:
            used = sum(
                pods * devices
                for place, gangs in ran.values()
                if place == (where, pool["name"])
                for pods, devices in gangs
            )
            published = sum(entry["pods"] * entry["devices"].get("gpu", 0) for entry in pool["allocations"])
            assert published == used, f"{where}/{pool['name']}: the ledger is what runs"
    return len(ran)


def run(count: int, do: Callable[[int], int]) -> int:
    """Return the sum of what schedules return, the number of one that fails in its message."""
    total = 0
    for number in numbers(count):
        try:
            total += do(number)
        except AssertionError as error:
            raise AssertionError(f"schedule {number}: {error}") from error
    return total


def test_pods_of_any_size_find_their_nodes_and_nobody_moves() -> None:
    """Laws: never-overcommit; bound stays bound; the fleet comes to rest."""
    assert run(DEFAULT, contend) > DEFAULT, "hardly anything was ever placed"


def test_the_law_can_be_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cluster that admits whatever it is asked for is caught."""
    real = placement.admit

    def admit(pools: Any, accounting: Any, claims: Any, *asked: Any) -> Any:
        return real(pools, accounting, [replace(claim, holds=True) for claim in claims], *asked)

    monkeypatch.setattr(placement, "admit", admit)
    with pytest.raises(AssertionError, match="do not stand on"):
        run(DEFAULT, contend)


@pytest.mark.slow
def test_thousands_of_schedules() -> None:
    run(LONG, contend)
