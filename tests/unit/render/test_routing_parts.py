"""Parts of what is rendered for routing: policies, addresses, paths, names of certificates."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import routing as build

Json = Any

GATEWAY = build.inference_gateway(
    "fleet", gateway={"hostname": "models.fleet.example", "tls": {"certificateRefs": [{"name": "fleet-tls"}]}}
)


def rendered(document: Json, *groups: list[Json]) -> dict[str, Json]:
    return build.rendered(document, *groups, gateway=GATEWAY)


GROUP = build.group(endpoint="saas")
SAAS_ENDPOINT = build.model_endpoint("saas")


@pytest.mark.parametrize(
    ("auth", "want"),
    [
        pytest.param(
            {"apiKeys": {"secretRef": {"name": "keys"}}},
            {
                "apiKeyAuth": {
                    "credentialRefs": [{"group": "", "kind": "Secret", "name": "keys"}],
                    "extractFrom": [{"headers": ["Authorization"]}],
                    "sanitize": True,
                }
            },
            id="api-keys",
        ),
        pytest.param(
            {"jwt": {"issuer": "https://i", "jwksUri": "https://i.example/k", "audiences": ["a"]}},
            {
                "jwt": {
                    "providers": [
                        {
                            "name": "caller",
                            "issuer": "https://i",
                            "audiences": ["a"],
                            "remoteJWKS": {"uri": "https://i.example/k"},
                        }
                    ]
                }
            },
            id="jwt",
        ),
    ],
)
def test_who_may_call(auth: Json, want: Json) -> None:
    spec = rendered(build.model_service(GROUP, auth=auth), [SAAS_ENDPOINT])["SecurityPolicy/llama"]
    assert {key: value for key, value in spec.items() if key != "targetRefs"} == want


@pytest.mark.parametrize("priorities", [pytest.param((0, 0), id="own-refs"), pytest.param((0, 1), id="shared")])
def test_a_callers_token_reaches_no_endpoint(priorities: tuple[int, int]) -> None:
    document = build.model_service(
        *(build.group(endpoint=f"e{index}", priority=priority) for index, priority in enumerate(priorities)),
        auth={"jwt": {"issuer": "https://i", "jwksUri": "https://i.example/k"}},
    )
    rule = rendered(document, *([build.model_endpoint(f"e{index}")] for index in range(2)))["HTTPRoute/llama"]["rules"][
        0
    ]
    removal = {"type": "RequestHeaderModifier", "requestHeaderModifier": {"remove": ["Authorization"]}}
    places = [rule["filters"]] if priorities == (0, 1) else [ref["filters"] for ref in rule["backendRefs"]]
    assert all(removal in filters for filters in places)


def test_a_rate_limit_is_counted_by_each_proxy() -> None:
    document = build.model_service(GROUP, rateLimit={"requests": 7, "unit": "Minute"})
    spec = rendered(document, [SAAS_ENDPOINT])["BackendTrafficPolicy/llama"]
    assert spec["rateLimit"] == {
        "type": "Local",
        "local": {"rules": [{"limit": {"requests": 7, "unit": "Minute"}}]},
    }


@pytest.mark.parametrize(
    ("retries", "want"),
    [
        pytest.param({"attempts": 0}, None, id="no-attempts"),
        pytest.param({"on": []}, None, id="no-causes"),
        pytest.param(
            {"attempts": 1, "on": ["503"]},
            {"numRetries": 1, "retryOn": {"triggers": ["retriable-status-codes"], "httpStatusCodes": [503]}},
            id="codes-only",
        ),
        pytest.param(
            {},
            {
                "numRetries": 2,
                "retryOn": {"triggers": ["connect-failure", "retriable-status-codes"], "httpStatusCodes": [503]},
            },
            id="default",
        ),
    ],
)
def test_retries(retries: Json, want: Json) -> None:
    spec = rendered(build.model_service(GROUP, retries=retries), [SAAS_ENDPOINT])["BackendTrafficPolicy/llama"]
    assert spec.get("retry") == want


@pytest.mark.parametrize(
    ("host", "url", "want"),
    [
        pytest.param("", "https://a.example", "/", id="path-to-root"),
        pytest.param("", "https://a.example/openai/v1", "/openai", id="path-to-prefix"),
        pytest.param("x.ml-team.models.fleet.example", "https://a.example", None, id="host-to-root"),
        pytest.param("x.ml-team.models.fleet.example", "https://a.example/openai", "/openai/", id="host-to-prefix"),
    ],
)
def test_paths(host: str, url: str, want: str | None) -> None:
    document = build.model_service(GROUP, host=host)
    made = rendered(document, [build.model_endpoint("saas", url)])
    rule = made["HTTPRoute/llama"]["rules"][0]
    rewrites = [
        each["urlRewrite"]["path"]["replacePrefixMatch"]
        for each in rule.get("filters", ())
        if "path" in each.get("urlRewrite", {})
    ]
    # Envoy Gateway cuts the "/" behind what replaces the path "/", so an expression keeps it there.
    by_filter = made.get("HTTPRouteFilter/llama-rule", {}).get("urlRewrite", {}).get("path")
    if by_filter:
        rewrites.append(by_filter["replaceRegexMatch"]["substitution"])
    assert rewrites == ([] if want is None else [want])
    assert rule["matches"][0]["path"]["value"] == ("/" if host else "/ml-team/llama")


def test_ipv6_is_written_out_since_the_schema_knows_only_some_of_its_short_forms() -> None:
    six = build.model_endpoint("six", "http://[2001:db8::1:2:3]:8000")
    spec = rendered(build.model_service(build.group(endpoint="six")), [six])["Backend/six"]
    address = {"address": "2001:0db8:0000:0000:0000:0001:0002:0003", "port": 8000}
    assert spec["endpoints"] == [{"hostname": "six.ml-team.modelplane.internal", "ip": address}]


@pytest.mark.parametrize(
    ("tls", "want"),
    [
        pytest.param({}, {"wellKnownCACertificates": "System", "sni": "a.example"}, id="system"),
        pytest.param(
            {"caCertificateRefs": [{"name": "ca"}], "sni": "b.example"},
            {"caCertificateRefs": [{"group": "", "kind": "ConfigMap", "name": "ca"}], "sni": "b.example"},
            id="own-authority",
        ),
        pytest.param({"insecureSkipVerify": True}, {"insecureSkipVerify": True, "sni": "a.example"}, id="none"),
    ],
)
def test_tls_to_an_endpoint_always_says_which_name(tls: Json, want: Json) -> None:
    secure = build.model_endpoint("saas", "https://a.example", tls=tls)
    assert rendered(build.model_service(GROUP), [secure])["Backend/saas"]["tls"] == want
