"""Upgrades of a fleet in which not all is well: what waits, is refused, or has lost an input is as it was, and held."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from modelplane_cli.simulator.store import Key
from tests.support import rendered
from tests.upgrades import judge
from tests.upgrades.plane import Plane
from tests.upgrades.released import Release
from tests.upgrades.test_upgrade import MEANT, ran
from tests.upgrades.watching import GROUP, Watch

Trouble = Callable[[Watch], None]


def _waits(watch: Watch) -> None:
    watch.scale(watch.deployments()[0], 12)
    for key in watch.clusters():
        watch.write(key, lambda spec: spec["nodePools"][0].update(nodeCount=1))


def _refused(watch: Watch) -> None:
    watch.write(watch.deployments()[0], lambda spec: spec["nodeSelector"].update(cel="device.driver =="))


def _nowhere_to_go(watch: Watch) -> None:
    for key in watch.clusters():
        watch.drain(key.name)


def _class_lost(watch: Watch) -> None:
    for key in watch.plane.store.of_kind(GROUP, "InferenceClass"):
        watch.plane.store.remove(key)


def _gateway_lost(watch: Watch) -> None:
    watch.plane.store.remove(Key(GROUP, "InferenceGateway", "", "default"))


TROUBLES: Final[dict[str, Trouble]] = {
    "waits for room": _waits,
    "is refused": _refused,
    "has nowhere to go": _nowhere_to_go,
    "has lost its classes": _class_lost,
    "has lost its gateway": _gateway_lost,
}


@pytest.mark.parametrize("trouble", TROUBLES)
def test_what_is_held_is_held_by_the_other_release(
    unpacked: Path, earlier: Release, today: Release, trouble: str
) -> None:
    plane = ran(unpacked, "quickstart", earlier)
    well = plane.objects()
    TROUBLES[trouble](Watch(plane))
    plane.settle()
    before, deleted = plane.objects(), len(plane.record.deletions)
    told = [one for one in judge.differences(well, before) if one.path.startswith("status.conditions[]")]
    assert told, "the trouble shows"

    plane.install(today)
    plane.settle()
    found = judge.differences(before, plane.objects())
    assert judge.noticed(found) == []
    assert judge.unmeant(found, MEANT) == []
    plane.install(earlier)
    plane.settle()
    assert list(map(str, judge.differences(before, plane.objects()))) == []
    assert len(plane.record.deletions) == deleted


def test_a_size_that_the_earlier_definition_wrote_is_kept(unpacked: Path, earlier: Release, today: Release) -> None:
    """The earlier definition has the default `gpu: 1`; today's has none. What was created before keeps it."""
    given = dict(rendered.written(unpacked / "examples" / "simple", earlier.definitions))
    (definition,) = (one for one in earlier.definitions if one.kind == "LLMInference")
    (key,) = (one for one in given if one.kind == "LLMInference")
    written = {**given[key], "spec": {name: said for name, said in given[key]["spec"].items() if name != "gpu"}}
    given[key] = definition.served.stored(written)
    assert given[key]["spec"]["gpu"] == 1
    plane = Plane(given, earlier)
    plane.settle()
    before = plane.objects()
    plane.install(today)
    plane.settle()
    assert judge.noticed(judge.differences(before, plane.objects())) == []
    assert (plane.store.get(key) or {})["spec"]["gpu"] == 1
