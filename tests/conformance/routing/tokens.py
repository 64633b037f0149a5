"""An issuer of JSON Web Tokens: its key, the document with it, and signed tokens (RFC 7515, ES256)."""

from __future__ import annotations

import base64
import json
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

Json = Any
ISSUER = "https://issuer.example.com"


class Issuer:
    """An issuer with one key."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())

    def document(self) -> Json:
        """Return the document that is served at jwksUri."""
        numbers = self._key.public_key().public_numbers()
        point = {name: _text(value.to_bytes(32)) for name, value in (("x", numbers.x), ("y", numbers.y))}
        return {"keys": [{"kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "kid": "one", **point}]}

    def token(self, algorithm: str = "ES256", **claims: Json) -> str:
        """Return a token with these claims, of the issuer unless they say another."""
        head = {"alg": algorithm, "typ": "JWT", "kid": "one"}
        body = {"iss": ISSUER, "exp": 4_000_000_000, **claims}
        signed = ".".join(_text(json.dumps(part).encode()) for part in (head, body))
        if algorithm == "none":
            return f"{signed}."
        r, s = decode_dss_signature(self._key.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
        return f"{signed}.{_text(r.to_bytes(32) + s.to_bytes(32))}"


def _text(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).decode().rstrip("=")
