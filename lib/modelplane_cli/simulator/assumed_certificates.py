"""The statuses that cert-manager gives to issuers and Certificates that are in order, and its CertificateRequests.

Source: cert-manager v1.21.2 (names of requests, status shapes). The certificates of authorities are no real ones.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane.render import certificates

Json: TypeAlias = Any
Resource: TypeAlias = Mapping[str, Json]

GROUP = certificates.GROUP
CERTIFICATE, ISSUER = (GROUP, certificates.CERTIFICATE), (GROUP, "Issuer")
REQUEST = (GROUP, certificates.REQUEST)


def ready(resource: Resource) -> dict[str, Json]:
    """Return the status of an issuer."""
    return {"conditions": [{"type": "Ready", "status": "True", "reason": "KeyPairVerified"}]}


def certificate(resource: Resource) -> dict[str, Json]:
    """Return the status of a Certificate that was issued once."""
    return {"conditions": [{"type": "Ready", "status": "True", "reason": "Ready"}], "revision": 1}


def signed(request: Resource) -> dict[str, Json]:
    """Return the status of a CertificateRequest that was signed."""
    name = request["metadata"]["name"]
    text = base64.b64encode(f"assumed authority {name}".encode()).decode()
    block = f"-----BEGIN CERTIFICATE-----\n{text}\n-----END CERTIFICATE-----\n"
    return {"ca": base64.b64encode(block.encode()).decode(), **ready(request)}


def request(given: Resource) -> dict[str, Json] | None:
    """Return the CertificateRequest of a Certificate, which controls it; None before its first issue."""
    made = certificates.request_of(given)
    if made is None:
        return None
    owner = {
        "apiVersion": given["apiVersion"],
        "kind": given["kind"],
        "name": given["metadata"]["name"],
        "uid": given["metadata"].get("uid", ""),
        "controller": True,
    }
    return {**made, "metadata": {**made["metadata"], "ownerReferences": [owner]}, "status": signed(made)}
