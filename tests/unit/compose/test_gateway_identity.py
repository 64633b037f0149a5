"""The client certificate of an InferenceGateway: who gets one, and that it is shown once issued and stays."""

from __future__ import annotations

import base64
import copy
from typing import Any

import pytest

from modelplane.render import certificates
from modelplane_functions.compose import inference_gateway
from modelplane_functions.exchange import Outcome, Ready, Truth
from tests.support import exchange, routing
from tests.support.tls_world import pem

Json = Any
CERTIFICATE = "default-mtls-certificate"
ISSUED: Json = {"conditions": [routing.condition("Ready")], "revision": 1, "notAfter": "2099-01-01T00:00:00Z"}


class World:
    """A gateway on a control plane with cert-manager, which does as it is told."""

    def __init__(self, *, kinds: set[str] | None = None, **spec: Json) -> None:
        self.document = routing.inference_gateway(address="", **spec)
        self.kinds = {"Certificate"} if kinds is None else kinds
        self.children: dict[str, Json] = {}
        self.certificate: Json = copy.deepcopy(ISSUED)
        self.requests = [self.request(1)]

    def request(self, revision: int) -> Json:
        name = f"default-mtls-authority-{revision}"
        return {
            "apiVersion": certificates.API_VERSION,
            "kind": certificates.REQUEST,
            "metadata": {"name": name, "namespace": "modelplane-system"},
            "status": {"ca": base64.b64encode(pem(name).encode()).decode()},
        }

    def step(self) -> Outcome:
        outcome = exchange.settle(
            inference_gateway.compose, self.document, children=self.children, store=self.requests, kinds=self.kinds
        )
        self.children = routing.observed(outcome)
        for child in self.children.values():
            if child["kind"] == certificates.CERTIFICATE:
                child["status"] = copy.deepcopy(self.certificate)
        self.document["status"] = copy.deepcopy(dict(outcome.status))
        return outcome

    def settle(self) -> Outcome:
        for _ in range(7):
            outcome = self.step()
        return outcome

    def shown(self) -> Json:
        return self.children["envoy-proxy"]["spec"].get("backendTLS")

    @property
    def told(self) -> Json:
        return self.document["status"]["clientCertificate"]


def condition(outcome: Outcome) -> Any:
    return next((one for one in outcome.conditions if one.type == "ClientCertificateReady"), None)


def test_a_new_gateway_shows_a_certificate_once_it_is_issued() -> None:
    world = World()
    world.certificate = {}
    waiting = world.settle()
    assert world.shown() is None
    assert (condition(waiting).reason, waiting.ready) == ("CertificateNotReady", Ready.TRUE)
    world.certificate = copy.deepcopy(ISSUED)
    done = world.settle()
    assert world.shown() == {"clientCertificateRef": {"group": "", "kind": "Secret", "name": CERTIFICATE}}
    assert world.told == {
        "mode": "Issued",
        "identity": "spiffe://modelplane.ai/gateway/default",
        "presented": True,
        "authorities": pem("default-mtls-authority-1"),
        "notAfter": "2099-01-01T00:00:00Z",
    }
    assert (condition(done).status, condition(done).reason) == (Truth.TRUE, "Presented")


def test_a_gateway_of_an_earlier_version_gets_none_and_is_not_touched() -> None:
    world = World()
    world.settle()
    children = {key: one for key, one in world.children.items() if not key.startswith("mtls-")}
    del children["envoy-proxy"]["spec"]["backendTLS"]
    world.children = children
    del world.document["status"]["clientCertificate"]
    outcome = world.settle()
    assert world.told == {"mode": "None"}
    assert condition(outcome) is None
    assert world.children.keys() == children.keys()
    assert world.shown() is None
    world.document["spec"]["clientCertificate"] = {"mode": "Issued"}
    world.settle()
    assert world.told["presented"] is True
    del world.document["spec"]["clientCertificate"]
    world.settle()
    assert world.told["presented"] is True, "to say nothing changes nothing"


@pytest.mark.parametrize(("kinds", "status"), [(set(), Truth.FALSE), (None, Truth.UNKNOWN)])
def test_without_cert_manager_the_gateway_serves_and_says_what_is_missing(kinds: Any, status: Truth) -> None:
    world = World(kinds=set())
    world.kinds = kinds
    outcome = world.settle()
    assert (condition(outcome).status, condition(outcome).reason) == (status, "CertManagerMissing")
    assert outcome.ready is Ready.TRUE
    assert not any(key.startswith("mtls-") for key in outcome.children)


def _expired(world: World) -> None:
    world.certificate = {
        "conditions": [routing.condition("Ready", is_true=False, reason="Expired", message="expired on Sunday")]
    }


def _unknown(world: World) -> None:
    world.certificate = {}


def _no_request(world: World) -> None:
    world.requests.clear()


def _no_cert_manager(world: World) -> None:
    world.kinds = set()


def _nobody_says(world: World) -> None:
    world.kinds = None  # type: ignore[assignment]


@pytest.mark.parametrize("break_", [_expired, _unknown, _no_request, _no_cert_manager, _nobody_says])
def test_what_is_shown_stays_whatever_blinks(break_: Any) -> None:
    world = World()
    world.settle()
    before, told = set(world.children), copy.deepcopy(world.told)
    break_(world)
    outcome = world.settle()
    assert world.shown()["clientCertificateRef"]["name"] == CERTIFICATE
    assert before <= set(world.children)
    assert world.told == told
    if break_ is _expired:
        assert (condition(outcome).status, condition(outcome).reason) == (Truth.FALSE, "CertificateExpired")
        assert "expired on Sunday" in condition(outcome).message


@pytest.mark.parametrize("record", [None, -1, {}, {"mode": 7}, {"mode": "x" * 70_000}])
def test_a_record_that_is_lost_takes_nothing_from_a_gateway_that_shows_a_certificate(record: Any) -> None:
    """What stands shows what the record said. Found by the law of mutations."""
    world = World()
    world.settle()
    before, shown = set(world.children), world.shown()
    world.document["status"]["clientCertificate"] = record
    world.settle()
    assert before <= set(world.children)
    assert world.shown() == shown
    assert world.told["mode"] == "Issued"


def test_a_renewal_that_fails_is_told_while_the_certificate_is_valid() -> None:
    world = World()
    world.settle()
    world.certificate["conditions"].append(routing.condition("Issuing", is_true=False, message="no issuer"))
    outcome = world.settle()
    assert (condition(outcome).status, condition(outcome).reason) == (Truth.TRUE, "RenewalFailing")


def test_another_authority_is_published_beside_the_one_before() -> None:
    world = World()
    world.settle()
    world.certificate["revision"] = 2
    world.requests.append(world.request(2))
    world.settle()
    assert world.told["authorities"] == pem("default-mtls-authority-2") + pem("default-mtls-authority-1")


def test_the_proxies_let_go_of_the_certificate_before_it_is_removed() -> None:
    world = World()
    world.settle()
    world.document["spec"]["clientCertificate"] = {"mode": "None"}
    outcome = world.step()
    assert world.shown() is None
    assert set(certificates.KEYS) <= set(world.children)
    assert condition(outcome).reason == "SwitchedOff"
    world.settle()
    assert not set(certificates.KEYS) & set(world.children)
    assert world.told == {"mode": "None"}


def test_a_key_in_the_place_of_a_certificate_is_published_nowhere() -> None:
    world = World()
    key = pem("x").replace("CERTIFICATE", "PRIVATE KEY")
    world.requests[0]["status"]["ca"] = base64.b64encode(key.encode()).decode()
    outcome = world.settle()
    assert condition(outcome).reason == "AuthorityUnknown"
    assert "PRIVATE KEY" not in str(world.document["status"])
