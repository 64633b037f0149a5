"""Pods that run while replicas change in place: what they hold is counted, whatever happens in whatever order.

The cluster is real in one respect: a pod that was there stays until its controller ends it, and the provider lists what
is there now and then. The ledger must never count less for a replica than its pods hold.
"""

from __future__ import annotations

import random

import pytest

from modelplane.api import admissions
from modelplane.api.fields import Field
from tests.support.changing import Changing, of_size

STEPS = 60


@pytest.mark.parametrize("seed", range(20))
def test_pods_that_run_are_counted(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311 - a seed must repeat it
    world = Changing(replicas=3, nodes=5)
    for _ in range(STEPS):
        act = draw.choice([*world.acts(), world.look, world.look])
        act(draw)
        world.assert_counted()
    of_size(world.running, tensor=draw.choice((1, 2, 4)))
    world.settle()
    world.assert_counted()
    records = admissions.decode(Field(world.running.cluster["status"]))
    assert not [key for key, record in records.items() if record.counted], "in the end nothing counts twice"
    assert world.running.collections() == []
    assert world.counted() == world.asked()
