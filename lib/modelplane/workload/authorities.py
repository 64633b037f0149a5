"""Certificates of authorities, as text in PEM: which text is one, and bundles of several.

Nothing here reads what is in a certificate. A text that has anything beside certificates is refused whole, so that a
private key which somebody pastes is never published.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable

KEY = "ca.crt"
"""The key of a ConfigMap under which Envoy Gateway reads authorities."""
MAX_LENGTH = 32768
"""The length of a bundle, in characters."""
MAX_KNOWN = 3
"""The number of authorities that are trusted at once: the one that signs, and those that signed before."""

_BLOCK = re.compile(r"-----BEGIN CERTIFICATE-----\n[A-Za-z0-9+/=\n]{16,8192}?-----END CERTIFICATE-----")


def blocks(text: str) -> tuple[str, ...]:
    """Return the certificates of a bundle, each once and in order; none where it has anything else."""
    plain = text.replace("\r\n", "\n")
    if len(plain) > MAX_LENGTH or _BLOCK.sub("", plain).strip():
        return ()
    return tuple(dict.fromkeys(_BLOCK.findall(plain)))


def bundle(certificates: Iterable[str]) -> str:
    """Return the bundle of certificates, each once and in order. An empty one has none."""
    found = dict.fromkeys(block for text in certificates for block in blocks(text))
    return "".join(f"{block}\n" for block in found)


def from_base64(value: object) -> str:
    """Return the bundle that another controller wrote in base64, empty where it is none."""
    if not isinstance(value, str) or len(value) > 2 * MAX_LENGTH:
        return ""
    try:
        return bundle([base64.b64decode(value, validate=True).decode("ascii")])
    except (binascii.Error, ValueError):
        return ""


def known(now: str, before: str) -> str:
    """Return the authorities to trust: the one that signs `now` first, then those from `before`, at most three.

    What was signed before a change stays trusted until it is signed again. Without `now` nothing changes.
    """
    found = list(dict.fromkeys((*blocks(now), *blocks(before))))
    return bundle(found[:MAX_KNOWN] if now else found)
