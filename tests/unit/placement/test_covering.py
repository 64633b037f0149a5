"""The bound on what pods can block: its weights cover every load at the least price, and it is found in few steps."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from kubecel import interruption
from modelplane.devices import matching
from modelplane.devices.model import Device, NodeClass, Policy, Range, Request
from modelplane.placement.capacity import dimensions, ledger
from modelplane.placement.packing import covering
from modelplane.placement.packing.load import Answer, Vector
from modelplane.placement.snapshot import Accounting, NodeCounts, PodShape, Pool
from modelplane.units import quantity


@pytest.mark.parametrize(
    ("loads", "counts", "most"),
    [
        pytest.param([(2,)], (5,), Fraction(5, 2), id="one-kind"),
        pytest.param([(1, 1)], (3, 5), Fraction(3), id="the-rarer-of-two-decides"),
        pytest.param([(2, 0), (1, 1), (0, 3)], (4, 3), Fraction(7, 2), id="alone-or-together"),
        pytest.param([(3, 1), (1, 3)], (4, 4), Fraction(2), id="each-with-most-of-one"),
        pytest.param([(2, 1, 0), (0, 2, 1), (1, 0, 2)], (3, 3, 3), Fraction(3), id="in-a-ring"),
    ],
)
def test_the_weight_is_the_most_loads_there_can_be(loads: list[Vector], counts: Vector, most: Fraction) -> None:
    assert covering.weigh(covering.weights(loads, counts), counts) == most


def test_every_load_weighs_at_least_one() -> None:
    chance = random.Random(7)  # noqa: S311 - the same loads every time
    for _ in range(300):
        kinds = chance.randint(1, 6)
        loads = [
            tuple(max(chance.choice([0, 0, 1, 2, 7]), int(at == first)) for at in range(kinds))
            for first in [chance.randrange(kinds) for _ in range(chance.randint(1, 20))]
        ]
        prices = covering.weights(loads, tuple(chance.randint(0, 40) for _ in range(kinds)))
        assert all(price >= 0 for price in prices)
        assert all(covering.weigh(prices, load) >= 1 for load in loads)


def test_many_small_parts_are_promised_in_few_steps() -> None:
    """Parts in steps of 1 have as many sizes as pods; a search for each beside all others took seconds."""
    one = quantity("1")
    gpu = Device(
        "gpu",
        "gpu.example.com",
        8,
        device_class="gpu",
        capacity=(("memory", "80Gi"),),
        allow_multiple_allocations=True,
        policies=(("memory", Policy(one, Range(one, None, one))),),
    )
    node_class = NodeClass("class", (gpu,))
    state = ledger.of(Pool("pool", "class", node_class, NodeCounts(16)), dimensions.of(node_class, Accounting.DEVICE))
    steps = 0

    def count() -> None:
        nonlocal steps
        steps += 1

    chance = random.Random(1)  # noqa: S311 - the same sizes every time
    with interruption.asking(count):
        for _ in range(24):
            asked = (Request("gpu", 1, capacity=(("memory", str(chance.randint(2**30, 20 * 2**30))),)),)
            (option,) = matching.match(node_class, asked).options
            trial = ledger.trial(state, PodShape(option.counted, consumed=option.consumed), 2, 1)
            assert trial.answer is Answer.FITS
            state = trial.after
    assert 0 < steps < 24 * 24 * 10
