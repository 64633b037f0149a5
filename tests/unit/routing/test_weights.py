"""Exact shares: worked examples; the laws are in tests/property."""

from __future__ import annotations

import pytest

from modelplane.errors import Unsupported
from modelplane.routing import weights
from modelplane.routing.weights import Portion


@pytest.mark.parametrize(
    ("portions", "want"),
    [
        pytest.param([(1, 1)], (1,), id="one-endpoint"),
        pytest.param([(95, 1), (5, 1)], (19, 1), id="smallest-integers"),
        pytest.param([(95, 2), (5, 1)], (19, 2), id="95-over-two"),
        pytest.param([(95, 3), (5, 2)], (38, 3), id="95-over-three-and-5-over-two"),
        pytest.param([(1, 2), (1, 3)], (3, 2), id="equal-groups-of-unequal-size"),
        pytest.param([(80, 0), (20, 2)], (0, 1), id="a-group-without-members-gives-its-share"),
        pytest.param([(0, 3), (20, 2)], (0, 1), id="weight-0-drains"),
        pytest.param([(0, 3), (0, 2)], (0, 0), id="all-drained"),
        pytest.param([(5, 0)], (0,), id="nobody"),
        pytest.param([], (), id="no-groups"),
        pytest.param([(10000, 16)], (1,), id="one-large-group"),
    ],
)
def test_shares(portions: list[tuple[int, int]], want: tuple[int, ...]) -> None:
    assert weights.shares([Portion(*portion) for portion in portions]) == want


def test_a_ratio_that_no_route_can_carry_is_refused_and_never_rounded() -> None:
    with pytest.raises(Unsupported, match="use smaller weights") as caught:
        weights.shares([Portion(9999, 1), Portion(9973, 3), Portion(9967, 5), Portion(9949, 7)])
    assert caught.value.reason == "WeightsNotExact"
