"""Rebalancing: on random fleets, whoever allows it and whoever does not, with several who wait at once."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tests.property.test_move_laws import worlds
from tests.support.laws import LAW
from tests.support.races import Deployed, Race


@st.composite
def allowing(draw: st.DrawFn) -> Race:
    """A scattered fleet in which some deployments allow it, most of those that wait among them."""
    race = draw(worlds())
    several = draw(st.booleans())
    for number, one in enumerate(race.deployments):
        allowed = draw(st.sampled_from([True, True, False]))
        wanted = one.intent.replicas if several else len(one.current.replicas)
        wanted = 1 if one.key == "ns-big/big" else wanted
        race.deployments[number] = replace(one, intent=replace(one.intent, rebalance=allowed, replicas=wanted))
    return race


def serving(race: Race, one: Deployed) -> Mapping[str, tuple[str, object]]:
    """What serves of a deployment, and where."""
    return {r.name: (r.cluster, r.holdings) for r in one.current.replicas if r.ready}


def moving(one: Deployed) -> int:
    """How many replicas of a deployment stand beside their successors."""
    present = {r.name for r in one.current.replicas}
    return sum(r.replaces in present for r in one.current.replicas)


def bound(race: Race) -> int:
    """Rounds after which nothing moves: for each that waits a few per replica that leaves, and the placing itself."""
    waiting = sum(max(0, one.intent.replicas - len(one.current.replicas)) for one in race.deployments)
    return 12 + 30 * waiting


@LAW
@given(allowing())
def test_rebalancing_moves_one_at_a_time_ends_and_hurts_nobody(race: Race) -> None:
    """Never two at once, nothing without leave, nobody served less, as many places as before at least, and an end."""
    begun = copy.deepcopy(race.deployments)
    waiting = sum(max(0, one.intent.replicas - len(serving(race, one))) for one in race.deployments)
    names = {one.key: set(serving(race, one)) for one in race.deployments}
    moved = 0
    for _ in range(bound(race) + 1):
        before = [(len(serving(race, one)), one) for one in race.deployments]
        state = repr((race.seen, [one.current for one in race.deployments]))
        race.run_round()
        for (many, old), now in zip(before, race.deployments, strict=True):
            assert moving(now) <= 1
            assert len(serving(race, now)) >= min(many, now.intent.replicas), (old, now)
            started = [r for r in now.current.replicas if r.makes_room and r.name not in names[now.key]]
            moved += len(started)
            names[now.key] |= {r.name for r in now.current.replicas}
            assert now.intent.rebalance or not started
        if repr((race.seen, [one.current for one in race.deployments])) == state:
            break
    else:
        raise AssertionError(f"still moving after {bound(race)} rounds")
    placed = sum(min(one.intent.replicas, len(serving(race, one))) for one in race.deployments)
    gained = placed - sum(min(one.intent.replicas, len(serving(race, one))) for one in begun)
    assert 0 <= gained <= waiting
    # A replica that waits has at most three leave, and those only for it.
    assert moved <= 3 * gained, (moved, gained)
    for old, now in zip(begun, race.deployments, strict=True):
        if not now.intent.rebalance:
            assert serving(race, old).items() <= serving(race, now).items()
