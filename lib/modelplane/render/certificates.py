"""Certificates of a gateway that cert-manager issues, with an authority of their own, and what is reported on them.

The private keys are made where they are used and stay there. What others must know is the certificate of the authority,
and cert-manager publishes that in the CertificateRequest of each issue, so that nobody reads a Secret.

Source: cert-manager v1.21.2 (cert-manager.io/v1). The CertificateRequest of a Certificate is named after it and its
revision; `status.ca` of one that an issuer of kind selfSigned has signed is the certificate itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane import names, seen
from modelplane.render.manifest import NOTHING, Lifecycle, Manifest, Purpose, Readiness
from modelplane.workload import authorities

Json: TypeAlias = Any
Resource: TypeAlias = Mapping[str, Json]

GROUP = "cert-manager.io"
API_VERSION = f"{GROUP}/v1"
CERTIFICATE, REQUEST = "Certificate", "CertificateRequest"

ROOT_KEY, AUTHORITY_KEY, ISSUER_KEY, LEAF_KEY = "mtls-root", "mtls-authority", "mtls-issuer", "mtls-certificate"
KEYS = (ROOT_KEY, AUTHORITY_KEY, ISSUER_KEY, LEAF_KEY)

# A certificate is renewed each month and is valid for a year: traffic does not notice when cert-manager fails for
# eleven months. The authority keeps its key when it is renewed: what it signed before stays valid.
_DURATION, _RENEW_BEFORE = "8760h0m0s", "8040h0m0s"
_AUTHORITY_DURATION, _AUTHORITY_RENEW_BEFORE = "87600h0m0s", "43800h0m0s"
# The request of the current revision must be there to be read.
_HISTORY = 3
_READY = (
    "has(object.status) && has(object.status.conditions) && "
    'object.status.conditions.exists(c, c.type == "Ready" && c.status == "True")'
)


@dataclass(frozen=True, slots=True)
class Identity:
    """The identity of a gateway: who it is (`uri`), the host names of its certificate, and where its key is made.

    `owner` begins the names of the objects in `namespace`. `is_server` decides what the certificate may be used for.
    """

    owner: str
    namespace: str
    uri: str
    hosts: tuple[str, ...] = ()
    is_server: bool = False

    @property
    def secret(self) -> str:
        """Return the name of the Secret with the certificate and its key."""
        return names.bounded(self.owner, LEAF_KEY)

    @property
    def authority(self) -> str:
        """Return the name of the Certificate of the authority, and of its Secret."""
        return names.bounded(self.owner, AUTHORITY_KEY)


@dataclass(frozen=True, slots=True)
class State:
    """The state of a Certificate. `is_good` is None while it is unknown; a good one may have a `warning`."""

    is_good: bool | None
    reason: str
    message: str
    warning: str = ""


def manifests(
    identity: Identity, lifecycle: Lifecycle = Lifecycle.OWN, labels: Mapping[str, str] = NOTHING
) -> tuple[Manifest, ...]:
    """Return the issuer of the authority, the authority, the issuer that signs with it, and the certificate."""
    root, issuer = names.bounded(identity.owner, ROOT_KEY), names.bounded(identity.owner, ISSUER_KEY)
    usage = "server auth" if identity.is_server else "client auth"
    authority: dict[str, Json] = {
        "isCA": True,
        "commonName": names.bounded("modelplane", identity.owner, "mtls", limit=names.LABEL_MAX),
        "secretName": identity.authority,
        "duration": _AUTHORITY_DURATION,
        "renewBefore": _AUTHORITY_RENEW_BEFORE,
        "privateKey": {"algorithm": "ECDSA", "size": 256, "rotationPolicy": "Never"},
        "revisionHistoryLimit": _HISTORY,
        "issuerRef": {"group": GROUP, "kind": "Issuer", "name": root},
    }
    leaf: dict[str, Json] = {
        "secretName": identity.secret,
        "uris": [identity.uri],
        "duration": _DURATION,
        "renewBefore": _RENEW_BEFORE,
        "privateKey": {"algorithm": "ECDSA", "size": 256, "rotationPolicy": "Always"},
        "usages": ["digital signature", usage],
        "revisionHistoryLimit": _HISTORY,
        "issuerRef": {"group": GROUP, "kind": "Issuer", "name": issuer},
    }
    if identity.hosts:
        leaf["dnsNames"] = list(identity.hosts)
    specs: tuple[tuple[str, str, str, dict[str, Json]], ...] = (
        (ROOT_KEY, "Issuer", root, {"selfSigned": {}}),
        (AUTHORITY_KEY, CERTIFICATE, identity.authority, authority),
        (ISSUER_KEY, "Issuer", issuer, {"ca": {"secretName": identity.authority}}),
        (LEAF_KEY, CERTIFICATE, identity.secret, leaf),
    )
    return tuple(
        Manifest(
            key,
            _labelled(_object(kind, identity.namespace, name), labels) | {"spec": spec},
            Purpose.SHARED,
            Readiness(_READY),
            lifecycle,
        )
        for key, kind, name, spec in specs
    )


def request_of(authority: Resource | None) -> Resource | None:
    """Return the CertificateRequest of the current revision of an authority, None while there is none."""
    metadata, revision = seen.at(authority, "metadata"), seen.count(seen.at(authority, "status", "revision"))
    name, namespace = seen.text(seen.at(metadata, "name")), seen.text(seen.at(metadata, "namespace"))
    if not name or not revision:
        return None
    return _object(REQUEST, namespace, f"{name}-{revision}")


def signed_by(request: Resource | None) -> str:
    """Return the certificate of the authority of a CertificateRequest, empty while it is unknown."""
    return authorities.from_base64(seen.at(request, "status", "ca"))


def state(certificate: Resource | None) -> State:
    """Return the state of a Certificate from what cert-manager reports on it."""
    name = seen.text(seen.at(certificate, "metadata", "name")) or "of the gateway"
    status = seen.at(certificate, "status")
    ready, issuing = seen.condition(status, "Ready"), seen.condition(status, "Issuing")
    told = seen.text(ready.get("message"))
    failing = seen.text(issuing.get("message")) if issuing.get("status") == "False" else ""
    if seen.verdict(ready) is True:
        warning = f"Certificate {name} is not renewed: {failing}" if failing else ""
        return State(is_good=True, reason="Issued", message=f"Certificate {name} is issued", warning=warning)
    why = "; ".join(text for text in (told, failing) if text) or "cert-manager has not reported on it yet"
    if ready.get("reason") == "Expired":
        return State(is_good=False, reason="CertificateExpired", message=f"Certificate {name}: {why}")
    return State(seen.verdict(ready), "CertificateNotReady", f"Certificate {name}: {why}")


def not_after(certificate: Resource | None) -> str:
    """Return the time at which a certificate expires, empty while that is unknown."""
    return seen.text(seen.at(certificate, "status", "notAfter"))


def _labelled(resource: dict[str, Json], labels: Mapping[str, str]) -> dict[str, Json]:
    return {**resource, "metadata": {**resource["metadata"], "labels": dict(labels)}} if labels else resource


def _object(kind: str, namespace: str, name: str) -> dict[str, Json]:
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": name, "namespace": namespace}}
