"""Every issuer and Certificate that we compose satisfies cert-manager's own definitions and what its webhook asks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from modelplane import names, structural
from modelplane.render import certificates, mutual_tls
from modelplane.structural import Kind
from modelplane.workload.site import ClusterFacts
from tests.conformance.stack import charts
from tests.conformance.tools import workshop
from tests.support import live

Json = Any
_MODULE = "github.com/cert-manager/cert-manager"
LONG = "a" * 63
IDENTITIES = {
    "gateway": certificates.Identity("default", names.SYSTEM_NAMESPACE, names.gateway_identity("default")),
    "gateway-with-a-long-name": certificates.Identity(LONG, LONG, names.gateway_identity(LONG)),
    "cluster": mutual_tls.identity(ClusterFacts("east", "modelplane", names.SYSTEM_NAMESPACE)),
    "cluster-with-a-long-name": mutual_tls.identity(ClusterFacts(LONG, "g" * 253, LONG)),
}


@pytest.fixture(scope="module")
def kinds() -> Mapping[tuple[str, str], Kind]:
    """Return cert-manager's kinds by apiVersion and kind."""
    live.needs("routing", "go")
    folder = workshop.module_files(charts.PINS, _MODULE) / "deploy" / "crds"
    found: dict[tuple[str, str], Kind] = {}
    for path in sorted(folder.glob("cert-manager.io_*.yaml")):
        definition = yaml.safe_load(path.read_text())
        for version in definition["spec"]["versions"]:
            kind = structural.kind_of(definition, version["name"])
            found[kind.api_version, kind.kind] = kind
    return found


@pytest.mark.parametrize("name", IDENTITIES)
def test_every_object_satisfies_its_definition(kinds: Mapping[tuple[str, str], Kind], name: str) -> None:
    for manifest in certificates.manifests(IDENTITIES[name]):
        document: Json = dict(manifest.resource)
        assert kinds[document["apiVersion"], document["kind"]].problems(document) == (), manifest.key


@pytest.mark.parametrize("name", IDENTITIES)
def test_every_certificate_satisfies_the_webhook(name: str) -> None:
    """Source: cert-manager v1.21.2, internal/apis/certmanager/validation/certificate.go."""
    for manifest in certificates.manifests(IDENTITIES[name]):
        if manifest.resource["kind"] != certificates.CERTIFICATE:
            continue
        spec = manifest.resource["spec"]
        assert _hours(spec["renewBefore"]) < _hours(spec["duration"])
        assert len(spec.get("commonName", "")) <= 64
        assert spec.get("commonName") or spec["uris"]
        assert len(spec["secretName"]) <= 253
        assert (spec["privateKey"]["algorithm"], spec["privateKey"]["size"]) == ("ECDSA", 256)


def test_the_definitions_have_what_is_read(kinds: Mapping[tuple[str, str], Kind]) -> None:
    """A check of the check: the status from which an authority is read is in the schema, and a mistake is found."""
    request = kinds[certificates.API_VERSION, certificates.REQUEST].schema.properties["status"].properties
    assert {"ca", "conditions"} <= request.keys()
    certificate = kinds[certificates.API_VERSION, certificates.CERTIFICATE].schema.properties["status"].properties
    assert {"revision", "notAfter", "conditions"} <= certificate.keys()
    document: Json = {**certificates.manifests(IDENTITIES["gateway"])[1].resource}
    document["spec"] = {**document["spec"], "privateKey": {"algorithm": "ECDSB"}}
    assert kinds[certificates.API_VERSION, certificates.CERTIFICATE].problems(document) != ()


def _hours(text: str) -> int:
    found = re.fullmatch(r"([0-9]+)h0m0s", text)
    assert found is not None
    return int(found[1])
