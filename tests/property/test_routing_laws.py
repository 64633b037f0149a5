"""Laws of routing: exact shares, no endpoint twice, the same answer in any order."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from modelplane.api import endpoint, service
from modelplane.errors import Unsupported
from modelplane.routing import features, plan, weights
from modelplane.routing.features import GatewayType
from modelplane.routing.weights import Portion
from tests.support import routing

PORTIONS = st.lists(st.builds(Portion, st.integers(0, 100), st.integers(0, 6)), min_size=1, max_size=4)
OFFERED = features.features(GatewayType.ENVOY)


@given(PORTIONS)
def test_every_groups_share_is_exact(portions: list[Portion]) -> None:
    own = weights.shares(portions)
    live = [portion for portion in portions if portion.members]
    asked = sum(portion.weight for portion in live)
    carried = sum(weight * portion.members for weight, portion in zip(own, portions, strict=True))
    for weight, portion in zip(own, portions, strict=True):
        if portion.members and asked:
            assert Fraction(weight * portion.members, carried) == Fraction(portion.weight, asked)
        elif not portion.members:
            assert weight == 0


@given(PORTIONS, st.integers(1, 50))
def test_only_ratios_matter(portions: list[Portion], factor: int) -> None:
    scaled = [Portion(portion.weight * factor, portion.members) for portion in portions]
    assert weights.shares(scaled) == weights.shares(portions)


@given(PORTIONS)
def test_weights_fit_into_a_route(portions: list[Portion]) -> None:
    assert all(0 <= weight <= weights.MAX_WEIGHT for weight in weights.shares(portions))


@st.composite
def situations(draw: st.DrawFn) -> tuple[Any, list[list[Any]]]:
    """Draw a service of up to three groups over shared endpoints, some of them not ready."""
    endpoints = [
        routing.replica_endpoint(f"r-{index}", "llama", ready=draw(st.booleans()))
        for index in range(draw(st.integers(0, 6)))
    ]
    groups, matched = [], []
    for index in range(draw(st.integers(1, 3))):
        groups.append(
            routing.group(deployment=f"d{index}", weight=draw(st.integers(0, 10)), priority=draw(st.integers(0, 1)))
        )
        matched.append([each for each in endpoints if draw(st.booleans())])
    return routing.model_service(*groups), matched


@given(situations(), st.randoms(use_true_random=False))
def test_a_plan_is_the_same_in_any_order_and_uses_no_endpoint_twice(
    situation: tuple[Any, list[list[Any]]], dice: random.Random
) -> None:
    document, matched = situation
    wanted = service.decode(document)
    candidates = [[endpoint.candidate(each) for each in group] for group in matched]
    shuffled = [dice.sample(group, len(group)) for group in candidates]
    decided = plan.decide(wanted, candidates, OFFERED)
    assert plan.decide(wanted, shuffled, OFFERED) == decided
    used = [target.endpoint.name for target in decided.targets]
    assert len(used) == len(set(used))
    assert not any(wanted.groups[target.group].weight == 0 for target in decided.targets)


@given(situations())
def test_whatever_is_ready_and_wanted_receives_requests(situation: tuple[Any, list[list[Any]]]) -> None:
    document, matched = situation
    wanted = service.decode(document)
    candidates = plan.assign([[endpoint.candidate(each) for each in group] for group in matched])
    try:
        decided = plan.decide(wanted, candidates, OFFERED)
    except Unsupported:
        return
    expected = {
        candidate.name
        for index, group in enumerate(candidates)
        for candidate in group
        if candidate.ready and wanted.groups[index].weight
    }
    assert {target.endpoint.name for target in decided.targets} == expected
    assert all(target.weight > 0 for target in decided.targets)
