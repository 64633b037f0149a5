"""Three known-good sets of routing objects, transcribed: what we render means the same, and every difference has a
reason.

Source: objects checked against the schemas of Envoy Gateway v1.9.0 and Gateway API v1.6.1 (standard channel).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from modelplane.api import gateway as gateways
from modelplane.render import gateway as front
from modelplane.render import traffic
from modelplane.routing import access
from tests.support import routing as build

Json = Any

ENVOY = "gateway.envoyproxy.io"
GATEWAY = build.inference_gateway(
    "fleet",
    gateway={
        "namespace": "fleet-routing",
        "hostname": "models.fleet.example",
        "tls": {"certificateRefs": [{"name": "fleet-tls"}]},
    },
)


def flat(value: Json, path: str = "") -> Iterator[tuple[str, Json]]:
    """Yield every leaf with its path. Fields that the API server would fill in are filled in, so that both sides say
    them.
    """
    if isinstance(value, Mapping) and value:
        for key, item in sorted(value.items()):
            yield from flat(item, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            yield from flat(item, f"{path}[{index}]")
    else:
        yield path, value


# What a schema's defaults add, or what names the same thing: no difference in meaning.
DEFAULTED = {
    "type": "Endpoints",
    "parentRefs[0].group": "gateway.networking.k8s.io",
    "parentRefs[0].kind": "Gateway",
    "credentialInjection.credential.valueRef.group": "",
    "credentialInjection.credential.valueRef.kind": "Secret",
}


def differences(ours: Json, theirs: Json) -> dict[str, tuple[Json, Json]]:
    left, right = dict(flat(ours)), DEFAULTED | dict(flat(theirs))
    return {
        path: (left.get(path), right.get(path))
        for path in sorted(left.keys() | dict(flat(theirs)).keys())
        if left.get(path) != right.get(path)
    }


def backend_spec(host: str) -> Json:
    return {
        "endpoints": [{"fqdn": {"hostname": host, "port": 443}}],
        "tls": {"wellKnownCACertificates": "System", "sni": host},
    }


# --- two clusters, 80/20 ----------------------------------------------------------------------------------------------

WEIGHTED_ROUTE = {
    "parentRefs": [{"name": "fleet", "namespace": "fleet-routing"}],
    "hostnames": ["models.fleet.example"],
    "rules": [
        {
            "name": "serve",
            "matches": [{"path": {"type": "PathPrefix", "value": "/team-a/qwen"}}],
            "timeouts": {"request": "0s"},
            "filters": [
                {
                    "type": "URLRewrite",
                    "urlRewrite": {"path": {"type": "ReplacePrefixMatch", "replacePrefixMatch": "/"}},
                }
            ],
            "backendRefs": [
                {
                    "group": ENVOY,
                    "kind": "Backend",
                    "name": "qwen-east",
                    "weight": 80,
                    "filters": [{"type": "URLRewrite", "urlRewrite": {"hostname": "gw.east.fleet.example"}}],
                },
                {
                    "group": ENVOY,
                    "kind": "Backend",
                    "name": "qwen-west",
                    "weight": 20,
                    "filters": [{"type": "URLRewrite", "urlRewrite": {"hostname": "gw.west.fleet.example"}}],
                },
            ],
        }
    ],
}
WEIGHTED_POLICY = {
    "targetRefs": [{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": "qwen"}],
    "connection": {"bufferLimit": "32Mi"},
    "timeout": {
        "tcp": {"connectTimeout": "5s"},
        "http": {"requestTimeout": "0s", "streamIdleTimeout": "900s", "connectionIdleTimeout": "3600s"},
    },
    "tcpKeepalive": {"idleTime": "60s", "interval": "20s", "probes": 3},
    "circuitBreaker": {"maxConnections": 8192, "maxParallelRequests": 8192, "maxPendingRequests": 4096},
    "loadBalancer": {"type": "LeastRequest"},
    "retry": {
        "numRetries": 2,
        "retryOn": {"triggers": ["connect-failure", "refused-stream", "reset-before-request"]},
    },
}


def weighted() -> dict[str, Json]:
    document = build.model_service(
        build.group(endpoint="qwen-east", weight=80),
        build.group(endpoint="qwen-west", weight=20),
        name="qwen",
        namespace="team-a",
        timeouts={"idle": "900s"},
        retries={"attempts": 2, "on": ["connect-failure", "refused-stream", "reset-before-request"]},
    )
    return build.rendered(
        document,
        [build.model_endpoint("qwen-east", "https://gw.east.fleet.example", namespace="team-a")],
        [build.model_endpoint("qwen-west", "https://gw.west.fleet.example", namespace="team-a")],
        gateway=GATEWAY,
    )


def test_two_clusters_by_weight() -> None:
    ours = weighted()
    assert differences(ours["HTTPRoute/qwen"], WEIGHTED_ROUTE) == {
        # The same ratio in the smallest integers.
        "rules[0].backendRefs[0].weight": (4, 80),
        "rules[0].backendRefs[1].weight": (1, 20),
    }
    assert differences(ours["BackendTrafficPolicy/qwen"], WEIGHTED_POLICY) == {
        # A limit against runaways: streams last minutes, and a large deployment holds more than 8192 at once.
        "circuitBreaker.maxConnections": (65536, 8192),
        "circuitBreaker.maxParallelRequests": (65536, 8192),
        "circuitBreaker.maxPendingRequests": (16384, 4096),
    }
    for side in ("east", "west"):
        host = f"gw.{side}.fleet.example"
        assert differences(ours[f"Backend/qwen-{side}"], backend_spec(host)) == {
            # The name a health check asks for; it changes no address.
            "endpoints[0].hostname": (host, None)
        }


def test_the_deployment_behind_a_shared_address_is_told_by_its_host_instead_of_a_header() -> None:
    """The transcribed set told deployments apart by a header of its own; here the Host carries identity."""
    replicas = [
        build.replica_endpoint("qwen-0", "qwen", cluster="east", namespace="team-a"),
        build.replica_endpoint("qwen-1", "qwen", cluster="east", namespace="team-a"),
    ]
    document = build.model_service(build.group(deployment="qwen"), name="qwen", namespace="team-a")
    refs = build.rendered(document, replicas, gateway=GATEWAY)["HTTPRoute/qwen"]["rules"][0]["backendRefs"]
    assert [ref["filters"][0]["urlRewrite"]["hostname"] for ref in refs] == [
        "qwen-0.team-a.modelplane.internal",
        "qwen-1.team-a.modelplane.internal",
    ]


# --- a service outside the fleet --------------------------------------------------------------------------------------

SAAS = {
    "HTTPRouteFilter/together-credential": {
        "credentialInjection": {
            "header": "Authorization",
            "overwrite": True,
            "credential": {"valueRef": {"name": "together-header"}},
        }
    },
    "Backend/together": backend_spec("api.together.xyz"),
    "HTTPRoute/llama": {
        "parentRefs": [{"name": "fleet", "namespace": "fleet-routing"}],
        "rules": [
            {
                "name": "serve",
                "matches": [{"path": {"type": "PathPrefix", "value": "/team-a/llama"}}],
                "timeouts": {"request": "0s"},
                "filters": [
                    {
                        "type": "URLRewrite",
                        "urlRewrite": {"path": {"type": "ReplacePrefixMatch", "replacePrefixMatch": "/"}},
                    }
                ],
                "backendRefs": [
                    {
                        "group": ENVOY,
                        "kind": "Backend",
                        "name": "together",
                        "weight": 1,
                        "filters": [
                            {"type": "URLRewrite", "urlRewrite": {"hostname": "api.together.xyz"}},
                            {
                                "type": "ExtensionRef",
                                "extensionRef": {
                                    "group": ENVOY,
                                    "kind": "HTTPRouteFilter",
                                    "name": "together-credential",
                                },
                            },
                        ],
                    }
                ],
            }
        ],
    },
}


def test_a_service_outside_the_fleet_with_its_key() -> None:
    bare = build.inference_gateway("fleet", gateway={"namespace": "fleet-routing"})
    document = build.model_service(build.group(endpoint="together"), namespace="team-a")
    together = build.model_endpoint(
        "together",
        "https://api.together.xyz/v1",
        namespace="team-a",
        auth={"secretRef": {"name": "together-header"}},
    )
    ours = build.rendered(document, [together], gateway=bare)
    found = {key: differences(ours[key], theirs) for key, theirs in SAAS.items()}
    assert found == {
        "HTTPRouteFilter/together-credential": {},
        "Backend/together": {"endpoints[0].hostname": ("api.together.xyz", None)},
        "HTTPRoute/llama": {},
    }


# --- active and standby -----------------------------------------------------------------------------------------------

FAILOVER_POLICY = {
    "timeout": {
        "tcp": {"connectTimeout": "3s"},
        "http": {"requestTimeout": "0s", "streamIdleTimeout": "900s"},
    },
    "healthCheck": {
        "panicThreshold": 0,
        "passive": {
            "interval": "2s",
            "baseEjectionTime": "20s",
            "maxEjectionPercent": 100,
            "consecutive5XxErrors": 3,
            "consecutiveGatewayErrors": 2,
            "consecutiveLocalOriginFailures": 1,
            "splitExternalLocalOriginErrors": True,
        },
    },
    "retry": {
        "numRetries": 2,
        "numAttemptsPerPriority": 1,
        "retryOn": {
            "triggers": ["connect-failure", "refused-stream", "reset-before-request", "retriable-status-codes"],
            "httpStatusCodes": [429, 502, 503],
        },
    },
}


def failover() -> dict[str, Json]:
    document = build.model_service(
        build.group(endpoint="chat-primary"),
        build.group(endpoint="chat-standby", priority=1),
        name="chat",
        namespace="team-b",
        timeouts={"idle": "900s"},
        retries={"on": ["connect-failure", "refused-stream", "reset-before-request", "429", "502", "503"]},
    )
    return build.rendered(
        document,
        [build.model_endpoint("chat-primary", "https://gw.east.fleet.example", namespace="team-b")],
        [build.model_endpoint("chat-standby", "https://gw.west.fleet.example", namespace="team-b")],
        gateway=GATEWAY,
    )


def test_active_and_standby() -> None:
    ours = failover()
    rule = ours["HTTPRoute/chat"]["rules"][0]
    assert [each["type"] for each in rule["filters"]] == ["ExtensionRef", "URLRewrite"]
    assert rule["filters"][0]["extensionRef"] == {"group": ENVOY, "kind": "HTTPRouteFilter", "name": "chat-rule"}
    assert ours["HTTPRouteFilter/chat-rule"] == {"urlRewrite": {"hostname": {"type": "Backend"}}}
    first, second = (ours[f"Backend/{ref['name']}"] for ref in rule["backendRefs"])
    for backend, host in ((first, "gw.east.fleet.example"), (second, "gw.west.fleet.example")):
        assert backend["endpoints"] == [{"hostname": host, "fqdn": {"hostname": host, "port": 443}}]
        # The name is written out, which Envoy Gateway v1.8 understands too; the set it stands for took it from the
        # endpoint, which needs v1.9.
        assert backend["tls"] == {"wellKnownCACertificates": "System", "sni": host}
    assert "fallback" not in first
    assert second["fallback"] is True
    policy = dict(flat(ours["BackendTrafficPolicy/chat"]))
    unlike = {path: (policy.get(path), value) for path, value in flat(FAILOVER_POLICY) if policy.get(path) != value}
    assert unlike == {"timeout.tcp.connectTimeout": ("5s", "3s")}


def test_no_filter_stands_inside_a_backend_ref_of_a_shared_rule() -> None:
    """One would split the cluster, and the standby would take live traffic."""
    for ref in failover()["HTTPRoute/chat"]["rules"][0]["backendRefs"]:
        assert "filters" not in ref


def test_no_path_is_rewritten_inside_a_backend_ref() -> None:
    """The gateway refuses it and answers 500, while `Accepted` stays True."""
    for objects in (weighted(), failover()):
        for key, spec in objects.items():
            if key.startswith("HTTPRoute/"):
                for ref in spec["rules"][0]["backendRefs"]:
                    assert all("path" not in each.get("urlRewrite", {}) for each in ref.get("filters", ()))


# --- the gateway ------------------------------------------------------------------------------------------------------


def test_the_front_door() -> None:
    door = gateways.decode(GATEWAY)
    specs = {
        each.resource["kind"]: each.resource["spec"]
        for each in (*front.front_door(door), traffic.client_manifest(door))
    }
    assert specs["GatewayClass"] == {"controllerName": "gateway.envoyproxy.io/gatewayclass-controller"}
    assert specs["EnvoyProxy"] == {
        "provider": {
            "type": "Kubernetes",
            "kubernetes": {
                "envoyDeployment": {"replicas": 2},
                "envoyService": {"type": "LoadBalancer", "externalTrafficPolicy": "Cluster"},
            },
        },
        "shutdown": {"drainTimeout": "600s", "minDrainDuration": "10s"},
    }
    assert specs["Gateway"] == {
        "gatewayClassName": "fleet",
        "infrastructure": {"parametersRef": {"group": ENVOY, "kind": "EnvoyProxy", "name": "fleet"}},
        "listeners": [
            {
                "name": "https",
                "protocol": "HTTPS",
                "port": 443,
                # No hostname: namespaces own names below it. Routes carry it.
                "tls": {"mode": "Terminate", "certificateRefs": [{"group": "", "kind": "Secret", "name": "fleet-tls"}]},
                "allowedRoutes": {"namespaces": {"from": "All"}},
            }
        ],
    }
    assert specs["ClientTrafficPolicy"] == {
        "targetRefs": [{"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "fleet"}],
        "connection": {"bufferLimit": "32Mi"},
        "http2": {"initialStreamWindowSize": "16Mi", "initialConnectionWindowSize": "24Mi"},
        # As long as a service may ask for: a shorter limit here would cut streams that the service allows.
        "timeout": {
            "http": {"requestReceivedTimeout": "0s", "streamIdleTimeout": "3600s", "idleTimeout": "3600s"},
        },
        # They choose a pod behind a router inside a cluster, or name a client.
        "headers": {"earlyRequestHeaders": {"remove": list(access.INTERNAL_HEADERS)}},
    }


@pytest.mark.parametrize(
    ("source", "policy", "detection"),
    [
        pytest.param({"addressFrom": "Connection"}, "Local", {}, id="connection"),
        pytest.param(
            {"addressFrom": "XForwardedFor", "trustedHops": 2},
            "Cluster",
            {"clientIPDetection": {"xForwardedFor": {"numTrustedHops": 2}}},
            id="x-forwarded-for",
        ),
        pytest.param(
            {"addressFrom": "ProxyProtocol"}, "Cluster", {"proxyProtocol": {"optional": False}}, id="proxy-protocol"
        ),
    ],
)
def test_the_addresses_of_clients_are_known_from_what_the_platform_says(
    source: Json, policy: str, detection: Json
) -> None:
    door = gateways.decode({**GATEWAY, "spec": {**GATEWAY["spec"], "clients": source}})
    (proxy,) = [one.resource["spec"] for one in front.front_door(door) if one.resource["kind"] == "EnvoyProxy"]
    assert proxy["provider"]["kubernetes"]["envoyService"]["externalTrafficPolicy"] == policy
    spec = traffic.client_manifest(door).resource["spec"]
    assert {key: spec[key] for key in ("clientIPDetection", "proxyProtocol") if key in spec} == detection
