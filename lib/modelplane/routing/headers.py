"""Header names that may carry a credential, or choose among endpoints.

Names that control routing, framing or forwarding are refused: a chosen value there would reach another endpoint, split
a request, or forge information of the gateway. All other names are allowed (x-api-key, api-key, x-goog-api-key ...).
Source: RFC 9110 (7.6, connection-specific fields), RFC 9113 (8.2, 8.3), RFC 7239; Envoy v1.36 (x-envoy-*,
x-forwarded-*); Gateway API inference extension and llm-d, whose routers read the address of a pod from a header.
"""

from __future__ import annotations

import re

from modelplane.errors import InvalidInput

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,126}[A-Za-z0-9])?\Z")
_REFUSED = frozenset(
    {
        *("host", "authority", "method", "path", "scheme"),
        *("connection", "content-length", "expect", "http2-settings", "keep-alive", "te", "trailer"),
        *("transfer-encoding", "upgrade", "via"),
        *("accept", "accept-encoding", "content-encoding", "content-type", "range"),
        *("baggage", "cdn-loop", "forwarded", "traceparent", "tracestate", "x-http-method", "x-http-method-override"),
        *("x-method-override", "x-real-ip", "true-client-ip", "x-client-ip", "x-cluster-client-ip", "x-host"),
        *("x-original-host", "x-original-uri", "x-original-url", "x-rewrite-url", "x-request-id"),
        *("x-data-parallel-host-port", "x-encoder-hosts-ports", "x-prefiller-host-port", "x-prefiller-url"),
    }
)
_REFUSED_PREFIXES = ("proxy-", "sec-", "x-envoy-", "x-forwarded-", "x-gateway-", "x-llm-d-", "x-modelplane-", "x-b3-")


def check_credential(name: str) -> None:
    """Check that the header `name` may carry a credential.

    Raises: InvalidInput (the author's fault), with a correction.
    """
    if not _NAME.match(name):
        raise InvalidInput(f"{name!r} is not a header name; use letters, digits and '-', for example x-api-key")
    if _steers(name):
        raise InvalidInput(
            f"header {name} says where a request goes or how it is carried, and is never a credential; write the "
            "header in which the API expects its key, for example x-api-key"
        )


def check_choice(name: str) -> None:
    """Check that clients may choose among endpoints by the header `name`.

    Raises: InvalidInput (the author's fault), with a correction.
    """
    if not _NAME.match(name):
        raise InvalidInput(f"{name!r} is not a header name; use letters, digits and '-', for example x-session-id")
    if _steers(name):
        raise InvalidInput(
            f"header {name} belongs to the protocol or to the gateway and is not the same for the requests of one "
            "client; write a header of your own, for example x-session-id"
        )


def _steers(name: str) -> bool:
    plain = name.lower().replace("_", "-")
    return plain in _REFUSED or plain.startswith(_REFUSED_PREFIXES)
