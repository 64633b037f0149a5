"""Releases that change in the middle of what happens: of an edit, a drain, a scaling, and of several at once.

One release has begun and the other ends it. At every call what served serves, no device is promised twice, and no pod
restarts that nobody edited. In the end there is what was asked for, or a deployment says what is missing.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from modelplane_cli.simulator.store import Key
from tests.support import rendered
from tests.upgrades import judge
from tests.upgrades.plane import Plane
from tests.upgrades.released import Release
from tests.upgrades.watching import Watch

Json = Any
Act = Callable[[Watch], None]


def _first(watch: Watch) -> Key:
    return watch.deployments()[0]


def _image(workers: Json) -> None:
    workers["template"]["spec"]["containers"][0]["image"] += "-next"


def _larger(workers: Json) -> None:
    workers["topology"] = {**workers["topology"], "tensor": 2}


ACTS: Final[dict[str, Act]] = {
    "edit": lambda watch: watch.edit(_first(watch), _image),
    "larger": lambda watch: watch.edit(_first(watch), _larger),
    "up": lambda watch: watch.scale(_first(watch), watch.wanted[_first(watch)] + 2),
    "down": lambda watch: watch.scale(_first(watch), 1),
    "drain": lambda watch: watch.drain(watch.clusters()[0].name),
}


@pytest.fixture(scope="module")
def begun(unpacked: Path) -> Callable[[str, Release], Watch]:
    """Return a function that gives the settled world of an example under a release, each time anew."""
    settled: dict[tuple[str, str], Plane] = {}

    def begin(name: str, release: Release) -> Watch:
        if (name, release.name) not in settled:
            plane = Plane(rendered.written(unpacked / "examples" / name, release.definitions), release)
            plane.settle()
            settled[name, release.name] = plane
        return Watch(settled[name, release.name].copy())

    return begin


Begun = Callable[[str, Release], Watch]


@pytest.fixture(params=["up", "down"])
def releases(request: pytest.FixtureRequest, earlier: Release, today: Release) -> tuple[Release, Release]:
    """Return the release that begins and the one that ends."""
    return (earlier, today) if request.param == "up" else (today, earlier)


@pytest.mark.parametrize("stride", [7, pytest.param(2, marks=pytest.mark.slow)], ids=["some", "many"])
@pytest.mark.parametrize("act", ACTS)
def test_one_release_begins_and_the_other_ends(
    begun: Begun, releases: tuple[Release, Release], act: str, stride: int
) -> None:
    begins, ends = releases
    alone = begun("quickstart", begins)
    ACTS[act](alone)
    calls = alone.plane.settle()
    expected = alone.serving()
    assert calls > stride, "something happens"
    for moment in range(0, calls + 1, stride):
        watch = begun("quickstart", begins)
        ACTS[act](watch)
        watch.go(moment)
        watch.plane.install(ends, is_restarted=bool(moment % 2))
        watch.go()
        assert watch.plane.refusals() == []
        assert watch.serving() == expected, f"after {moment} calls"
        if act == "drain":
            assert {cluster for _, cluster in watch.places()} == {key.name for key in watch.clusters()[1:]}


# --- several at once --------------------------------------------------------------------------------------------------

SEEDS: Final = (*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 120)))
SEQUENCES: Final = ("quickstart", "devices", "canary", "backends/kserve", "backends/native", "disaggregated", "mig")
ACTS_MAX: Final = 6
CALLS_MAX: Final = 15


@pytest.mark.parametrize("seed", SEEDS)
def test_releases_change_while_much_happens(begun: Begun, earlier: Release, today: Release, seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311 - a seed must repeat it
    name = SEQUENCES[seed % len(SEQUENCES)]
    watch = begun(name, draw.choice([earlier, today]))
    for _ in range(draw.randint(2, ACTS_MAX)):
        _drawn(draw, watch)(watch)
        watch.go(draw.randint(0, CALLS_MAX))
        _another_release(draw, watch.plane, draw.choice([earlier, today]))
        watch.go(draw.randint(0, CALLS_MAX))
    watch.plane.install(draw.choice([earlier, today]))
    watch.go()
    assert watch.plane.refusals() == []
    serving = watch.serving()
    for key, wanted in watch.wanted.items():
        scheduled = watch.said(key, "ReplicasScheduled")
        assert serving[key] == wanted or scheduled["status"] == "False", (
            f"{key} serves {serving[key]} and waits for nobody"
        )
        drained = [cluster for of, cluster in watch.places() if of == key and watch.is_drained(cluster)]
        assert not drained or "must move" in scheduled["message"], f"{key} stays on {drained} and says nothing of it"
    before = watch.plane.objects()
    watch.plane.install(today)
    watch.go()
    assert judge.noticed(judge.differences(before, watch.plane.objects())) == []


def _drawn(draw: random.Random, watch: Watch) -> Act:
    deployment, cluster = draw.choice(watch.deployments()), draw.choice(watch.clusters()).name
    replicas = draw.randint(1, 3)
    acts: list[Act] = [
        lambda one: one.edit(deployment, _image),
        lambda one: one.scale(deployment, replicas),
        lambda one: one.drain(cluster),
        lambda one: one.allow(cluster),
    ]
    return draw.choice(acts)


def _another_release(draw: random.Random, plane: Plane, release: Release) -> None:
    """Install a release whole, or one part of it while the other part is still that of before."""
    install: Callable[[], None] = draw.choice(
        [
            lambda: plane.install(release),
            lambda: plane.install(release, is_restarted=True),
            lambda: plane.run(release),
            lambda: plane.define(release),
        ]
    )
    install()
