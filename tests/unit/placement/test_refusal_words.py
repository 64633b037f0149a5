"""What a refusal says beyond its reason: what the nodes have, what was probably meant, and whose change it is."""

from __future__ import annotations

import pytest

from modelplane import placement
from modelplane.devices.model import NodeClass
from modelplane.placement.decision import Reason, Shortfall
from tests.support.placements import (
    NOTHING,
    WANTS_140,
    cluster,
    demand,
    fleet,
    gpu,
    intent,
    node_class,
    pool,
    role,
)

HOPPER = node_class(gpu(8, architecture="Hopper"))
READ = 'device.attributes["gpu.nvidia.com"].architectur == "Hopper"'


def short(selector: str, replicas: int = 1, *, has: NodeClass = HOPPER, pods: int = 8) -> Shortfall:
    one = cluster("a", pool(1, has))
    what = demand(role(pods, selectors=(selector,)))
    found = placement.schedule(fleet(one), what, intent(replicas), NOTHING).shortfall
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("selector", "reason", "says"),
    [
        pytest.param(READ, Reason.SELECTOR_ERROR, "did you mean 'architecture'?", id="a misspelt attribute"),
        pytest.param(
            WANTS_140.replace("140Gi", "900Gi") + f" && {READ}",
            Reason.NO_MATCHING_DEVICE,
            "did you mean 'architecture'?",
            id="a misspelt attribute that is not reached",
        ),
        pytest.param(
            'device.driver == "gpu.amd.com"',
            Reason.NO_MATCHING_DEVICE,
            'it has gpu of gpu.nvidia.com (architecture "Hopper", memory 143771Mi)',
            id="a driver the nodes do not have",
        ),
    ],
)
def test_a_selector_that_cannot_match_is_told_what_there_is(selector: str, reason: Reason, says: str) -> None:
    found = short(selector)
    assert [entry.reason for entry in found.reasons] == [reason]
    assert says in found.message


def test_a_class_that_is_missing_is_named_with_what_mends_it() -> None:
    one = cluster("a", pool(1, None))
    found = placement.schedule(fleet(one), demand(), intent(), NOTHING).shortfall
    assert found is not None
    assert "does not exist; create it or set className to another one" in found.message


def test_what_makes_room_for_one_of_several_says_so() -> None:
    assert (one := short("true", 2).closest) is not None
    assert "missing" not in one.would_fit_if
    assert (several := short("true", 4).closest) is not None
    assert several.would_fit_if == "pool main had 1 more free node (for one of 3 missing replicas)"


def test_other_hardware_is_no_edit_of_a_class() -> None:
    closest = short("true", pods=16).closest
    assert closest is not None
    assert closest.would_fit_if == "pool main had nodes of another class, whose gpu has count 16"
