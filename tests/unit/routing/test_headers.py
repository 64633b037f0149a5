"""Headers: a credential travels in a header of its own, never in one that steers or frames a request."""

from __future__ import annotations

import pytest

from modelplane.errors import InvalidInput
from modelplane.routing import headers


@pytest.mark.parametrize(
    "name",
    [
        *(
            "Authorization",
            "x-api-key",
            "api-key",
            "X-Goog-Api-Key",
            "Ocp-Apim-Subscription-Key",
            "cf-aig-authorization",
        ),
        *("Cookie", "anthropic-api-key", "x_api_key"),
    ],
)
def test_apis_have_headers_of_their_own(name: str) -> None:
    headers.check_credential(name)


@pytest.mark.parametrize(
    "name",
    [
        *("Host", "HOST", "host", ":authority", ":path", "Content-Length", "Transfer-Encoding", "transfer_encoding"),
        *("Connection", "Keep-Alive", "TE", "Trailer", "Upgrade", "Proxy-Authorization", "Proxy-Connection", "Expect"),
        *("Forwarded", "X-Forwarded-For", "x-forwarded-host", "X-Envoy-Original-Path", "x-envoy-retry-on", "Via"),
        *("X-Original-URL", "X-HTTP-Method-Override", "x-gateway-destination-endpoint", "x-prefiller-host-port"),
        *("", "a b", "a:b", "a\r\nHost: b", "-x", "x-", "\u212a-key", "x" * 129),
    ],
)
def test_no_credential_travels_where_a_request_is_steered(name: str) -> None:
    with pytest.raises(InvalidInput):
        headers.check_credential(name)
