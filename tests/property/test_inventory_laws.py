"""Laws of classes that are made from what drivers publish: they answer as the class did that the nodes were made of."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelplane import units
from modelplane.api import class_document, inference_class, resource_slice
from modelplane.devices import matching, sharing
from modelplane.devices.model import Attribute, AttributeKind, Constraint, Device, NodeClass, Relation, Request
from modelplane.inventory import comparison, survey
from modelplane.inventory.model import DeviceClass, Node, Seen
from tests.property.test_partition_laws import CLASS, DRIVER
from tests.property.test_partition_laws import node_classes as parted
from tests.support import device_questions, mig, published

Json = Any

LOCAL = (device_questions.ROOT, device_questions.RAIL)
CLASSES = tuple(DeviceClass(name, (f'{device_questions.MARK} == "{name}"',)) for name in device_questions.CLASSES)


@st.composite
def node_classes(draw: st.DrawFn) -> NodeClass:
    """Draw a class of one to four kinds that their product tells apart."""
    kinds = []
    for number in range(draw(st.integers(1, 4))):
        drawn = draw(device_questions.devices(number))
        attributes = {name: value for name, value in drawn.attributes if name not in (*LOCAL, "kind")}
        attributes["productName"] = Attribute(AttributeKind.STRING, f"Product {number}")
        taints = tuple(one for one in drawn.taints if one.effect != "None")
        whole = units.quantity(drawn.capacity[0][1])
        # Others no API server stores in a slice.
        policies = tuple(one for one in drawn.policies if not sharing.fault(one[1], whole))
        kinds.append(replace(drawn, attributes=tuple(sorted(attributes.items())), taints=taints, policies=policies))
    return NodeClass("class", tuple(kinds))


def noisy(slices: Iterator[Json], node: str, random_: random.Random) -> Iterator[Json]:
    """Yield the slices of a node with what only its devices have, in an order that says nothing."""
    driver = f"1.{random_.randint(0, 9)}.0"
    for one in slices:
        made = copy.deepcopy(one)
        for number, device in enumerate(made["spec"].get("devices", [])):
            device["attributes"] |= {
                "uuid": {"string": f"GPU-{node}-{number}"},
                "driverVersion": {"version": driver},
                "serialNumber": {"string": f"{node}{number}"},
                device_questions.ROOT: {"string": f"pci0000:0{random_.randint(0, 9)}"},
            }
        yield made


def seen(node_class: NodeClass, nodes: int, random_: random.Random, classes: tuple[DeviceClass, ...]) -> Seen:
    """Return the cluster with so many nodes of the class."""
    names = [f"node-{number}" for number in range(nodes)]
    slices = [one for name in names for one in noisy(published.slices(node_class, name), name, random_)]
    random_.shuffle(slices)
    return Seen(tuple(map(resource_slice.decode, slices)), tuple(map(Node, names)), classes)


def again(found: Seen) -> NodeClass:
    """Return the one class that is found, as whoever applies it has it."""
    made = survey.survey(found)
    assert len(made.classes) == 1, made.notes
    assert [pool.counted for pool in made.pools] == [len(found.nodes)]
    return inference_class.decode(class_document.encode(made.classes[0]))


def answers(node_class: NodeClass, requests: tuple[Request, ...], constraints: tuple[Constraint, ...] = ()) -> Any:
    """Return the options as products and numbers, or why there are none."""
    match = matching.match(node_class, requests, constraints)
    if match.miss is not None:
        return match.miss.kind
    products = {
        device.name: tuple(value for name, value in device.attributes if name in ("productName", "profile"))
        for device in node_class.devices
    }
    return [
        [(pick.request, products[pick.device], pick.count, pick.alternative) for pick in option.picks]
        for option in match.options
    ]


@given(
    node_classes(),
    st.lists(device_questions.requests_of("gpu"), min_size=1, max_size=4),
    st.randoms(),
    st.integers(1, 3),
)
def test_a_class_comes_back_from_what_its_nodes_publish(
    node_class: NodeClass, asked: list[Request], random_: random.Random, nodes: int
) -> None:
    back = again(seen(node_class, nodes, random_, CLASSES))
    for request in asked:
        assert answers(back, (request,)) == answers(node_class, (request,))


def _can_be_had(node_class: NodeClass) -> bool:
    """Return whether every kind fits on an empty physical device. A class refuses others."""
    return all(device.count for device in node_class.devices)


@given(parted().filter(_can_be_had), st.randoms(), st.integers(1, 2))
def test_parts_come_back_with_their_places(node_class: NodeClass, random_: random.Random, nodes: int) -> None:
    back = again(seen(node_class, nodes, random_, (DeviceClass(CLASS, (f'device.driver == "{DRIVER}"',)),)))
    by_profile = {_profile(device): device for device in back.devices}
    assert {profile: device.count for profile, device in by_profile.items()} == {
        _profile(device): device.count for device in node_class.devices
    }
    assert comparison.describes(node_class, back)


def _profile(device: Device) -> object:
    return dict(device.attributes)["profile"].value


@pytest.mark.parametrize("product", mig.PRODUCTS)
def test_the_geometry_of_real_products_comes_back(product: str) -> None:
    node_class = mig.node_class(product, 8)
    classes = (DeviceClass("mig.nvidia.com", ('device.driver == "gpu.nvidia.com"',)),)
    back = again(seen(node_class, 2, random.Random(0), classes))  # noqa: S311 - noise
    assert comparison.describes(node_class, back)
    assert comparison.describes(back, back)


@given(node_classes(), st.randoms(), st.integers(1, 3))
def test_what_was_made_from_slices_does_not_lie_about_them(
    node_class: NodeClass, random_: random.Random, nodes: int
) -> None:
    found = seen(node_class, nodes, random_, CLASSES)
    made = survey.survey(found)
    for pool in made.pools:
        (of_pool,) = (one for one in made.classes if one.name == pool.class_name)
        for node in pool.nodes:
            assert comparison.lies(of_pool, made.published[node]) == ()


@given(node_classes(), st.randoms(), st.integers(1, 3))
def test_the_order_of_reading_changes_nothing(node_class: NodeClass, random_: random.Random, nodes: int) -> None:
    found = seen(node_class, nodes, random_, CLASSES)
    shuffled_slices, shuffled_nodes = list(found.slices), list(found.nodes)
    random_.shuffle(shuffled_slices)
    random_.shuffle(shuffled_nodes)
    assert survey.survey(replace(found, slices=tuple(shuffled_slices), nodes=tuple(shuffled_nodes))) == survey.survey(
        found
    )


@given(node_classes(), st.randoms())
def test_a_changed_value_is_named_with_both(node_class: NodeClass, random_: random.Random) -> None:
    found = seen(node_class, 1, random_, CLASSES)
    made = survey.survey(found)
    kind = random_.choice(made.classes[0].devices)
    lied = replace(kind, capacity=(("memory", "81Gi"),))
    devices = tuple(lied if one is kind else one for one in made.classes[0].devices)
    told = comparison.lies(replace(made.classes[0], devices=devices), made.published["node-0"])
    assert [(one.device, one.field, one.declared, one.published, one.devices) for one in told] == [
        (kind.name, "capacity memory", "81Gi", dict(kind.capacity)["memory"], kind.count)
    ]


def test_places_are_matched_as_published() -> None:
    gpus = [_on_root("gpu.example.com", number) for number in range(4)]
    nics = [_on_root("net.example.com", number) for number in range(4)]
    node_class = NodeClass("class", (*gpus, *nics))
    slices = [one for name in ("n0", "n1") for one in published.slices(node_class, name)]
    found = Seen(tuple(map(resource_slice.decode, slices)), (Node("n0"), Node("n1")))
    made = survey.survey(found, by_place=True)
    pair = (
        Request("gpu", 1, ('device.driver == "gpu.example.com"',)),
        Request("nic", 1, ('device.driver == "net.example.com"',)),
    )
    constraints = (Constraint(device_questions.ROOT, (), Relation.MATCH),)
    assert matching.match(made.classes[0], pair, constraints).options
    plain = survey.survey(found)
    assert not matching.match(plain.classes[0], pair, constraints).options
    assert any("--by-place" in note for note in plain.notes)


def _on_root(driver: str, number: int) -> Device:
    return Device(
        name=f"{driver.partition('.')[0]}-{number}",
        driver=driver,
        count=1,
        device_class=driver,
        attributes=((device_questions.ROOT, Attribute(AttributeKind.STRING, f"pci0000:{number:02}")),),
    )
