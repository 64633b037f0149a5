"""ModelEndpoint: reading it, and refusing what would send a request, a key or a name to the wrong place."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane.api import endpoint
from modelplane.errors import InvalidInput
from modelplane.routing.model import Api, AuthScheme, CertificateRef, Credential, HealthCheck, Tls
from tests.support import routing

Json = Any


def decode(url: str = "https://api.example.com", **spec: Json) -> Any:
    return endpoint.decode(routing.model_endpoint("saas", url, **spec))


def test_the_host_of_the_url_is_what_is_asked_for() -> None:
    assert decode().host == "api.example.com"
    assert decode("http://10.0.0.1").host == "saas.ml-team.modelplane.internal"
    assert decode("http://10.0.0.1", host="Llama.Example.com").host == "llama.example.com"


def test_https_always_has_a_server_name() -> None:
    assert decode().tls == Tls("api.example.com")
    assert decode(tls={"sni": "other.example"}).tls == Tls("other.example")
    assert decode("https://10.0.0.1", host="llama.example").tls == Tls("llama.example")
    assert decode("http://api.example.com").tls is None


def test_authorities_default_to_a_config_map() -> None:
    tls = decode(tls={"caCertificateRefs": [{"name": "ca"}, {"kind": "Secret", "name": "own"}]}).tls
    assert tls.authorities == (CertificateRef("ConfigMap", "ca"), CertificateRef("Secret", "own"))


@pytest.mark.parametrize(
    ("auth", "want"),
    [
        pytest.param({"secretRef": {"name": "k"}}, Credential("k", "Authorization", AuthScheme.BEARER), id="default"),
        pytest.param(
            {"secretRef": {"name": "k", "key": "credential"}, "scheme": "Bearer"},
            Credential("k", "Authorization", AuthScheme.BEARER),
            id="bearer",
        ),
        pytest.param(
            {"secretRef": {"name": "k"}, "scheme": "Header", "header": "x-api-key"},
            Credential("k", "x-api-key", AuthScheme.HEADER),
            id="header",
        ),
    ],
)
def test_credentials(auth: Json, want: Credential) -> None:
    assert decode(auth=auth).credential == want


def test_what_is_left_out_has_a_plain_meaning() -> None:
    plain = decode()
    assert (plain.apis, plain.model, plain.credential, plain.health) == ((Api.OPENAI,), None, None, None)
    assert decode(healthCheck={}).health == HealthCheck("/health", "10s", "5s")


@pytest.mark.parametrize(
    ("url", "spec", "path", "says"),
    [
        pytest.param("http://localhost", {}, "spec.url", "one label", id="url"),
        pytest.param("http://a.other.modelplane.internal", {}, "spec.url", "ml-team", id="replica-of-others"),
        pytest.param("http://x.other.svc", {}, "spec.url", "outside namespace", id="service-of-others"),
        pytest.param(
            "http://10.0.0.1", {"host": "a.other.modelplane.internal"}, "spec.host", "ml-team", id="host-of-others"
        ),
        pytest.param("http://10.0.0.1", {"host": "localhost"}, "spec.host", "one label", id="host"),
        pytest.param(
            "https://a.example",
            {"auth": {"secretRef": {"name": "k", "key": "api-key"}}},
            "spec.auth.secretRef.key",
            "'credential'",
            id="secret-key",
        ),
        pytest.param("https://a.example", {"auth": {}}, "spec.auth.secretRef.name", "is required", id="secret-name"),
        pytest.param(
            "https://a.example",
            {"auth": {"secretRef": {"name": "k"}, "scheme": "Header"}},
            "spec.auth.header",
            "is required",
            id="header-without-a-name",
        ),
        pytest.param(
            "https://a.example",
            {"auth": {"secretRef": {"name": "k"}, "scheme": "Basic"}},
            "spec.auth.scheme",
            "Bearer, Header",
            id="scheme",
        ),
        pytest.param("https://10.0.0.1", {}, "spec.tls.sni", "is required", id="https-to-an-address"),
        pytest.param("http://a.example", {"tls": {"sni": "b.example"}}, "spec.tls", "https", id="tls-on-http"),
        *(
            pytest.param(
                "https://a.example", {"tls": {"sni": name}}, "spec.tls.sni", "namespace ml-team", id=f"sni-{name}"
            )
            for name in ("a.other.modelplane.internal", "A.Other.Modelplane.Internal.", "x.other.svc", "X.Other.SVC")
        ),
        pytest.param(
            "https://a.example",
            {"tls": {"insecureSkipVerify": True, "caCertificateRefs": [{"name": "ca"}]}},
            "spec.tls",
            "no effect",
            id="authorities-that-are-not-asked",
        ),
        pytest.param(
            "https://a.example",
            {"auth": {"secretRef": {"name": "k"}, "scheme": "Header", "header": "Host"}},
            "spec.auth.header",
            "never a credential",
            id="header-that-steers",
        ),
        pytest.param(
            "https://a.example",
            {"healthCheck": {"path": "/health HTTP/1.1\r\nHost: b"}},
            "spec.healthCheck.path",
            "URL characters",
            id="a-path-that-is-a-request",
        ),
        pytest.param("https://a.example", {"api": ["gRPC"]}, "spec.api[0]", "OpenAI, Anthropic", id="api"),
        pytest.param("https://a.example", {"url": 7}, "spec.url", "must be a string", id="type"),
    ],
)
def test_a_mistake_is_refused_at_its_field(url: str, spec: Json, path: str, says: str) -> None:
    document = routing.model_endpoint("saas", url)
    document["spec"].update(spec)
    with pytest.raises(InvalidInput) as caught:
        endpoint.decode(document)
    assert str(caught.value).startswith(f"{path}: ")
    assert says in caught.value.message


@pytest.mark.parametrize(
    ("status", "is_ready"),
    [
        pytest.param({"ready": True, "backendName": "saas"}, True, id="ready"),
        pytest.param({"ready": False, "backendName": "saas"}, False, id="not-ready"),
        pytest.param({"ready": True}, False, id="no-backend"),
        pytest.param({}, False, id="new"),
    ],
)
def test_a_service_takes_an_endpoint_for_ready_only_with_a_backend(status: Json, is_ready: bool) -> None:  # noqa: FBT001 - a table's column
    assert endpoint.candidate(routing.model_endpoint("saas", status=status)).ready is is_ready


def test_an_endpoint_that_cannot_be_read_is_a_candidate_with_a_problem() -> None:
    candidate = endpoint.candidate(routing.model_endpoint("saas", "http://localhost"))
    assert not candidate.ready
    assert candidate.endpoint is None
    assert "spec.url" in candidate.problem
