"""Gateway of a cluster that Modelplane installs: its class, the shape of its proxies, and the Gateway itself.

Its proxies and their balancer stand in the namespace of Envoy Gateway.

Source: Envoy Gateway v1.9.1, Gateway API v1.6.1.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from modelplane.render import mutual_tls, routing
from modelplane.render.manifest import Lifecycle, Manifest, Purpose
from modelplane.render.stack import releases
from modelplane.workload.stack import Stack

Json: TypeAlias = Any

CLASS, PROXIES, GATEWAY, NAMESPACE = "gateway-class", "gateway-proxies", "gateway", "gateway-namespace"
KEYS = (NAMESPACE, CLASS, PROXIES, GATEWAY)
"""The keys in the order of creation."""
_CONTROLLER = "gateway.envoyproxy.io/gatewayclass-controller"


def manifests(stack: Stack) -> tuple[Manifest, ...]:
    """Return the objects of the cluster's gateway, in the order of creation; the Gateway once it has a listener."""
    where = {"name": stack.gateway_name, "namespace": stack.gateway_namespace}
    parameters = {"group": routing.ENVOY, "kind": "EnvoyProxy", "name": stack.gateway_name}
    listeners = _listeners(stack)
    made = (
        Manifest(
            NAMESPACE,
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": stack.gateway_namespace}},
            Purpose.SHARED,
            lifecycle=Lifecycle.KEEP,
        ),
        Manifest(
            CLASS,
            {
                "apiVersion": routing.GATEWAY_API_VERSION,
                "kind": "GatewayClass",
                "metadata": {"name": stack.gateway_name},
                "spec": {"controllerName": _CONTROLLER},
            },
        ),
        Manifest(
            PROXIES,
            {
                "apiVersion": routing.ENVOY_VERSION,
                "kind": "EnvoyProxy",
                "metadata": dict(where),
                "spec": {
                    "provider": {
                        "type": "Kubernetes",
                        "kubernetes": {
                            "envoyDeployment": {"replicas": 2},
                            "envoyService": {"type": "LoadBalancer", "externalTrafficPolicy": "Cluster"},
                        },
                    },
                    "shutdown": {"drainTimeout": "600s", "minDrainDuration": "10s"},
                },
            },
        ),
        Manifest(
            GATEWAY,
            {
                "apiVersion": routing.GATEWAY_API_VERSION,
                "kind": "Gateway",
                "metadata": dict(where),
                "spec": {
                    "gatewayClassName": stack.gateway_name,
                    "infrastructure": {"parametersRef": parameters},
                    "listeners": listeners,
                },
            },
            readiness=releases.gateway_readiness(),
        ),
    )
    return made if listeners else tuple(one for one in made if one.key != GATEWAY)


def _listeners(stack: Stack) -> list[dict[str, Json]]:
    plain = {
        "name": stack.gateway_listener,
        "protocol": "HTTP",
        "port": 80,
        "allowedRoutes": {"namespaces": {"from": "All"}},
    }
    listed = [plain] if stack.gateway_plaintext else []
    return [*listed, mutual_tls.listener(stack.gateway_certificate)] if stack.gateway_certificate else listed
