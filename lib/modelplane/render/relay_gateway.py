"""The relay: a second Gateway on the control plane, which only the proxies of the fleet's gateway reach.

It has a listener for each namespace, which takes routes of this namespace alone, for hosts of this namespace alone. So
no route of another namespace can take a request that was meant for a leg, whatever it matches. Source: Gateway API
v1.6.1 (allowedRoutes, hostname of a listener), Envoy Gateway v1.9.0 (labels and ports of a Gateway's proxies).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from modelplane.render import gateway as door
from modelplane.render import routing, traffic
from modelplane.render.manifest import Manifest
from modelplane.routing import relay
from modelplane.routing.model import Gateway, Relay

Json: TypeAlias = Any

PROXY_KEY = "relay-proxy"
GATEWAY_KEY = "relay-gateway"
CLIENT_KEY = "relay-client-policy"
INGRESS_KEY = "relay-ingress-policy"
EGRESS_KEY = "relay-egress-policy"
KEYS = (PROXY_KEY, GATEWAY_KEY, CLIENT_KEY, INGRESS_KEY, EGRESS_KEY)

# Source: Envoy Gateway v1.9.0, ports of a proxy beside its listeners: metrics, shutdown manager, readiness.
_METRICS, _READY = 19001, 19003


def manifests(gateway: Gateway, kept: Iterable[str] = ()) -> tuple[Manifest, ...]:
    """Return the objects of the relay, with listeners for its namespaces and those that are `kept`."""
    if gateway.relay is None:
        return ()
    own = gateway.relay
    return (
        Manifest(PROXY_KEY, _proxy(gateway, own)),
        Manifest(GATEWAY_KEY, _gateway(gateway, own, sorted({*own.namespaces, *kept}))),
        replace(traffic.client_manifest(replace(gateway, gateway_name=own.name)), key=CLIENT_KEY),
        Manifest(INGRESS_KEY, _ingress(gateway, own)),
        *_egress(gateway, own),
    )


def _proxy(gateway: Gateway, own: Relay) -> Mapping[str, Json]:
    return {
        "apiVersion": routing.ENVOY_VERSION,
        "kind": "EnvoyProxy",
        "metadata": {"name": own.name, "namespace": gateway.gateway_namespace},
        "spec": {
            "provider": {
                "type": "Kubernetes",
                "kubernetes": {
                    "envoyDeployment": {"replicas": own.replicas},
                    "envoyService": {"type": "ClusterIP", "name": own.name},
                },
            },
            "shutdown": {"drainTimeout": "600s", "minDrainDuration": "10s"},
            **door.backend_tls(gateway),
        },
    }


def _gateway(gateway: Gateway, own: Relay, namespaces: Iterable[str]) -> Mapping[str, Json]:
    return {
        "apiVersion": routing.GATEWAY_API_VERSION,
        "kind": "Gateway",
        "metadata": {"name": own.name, "namespace": gateway.gateway_namespace},
        "spec": {
            "gatewayClassName": door.class_name(gateway),
            "infrastructure": {"parametersRef": {"group": routing.ENVOY, "kind": "EnvoyProxy", "name": own.name}},
            "listeners": [
                {
                    "name": namespace,
                    "protocol": "HTTP",
                    "port": relay.PORT,
                    "hostname": f"*.{relay.domain(namespace)}",
                    "allowedRoutes": {"namespaces": {"from": "Selector", "selector": door.named(namespace)}},
                }
                for namespace in namespaces
            ],
        },
    }


def _ingress(gateway: Gateway, own: Relay) -> Mapping[str, Json]:
    """Return the network policy by which only the fleet's proxies and the relay's reach these; metrics stay readable.

    The relay asks itself for all priorities after the second.
    """
    fleet = {"podSelector": {"matchLabels": door.proxy_labels(gateway)}}
    itself = {"podSelector": {"matchLabels": door.proxy_labels(replace(gateway, gateway_name=own.name))}}
    spec = {
        **itself,
        "policyTypes": ["Ingress"],
        "ingress": [
            {"from": [fleet, itself], "ports": [{"protocol": "TCP", "port": relay.PORT}]},
            {"ports": [{"protocol": "TCP", "port": port} for port in (_METRICS, _READY)]},
        ],
    }
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": own.name, "namespace": own.proxy_namespace},
        "spec": spec,
    }


def _egress(gateway: Gateway, own: Relay) -> tuple[Manifest, ...]:
    """Return the policy of the fleet's proxies for the relay's, which are those that reach endpoints."""
    at_relay = replace(gateway, name=own.name, gateway_name=own.name)
    return tuple(replace(manifest, key=EGRESS_KEY) for manifest in door.proxy_policy(at_relay))
