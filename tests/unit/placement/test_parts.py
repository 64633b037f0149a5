"""Devices that share a physical one, in the ledger and in what is rendered of a placement."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
import yaml

from modelplane import placement
from modelplane.api import inference_class
from modelplane.devices import matching
from modelplane.devices.model import Attribute, AttributeKind, Device, NodeClass, Request
from modelplane.placement import binding
from modelplane.placement.decision import (
    Admission,
    DeviceAssignment,
    PlacedReplica,
    PlacedRole,
    PoolAccount,
    Reason,
    State,
)
from modelplane.placement.snapshot import Accounting, Holding, NodeCounts, PodShape, Pool, ReplicaClaim
from modelplane.topology.shape import Topology
from modelplane.workload.model import EngineType, Role, RoleSpec, Workload

CATALOGUE = Path(__file__).resolve().parents[3] / "examples" / "classes" / "mig.yaml"
GPU, ONE, THREE, FOUR = "gpu", "mig-1g-10gb", "mig-3g-40gb", "mig-4g-40gb"
MEMORY = 'device.capacity["gpu.nvidia.com"].memory'


@cache
def h100(gpus: int = 1) -> NodeClass:
    document = yaml.safe_load(CATALOGUE.read_text())
    document["spec"]["sharedCounters"][0]["count"] = gpus
    return inference_class.decode(document)


def claim(name: str, pods: int, **devices: int) -> ReplicaClaim:
    shape = PodShape(tuple(sorted((key.replace("_", "-"), number) for key, number in devices.items())))
    return ReplicaClaim(f"ns/{name}", (Holding(Role.DECODE, "main", pods, shape),))


def judged(
    nodes: NodeCounts, gpus: int, *claims: ReplicaClaim, accounting: Accounting = Accounting.DEVICE
) -> tuple[dict[str, tuple[Admission, Reason | None, str]], PoolAccount]:
    account = placement.admit((Pool("main", "h100", h100(gpus), nodes),), accounting, claims)
    verdicts = {one.key.removeprefix("ns/"): (one.admission, one.reason, one.message) for one in account.verdicts}
    return verdicts, account.pools[0]


A, R = Admission.ADMITTED, Admission.REFUSED


@pytest.mark.parametrize(
    ("nodes", "gpus", "claims", "want"),
    [
        pytest.param(1, 2, [claim("a", 1, gpu=1), claim("b", 1, mig_1g_10gb=1)], [A, A], id="a-gpu-each"),
        pytest.param(1, 2, [claim("a", 1, gpu=1), claim("b", 2, mig_1g_10gb=1)], [A, R], id="one-on-each-gpu-once"),
        pytest.param(1, 2, [claim("a", 1, gpu=1), claim("b", 8, mig_1g_10gb=1)], [A, R], id="one-slice-too-many"),
        pytest.param(1, 2, [claim("a", 8, mig_1g_10gb=1), claim("b", 1, gpu=1)], [A, R], id="slices-on-both-gpus"),
        pytest.param(2, 2, [claim("a", 1, mig_1g_10gb=1), claim("b", 1, gpu=2)], [A, A], id="whole-node-kept-whole"),
        pytest.param(2, 2, [claim("a", 2, mig_1g_10gb=1), claim("b", 1, gpu=2)], [A, R], id="one-slice-on-each-node"),
        pytest.param(
            1, 1, [claim("a", 1, mig_4g_40gb=1), claim("b", 1, mig_1g_10gb=1)], [A, R], id="may-lie-in-the-way"
        ),
        pytest.param(1, 2, [claim("a", 1, mig_4g_40gb=1), claim("b", 1, mig_1g_10gb=1)], [A, A], id="the-other-gpu"),
        pytest.param(1, 1, [claim("a", 1, gpu=1, mig_1g_10gb=1)], [R], id="a-gpu-and-its-own-slice"),
        pytest.param(
            1, 8, [claim("a", 8, mig_1g_10gb_me=1), claim("b", 1, mig_1g_10gb_me=1)], [A, R], id="one-ofa-engine"
        ),
    ],
)
def test_admitted(nodes: int, gpus: int, claims: list[ReplicaClaim], want: list[Admission]) -> None:
    verdicts, _ = judged(NodeCounts(nodes), gpus, *claims)
    assert [verdicts[name][0] for name in sorted(verdicts)] == want


def test_a_refusal_names_the_counter_that_is_short() -> None:
    verdicts, _ = judged(NodeCounts(1), 1, claim("a", 1, mig_3g_40gb=1), claim("b", 1, mig_3g_40gb=2))
    assert verdicts["b"] == (
        Admission.REFUSED,
        Reason.INSUFFICIENT_DEVICES,
        (
            "main: want 1 node x 2 mig-3g-40gb, has 0 nodes x 2 mig-3g-40gb free "
            "(its 1 node has 7 of gpu/decoders, the pods would take 9)"
        ),
    )


def test_a_refusal_says_when_only_the_place_is_missing() -> None:
    """Beside a 4g on each GPU there are decoders for one and a half 2g, which in sum is three."""
    verdicts, _ = judged(NodeCounts(1), 2, claim("a", 2, mig_4g_40gb=1), claim("b", 3, mig_2g_20gb=1))
    assert verdicts["b"][1] is Reason.INSUFFICIENT_DEVICES
    assert "has 2 pods x 1 mig-2g-20gb free (the total is enough, but its physical" in verdicts["b"][2]


def test_a_refusal_says_when_it_depends_on_where_slices_lie() -> None:
    verdicts, _ = judged(NodeCounts(1), 1, claim("a", 1, mig_4g_40gb=1), claim("b", 1, mig_1g_10gb=1))
    assert "fit only some arrangements of the other pods on the 1 nodes" in verdicts["b"][2]


def test_free_is_how_many_more_of_a_kind_can_be_claimed() -> None:
    _, account = judged(NodeCounts(2), 2, claim("a", 1, mig_1g_10gb=1), claim("b", 1, gpu=1))
    free = dict(account.free)
    assert (free[GPU], free[ONE], free[THREE], free[FOUR]) == (2, 6 + 2 * 7, 1 + 2 * 2, 1 * 2 + 1)


def test_nodes_that_can_be_added_are_not_free_yet() -> None:
    _, account = judged(NodeCounts(1, maximum=4), 1, claim("a", 1, mig_3g_40gb=1))
    assert dict(account.free)[THREE] == 1 and dict(account.free)[GPU] == 0


def test_whole_nodes_are_charged_as_ever() -> None:
    verdicts, account = judged(
        NodeCounts(2), 2, claim("a", 1, mig_1g_10gb=1), claim("b", 1, mig_3g_40gb=1), accounting=Accounting.NODE
    )
    assert {verdict for verdict, _, _ in verdicts.values()} == {Admission.ADMITTED}
    assert dict(account.free)[GPU] == 0


def test_over_commitment_after_an_edit_frees_nothing() -> None:
    held = ReplicaClaim("ns/a", claim("a", 3, gpu=1).holdings, holds=True)
    _, account = judged(NodeCounts(1), 2, held)
    assert account.over_committed
    assert set(dict(account.free).values()) == {0}


# --- pins


def selectors(node_class: NodeClass, device: str, *written: str) -> tuple[str, ...]:
    spec = RoleSpec(Role.DECODE, 1, Topology(), (Request("gpu", 1, written),), (), {})
    workload = Workload("ns", "d", None, EngineType.CUSTOM, (spec,))
    shape = PodShape(((device, 1),))
    role = PlacedRole(Role.DECODE, "main", 1, 1, 1, shape, (DeviceAssignment("gpu", device, 1),))
    placed = PlacedReplica("d-0", "c", "KServe", State.NEW, (role,))
    (bound,) = binding.bind(workload, placed, {"main": node_class}, priority=0).roles
    return bound.devices[0].selectors


def test_a_claim_is_pinned_to_the_kind_that_is_counted() -> None:
    """Four kinds of slice have 39Gi and more; a cluster would take whichever it came to first."""
    enough = f'{MEMORY}.compareTo(quantity("39Gi")) >= 0'
    found = selectors(h100(), FOUR, enough)
    assert found == (enough, 'device.attributes["gpu.nvidia.com"]["profile"] == "4g.40gb"')
    serving = [one.name for one in h100().devices if matching.answer(found, one).outcome.name == "MATCH"]
    assert serving == [FOUR]


@pytest.mark.parametrize(
    ("device", "written"),
    [
        pytest.param(ONE, 'device.attributes["gpu.nvidia.com"].profile == "1g.10gb"', id="one-kind-matches"),
        pytest.param(GPU, "true", id="alone-in-its-DeviceClass"),
    ],
)
def test_no_pin_where_the_authors_selectors_say_it(device: str, written: str) -> None:
    assert selectors(h100(), device, written) == (written,)


def test_kinds_are_told_apart_by_what_both_publish() -> None:
    """An attribute that a rival lacks would be an error on it, so capacity tells them apart here."""

    def kind(name: str, memory: str, **texts: str) -> Device:
        attributes = tuple((key, Attribute(AttributeKind.STRING, text)) for key, text in sorted(texts.items()))
        return Device(name, "d.example", 1, device_class="c", attributes=attributes, capacity=(("memory", memory),))

    node_class = NodeClass("n", (kind("small", "1Gi", model="m", only="x"), kind("large", "2Gi", model="m")))
    pin = 'device.capacity["d.example"]["memory"].compareTo(quantity("1Gi")) == 0'
    assert selectors(node_class, "small", "true") == ("true", pin)
    assert selectors(NodeClass("n", (kind("a", "1Gi"), kind("b", "1024Mi"))), "a", "true") == ("true",)
