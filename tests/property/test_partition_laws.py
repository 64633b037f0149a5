"""Laws of devices that share a physical one: counted as brute force counts, and as the allocator allocates."""

from __future__ import annotations

from functools import cache
from random import Random

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from modelplane.devices import matching, partitions, physical
from modelplane.devices.model import Attribute, AttributeKind, CounterSet, Device, Draw, NodeClass, Request
from modelplane.placement.capacity import dimensions, ledger
from modelplane.placement.packing.load import Answer
from modelplane.placement.snapshot import Accounting, NodeCounts, PodShape, Pool
from tests.support import laws
from tests.support.allocator import allocation, documents
from tests.support.allocator.allocation import Allocation, Inventory, Unschedulable
from tests.support.allocator.claims import Allocated, Claim, DeviceClass, DeviceRequest
from tests.support.allocator.slices import DeviceId, Node

NODE = Node("node-1", {})
CLASS = "part.example.com"
DRIVER = "gpu.example.com"
PROFILE = f'device.attributes["{DRIVER}"].profile'
SLICES = tuple(f"slice-{i}" for i in range(4))


@st.composite
def draws(draw: st.DrawFn) -> tuple[Draw, ...]:
    """What a kind takes: an amount of compute, and neighbouring slices at a few places."""
    compute = (("compute", str(draw(st.integers(0, 5)))),)
    wide = draw(st.integers(1, 4))
    starts = draw(st.lists(st.integers(0, 4 - wide), min_size=1, max_size=3, unique=True))
    if draw(st.booleans()):
        return (Draw("gpu", compute, tuple(SLICES[start : start + wide] for start in starts)),)
    return (Draw("gpu", compute, (), alike=draw(st.integers(1, 3))),)


@st.composite
def node_classes(draw: st.DrawFn) -> NodeClass:
    """A node of one to three physical devices that can be parted into one to four kinds."""
    counters = (("compute", str(draw(st.integers(3, 9)))), *((name, "1") for name in SLICES))
    sets = (CounterSet("gpu", draw(st.integers(1, 3)), counters),)
    kinds = tuple(
        Device(
            name=f"kind-{number}",
            driver=DRIVER,
            count=1,
            device_class=CLASS,
            attributes=(("profile", Attribute(AttributeKind.STRING, f"kind-{number}")),),
            draws=draw(draws()),
        )
        for number in range(draw(st.integers(1, 4)))
    )
    return counted(NodeClass("class", kinds, counter_sets=sets))


def counted(node_class: NodeClass) -> NodeClass:
    """Return the class with the count of each kind, as decoding finds it."""
    (family,) = physical.of(node_class)
    devices = tuple(
        Device(
            d.name, d.driver, partitions.most(family, i), d.claim, d.device_class, "", d.attributes, (), draws=d.draws
        )
        for i, d in enumerate(node_class.devices)
    )
    return NodeClass(node_class.name, devices, counter_sets=node_class.counter_sets)


def brute(family: physical.Family, wanted: tuple[int, ...]) -> bool:
    """Return whether some way to put the devices one by one at places works."""
    spots = [
        (kind, unit, place)
        for kind, number in enumerate(wanted)
        if number
        for unit in range(family.units)
        for place in family.places[kind]
        for _ in range(place.alike)
    ]

    @cache
    def rest(index: int, left: tuple[int, ...], free: tuple[tuple[int, ...], ...]) -> bool:
        if not any(left):
            return True
        if index == len(spots):
            return False
        kind, unit, place = spots[index]
        after = tuple(have - take for have, take in zip(free[unit], place.draws, strict=True))
        if left[kind] and min(after) >= 0:
            fewer = (*left[:kind], left[kind] - 1, *left[kind + 1 :])
            if rest(index + 1, fewer, (*free[:unit], after, *free[unit + 1 :])):
                return True
        return rest(index + 1, left, free)

    return rest(0, wanted, (family.capacity,) * family.units)


def claim(name: str, *wanted: tuple[str, int]) -> Claim:
    """Return the claim of a pod for devices of the kinds."""
    requests = tuple(
        DeviceRequest(f"r{i}", CLASS, number, selectors=(f'{PROFILE} == "{kind}"',))
        for i, (kind, number) in enumerate(wanted)
    )
    return Claim(name, requests)


def inventory(node_class: NodeClass, held: frozenset[DeviceId] = frozenset()) -> Inventory:
    """Return the node as drivers publish it, with what is in use."""
    return Inventory(NODE, documents.of_class(node_class, NODE.name), (DeviceClass(CLASS, ()),), Allocated(held, ()))


numbers = st.lists(st.integers(0, 4), min_size=4, max_size=4)


@given(node_classes(), numbers)
@settings(max_examples=laws.in_proportion(300), deadline=None)
def test_counted_as_brute_force_counts(node_class: NodeClass, asked: list[int]) -> None:
    (family,) = physical.of(node_class)
    wanted = tuple(asked[: len(family.kinds)])
    assert partitions.holds(family, wanted) is brute(family, wanted)


@given(node_classes(), numbers)
@settings(max_examples=laws.in_proportion(200), deadline=None)
def test_counted_as_the_allocator_allocates_together(node_class: NodeClass, asked: list[int]) -> None:
    (family,) = physical.of(node_class)
    wanted = tuple(number % 3 for number in asked[: len(family.kinds)])
    claims = [
        claim(f"{device.name}-{i}", (device.name, 1))
        for device, number in zip(node_class.devices, wanted, strict=True)
        for i in range(number)
    ]
    found = allocation.allocate(inventory(node_class), claims)
    assume(not (isinstance(found, Unschedulable) and "steps" in found.reason))
    assert partitions.holds(family, wanted) is isinstance(found, Allocation), found


@given(node_classes(), numbers)
@settings(max_examples=laws.in_proportion(200), deadline=None)
def test_a_pod_matches_when_the_allocator_serves_it(node_class: NodeClass, asked: list[int]) -> None:
    pairs = [(device.name, number % 3) for device, number in zip(node_class.devices, asked, strict=False)]
    wanted = [(name, number) for name, number in pairs if number]
    assume(wanted)
    requests = tuple(Request(f"r{i}", number, (f'{PROFILE} == "{kind}"',)) for i, (kind, number) in enumerate(wanted))
    found = allocation.allocate(inventory(node_class), [claim("pod", *wanted)])
    options = matching.match(node_class, requests).options
    assert bool(options) is isinstance(found, Allocation), found
    if options:
        assert options[0].counted == tuple(sorted(wanted))


@given(node_classes(), numbers, st.randoms(use_true_random=False))
@settings(max_examples=laws.in_proportion(400), deadline=None)
def test_what_is_promised_is_allocated_in_whatever_order_pods_come(
    node_class: NodeClass, asked: list[int], shuffle: Random
) -> None:
    pool, what = Pool("pool", "class", node_class, NodeCounts(1)), dimensions.of(node_class, Accounting.DEVICE)
    state = ledger.of(pool, what)
    pods: list[str] = []
    for device, number in zip(node_class.devices, asked, strict=False):
        shape = PodShape(((device.name, 1),))
        after = state.plus(shape, number, 1)
        if number and ledger.fits_more(state, shape, after) is Answer.FITS:
            state = after
            pods += [device.name] * number
    shuffle.shuffle(pods)
    held: frozenset[DeviceId] = frozenset()
    for i, kind in enumerate(pods):
        found = allocation.allocate(inventory(node_class, held), [claim(f"pod-{i}", (kind, 1))])
        assert isinstance(found, Allocation), (pods, found)
        held |= {one.device for result in found.claims for one in result.devices}
