"""Endpoint URLs: what is taken apart, and what is refused before a gateway would drop it without a word."""

from __future__ import annotations

import re

import pytest

from modelplane.errors import InvalidInput
from modelplane.routing import url
from modelplane.routing.url import AddressKind, Scheme, Url

FQDN, IP = AddressKind.FQDN, AddressKind.IP
HTTP, HTTPS = Scheme.HTTP, Scheme.HTTPS


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("http://api.example.com", Url(HTTP, FQDN, "api.example.com", 80), id="bare-http"),
        pytest.param("https://api.example.com", Url(HTTPS, FQDN, "api.example.com", 443), id="bare-https"),
        pytest.param("https://api.example.com/", Url(HTTPS, FQDN, "api.example.com", 443), id="root-path"),
        pytest.param("https://api.together.xyz/v1", Url(HTTPS, FQDN, "api.together.xyz", 443), id="v1-is-the-apis-own"),
        pytest.param("https://a.example/v1/", Url(HTTPS, FQDN, "a.example", 443), id="v1-with-slash"),
        pytest.param("https://a.example/openai/v1", Url(HTTPS, FQDN, "a.example", 443, "/openai"), id="prefix-and-v1"),
        pytest.param("https://a.example/v1/x", Url(HTTPS, FQDN, "a.example", 443, "/v1/x"), id="v1-inside-stays"),
        pytest.param("https://a.example/apiv1", Url(HTTPS, FQDN, "a.example", 443, "/apiv1"), id="no-half-segment"),
        pytest.param("http://10.0.1.50/ml/llama-0", Url(HTTP, IP, "10.0.1.50", 80, "/ml/llama-0"), id="ipv4-path"),
        pytest.param("http://10.0.1.50:8000", Url(HTTP, IP, "10.0.1.50", 8000), id="ipv4-port"),
        pytest.param("https://[2001:DB8::1]:8443/p", Url(HTTPS, IP, "2001:db8::1", 8443, "/p"), id="ipv6"),
        pytest.param("http://[::ffff:10.0.0.1]", Url(HTTP, IP, "10.0.0.1", 80), id="ipv4-inside-ipv6"),
        pytest.param("HTTPS://API.Example.COM", Url(HTTPS, FQDN, "api.example.com", 443), id="upper-case"),
        pytest.param("http://api.example.com.:81", Url(HTTP, FQDN, "api.example.com", 81), id="trailing-dot"),
        pytest.param("http://a.example/x%20y", Url(HTTP, FQDN, "a.example", 80, "/x%20y"), id="escaped-space"),
    ],
)
def test_a_url_is_taken_apart(text: str, want: Url) -> None:
    assert url.parse(text) == want


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("", "not a URL", id="empty"),
        pytest.param("api.example.com", "not a URL", id="no-scheme"),
        pytest.param("ftp://a.example", "http:// or https://", id="scheme"),
        pytest.param("http://", "host[:port]", id="no-host"),
        pytest.param("http://:80", "host[:port]", id="port-only"),
        pytest.param("http://user:pw@a.example", "spec.auth", id="credentials"),
        pytest.param("http://a.example?key=1", "query", id="query"),
        pytest.param("http://a.example/#x", "query or fragment", id="fragment"),
        pytest.param("http://a.example:0", "65535", id="port-zero"),
        pytest.param("http://a.example:65536", "65535", id="port-high"),
        pytest.param("http://a.example:", "65535", id="port-empty"),
        pytest.param("http://a.example:8o", "host[:port]", id="port-letters"),
        pytest.param("http://2001:db8::1", "brackets", id="ipv6-without-brackets"),
        pytest.param("http://[10.0.0.1.2]", "not an IPv6", id="no-ipv6"),
        pytest.param("http://[fe80::1%25eth0]", "network interface", id="zone"),
        pytest.param("http://localhost:8000", "one label", id="single-label"),
        pytest.param("http://my_host.example", "not a host name", id="underscore"),
        pytest.param("http://-a.example", "not a host name", id="leading-dash"),
        pytest.param("http://a..example", "not a host name", id="empty-label"),
        pytest.param(f"http://{'a' * 64}.example", "not a host name", id="long-label"),
        pytest.param("http://xn--\u00e9.example", "not a host name", id="not-ascii"),
        pytest.param("http://127.0.0.1", "loopback", id="loopback-4"),
        pytest.param("http://127.8.8.8", "loopback", id="loopback-4-range"),
        pytest.param("http://[::1]", "loopback", id="loopback-6"),
        pytest.param("http://[::ffff:127.0.0.1]", "loopback", id="loopback-mapped"),
        pytest.param("http://0.0.0.0", "unspecified", id="unspecified"),
        pytest.param("http://169.254.169.254/latest", "metadata", id="cloud-metadata"),
        pytest.param("http://[fe80::1]", "link-local", id="link-local-6"),
        pytest.param("http://224.0.0.1", "multicast", id="multicast"),
        pytest.param("http://255.255.255.255", "broadcast", id="broadcast"),
        pytest.param("http://2130706433", "in full", id="decimal-address"),
        pytest.param("http://127.1", "in full", id="short-address"),
        pytest.param("http://0x7f.0.0.0x1", "in full", id="hex-address"),
        pytest.param("http://a.example/../x", "'..'", id="dot-dot"),
        pytest.param("http://a.example/x//y", "'//'", id="double-slash"),
        pytest.param("http://a.example/a%2Fb", "encoded separator or dot", id="hidden-slash"),
        pytest.param("http://a.example/%2e%2e", "encoded separator or dot", id="hidden-dots"),
        pytest.param("http://a.example/a b", "segment", id="space"),
        pytest.param("http://a.example/a\nHost: b", "segment", id="newline"),
        pytest.param("http://a.example/%zz", "segment", id="bad-escape"),
        pytest.param(f"http://a.example/{'x' * 1100}", "1024", id="long-path"),
    ],
)
def test_a_url_that_cannot_be_routed_is_refused_with_what_to_write(text: str, says: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(says)):
        url.parse(text)
