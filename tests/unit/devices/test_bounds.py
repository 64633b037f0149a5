"""Work that is bounded in steps: the search of a claim, the sharing out of physical devices, selectors together.

Steps are counted as checkpoints, which are the same on every machine; none of these tests looks at a clock.
"""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import pytest

from kubecel import interruption
from kubecel.caches import CACHES
from modelplane.devices import matching, partitions, physical, search_budget, selector_budget, supply
from modelplane.devices.matching import MissKind
from modelplane.devices.model import CounterSet, Device, Draw, NodeClass, Request
from modelplane.devices.physical import Family
from modelplane.devices.supply import Want
from tests.support import hostile

HUGE = 10**15


def steps_of(node: NodeClass, requests: tuple[Request, ...]) -> tuple[matching.Match, int]:
    """Return the answer, as a fresh process finds it, and the steps it took."""
    counted = hostile.Steps()
    with interruption.asking(counted):
        found = CACHES["modelplane.devices.matching.match"].__wrapped__(node, requests)
    return found, counted.passed


def test_a_claim_of_32_requests_that_cannot_be_met_is_decided() -> None:
    found, steps = steps_of(hostile.eight_kinds(), hostile.one_unsatisfiable())
    assert found.miss is not None
    assert found.miss.kind is MissKind.TOO_FEW
    assert steps < 1000


def test_the_first_way_is_found_where_the_picky_come_last_and_all_want_equally_many() -> None:
    """The allocator's order gives the first requests what only the last can use; 35 million choices are behind that."""
    picky = f'device.attributes["{hostile.GPU}"].model == "m0"'
    plain = tuple(Request(f"r{number}", 1) for number in range(28))
    found, steps = steps_of(hostile.eight_kinds(), (*plain, *(Request(f"p{n}", 1, (picky,)) for n in range(4))))
    assert {pick.device for pick in found.options[0].picks if pick.request.startswith("p")} == {"kind0"}
    assert steps <= matching.STEPS_MAX + 8 * 32


def test_what_is_not_decided_says_so_and_says_it_again() -> None:
    node, requests = hostile.eight_kinds(of_each=35), hostile.undecided()
    found, steps = steps_of(node, requests)
    assert found.miss is not None
    assert found.miss.kind is MissKind.UNDECIDED
    assert f"undecided after {matching.STEPS_MAX} steps" in found.miss.detail
    assert "and 12 more" in found.miss.detail
    assert steps <= matching.STEPS_MAX + 8 * len(requests) + 1
    assert steps_of(node, requests) == (found, steps)


def test_choices_of_classes_beyond_those_looked_at_are_not_called_too_few() -> None:
    """Ten requests of ten classes are 10^10 choices; those that serve them all come late in that order."""
    node = NodeClass("c", tuple(Device(f"k{n}", "d", 1, device_class=f"class{n}") for n in range(10)))
    found, _ = steps_of(node, tuple(Request(f"r{n}", 1) for n in range(10)))
    assert found.miss is not None
    assert found.miss.kind is MissKind.UNDECIDED


def suffices_by_trying(free: tuple[int, ...], wants: tuple[Want, ...]) -> bool:
    """Return whether wants of one count are filled, each by one kind: the search itself."""
    for chosen in itertools.product(*[want.kinds for want in wants]):
        left = list(free)
        for want, kind in zip(wants, chosen, strict=True):
            left[kind] -= want.number
        if min(left) >= 0:
            return True
    return not wants


@pytest.mark.parametrize("seed", range(200))
def test_numbers_say_no_only_where_the_search_does_and_yes_where_counts_are_equal(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311 - the same cases on every run
    free = tuple(draw.randint(0, 6) for _ in range(draw.randint(1, 4)))
    is_equal = draw.random() < 0.5
    number = draw.randint(1, 3)
    wants = tuple(
        Want(
            number if is_equal else draw.randint(1, 4),
            tuple(k for k in range(len(free)) if draw.random() < 0.7) or (0,),
        )
        for _ in range(draw.randint(1, 5))
    )
    found, truth = supply.suffices(free, wants), suffices_by_trying(free, wants)
    assert found or not truth
    if is_equal:
        assert found == truth


def family(units: int, places: int = 7) -> Family:
    """Return GPUs of seven slices, of which one kind takes one slice and the other four or the last three."""
    counters = tuple(f"s{n}" for n in range(places))
    sets = (CounterSet("gpu", units, tuple((name, "1") for name in counters)),)
    small = Device("small", "d", 1, draws=(Draw("gpu", (), tuple((name,) for name in counters)),))
    large = Device("large", "d", 1, draws=(Draw("gpu", (), (counters[:4], counters[4:])),))
    (found,) = physical.families(sets, (small, large))
    return found


def test_memory_does_not_grow_with_the_physical_devices_of_a_node() -> None:
    one = family(HUGE)
    assert partitions.most(one, 0) == 7 * HUGE
    assert partitions.in_the_way(one, (0,), (1,)) == ((2,),)
    assert not partitions.lies_in_its_own_way(one, 1)


def test_what_cannot_be_shared_out_in_time_is_found_out_once() -> None:
    counters = tuple(f"c{n}" for n in range(32))
    sets = (CounterSet("gpu", 1, tuple((name, "1") for name in counters)),)
    part = Device("part", "d", 1, draws=(Draw("gpu", (), tuple((name,) for name in counters)),))
    (one,) = physical.families(sets, (part,))
    counted = hostile.Steps()
    with interruption.asking(counted):
        for _ in range(3):
            with pytest.raises(partitions.Undecided):
                partitions.most(one, 0)
    assert counted.passed == 1


def test_selectors_are_bounded_together_by_what_they_cost_at_worst() -> None:
    text = hostile.dear_selector(1, width=9)
    assert not selector_budget.over_cost([text], 8)
    said = selector_budget.over_cost([text] * 3, 8)
    assert f"cost up to {3 * 8 * 83648} on the 8 kinds" in said
    assert f"the limit is {selector_budget.COST_MAX}" in said
    assert selector_budget.over_cost([text] * 3, 8) == said, "an evaluation that is remembered costs as much"


def test_the_search_for_claims_is_bounded_over_all_classes_together() -> None:
    node, requests = hostile.eight_kinds(of_each=35), hostile.undecided()
    classes = [replace(node, name=f"c{number:03}") for number in range(1000)]
    pods = [((Request("one", 1),), ()), (requests, ())]
    assert not search_budget.over_steps(pods, classes[:20])
    counted = hostile.Steps(most=2 * search_budget.STEPS_MAX)
    with interruption.asking(counted):
        said = search_budget.over_steps(pods, classes)
    assert "on 25 classes of the fleet" in said, "no further class is searched"
    assert '(most on InferenceClass "c000" 4104, "c001" 4104, "c002" 4104)' in said
    assert f"the limit is {search_budget.STEPS_MAX}" in said
    assert search_budget.over_steps(pods, classes) == said, "a search that is remembered costs as much"


def test_an_ordinary_pod_is_searched_on_a_thousand_classes() -> None:
    node = hostile.eight_kinds()
    classes = [replace(node, name=f"c{number:03}") for number in range(1000)]
    pods = [((Request("gpu", 4), Request("nic", 1)), ())]
    assert not search_budget.over_steps(pods, classes)


def test_selectors_are_bounded_together_by_their_length() -> None:
    half = "x" * (selector_budget.BYTES_MAX // 2)
    assert not selector_budget.over_bytes([half, half])
    assert f"the limit is {selector_budget.BYTES_MAX}" in selector_budget.over_bytes([half, half, "x"])
    assert selector_budget.over_bytes(["ä" * (selector_budget.BYTES_MAX // 2 + 1)])
