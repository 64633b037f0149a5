"""TLS with client certificates at a cluster's gateway: who decides, in which steps, and that nothing takes one back."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modelplane import names
from modelplane.api import inference_cluster
from modelplane.render import certificates, mutual_tls
from modelplane_functions import cluster_stack
from modelplane_functions.exchange import Truth
from tests.support.tls_world import MUTUAL, PLAIN, TlsWorld, inference_gateway, pem

Json = Any


def served() -> TlsWorld:
    """Return a cluster that serves with TLS."""
    world = TlsWorld()
    world.wants("Required")
    world.settle()
    assert world.record["phase"] == "Settled"
    return world


def test_a_cluster_that_an_earlier_version_reported_on_changes_nothing() -> None:
    world = TlsWorld()
    before = copy.deepcopy(world.cluster["status"])
    world.settle()
    assert world.record == {"mode": "Disabled"}
    assert world.condition() is None
    assert not any(key.startswith("mtls-") for key in world.children)
    assert world.cluster["status"]["gateway"] == before["gateway"]
    assert (world.listeners, world.used()) == ({PLAIN}, {PLAIN})


def test_an_adopted_cluster_records_nothing_while_nobody_asks() -> None:
    world = TlsWorld(is_own=False)
    world.settle()
    assert world.record is None


def test_a_new_cluster_with_a_stack_serves_with_tls_from_the_start() -> None:
    world = TlsWorld()
    world.children, world.backends, world.listeners = {}, {}, frozenset()
    del world.cluster["status"]
    for replica in world.world.replicas:
        replica.pop("status", None)
    world.compose()
    assert world.record["mode"] == "Required"
    assert "gateway" not in world.cluster["status"]
    assert world.children[cluster_stack.KEY]["spec"]["gateway"]["plaintext"] is False
    assert {one["name"] for one in world.children[cluster_stack.KEY]["spec"]["components"]} >= {"certManager"}
    for _ in range(8):
        world.all()
        assert PLAIN not in world.listeners
    assert world.cluster["status"]["gateway"] == {
        "address": "gateway.a.example.com",
        "port": 443,
        "scheme": "https",
        "serverName": "a.modelplane-gateways.internal",
        "authorities": pem("modelplane-mtls-authority-1"),
    }
    assert world.condition().reason == "Required"


def test_the_policy_names_the_gateways_of_the_fleet_and_requires_their_authorities() -> None:
    world = served()
    world.gateways.append(inference_gateway("second"))
    world.compose()
    policy = world.children["mtls-policy"]["spec"]["forProvider"]["manifest"]
    validation = policy["spec"]["tls"]["clientValidation"]
    assert [one["value"] for one in validation["subjectAltNames"]["uris"]] == [
        "spiffe://modelplane.ai/gateway/default",
        "spiffe://modelplane.ai/gateway/second",
    ]
    config = world.children["mtls-clients"]["spec"]["forProvider"]["manifest"]
    assert config["data"]["ca.crt"] == pem("default") + pem("second")
    assert policy["spec"]["targetRefs"][0]["sectionName"] == names.MUTUAL_TLS_LISTENER
    world.gateways.pop(0)
    world.compose()
    assert world.record["clients"] == ["spiffe://modelplane.ai/gateway/second"]


def test_the_listener_opens_after_the_policy_and_the_old_one_closes_after_the_last_endpoint() -> None:
    world = TlsWorld()
    world.wants("Required")
    world.compose()
    assert world.children[cluster_stack.KEY]["spec"]["gateway"].get("certificate") is None, "no policy stands yet"
    world.provider()
    world.compose()
    assert world.children[cluster_stack.KEY]["spec"]["gateway"]["certificate"] == "modelplane-mtls-certificate"
    assert world.cluster["status"]["gateway"]["scheme"] == "http"
    for _ in range(3):
        world.stack()
        world.provider()
        world.compose()
    assert world.record["phase"] == "Moving"
    assert world.cluster["status"]["gateway"]["scheme"] == "https"
    world.replica(0)
    world.backend(0)
    world.replica(1)
    for _ in range(3):
        world.compose()
        world.stack()
        assert world.listeners == {PLAIN, MUTUAL}, "a Backend still leads to the old listener"
    world.backend(1)
    world.compose()
    assert world.record["phase"] == "Closing"
    world.compose()
    world.stack()
    assert (world.record["phase"], world.listeners) == ("Settled", {MUTUAL})


def test_a_hand_written_backend_keeps_the_old_listener_open() -> None:
    world = TlsWorld()
    world.backends["by-hand"] = copy.deepcopy(world.backends["backend-0"])
    world.backends["by-hand"]["metadata"]["name"] = "by-hand"
    world.wants("Required")
    world.settle()
    assert world.listeners == {PLAIN, MUTUAL}
    assert (world.condition().status, world.condition().reason) == (Truth.UNKNOWN, "Moving")
    del world.backends["by-hand"]
    world.settle()
    assert world.listeners == {MUTUAL}


def _no_gateway(world: TlsWorld) -> None:
    world.gateways.clear()


def _gateway_without(world: TlsWorld) -> None:
    world.gateways[:] = [inference_gateway(presents=False)]


def _expired(world: TlsWorld) -> None:
    told = {"type": "Ready", "status": "False", "reason": "Expired", "message": "Certificate expired on Sunday"}
    world.certificate = {"conditions": [told], "revision": 1}


def _unissued(world: TlsWorld) -> None:
    world.certificate = {}


def _no_cert_manager(world: TlsWorld) -> None:
    for key in certificates.KEYS:
        world.children[key]["status"] = {
            "conditions": [{"type": "Synced", "status": "False", "message": 'no matches for kind "Certificate"'}]
        }


def _refused(world: TlsWorld) -> None:
    world.accepts = False


def _silent(world: TlsWorld) -> None:
    for child in world.children.values():
        child.pop("status", None)


BREAKS = [
    (_no_gateway, "NoGateway"),
    (_gateway_without, "GatewayWithoutCertificate"),
    (_expired, "CertificateExpired"),
    (_unissued, "CertificateNotReady"),
    (_refused, "PolicyNotAccepted"),
]


@pytest.mark.parametrize(("break_", "reason"), BREAKS)
def test_a_broken_input_takes_nothing_back_and_says_one_thing(break_: Any, reason: str) -> None:
    world = served()
    gateway, children = copy.deepcopy(world.cluster["status"]["gateway"]), set(world.children)
    config = copy.deepcopy(world.children["mtls-clients"]["spec"])
    break_(world)
    world.settle()
    assert world.condition().reason == reason
    assert world.condition().message.endswith("requests go on as MutualTLS")
    assert world.cluster["status"]["gateway"] == gateway
    assert children <= set(world.children)
    assert (world.listeners, world.record["phase"]) == ({MUTUAL}, "Settled")
    assert world.children["mtls-clients"]["spec"] == config


@pytest.mark.parametrize(("break_", "reason"), BREAKS)
def test_a_cluster_that_serves_without_tls_goes_on_while_something_is_missing(break_: Any, reason: str) -> None:
    world = TlsWorld()
    world.wants("Required")
    break_(world)
    world.settle()
    assert (world.condition().reason, world.used()) == (reason, {PLAIN})
    assert PLAIN in world.listeners
    assert world.cluster["status"]["gateway"]["scheme"] == "http"


def test_a_cluster_without_cert_manager_says_what_the_provider_was_told() -> None:
    world = TlsWorld()
    world.wants("Required")
    world.compose()
    _no_cert_manager(world)
    world.compose()
    assert world.condition().reason == "NotApplied"
    assert 'no matches for kind "Certificate"' in world.condition().message


def test_a_renewal_that_fails_is_told_while_the_certificate_is_valid() -> None:
    world = served()
    failing = {"type": "Issuing", "status": "False", "reason": "Failed", "message": "the issuer is gone"}
    world.certificate["conditions"].append(failing)
    world.settle()
    assert (world.condition().status, world.condition().reason) == (Truth.TRUE, "RenewalFailing")
    assert "the issuer is gone" in world.condition().message


def test_another_authority_is_trusted_beside_the_one_before() -> None:
    world = served()
    world.certificate["revision"] = 2
    world.settle()
    known = world.cluster["status"]["gateway"]["authorities"]
    assert known == pem("modelplane-mtls-authority-2") + pem("modelplane-mtls-authority-1")


def test_the_owner_of_an_adopted_gateway_is_told_which_listener_to_add_and_which_to_remove() -> None:
    world = TlsWorld(is_own=False)
    world.wants("Required")
    world.settle()
    condition = world.condition()
    assert (condition.status, condition.reason, world.used()) == (Truth.FALSE, "ListenerMissing", {PLAIN})
    assert "certificateRefs modelplane-mtls-certificate" in condition.message
    assert world.own_listeners is not None
    world.own_listeners.append(mutual_tls.listener("modelplane-mtls-certificate"))
    world.settle()
    assert (world.condition().reason, world.used()) == ("OtherListeners", {MUTUAL})
    assert "http, tls" in world.condition().message
    world.own_listeners[:] = world.own_listeners[-1:]
    world.settle()
    assert world.condition().reason == "Required"


def test_a_gateway_that_is_found_there_is_not_asked_for_certificates_by_default() -> None:
    world = TlsWorld()
    world.spec["stack"] = {"install": True, "components": {"gateway": "External"}}
    del world.cluster["status"]
    world.children = {}
    world.settle()
    assert world.record["mode"] == "Disabled"
    assert world.cluster["status"]["gateway"]["scheme"] == "http"


def test_what_is_switched_off_moves_back_and_leaves_the_policy_on_the_cluster() -> None:
    world = served()
    policies = world.children["mtls-policy"]["spec"]["managementPolicies"]
    assert "Delete" not in policies
    world.wants("Disabled")
    world.settle()
    assert (world.listeners, world.used()) == ({PLAIN}, {PLAIN})
    assert world.record == {"mode": "Disabled"}
    assert not any(key.startswith("mtls-") for key in world.children)
    world.wants(None)
    world.settle()
    assert world.record == {"mode": "Disabled"}, "to say nothing changes nothing"


EVENTS = st.one_of(
    st.sampled_from(["compose", "provider", "stack", "required", "disabled", "silent", "forgotten", "unpublished"]),
    st.tuples(st.sampled_from(["replica", "backend"]), st.integers(0, 1)),
    st.tuples(st.just("without"), st.sampled_from(["InferenceGateway", "ModelReplica", "InferenceClass"])),
)


def happen(world: TlsWorld, event: Any) -> None:
    match event:
        case "required" | "disabled":
            world.wants(event.capitalize())
        case "silent":
            _silent(world)
        case "forgotten":
            world.cluster["status"].pop("mutualTLS", None)
        case "unpublished":
            world.cluster["status"].pop("gateway", None)
        case ("without", kind):
            world.compose(without=(kind,))
        case (name, number):
            getattr(world, name)(number)
        case name:
            getattr(world, name)()


@settings(max_examples=150, deadline=None)
@given(st.lists(EVENTS, max_size=40), st.sampled_from([TlsWorld, served]))
def test_whatever_happens_no_listener_closes_that_a_backend_uses(events: list[Any], start: Any) -> None:
    world = start()
    for event in events:
        happen(world, event)
        assert world.used() <= world.listeners, event
    world.wants("Required")
    world.settle()
    assert (world.listeners, world.used()) == ({MUTUAL}, {MUTUAL})
    world.wants("Disabled")
    world.settle()
    assert (world.listeners, world.used()) == ({PLAIN}, {PLAIN})


def test_the_routes_of_a_cluster_that_names_a_listener_are_on_all_while_certificates_are_required() -> None:
    world = TlsWorld()
    world.spec["gateway"] = {"listener": "http"}
    assert inference_cluster.decode_facts(world.cluster).gateway_listener == "http"
    world.cluster["status"]["mutualTLS"] = {"mode": "Required"}
    assert inference_cluster.decode_facts(world.cluster).gateway_listener == ""
    world.settle()
    assert (world.listeners, world.used()) == ({MUTUAL}, {MUTUAL})
    world.wants("Disabled")
    for _ in range(12):
        if MUTUAL in world.used():
            assert inference_cluster.decode_facts(world.cluster).gateway_listener == ""
        world.all()
    assert world.used() == {PLAIN}
    assert inference_cluster.decode_facts(world.cluster).gateway_listener == "http"
