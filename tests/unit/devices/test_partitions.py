"""What physical devices can be parted into: the slices of an H100, and what cannot be decided."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
import yaml

from modelplane.api import inference_class
from modelplane.devices import matching, partitions, physical
from modelplane.devices.model import CounterSet, Device, Draw, NodeClass, Request
from modelplane.devices.partitions import Undecided
from tests.support.allocator import allocation, documents
from tests.support.allocator.allocation import Allocation, Inventory
from tests.support.allocator.claims import Claim, DeviceClass, DeviceRequest
from tests.support.allocator.slices import Node

CATALOGUE = Path(__file__).resolve().parents[3] / "examples" / "classes" / "mig.yaml"
TYPE = 'device.attributes["gpu.nvidia.com"].type'
PROFILE = 'device.attributes["gpu.nvidia.com"].profile'
CLASSES = (
    DeviceClass("gpu.nvidia.com", (f'device.driver == "gpu.nvidia.com" && {TYPE} == "gpu"',)),
    DeviceClass("mig.nvidia.com", (f'device.driver == "gpu.nvidia.com" && {TYPE} == "mig"',)),
)


@cache
def h100(gpus: int = 1) -> NodeClass:
    document = yaml.safe_load(CATALOGUE.read_text())
    document["spec"]["sharedCounters"][0]["count"] = gpus
    return inference_class.decode(document)


def kind(name: str) -> str:
    return name if name == "gpu" else "mig-" + {"1g": "1g-10gb", "2g": "2g-20gb"}.get(name, f"{name}-40gb")


def held(node_class: NodeClass, *profiles: str) -> tuple[physical.Family, tuple[int, ...]]:
    (family,) = physical.of(node_class)
    names = [kind(profile) for profile in profiles]
    return family, tuple(names.count(node_class.devices[position].name) for position in family.kinds)


MIXES = [
    ("seven of the smallest", 1, ["1g"] * 7, True),
    ("no eighth, though memory has eight slices", 1, ["1g"] * 8, False),
    ("two of three", 1, ["3g", "3g"], True),
    ("two of three take all memory slices", 1, ["3g", "3g", "1g"], False),
    ("four and three, if three did not come first", 1, ["4g", "3g"], True),
    ("four and one: the one may lie where four must", 1, ["4g", "1g"], True),
    ("four and one on two GPUs: four goes to the other", 2, ["4g", "1g"], True),
    ("three of two and one", 1, ["2g", "2g", "2g", "1g"], True),
    ("six of one leave no place for two", 1, ["1g"] * 6 + ["2g"], False),
    ("the whole and nothing else", 1, ["gpu", "1g"], False),
    ("the whole of one, slices of the other", 2, ["gpu", *["1g"] * 7], True),
    ("slices keep the whole away", 2, ["gpu", *["1g"] * 8], False),
    ("eight GPUs full of what fills them", 8, [*["3g"] * 8, *["1g"] * 28], True),
    ("one too many", 8, [*["3g"] * 8, *["1g"] * 33], False),
]


@pytest.mark.parametrize(("reason", "gpus", "profiles", "at_all"), [pytest.param(*mix, id=mix[0]) for mix in MIXES])
def test_slices_of_an_h100(reason: str, gpus: int, profiles: list[str], *, at_all: bool) -> None:
    family, wanted = held(h100(gpus), *profiles)
    assert partitions.holds(family, wanted) is at_all, reason


@pytest.mark.parametrize(
    ("reason", "wanted", "among", "want"),
    [
        ("one of one lies in each half", "3g", ("1g", "3g"), [(0, 2), (1, 1), (2, 0)]),
        ("one of one lies where four must", "4g", ("1g", "4g"), [(0, 1), (1, 0)]),
        ("three of two, or two of two and of one", "2g", ("1g", "2g"), [(0, 3), (1, 2), (2, 1), (3, 0)]),
        ("anything keeps the whole away", "gpu", ("1g", "gpu"), [(0, 1), (1, 0)]),
        ("seven of one take each other's places", "1g", ("1g",), [(7,)]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_fewest_that_can_lie_in_the_way(
    reason: str, wanted: str, among: tuple[str, ...], want: list[tuple[int, ...]]
) -> None:
    node_class = h100()
    (family,) = physical.of(node_class)
    position = {node_class.devices[device].name: at for at, device in enumerate(family.kinds)}
    kinds = tuple(sorted(position[kind(name)] for name in among))
    order = [kinds.index(position[kind(name)]) for name in among]
    found = partitions.in_the_way(family, kinds, (position[kind(wanted)],))
    assert sorted(tuple(load[at] for at in order) for load in found) == want, reason


@pytest.mark.parametrize(
    ("reason", "gpus", "profiles", "at_all"), [pytest.param(*mix, id=mix[0]) for mix in MIXES if mix[1] < 8]
)
def test_the_allocator_agrees(reason: str, gpus: int, profiles: list[str], *, at_all: bool) -> None:
    node_class = h100(gpus)
    claims = []
    for number, profile in enumerate(profiles):
        device = next(one for one in node_class.devices if one.name == kind(profile))
        selectors = () if profile == "gpu" else (f'{PROFILE} == "{dict(device.attributes)["profile"].value}"',)
        claims.append(Claim(f"pod-{number}", (DeviceRequest("r", device.device_class, 1, selectors=selectors),)))
    found = allocation.allocate(Inventory(Node("node-1"), documents.of_class(node_class), CLASSES), claims)
    assert isinstance(found, Allocation) is at_all, (reason, found)


@pytest.mark.parametrize(
    ("reason", "requests", "kinds"),
    [
        ("slices of one size", [("a", 7, f'{PROFILE} == "1g.10gb"')], ["mig-1g-10gb"]),
        ("more than the GPU can be parted into", [("a", 8, f'{PROFILE} == "1g.10gb"')], []),
        (
            "two sizes in one pod",
            [("a", 1, f'{PROFILE} == "4g.40gb"'), ("b", 3, f'{PROFILE} == "1g.10gb"')],
            ["mig-4g-40gb", "mig-1g-10gb"],
        ),
        ("the whole beside a slice of it", [("a", 1, f'{TYPE} == "gpu"'), ("b", 1, f'{PROFILE} == "1g.10gb"')], []),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_pod_on_one_gpu(reason: str, requests: list[tuple[str, int, str]], kinds: list[str]) -> None:
    found = matching.match(h100(), tuple(Request(name, count, (text,)) for name, count, text in requests))
    assert [pick.device for option in found.options[:1] for pick in option.picks] == kinds, reason
    assert bool(kinds) is (found.miss is None), reason


def test_a_selector_that_several_kinds_satisfy_gives_an_option_for_each() -> None:
    memory = 'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("39Gi")) >= 0'
    found = matching.match(h100(), (Request("a", 1, (memory,)),))
    assert [option.counted for option in found.options] == [
        (("gpu", 1),),
        (("mig-3g-40gb", 1),),
        (("mig-4g-40gb", 1),),
        (("mig-7g-80gb", 1),),
    ]


def test_a_kind_with_no_place_is_never_held() -> None:
    """A draw of more than there is: a driver would not publish it, and a class that says so counts none."""
    node_class = NodeClass("c", (_part("x", "9"),), counter_sets=(CounterSet("set", 2, (("a", "4"),)),))
    (family,) = physical.of(node_class)
    assert partitions.most(family, 0) == 0
    assert not partitions.holds(family, (1,))


def test_sets_that_are_drawn_from_together_belong_to_one_physical_device() -> None:
    sets = (CounterSet("gpu", 2, (("a", "2"),)), CounterSet("nic", 2, (("b", "3"),)))
    both = Device("both", "d", 1, draws=(Draw("gpu", (("a", "1"),)), Draw("nic", (("b", "2"),), (), 5)))
    node_class = NodeClass("c", (both, Device("other", "d", 3)), counter_sets=sets)
    (family,) = physical.of(node_class)
    assert (family.units, family.kinds, partitions.most(family, 0)) == (2, (0,), 2)


def test_what_cannot_be_enumerated_is_undecided_and_refused_with_words() -> None:
    counters = tuple((f"c{i:02}", "1") for i in range(32))
    placed = tuple((f"c{i:02}",) for i in range(32))
    node_class = NodeClass(
        "c",
        (Device("x", "d", 1, draws=(Draw("set", (), placed),)),),
        counter_sets=(CounterSet("set", 1, counters),),
    )
    (family,) = physical.of(node_class)
    with pytest.raises(Undecided):
        partitions.loads(family, (0,))


def _part(name: str, amount: str) -> Device:
    return Device(name, "d", 1, draws=(Draw("set", (("a", amount),)),))
