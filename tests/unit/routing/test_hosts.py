"""Hosts: namespaces never meet, neither in front of the gateway nor behind it."""

from __future__ import annotations

import pytest

from modelplane.errors import InvalidInput
from modelplane.routing import hosts


@pytest.mark.parametrize(
    ("host", "is_own"),
    [
        pytest.param("llama-0.ml-team.modelplane.internal", True, id="own-replica"),
        pytest.param("llama-0.other.modelplane.internal", False, id="other-namespace"),
        pytest.param("ml-team.modelplane.internal", False, id="no-replica"),
        pytest.param("x.llama-0.ml-team.modelplane.internal", False, id="too-deep"),
        pytest.param("ml-team.other.modelplane.internal", False, id="own-name-in-the-wrong-place"),
        pytest.param("modelplane.internal", False, id="the-domain"),
        pytest.param("evilmodelplane.internal", True, id="another-domain-that-ends-alike"),
        pytest.param("api.example.com", True, id="public"),
        pytest.param("vllm.ml-team.svc", True, id="own-service"),
        pytest.param("vllm.ml-team.svc.cluster.local", True, id="own-service-in-full"),
        pytest.param("pod-0.vllm.ml-team.svc.cluster.local", True, id="own-pod"),
        pytest.param("vllm.other.svc.cluster.local", False, id="service-of-others"),
        pytest.param("kubernetes.default.svc", False, id="the-api-server"),
        pytest.param("svc.cluster.local", True, id="no-service-at-all"),
    ],
)
def test_upstream_hosts(host: str, is_own: bool) -> None:  # noqa: FBT001 - a table's column
    if is_own:
        hosts.check_upstream("ml-team", host)
        return
    with pytest.raises(InvalidInput, match="ml-team"):
        hosts.check_upstream("ml-team", host)


GRANTS = {"chat.example.com": ("ml-team",), "shared.example.com": ("a", "b")}


@pytest.mark.parametrize(
    ("host", "hostname", "is_allowed"),
    [
        pytest.param("chat.ml-team.models.example", "models.example", True, id="under-own-namespace"),
        pytest.param("a.b.ml-team.models.example", "models.example", True, id="deeper-under-own-namespace"),
        pytest.param("chat.ml-team.models.example", "*.models.example", True, id="wildcard-gateway"),
        pytest.param("chat.other.models.example", "models.example", False, id="under-another-namespace"),
        pytest.param("ml-team.models.example", "models.example", False, id="the-namespace-itself"),
        pytest.param("xml-team.models.example", "models.example", False, id="suffix-without-a-dot"),
        pytest.param("models.example", "models.example", False, id="the-gateways-own"),
        pytest.param("chat.example.com", "models.example", True, id="granted"),
        pytest.param("shared.example.com", "models.example", False, id="granted-to-others"),
        pytest.param("chat.ml-team.models.example", "", False, id="gateway-without-a-host"),
    ],
)
def test_hosts_of_services(host: str, hostname: str, is_allowed: bool) -> None:  # noqa: FBT001 - a table's column
    assert hosts.is_allowed(host, "ml-team", hostname=hostname, grants=GRANTS) is is_allowed


@pytest.mark.parametrize(
    ("hostname", "grants", "want"),
    [
        pytest.param("*.models.example", {}, "*.models.example", id="wildcard-covers-all"),
        pytest.param("*.models.example", {"x.models.example": ("a",)}, "*.models.example", id="grant-inside"),
        pytest.param("*.models.example", {"x.other.example": ("a",)}, "", id="grant-outside"),
        pytest.param("models.example", {}, "", id="namespaces-own-subdomains"),
        pytest.param("", {}, "", id="none"),
    ],
)
def test_the_one_listener_takes_every_host_a_service_may_have(
    hostname: str, grants: dict[str, tuple[str, ...]], want: str
) -> None:
    assert hosts.listener(hostname, grants) == want


@pytest.mark.parametrize(
    ("host", "hostname", "address", "port", "is_tls", "want"),
    [
        pytest.param("", "", "203.0.113.1", 80, False, "http://203.0.113.1/ml-team/llama", id="by-address"),
        pytest.param("", "", "2001:db8::1", 80, False, "http://[2001:db8::1]/ml-team/llama", id="by-ipv6"),
        pytest.param("", "", "203.0.113.1", 8080, False, "http://203.0.113.1:8080/ml-team/llama", id="other-port"),
        pytest.param("", "models.example", "203.0.113.1", 443, True, "https://models.example/ml-team/llama", id="host"),
        pytest.param("", "*.m.example", "x", 443, True, "https://ml-team.m.example/ml-team/llama", id="wildcard"),
        pytest.param("chat.example", "m.example", "x", 443, True, "https://chat.example", id="own-host"),
        pytest.param("chat.example", "", "x", 80, True, "https://chat.example:80", id="tls-on-port-80"),
    ],
)
def test_the_url_for_clients(  # noqa: PLR0917 - a table's columns
    host: str,
    hostname: str,
    address: str,
    port: int,
    is_tls: bool,  # noqa: FBT001 - a table's column
    want: str,
) -> None:
    authority = hosts.authority(host, "ml-team", hostname=hostname, address=address)
    path = "/" if host else "/ml-team/llama"
    assert hosts.base_url(authority, path, port=port, is_tls=is_tls) == want
