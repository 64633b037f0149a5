"""Requests of one pod against the devices of one node."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kubecel.caches import CACHES
from modelplane.devices import matching, nearness
from modelplane.devices.matching import MissKind
from modelplane.devices.model import Attribute, AttributeKind, Claim, Constraint, Device, NodeClass, Request
from modelplane.errors import InvalidSelector
from tests.support.placements import WANTS_140, gpu, nic, node_class, synthetic

GPU = "gpu.nvidia.com"
ROOT = "resource.kubernetes.io/pcieRoot"
HOPPER = f'device.attributes["{GPU}"].architecture == "Hopper"'
ADA = f'device.attributes["{GPU}"].architecture == "Ada"'
RDMA = 'device.driver == "dra.net"'


def picks(node: NodeClass, *requests: Request, constraints: tuple[Constraint, ...] = ()) -> list[dict[str, str]]:
    found = matching.match(node, requests, constraints)
    return [{pick.request: pick.device for pick in option.picks} for option in found.options]


def rooted(device: Device, value: str | int, name: str = ROOT) -> Device:
    kind = AttributeKind.INT if isinstance(value, int) else AttributeKind.STRING
    attributes = (*device.attributes, (name, Attribute(kind, value)))
    return Device(
        device.name, device.driver, device.count, device.claim, device.device_class, "", attributes, device.capacity
    )


a, b = gpu(4, name="a", architecture="Hopper"), gpu(4, name="b", architecture="Ada")
bare = gpu(4, name="bare")  # publishes no architecture: a selector on it aborts

MATCHES = [
    ("the plain case", node_class(gpu(8)), [Request("gpu", 8, (WANTS_140,))], [{"gpu": "gpu"}]),
    ("fewer than a node has", node_class(gpu(8)), [Request("gpu", 1)], [{"gpu": "gpu"}]),
    (
        "no selector takes the first listed",
        node_class(gpu(8), nic()),
        [Request("gpu", 8)],
        [{"gpu": "gpu"}, {"gpu": "nic"}],
    ),
    (
        "the selector tells GPU and NIC apart though it would abort on the NIC",
        node_class(gpu(8), nic()),
        [Request("gpu", 8, (WANTS_140,)), Request("nic", 8, (RDMA,))],
        [{"gpu": "gpu", "nic": "nic"}],
    ),
    ("one of two kinds", node_class(a, b), [Request("gpu", 4, (ADA,))], [{"gpu": "b"}]),
    (
        "requests compete: the picky one gets what only it can use",
        node_class(a, b),
        [Request("any", 4), Request("hopper", 4, (HOPPER,))],
        [{"any": "b", "hopper": "a"}],
    ),
    (
        "two requests share one kind",
        node_class(gpu(8)),
        [Request("one", 4), Request("two", 4)],
        [{"one": "gpu", "two": "gpu"}],
    ),
    (
        "a device that would abort is not reached when an earlier one serves",
        node_class(a, bare),
        [Request("gpu", 4, (HOPPER,))],
        [{"gpu": "a"}],
    ),
    (
        "selectors stop at the first that is false",
        node_class(bare, gpu(4, "23034Mi", name="small")),
        [Request("gpu", 4, ('device.driver == "other"', HOPPER))],
        [],
    ),
    (
        "synthetic devices match",
        node_class(gpu(8), synthetic()),
        [Request("f", 1, ('device.driver == "modelplane.ai"',))],
        [{"f": "fabric"}],
    ),
    (
        "devices agree on an attribute",
        node_class(rooted(gpu(8), "r0"), rooted(nic(), "r0")),
        [Request("gpu", 8, (WANTS_140,)), Request("nic", 8, (RDMA,))],
        [{"gpu": "gpu", "nic": "nic"}],
    ),
]


@pytest.mark.parametrize(("reason", "node", "requests", "want"), MATCHES, ids=[row[0] for row in MATCHES])
def test_options(reason: str, node: NodeClass, requests: list[Request], want: list[dict[str, str]]) -> None:
    constraints = (Constraint(ROOT),) if "agree" in reason else ()
    assert picks(node, *requests, constraints=constraints) == want


MISSES = [
    ("no device", node_class(gpu(8, "23034Mi")), [Request("gpu", 1, (WANTS_140,))], MissKind.NO_MATCH, 'request "gpu"'),
    (
        "too few on a node",
        node_class(gpu(8)),
        [Request("gpu", 16, (WANTS_140,))],
        MissKind.TOO_FEW,
        "wants 16 devices on one node, which has 8 gpu",
    ),
    (
        "too few for both",
        node_class(gpu(8)),
        [Request("a", 6), Request("b", 6)],
        MissKind.TOO_FEW,
        "a x 6, b x 6 together",
    ),
    (
        "a device that aborts is reached first",
        node_class(bare, a),
        [Request("gpu", 4, (HOPPER,))],
        MissKind.SELECTOR_ERROR,
        "no such key: architecture",
    ),
    (
        "a device that aborts is reached for the rest",
        node_class(a, bare),
        [Request("gpu", 4, (HOPPER,)), Request("more", 4, (HOPPER,))],
        MissKind.SELECTOR_ERROR,
        "bare",
    ),
    (
        "the NIC would abort and is not what the selector is about",
        node_class(gpu(8, "23034Mi"), nic()),
        [Request("gpu", 1, (WANTS_140,))],
        MissKind.NO_MATCH,
        "no device",
    ),
    (
        "only devices of another vendor",
        node_class(nic()),
        [Request("gpu", 1, (WANTS_140,))],
        MissKind.SELECTOR_ERROR,
        "nic",
    ),
]


@pytest.mark.parametrize(("reason", "node", "requests", "kind", "text"), MISSES, ids=[row[0] for row in MISSES])
def test_misses(reason: str, node: NodeClass, requests: list[Request], kind: MissKind, text: str) -> None:
    found = matching.match(node, tuple(requests))
    assert not found.options, reason
    assert found.miss is not None
    assert found.miss.kind is kind
    assert text in found.miss.detail


BOTH = (Request("gpu", 8, (WANTS_140,)), Request("nic", 8, (RDMA,)))
CONSTRAINTS = [
    ("equal values", rooted(gpu(8), "r0"), rooted(nic(), "r0"), True),
    ("other values", rooted(gpu(8), "r0"), rooted(nic(), "r1"), False),
    ("int against string", rooted(gpu(8), 0), rooted(nic(), "0"), False),
    ("one does not publish it", rooted(gpu(8), "r0"), nic(), False),
    ("nobody publishes it", gpu(8), nic(), False),
]


@pytest.mark.parametrize(("reason", "left", "right", "want"), CONSTRAINTS, ids=[row[0] for row in CONSTRAINTS])
def test_match_attribute(reason: str, left: Device, right: Device, want: bool) -> None:  # noqa: FBT001 - parametrised
    found = matching.match(node_class(left, right), BOTH, (Constraint(ROOT),))
    assert bool(found.options) is want, reason
    if not want:
        assert found.miss is not None
        assert ROOT in found.miss.detail
        assert matching.match(node_class(left, right), BOTH).options, "the constraint is what refuses it"
        assert (
            matching.match(node_class(left, right), BOTH, (Constraint(ROOT, ("gpu",)),)).options
            or left.attributes == ()
        )


def test_a_full_name_finds_the_attribute_of_the_drivers_own_domain() -> None:
    device = rooted(gpu(8), "x", name="fabric")
    assert device.attribute(f"{GPU}/fabric") == Attribute(AttributeKind.STRING, "x")
    assert device.attribute("dra.net/fabric") is None


def test_an_attribute_published_by_its_full_name_goes_before_one_of_the_drivers_own_domain() -> None:
    own, full = Attribute(AttributeKind.STRING, "own"), Attribute(AttributeKind.STRING, "full")
    device = replace(gpu(8), attributes=(("fabric", own), (f"{GPU}/fabric", full)))
    assert device.attribute(f"{GPU}/fabric") == full
    assert device.attribute("fabric") == own


def test_the_search_goes_back_for_a_pair_that_agrees() -> None:
    node = node_class(rooted(a, "r0"), rooted(b, "r1"), rooted(nic(4), "r1"))
    assert picks(node, Request("gpu", 4, ()), Request("nic", 4, (RDMA,)), constraints=(Constraint(ROOT),)) == [
        {"gpu": "b", "nic": "nic"}
    ]


def test_a_device_plugin_is_counted_and_a_synthetic_device_is_not() -> None:
    plugin = Device("gpu", GPU, 8, Claim.DEVICE_PLUGIN, resource_name="nvidia.com/gpu")
    (option,) = matching.match(
        node_class(plugin, synthetic()),
        (
            Request("gpu", 2, ('device.driver == "gpu.nvidia.com"',)),
            Request("f", 1, ('device.driver == "modelplane.ai"',)),
        ),
    ).options
    assert option.counted == (("gpu", 2),)


def test_a_selector_that_does_not_compile_is_the_authors_fault() -> None:
    with pytest.raises(InvalidSelector):
        matching.check((Request("gpu", 1, ("device.drivr ==",)),))


def test_a_device_is_asked_once_whatever_pool_it_is_in() -> None:
    CACHES["modelplane.devices.outcomes.answer"].cache_clear()
    for name in ("one", "two", "three"):
        matching.match(node_class(gpu(8, "1234Mi"), name=name), (Request("gpu", 1, (WANTS_140,)),))
    assert CACHES["modelplane.devices.outcomes.answer"].cache_info().misses == 1


NEAR = [
    (
        "too little memory",
        (WANTS_140,),
        gpu(8, "23034Mi"),
        [("memory", "23034Mi", ">= 140Gi")],
        WANTS_140.replace("140Gi", "23034Mi"),
    ),
    (
        "the nominal size",
        (WANTS_140.replace("140Gi", "141Gi"),),
        gpu(8),
        [("memory", "143771Mi", ">= 141Gi")],
        WANTS_140.replace("140Gi", "143771Mi"),
    ),
    (
        "strictly more",
        (WANTS_140.replace(">= 0", "> 0"),),
        gpu(8, "140Gi"),
        [("memory", "140Gi", ">= 150323855361")],
        None,
    ),
    ("another architecture", (HOPPER,), b, [("architecture", "Ada", "Hopper")], HOPPER.replace("Hopper", "Ada")),
    (
        "two things at once",
        (HOPPER, WANTS_140),
        gpu(4, "10Gi", architecture="Ada"),
        [("architecture", "Ada", "Hopper"), ("memory", "10Gi", ">= 140Gi")],
        None,
    ),
]


@pytest.mark.parametrize(("reason", "selectors", "device", "gaps", "edited"), NEAR, ids=[row[0] for row in NEAR])
def test_nearest(
    reason: str, selectors: tuple[str, ...], device: Device, gaps: list[tuple[str, str, str]], edited: str | None
) -> None:
    near = nearness.nearest(selectors, device)
    assert near is not None, reason
    assert sorted((gap.name, gap.has, gap.wants) for gap in near.gaps) == gaps
    assert not nearness.misses(selectors, near.device)
    if edited is not None:
        assert near.selectors == (edited,)
    if near.selectors is not None:
        assert not nearness.misses(near.selectors, device)


@pytest.mark.parametrize(
    ("reason", "selectors", "device"),
    [
        ("it matches already", (WANTS_140,), gpu(8)),
        ("another driver altogether", ('device.driver == "gpu.amd.com"',), gpu(8)),
        ("it cannot match anything", ("1 > 2",), gpu(8)),
    ],
)
def test_nothing_is_claimed_that_was_not_found(reason: str, selectors: tuple[str, ...], device: Device) -> None:
    assert nearness.nearest(selectors, device) is None, reason
