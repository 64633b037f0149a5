"""Egress: a hand-written address leads to the public network or to what the platform opened, in whatever form."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelplane.errors import InvalidInput
from modelplane.routing import addresses, hosts, url
from modelplane.routing.egress import Rules

NOWHERE = ["0.0.0.0", "127.0.0.1", "169.254.169.254", "100.100.100.200", "168.63.129.16", "192.0.0.192", "224.0.0.1"]  # noqa: S104 - refused
PRIVATE = ["10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1", "198.18.0.1"]
FORMS: dict[str, Callable[[ipaddress.IPv4Address], str]] = {
    "dotted": str,
    "trailing dot": lambda four: f"{four}.",
    "decimal": lambda four: str(int(four)),
    "hexadecimal": lambda four: hex(int(four)),
    "octal": lambda four: f"0{int(four):o}",
    "leading zeroes": lambda four: ".".join(f"{octet:03}" for octet in four.packed),
    "dotted hexadecimal": lambda four: ".".join(hex(octet) for octet in four.packed),
    "three parts": lambda four: f"{four.packed[0]}.{four.packed[1]}.{int.from_bytes(four.packed[2:])}",
    "two parts": lambda four: f"{four.packed[0]}.{int.from_bytes(four.packed[1:])}",
    "percent": lambda four: str(four).replace("1", "%31").replace("2", "%32").replace("0", "%30"),
    "full width": lambda four: "".join(chr(0xFF10 + int(c)) if c.isdigit() else c for c in str(four)),
    "mapped": lambda four: f"[::ffff:{four}]",
    "mapped in hexadecimal": lambda four: f"[::ffff:{int(four) >> 16:x}:{int(four) & 0xFFFF:x}]",
    "compatible": lambda four: f"[::{four}]",
    "translated": lambda four: f"[::ffff:0:{four}]",
    "NAT64": lambda four: f"[64:ff9b::{four}]",
    "NAT64 of a local network": lambda four: f"[64:ff9b:1::{four}]",
    "6to4": lambda four: f"[2002:{int(four) >> 16:x}:{int(four) & 0xFFFF:x}::1]",
    "Teredo": lambda four: f"[2001:0:{int(four) >> 16:x}:{int(four) & 0xFFFF:x}::1]",
    "Teredo's client": lambda four: f"[2001::{~int(four) >> 16 & 0xFFFF:x}:{~int(four) & 0xFFFF:x}]",
    "ISATAP": lambda four: f"[2001:db8::5efe:{four}]",
    "zone": lambda four: f"[::ffff:{four}%25eth0]",
    "spelled with dots": lambda four: f"a.{four}.example.com",
    "spelled with dashes": lambda four: f"a-{str(four).replace('.', '-')}.example.com",
    "a domain that answers as asked": lambda four: f"{int(four):x}.nip.io",
    "user": lambda four: f"api.example.com@{four}",
    "own NAT64": lambda four: str(ipaddress.IPv6Address(int(ipaddress.IPv6Address("2001:db8:64::")) + int(four))),
}
NAT64 = (ipaddress.IPv6Network("2001:db8:64::/96"),)


def goes(host: str, rules: Rules = Rules(nat64=NAT64), namespace: str = "ml-team") -> None:  # noqa: B008 - frozen
    """Return when an endpoint of this host may be written."""
    address = url.parse(
        f"http://[{host}]:8000/p" if host.count(":") > 1 and "[" not in host else f"http://{host}:8000/p"
    )
    hosts.check_upstream(namespace, address.host)
    rules.check(namespace, address.kind, address.host)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("address", [*NOWHERE, *PRIVATE])
def test_no_form_of_an_address_leads_inside(address: str, form: str) -> None:
    with pytest.raises(InvalidInput):
        goes(FORMS[form](ipaddress.IPv4Address(address)))


@given(st.ip_addresses(v=4), st.sampled_from(sorted(FORMS)))
def test_whatever_is_taken_leads_to_a_public_address(four: ipaddress.IPv4Address, form: str) -> None:
    """Asked of Python's own tables, which are not those that decide."""
    try:
        goes(FORMS[form](four))
    except InvalidInput:
        return
    assert four.is_global or _is_documentation(four), form


def _is_documentation(four: ipaddress.IPv4Address) -> bool:
    return any(four in ipaddress.ip_network(net) for net in ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24"))


@given(st.ip_addresses(v=6))
def test_whatever_is_taken_of_ipv6_is_no_address_of_a_node(six: ipaddress.IPv6Address) -> None:
    try:
        goes(f"[{six}]")
    except InvalidInput:
        return
    assert not (six.is_link_local or six.is_loopback or six.is_multicast or six.is_site_local or six.is_unspecified)
    assert six not in ipaddress.ip_network("fc00::/7")


@pytest.mark.parametrize(
    "host",
    [
        "8.8.8.8",
        "203.0.113.10",
        "[2001:4860:4860::8888]",
        "[64:ff9b::8.8.8.8]",
        "api.openai.com",
        "api.together.xyz",
        "llm-1.prod.example.com",
        "xn--bcher-kva.example",
        "model.xn--p1ai",
        "vllm.ml-team.svc",
        "pod-0.vllm.ml-team.svc.cluster.local",
        "v1-2-3.example.com",
    ],
)
def test_public_places_and_own_services_are_open(host: str) -> None:
    goes(host)


@pytest.mark.parametrize(
    ("host", "says"),
    [
        ("kubernetes.default", "API server"),
        ("kubernetes.default.svc", "outside namespace"),
        ("KUBERNETES.default.svc.cluster.local.", "outside namespace"),
        ("kubernetes.default.svc.corp.example", "Kubernetes Service"),
        ("vllm.other.svc", "outside namespace"),
        ("vllm.team-b", ".team-b is internal"),
        ("vllm.team2", ".team2 is internal"),
        ("vllm.default", ".default is internal"),
        ("10-0-0-1.other.pod.cluster.local", ".local is internal"),
        ("metadata.google.internal", "metadata"),
        ("foo.localhost", "gateway itself"),
        ("printer.local", ".local is internal"),
        ("llm.corp.internal", ".internal is internal"),
        ("localtest.me", "spelled in the name"),
        ("x.localtest.me", "spelled in the name"),
        ("app.ddev.site", "spelled in the name"),
        ("ec2-10-0-0-1.example.com", "spells the address 10.0.0.1"),
        ("128.192.168.0.1.example.com", "spells the address 192.168.0.1"),
        ("[200::1]", "outside 2000::/3"),
        ("[::ffff:0:0:a00:1]", "outside 2000::/3"),
        ("llama-0.other.modelplane.internal", "ml-team"),
    ],
)
def test_names_that_are_internal_are_refused(host: str, says: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(says)):
        goes(host)


OPEN = Rules(
    gateway="default",
    allowed_hosts=("llm.corp.internal", "*.lab.internal", "vllm.default"),
    allowed_networks=(ipaddress.ip_network("10.20.0.0/16"), ipaddress.ip_network("fd12::/32")),
    denied_hosts=("*.rival.example", "secret.lab.internal"),
    denied_networks=(ipaddress.ip_network("10.20.30.0/24"), ipaddress.ip_network("203.0.113.0/24")),
    nat64=NAT64,
    own_hosts=("models.example", "*.models.example", "chat.example.com", "198.51.100.7"),
)


@pytest.mark.parametrize(
    "host",
    [
        *("10.20.0.5", "[::ffff:10.20.0.5]", "[64:ff9b::10.20.0.5]", "[fd12::1]", "llm.corp.internal"),
        *("a.b.lab.internal", "a.10.20.0.5.example.com", "vllm.default", "api.openai.com"),
    ],
)
def test_the_platform_opens_what_is_private(host: str) -> None:
    goes(host, OPEN)


@pytest.mark.parametrize(
    ("host", "says"),
    [
        ("10.21.0.5", 'InferenceGateway "default" spec.endpoints.allowedCIDRs'),
        ("lab.internal", 'InferenceGateway "default" spec.endpoints.allowedHosts'),
        ("10.20.30.1", "denied by"),
        ("[2001:db8:64::10.20.30.1]", "denied by"),
        ("203.0.113.1", "denied by"),
        ("api.rival.example", "denied by"),
        ("secret.lab.internal", "denied by"),
        ("x-10-20-30-1.example.com", "spells the address"),
        ("models.example", "fleet's own gateway"),
        ("x.other.models.example", "fleet's own gateway"),
        ("CHAT.example.com.", "fleet's own gateway"),
        ("198.51.100.7", "fleet's own gateway"),
        ("[::ffff:198.51.100.7]", "fleet's own gateway"),
    ],
)
def test_what_is_denied_and_the_gateway_itself_stay_shut(host: str, says: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(says)):
        goes(host, OPEN)


def test_nothing_opens_a_node_or_another_namespace() -> None:
    everything = Rules(
        allowed_hosts=("*.svc", "*.internal", "*.localhost", "*.default", "kubernetes.default"),
        allowed_networks=(ipaddress.ip_network("0.0.0.0/0"), ipaddress.ip_network("::/0")),
    )
    shut = ["127.0.0.1", "169.254.169.254", "[fe80::1]", "[::1]", "[64:ff9b::7f00:1]", "x.other.svc", "a.localhost"]
    for host in [*shut, "kubernetes.default", "metadata.google.internal", "a.other.modelplane.internal"]:
        with pytest.raises(InvalidInput):
            goes(host, everything)


def test_only_what_is_listed_where_the_platform_wants_that() -> None:
    listed = Rules(only_allowed=True, allowed_hosts=("api.openai.com",), allowed_networks=OPEN.allowed_networks)
    goes("api.openai.com", listed)
    goes("10.20.0.5", listed)
    goes("vllm.ml-team.svc", listed)
    for host in ("api.together.xyz", "8.8.8.8"):
        with pytest.raises(InvalidInput, match="allows only listed ones"):
            goes(host, listed)


def test_the_gateways_own_names_are_never_sent_as_host() -> None:
    OPEN.check_host("api.openai.com")
    with pytest.raises(InvalidInput, match="own gateway"):
        OPEN.check_host("chat.example.com")


@pytest.mark.parametrize("length", addresses.NAT64_LENGTHS)
def test_an_address_is_found_under_a_translation_prefix_of_every_length(length: int) -> None:
    """Source: RFC 6052, section 2.4, table: 192.0.2.33 under 2001:db8::/32 and its longer forms."""
    text = {
        32: ("2001:db8::/32", "2001:db8:c000:221::"),
        40: ("2001:db8:100::/40", "2001:db8:1c0:2:21::"),
        48: ("2001:db8:122::/48", "2001:db8:122:c000:2:2100::"),
        56: ("2001:db8:122:300::/56", "2001:db8:122:3c0:0:221::"),
        64: ("2001:db8:122:344::/64", "2001:db8:122:344:c0:2:2100::"),
        96: ("2001:db8:122:344::/96", "2001:db8:122:344::192.0.2.33"),
    }
    prefix, address = text[length]
    found = addresses.embedded(ipaddress.IPv6Address(address), [ipaddress.IPv6Network(prefix)])
    assert found == (ipaddress.IPv4Address("192.0.2.33"),)
