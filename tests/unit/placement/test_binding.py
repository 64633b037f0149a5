"""What a replica is bound to: the author's words, the class's facts, and pins that a cluster can evaluate."""

from __future__ import annotations

from dataclasses import replace

import pytest

from modelplane.devices import matching, memory
from modelplane.devices.model import Attribute, AttributeKind, Claim, Device, NodeClass, Request
from modelplane.devices.selector import Outcome
from modelplane.placement import binding
from modelplane.placement.decision import Admission, DeviceAssignment, PlacedReplica, PlacedRole, State
from modelplane.placement.snapshot import PodShape
from modelplane.topology.shape import Topology
from modelplane.workload.model import EngineType, Model, Replica, Role, RoleSpec, Workload

DRIVER = "gpu.example.com"
TEXT = AttributeKind.STRING
NAMES = [
    pytest.param("big", id="plain"),
    pytest.param('a "quoted" \\ one', id="quote-and-backslash"),
    pytest.param("line\nand\ttab\x01", id="control-characters"),
    pytest.param("größer", id="beyond-ascii"),
    pytest.param("\U0001f600", id="beyond-sixteen-bits"),
]


def device(name: str, *, driver: str = DRIVER, memory: str = "40Gi", **attributes: str) -> Device:
    marks = tuple((key, Attribute(TEXT, value)) for key, value in attributes.items())
    return Device(name, driver, 4, device_class="gpus", attributes=marks, capacity=(("memory", memory),))


def workload(*, prefill: bool = False) -> Workload:
    roles = (Role.DECODE, Role.PREFILL) if prefill else (Role.DECODE,)
    specs = tuple(RoleSpec(role, 1, Topology(), (Request("gpu", 2, ("true",)),), (), {"spec": {}}) for role in roles)
    return Workload("ns", "d", Model("m", "hf://a/b"), EngineType.VLLM, specs, "weights")


def bound(kinds: tuple[Device, ...], chosen: str, *, prefill: bool = False) -> Replica:
    wants = workload(prefill=prefill)
    assigned = (DeviceAssignment("gpu", chosen, 2),)
    roles = tuple(
        PlacedRole(spec.role, f"pool-{spec.role}", 1, 1, 1, PodShape(((chosen, 2),)), assigned) for spec in wants.roles
    )
    placed = PlacedReplica("d-0", "c", "KServe", State.NEW, roles, Admission.PENDING)
    pools = {role.pool: NodeClass("class", kinds) for role in roles}
    return binding.bind(wants, placed, pools, priority=7)


def pins(kinds: tuple[Device, ...], chosen: str) -> tuple[str, ...]:
    """Return the selectors beside the author's, after every kind was asked all of them: only the chosen one matches."""
    first, *more = bound(kinds, chosen).roles[0].devices[0].selectors
    assert first == "true"
    for kind in kinds:
        verdict = matching.answer((first, *more), kind)
        assert verdict.outcome is not Outcome.ABORT, verdict
        if more:
            assert (verdict.outcome is Outcome.MATCH) == (kind.name == chosen)
    return tuple(more)


def test_a_replica_says_whose_it_is_and_what_it_runs() -> None:
    made = bound((device("gpu"),), "gpu", prefill=True)
    assert (made.namespace, made.name, made.deployment) == ("ns", "d-0", "d")
    assert (made.cluster, made.backend, made.priority, made.model_cache) == ("c", "KServe", 7, "weights")
    assert made.is_disaggregated
    assert [role.pool for role in made.roles] == ["pool-decode", "pool-prefill"], "each role where it was placed"
    (request,) = made.roles[0].devices
    assert (request.name, request.device, request.driver, request.count) == ("gpu", "gpu", DRIVER, 2)
    assert (request.claim, request.device_class, request.memory_bytes) == (Claim.DRA, "gpus", 40 * 2**30)


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param(replace(workload(), model=Model("m", "hf://a/c")), id="other-weights"),
        pytest.param(replace(workload(), model=None), id="no-model"),
        pytest.param(replace(workload(), engine=EngineType.SGLANG), id="other-engine"),
        pytest.param(replace(workload(), model_cache=None), id="no-cache"),
        pytest.param(workload(prefill=True), id="one-role-more"),
        pytest.param(replace(workload(), roles=(replace(workload().roles[0], workers=2),)), id="one-worker-more"),
        pytest.param(replace(workload(), roles=(replace(workload().roles[0], template={}),)), id="other-template"),
    ],
)
def test_a_replica_of_another_template_is_outdated(changed: Workload) -> None:
    made = bound((device("gpu"),), "gpu")
    assert binding.runs_same(made, workload())
    assert not binding.runs_same(made, changed)


@pytest.mark.parametrize(
    ("capacity", "want"),
    [
        pytest.param((("memory", "1Gi"),), 2**30, id="of-the-driver-without-a-domain"),
        pytest.param(((f"{DRIVER}/memory", "1Gi"),), 2**30, id="of-the-driver-with-its-domain"),
        pytest.param((("other.example.com/memory", "1Gi"),), None, id="of-another-domain"),
        pytest.param((("cores", "8"),), None, id="none"),
        pytest.param((("memory", "1500m"),), 2, id="rounded-up"),
    ],
)
def test_memory_is_what_the_driver_publishes(capacity: tuple[tuple[str, str], ...], want: int | None) -> None:
    assert memory.published(replace(device("gpu"), capacity=capacity)) == want


@pytest.mark.parametrize("text", NAMES)
def test_a_pin_is_a_selector_whatever_the_value_is(text: str) -> None:
    assert pins((device("a", model=text), device("b", model="small")), "a")


def test_a_pin_reads_only_what_every_rival_has() -> None:
    """Reading what a device lacks is an error, and one error ends the whole allocation."""
    theirs = device("b", driver="other.example.com", model="small", memory="80Gi")
    assert not pins((device("a", model="big"), theirs), "a"), "its model is of its own driver's domain"
    assert not pins((device("a", model="big", memory="80Gi"), device("b", memory="80Gi")), "a"), "it has no model"
    shared = tuple(
        replace(device(name, driver=driver), attributes=(("example.com/model", Attribute(TEXT, name)),))
        for name, driver in (("a", DRIVER), ("b", "other.example.com"))
    )
    assert pins(shared, "a") == ('device.attributes["example.com"]["model"] == "a"',)


def test_a_pin_that_tells_two_kinds_apart_is_no_error_on_a_third() -> None:
    """A third kind of the DeviceClass lacks what the other two differ in, or has a version there."""
    two = (device("a", model="big"), device("b", model="small"))
    version = replace(device("c"), attributes=(("model", Attribute(AttributeKind.VERSION, "1.0.0")),))
    read = f'device.attributes["{DRIVER}"]["model"]'
    for third in (device("c"), version):
        assert pins((*two, third), "a") == (f'"model" in device.attributes["{DRIVER}"] && "big" == {read}',)
    mib = tuple(
        replace(one, capacity=(("memory", "40Gi"), ("slices", number))) for one, number in zip(two, "12", strict=True)
    )
    alike = tuple(replace(one, attributes=()) for one in mib)
    has, reads = (f'device.capacity["{DRIVER}"]', f'device.capacity["{DRIVER}"]["slices"]')
    want = f'"slices" in {has} && {reads}.compareTo(quantity("1")) == 0'
    assert pins((*alike, device("c")), "a") == (want,)


def test_a_pin_that_every_rival_can_be_asked_goes_first() -> None:
    kinds = (
        device("a", model="big", slot="one"),
        device("b", model="small", slot="one"),
        device("c", slot="two"),
    )
    of_all = f'device.attributes["{DRIVER}"]["slot"] == "one"'
    assert pins(kinds, "a") == (of_all, f'device.attributes["{DRIVER}"]["model"] == "big"'), "the third is out by then"


@pytest.mark.parametrize(
    ("name", "other"),
    [pytest.param("memory", f"{DRIVER}/memory", id="plain"), pytest.param(f"{DRIVER}/memory", "memory", id="full")],
)
def test_a_name_with_the_drivers_domain_is_the_name_without(name: str, other: str) -> None:
    kinds = (
        replace(device("a"), capacity=((name, "40Gi"),)),
        replace(device("b"), capacity=((other, "80Gi"),)),
    )
    assert pins(kinds, "a") == (f'device.capacity["{DRIVER}"]["memory"].compareTo(quantity("40Gi")) == 0',)


def test_a_pin_stops_where_the_rivals_end() -> None:
    kinds = (
        device("a", model="big", slot="one"),
        device("b", model="small", slot="one"),
        device("c", model="big", slot="two"),
    )
    assert len(pins(kinds, "a")) == 2, "one pin per rival it takes to shut out, and none more"
    assert len(pins(kinds[:2], "a")) == 1
    numbers = (
        replace(device("a"), attributes=(("slot", Attribute(AttributeKind.INT, 1)),)),
        replace(device("b"), attributes=(("slot", Attribute(AttributeKind.INT, 2)),)),
    )
    assert pins(numbers, "b") == (f'device.attributes["{DRIVER}"]["slot"] == 2',)


BOOL, VERSION = AttributeKind.BOOL, AttributeKind.VERSION


@pytest.mark.parametrize(
    ("name", "value", "other"),
    [
        pytest.param("slot", Attribute(BOOL, value=True), Attribute(BOOL, value=False), id="bool"),
        pytest.param("modelplane.ai/zone", Attribute(TEXT, "a"), Attribute(TEXT, "b"), id="ours-is-published-nowhere"),
        pytest.param("driver", Attribute(VERSION, "1.2.3"), Attribute(VERSION, "1.2.4"), id="versions-change"),
        pytest.param("slot", Attribute(TEXT, "1"), Attribute(AttributeKind.INT, 2), id="values-of-two-kinds"),
    ],
)
def test_no_pin_is_made_of(name: str, value: Attribute, other: Attribute) -> None:
    kinds = (replace(device("a"), attributes=((name, value),)), replace(device("b"), attributes=((name, other),)))
    assert not pins(kinds, "a")
