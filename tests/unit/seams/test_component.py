"""A component of the serving stack added from outside: one entry of the profile."""

from __future__ import annotations

import pytest

from modelplane.render.stack import profile
from modelplane.render.stack.part import Chart, Part, Unit, deployment
from modelplane.workload.stack import Component
from tests.support.stack_world import World, release

TOY = Unit(
    "kites",
    parts=(
        Part(
            "kites",
            Chart("oci://charts.example.org", "kites", "1.0.0"),
            release="kites",
            namespace="kites",
            wave=2,
            proof=deployment("kites", "string"),
            after=("lws",),
        ),
    ),
    looks=(deployment("sky", "kite"),),
)


@pytest.fixture(autouse=True)
def _toy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(profile.UNITS, TOY.name, TOY)


def test_it_is_installed_after_what_it_needs_and_then_ready() -> None:
    world = World((Component("kites"), Component("leaderWorkerSet")))
    world.broken = {"lws"}
    world.settle()
    assert world.parts == {"lws"}
    world.broken.clear()
    outcome = world.settle()
    assert world.parts == {"lws", "kites"}
    assert outcome.status["components"][0] == {
        "name": "kites",
        "phase": "Ready",
        "mode": "Managed",
        "version": "1.0.0",
        "reason": "Ready",
    }


def test_it_is_upgraded_and_left_to_others_like_any_other() -> None:
    world = World((Component("kites", version="1.1.0"),))
    world.settle()
    assert world.version("kites") == "1.1.0"
    found = World((Component("kites"),))
    found.there.add("kite")
    found.settle()
    assert release("kites") not in found.children
