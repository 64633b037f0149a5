"""Headroom against a search that leaves nothing out: every loss for real, every deployment asked."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import pytest

from modelplane_cli.checks import acceptance
from modelplane_cli.documents import reading
from modelplane_cli.planning import headroom, plan, simulation
from modelplane_cli.planning.happenings import Loss
from modelplane_cli.planning.rehearsal import Rehearsal
from modelplane_cli.simulator.pipeline import Handed
from modelplane_cli.simulator.store import key_of
from modelplane_functions import responder
from tests.support import planning as given
from tests.support import rendering

Json = Any


def rehearsal(objects: list[Json]) -> Rehearsal:
    """Return the settled rehearsal of documents."""
    read = [reading.Document(one, "test", number, _no_lines) for number, one in enumerate(objects, 1)]
    checked = acceptance.check(read, rendering.kinds(), "default")
    assert not checked.problems
    made = Rehearsal(checked.objects, rendering.kinds(), Handed(responder.answer))
    made.settle()
    return made


def _no_lines() -> Any:
    raise AssertionError("asked for a line of a document without text")


def missing(world: Rehearsal, clusters: tuple[str, ...]) -> dict[str, int]:
    """Return how many replicas of each deployment run nowhere after a loss, with everybody asked."""
    fork = world.fork()
    made = simulation.run(fork, (Loss(clusters),) if clusters else (), lambda one: one.settle())
    found = made.steps[-1].unplaced if clusters else ()
    if not clusters:
        found = simulation.unplaced(world.fork().settle(), frozenset(), plan.deployments(fork.store))
    return {str(one.deployment): one.count - one.stuck for one in found}


def searched(world: Rehearsal, names: list[str]) -> Iterator[tuple[tuple[str, ...], dict[str, int]]]:
    """Yield every loss of which all parts fit, with what is worse then."""
    before = missing(world, ())
    fitting = {frozenset[str]()}
    for size in range(1, len(names) + 1):
        now: set[frozenset[str]] = set()
        for lost in combinations(names, size):
            if all(frozenset(part) in fitting for part in combinations(lost, size - 1)):
                found = missing(world, lost)
                worse = {name: count for name, count in found.items() if count > before.get(name, 0)}
                yield lost, worse
                if not worse:
                    now.add(frozenset(lost))
        fitting = now


def fleet(seed: int) -> list[Json]:
    """Return a random small fleet: more clusters than are used, of two classes; some full, some that nobody matches."""
    draw = random.Random(seed)  # noqa: S311 - a fleet is no secret
    objects = [
        given.node_class(price=draw.choice([None, "10", "20"])),
        given.node_class("other-8x", price=draw.choice([None, "5", "30"])),
    ]
    for number in range(draw.randint(2, 5)):
        kind = draw.choice(["h100-8x", "other-8x"])
        made = given.cluster(f"c{number}", nodes=draw.randint(1, 3), class_name=kind, zone=draw.choice(["a", "b"]))
        objects.append(given.tainted(made, draw.choice(["NoSchedule", "NoExecute"])) if draw.random() < 0.1 else made)
    for number in range(draw.randint(1, 4)):
        one = given.deployment(f"m{number}", replicas=draw.randint(1, 3), tensor=draw.choice([1, 2, 4, 8]))
        one["spec"]["placement"] = {"strategy": draw.choice(["Spread", "Pack"])}
        if draw.random() < 0.25:
            spread = {"topologyKey": "zone", "maxSkew": draw.randint(1, 2)}
            one["spec"]["placement"]["spread"] = [spread]
        if draw.random() < 0.2:
            one["spec"]["clusterSelector"] = {"matchLabels": {"zone": draw.choice(["a", "b"])}}
        objects.append(one)
    return objects


@pytest.mark.parametrize("seed", (1, 2, 3, 4))
def test_what_follows_is_what_happens(seed: int) -> None:
    agrees(rehearsal(fleet(seed)))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 40))
def test_what_follows_is_what_happens_at_length(seed: int) -> None:
    agrees(rehearsal(fleet(seed)))


def test_a_blocked_move_is_no_loss() -> None:
    """A replica that should leave and cannot runs; only the loss of its cluster takes it away."""
    full = [given.cluster("a", nodes=1), given.tainted(given.cluster("b", nodes=1)), given.cluster("c", nodes=0)]
    world = rehearsal([given.node_class(), *full[:1], given.cluster("b", nodes=1), full[2], given.deployment(tensor=8)])
    world.apply(full[1], key_of(full[1]))
    world.settle()
    found = headroom.of(world)
    assert {one.clusters: one.fits for one in found.singles} == {("a",): False, ("b",): False, ("c",): True}
    agrees(world)


def agrees(world: Rehearsal) -> None:
    """Compare what is found with the search that leaves nothing out."""
    names = sorted(key.name for key in world.store.of_kind("modelplane.ai", "InferenceCluster"))
    found = headroom.of(world)
    expected = list(searched(world, names))
    assert found.complete
    assert found.tried == len(expected)
    assert found.rehearsed <= found.tried
    singles = [(lost, worse) for lost, worse in expected if len(lost) == 1]
    assert [(one.clusters, _worse(one)) for one in found.singles] == singles
    fits = [lost for lost, worse in expected if not worse]
    sizes = range(1, len(names) + 1)
    proven = [size for size in sizes if sum(len(one) == size for one in fits) == math.comb(len(names), size)]
    assert found.any_clusters == max(proven, default=0)
    assert (found.largest is None) is (not fits)
    if found.largest is not None:
        assert found.largest.clusters in fits


def _worse(one: headroom.Trial) -> dict[str, int]:
    return {str(deployment.deployment): deployment.count - deployment.stuck for deployment in one.worse}
