"""Every object that we compose satisfies the CRDs that Envoy Gateway's chart installs: structure, bounds and CEL rules.

The definitions are read from the Go module that the translator is built from, so both are of one version.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from modelplane import structural
from modelplane.structural import Kind
from tests.conformance.routing import access, fleet, relayed
from tests.conformance.routing.test_translation import CASES
from tests.conformance.tools import workshop
from tests.support import live, routing

Json = Any
GROUPS = ("gateway.networking.k8s.io", "gateway.envoyproxy.io")
_CRDS = Path("charts/gateway-helm/charts/crds/crds")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@pytest.fixture(scope="module")
def kinds() -> Mapping[tuple[str, str], Kind]:
    """Return the kinds of both groups by apiVersion and kind."""
    live.needs("routing", "go")
    folder = workshop.source("envoy-gateway", "github.com/envoyproxy/gateway") / _CRDS
    found: dict[tuple[str, str], Kind] = {}
    for path in (folder / "gatewayapi-crds.yaml", *sorted((folder / "generated").glob("*.yaml"))):
        for document in yaml.load_all(path.read_text(), Loader=_LOADER):
            if document and document["kind"] == "CustomResourceDefinition" and document["spec"]["group"] in GROUPS:
                for version in document["spec"]["versions"]:
                    kind = structural.kind_of(document, version["name"])
                    found[kind.api_version, kind.kind] = kind
    return found


@pytest.mark.parametrize("name", CASES)
def test_every_object_satisfies_its_schema(kinds: Mapping[tuple[str, str], Kind], name: str) -> None:
    for document in fleet.objects(*CASES[name], gateway=access.DOOR):
        kind = kinds[document["apiVersion"], document["kind"]]
        assert kind.problems(document) == (), f"{document['kind']} {document['metadata']['name']}"


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param(
            {"gateway": {"hostname": "*.models.example", "tls": {"certificateRefs": [{"name": "c"}]}}}, id="tls"
        ),
        pytest.param({"gateway": {"className": "eg", "port": 8080}}, id="adopted-class"),
        pytest.param({"clients": {"addressFrom": "XForwardedFor", "trustedHops": 2}}, id="behind-proxies"),
        pytest.param({"clients": {"addressFrom": "ProxyProtocol"}}, id="behind-proxy-protocol"),
    ],
)
def test_every_form_of_gateway_satisfies_its_schema(kinds: Mapping[tuple[str, str], Kind], spec: Json) -> None:
    door = routing.inference_gateway(**spec)
    service = routing.model_service(routing.group(deployment="a"))
    for document in fleet.objects(service, [routing.replica_endpoint("a-0", "a")], gateway=door):
        assert kinds[document["apiVersion"], document["kind"]].problems(document) == ()


def test_every_object_of_a_relay_satisfies_its_schema(kinds: Mapping[tuple[str, str], Kind]) -> None:
    saas = routing.model_endpoint("saas", "https://api.example.com/openai/v1", auth={"secretRef": {"name": "saas"}})
    wanted = relayed.service(routing.group(deployment="a", maxRequests=4), routing.group(endpoint="saas", priority=1))
    documents = fleet.objects(
        wanted, [routing.replica_endpoint("a-0", "a"), saas], gateway=relayed.door("a", "ml-team")
    )
    judged = [each for each in documents if each["apiVersion"].partition("/")[0] in GROUPS]
    assert len(judged) == len(documents) - 1, "all but a NetworkPolicy"
    for document in judged:
        assert kinds[document["apiVersion"], document["kind"]].problems(document) == ()


def test_the_schemas_refuse_what_the_gateway_would(kinds: Mapping[tuple[str, str], Kind]) -> None:
    """A check of the check: addresses and names do not mix inside one Backend."""
    documents = fleet.objects(*CASES["failover-by-address"])
    mixed = next(document for document in documents if document["kind"] == "Backend")
    mixed["spec"]["endpoints"].append({"fqdn": {"hostname": "a.example.com", "port": 80}})
    problems = kinds[mixed["apiVersion"], "Backend"].problems(mixed)
    assert any("fqdn" in problem.message for problem in problems)
