"""Devices that match and cannot be claimed: no place, the cause in words, and no change that would not help."""

from __future__ import annotations

from dataclasses import replace

import pytest

from modelplane import placement
from modelplane.devices.model import Claim, Device, NodeClass
from modelplane.placement.snapshot import Demand, Effect, Fleet, Intent, Taint
from tests.support import placements as build

PLUGIN_ONLY = frozenset({Claim.DEVICE_PLUGIN, Claim.SYNTHETIC})
DRA, PLUGIN = frozenset({Claim.DRA}), frozenset({Claim.DEVICE_PLUGIN})


def _class(*claims: Claim) -> NodeClass:
    devices = tuple(
        Device(name=f"gpu-{claim.lower()}", driver="gpu.nvidia.com", count=8, claim=claim) for claim in claims
    )
    return NodeClass("-".join(claims), devices)


def _fleet(**classes: tuple[Claim, ...]) -> Fleet:
    pools = {name: build.pool(of=_class(*claims)) for name, claims in classes.items()}
    return Fleet(tuple(build.cluster(name, pools[name]) for name in classes))


def _demand(claims: frozenset[Claim] = frozenset(Claim)) -> Demand:
    return Demand((build.role(1, selectors=()),), claims)


@pytest.mark.parametrize(
    ("claims", "chosen"),
    [
        pytest.param(frozenset({Claim.DRA}), "a", id="by DRA"),
        pytest.param(PLUGIN_ONLY, "b", id="by device plugin"),
    ],
)
def test_a_replica_goes_where_its_backend_can_claim(claims: frozenset[Claim], chosen: str) -> None:
    fleet = _fleet(a=(Claim.DRA,), b=(Claim.DEVICE_PLUGIN,))
    plan = placement.schedule(fleet, _demand(claims), Intent("ns", "d", replicas=1), build.NOTHING)
    assert [one.cluster for one in plan.replicas] == [chosen]


def test_a_pool_of_both_is_used_in_the_way_that_can_be_claimed() -> None:
    plan = placement.schedule(
        _fleet(a=(Claim.DRA, Claim.DEVICE_PLUGIN)), _demand(PLUGIN_ONLY), Intent("ns", "d"), build.NOTHING
    )
    (placed,) = plan.replicas
    assert [device.device for role in placed.roles for device in role.devices] == ["gpu-deviceplugin"]


def test_the_refusal_says_how_devices_are_claimed() -> None:
    found = placement.explain(_fleet(a=(Claim.DRA,)), _demand(PLUGIN_ONLY), Intent("ns", "d"), build.NOTHING)
    (verdict,) = found.verdicts
    assert str(verdict.reason) == "BackendUnavailable"
    assert "its devices are claimed by DRA, the backend claims by device plugin" in found.message
    assert found.closest is None


def test_the_ways_of_clusters_that_may_be_used() -> None:
    fleet = _fleet(a=(Claim.DRA,), b=(Claim.DEVICE_PLUGIN, Claim.DRA), c=(Claim.SYNTHETIC,), d=())
    found = placement.ways(fleet, _demand(), Intent("ns", "d", backends=()))
    assert found == {
        "a": (frozenset({DRA}),),
        "b": (frozenset({DRA, PLUGIN}),),
        "c": (frozenset({frozenset[Claim]()}),),
        "d": (frozenset(),),
    }


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param({"ready": False}, id="not ready"),
        pytest.param({"address_known": False}, id="no address"),
        pytest.param({"taints": (Taint(key="k", value="v", effect=Effect.NO_SCHEDULE),)}, id="tainted"),
        pytest.param({"scheduler": "Volcano"}, id="a scheduler that nobody serves"),
    ],
)
def test_a_cluster_that_may_not_be_used_has_no_say(broken: dict[str, object]) -> None:
    (cluster,) = _fleet(a=(Claim.DRA,)).clusters
    fleet = Fleet((replace(cluster, **broken),))  # type: ignore[arg-type]
    assert placement.ways(fleet, _demand(), Intent("ns", "d")) == {}
