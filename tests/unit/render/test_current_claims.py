"""Whether a pod on a cluster has the devices that its role is rendered with now."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from modelplane import names
from modelplane.devices.model import Claim
from modelplane.render import claims
from modelplane.workload.model import BoundRole, Replica
from tests.support import replicas as build

Json = Any


def one(claim: Claim) -> tuple[Replica, BoundRole]:
    """Return a replica whose two devices are claimed in this way."""
    found = build.replica(build.role(devices=(build.device(count=2, claim=claim),)))
    return found, found.roles[0]


def is_current(replica: Replica, bound: BoundRole, spec: Json) -> bool:
    return claims.is_current(replica.name, claims.claimed(bound), spec)


def pod(replica: Replica, bound: BoundRole, **limits: Json) -> Json:
    """Return the spec of a pod of the role, with another container beside the engine."""
    devices = claims.of(replica, bound, {})
    engine = {"name": "main", "resources": {"limits": {"cpu": "8", "memory": "64Gi", **devices.limits}}}
    return {"resourceClaims": devices.pod_claims, "containers": [engine, {"name": "other", "resources": limits}]}


@pytest.mark.parametrize("claim", [Claim.DRA, Claim.DEVICE_PLUGIN])
def test_a_pod_as_it_is_rendered_is_current(claim: Claim) -> None:
    replica, bound = one(claim)
    assert is_current(replica, bound, pod(replica, bound))


@pytest.mark.parametrize("claim", [Claim.DRA, Claim.DEVICE_PLUGIN])
def test_a_pod_with_another_number_of_devices_is_not(claim: Claim) -> None:
    replica, bound = one(claim)
    more = replace(bound, devices=tuple(replace(device, count=device.count + 1) for device in bound.devices))
    assert not is_current(replica, bound, pod(replica, more))
    assert not is_current(replica, more, pod(replica, bound))


def test_a_template_that_an_earlier_version_named_is_current() -> None:
    replica, bound = one(Claim.DRA)
    template = claims.of(replica, bound, {}).template
    assert template is not None
    digest = template.key.rpartition("-")[2][:5]
    former = claims.of(replica, bound, {}, {f"claims-decode-{digest}": "there"})
    assert former.pod_claims != claims.of(replica, bound, {}).pod_claims
    assert is_current(replica, bound, {**pod(replica, bound), "resourceClaims": former.pod_claims})


@pytest.mark.parametrize("spec", [None, "x", {}, {"containers": "x"}, {"resourceClaims": [7]}, {"containers": [{}]}])
def test_what_cannot_be_read_is_not_current(spec: Json) -> None:
    for claim in (Claim.DRA, Claim.DEVICE_PLUGIN):
        assert not is_current(*one(claim), spec)


@pytest.mark.parametrize("amount", ["1k", "", None, {}, "-1", 0.5, pytest.param("9" * 5000, id="5000 digits")])
def test_an_amount_that_is_no_number_is_not_current(amount: Json) -> None:
    replica, bound = one(Claim.DRA)
    assert not is_current(replica, bound, pod(replica, bound, limits={"example.com/device": amount}))


def test_devices_that_are_only_matched_are_claimed_by_nobody() -> None:
    replica, bound = one(Claim.DRA)
    alone = replace(bound, devices=tuple(replace(one, claim=Claim.SYNTHETIC) for one in bound.devices))
    assert is_current(replica, alone, {"containers": [{"resources": {"limits": {"cpu": "8"}}}]})
    assert not is_current(replica, alone, pod(replica, bound))
    assert names.GROUP not in str(pod(replica, bound))
