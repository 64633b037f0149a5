"""Gateway of the fleet on the control plane: Envoy Gateway, its class, its proxies and its listener.

Source: Envoy Gateway v1.9.0 (chart gateway-helm, EnvoyProxy), Gateway API v1.6.1, provider-helm v1.4.0 (Release).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane import names
from modelplane.render import routing
from modelplane.render.manifest import NOTHING, Manifest
from modelplane.routing import addresses, hosts
from modelplane.routing.access import AddressSource
from modelplane.routing.model import Gateway

Json: TypeAlias = Any

CONTROLLER = "gateway.envoyproxy.io/gatewayclass-controller"
CHART_REPOSITORY = "oci://docker.io/envoyproxy"
CHART_NAMESPACE = "envoy-gateway-system"
# Source: Envoy Gateway v1.9.0, labels of a Gateway's proxies and the port of its xDS server.
_OWNING_GATEWAY = f"{routing.ENVOY}/owning-gateway"
_NODE_LOCAL_DNS = "169.254.20.10/32"

PROVIDER_CONFIG_KEY = "helm-provider-config"
# A ClusterProviderConfig stood under this key once. A key never changes its kind: Crossplane would forget the old
# object instead of removing it.
FORMER_PROVIDER_CONFIG_KEY = "provider-config"
RELEASE_KEY = "envoy-gateway"
CLASS_KEY = "gateway-class"
PROXY_KEY = "envoy-proxy"
GATEWAY_KEY = "gateway"
USAGE_KEY = "usage-envoy-gateway"
PROXY_POLICY_KEY = "proxy-policy"

_RELEASE = "envoy-gateway"
HELM = "helm.m.crossplane.io/v1beta1"


def class_name(gateway: Gateway) -> str:
    """Return the name of the GatewayClass: the adopted one, else that of the gateway."""
    return gateway.class_name or gateway.name


def installation(gateway: Gateway, standing: Mapping[str, str] = NOTHING) -> tuple[Manifest, ...]:
    """Return the objects that install Envoy Gateway: a ProviderConfig of provider-helm, and the Release.

    The ProviderConfig is namespaced, because provider-helm has administrator rights, and a cluster-wide one would give
    these to everybody who may create a Release in any namespace. `standing` has the names of existing objects, by key;
    they are kept.
    """
    config = provider_config_name(gateway, standing)
    return (
        provider_config(gateway, standing),
        Manifest(
            RELEASE_KEY,
            {
                "apiVersion": HELM,
                "kind": "Release",
                "metadata": {"name": _release_name(gateway, standing), "namespace": names.SYSTEM_NAMESPACE},
                "spec": {
                    "forProvider": {
                        "chart": {"name": "gateway-helm", "repository": CHART_REPOSITORY, "version": gateway.version},
                        "namespace": CHART_NAMESPACE,
                        "wait": True,
                        "values": {"config": {"envoyGateway": {"extensionApis": {"enableBackend": True}}}},
                    },
                    "providerConfigRef": {"kind": "ProviderConfig", "name": config},
                },
            },
        ),
    )


def provider_config(gateway: Gateway, standing: Mapping[str, str] = NOTHING) -> Manifest:
    """Return the ProviderConfig of provider-helm through which the charts are installed."""
    return Manifest(
        PROVIDER_CONFIG_KEY,
        {
            "apiVersion": HELM,
            "kind": "ProviderConfig",
            "metadata": {"name": provider_config_name(gateway, standing), "namespace": names.SYSTEM_NAMESPACE},
            "spec": {"credentials": {"source": "InjectedIdentity"}},
        },
    )


def provider_config_name(gateway: Gateway, standing: Mapping[str, str]) -> str:
    """Return the name of the ProviderConfig."""
    return standing.get(PROVIDER_CONFIG_KEY) or names.bounded(gateway.name, "control-plane")


def usage(gateway: Gateway, standing: Mapping[str, str] = NOTHING) -> Manifest:
    """Return the Usage that keeps Envoy Gateway installed until the Gateway, whose proxies it removes, is deleted."""
    return usage_of(
        gateway,
        USAGE_KEY,
        _release_name(gateway, standing),
        "the proxies of a Gateway are removed by Envoy Gateway, so it is removed after them",
        _RELEASE,
    )


def usage_of(gateway: Gateway, key: str, release: str, reason: str, suffix: str = "") -> Manifest:
    """Return the Usage that keeps a Release until the Gateway is deleted; its name ends in `suffix`, else `key`."""
    return Manifest(
        key,
        {
            "apiVersion": "protection.crossplane.io/v1beta1",
            "kind": "Usage",
            "metadata": {"name": names.bounded(gateway.name, suffix or key), "namespace": gateway.gateway_namespace},
            "spec": {
                "of": {
                    "apiVersion": HELM,
                    "kind": "Release",
                    "resourceRef": {"name": release, "namespace": names.SYSTEM_NAMESPACE},
                },
                "by": {
                    "apiVersion": routing.GATEWAY_API_VERSION,
                    "kind": "Gateway",
                    "resourceRef": {"name": gateway.gateway_name},
                },
                "reason": reason,
                "replayDeletion": True,
            },
        },
    )


def front_door(gateway: Gateway) -> tuple[Manifest, ...]:
    """Return the class (unless one is adopted), the settings of the proxies and the Gateway."""
    objects = [_proxy(gateway), _gateway(gateway)]
    if not gateway.class_name:
        objects.insert(
            0,
            Manifest(
                CLASS_KEY,
                {
                    "apiVersion": routing.GATEWAY_API_VERSION,
                    "kind": "GatewayClass",
                    "metadata": {"name": class_name(gateway)},
                    "spec": {"controllerName": CONTROLLER},
                },
            ),
        )
    return tuple(objects)


def proxy_policy(gateway: Gateway) -> tuple[Manifest, ...]:
    """Return the network policy that keeps the proxies from networks without endpoints, if the platform enables it.

    A name resolves to an address only when a request is sent, so a check of the text is not enough. Cluster DNS and the
    controller that programs the proxies stay reachable.
    """
    if gateway.proxy_policy is None:
        return ()
    denied = (*addresses.NODE_NETWORKS, *gateway.egress.denied_networks)
    everywhere = [
        {
            "ipBlock": {
                "cidr": cidr,
                "except": [str(network) for network in sorted({n for n in denied if n.version == version})],
            }
        }
        for version, cidr in ((4, "0.0.0.0/0"), (6, "::/0"))
    ]
    dns = [{"protocol": protocol, "port": 53} for protocol in ("UDP", "TCP")]
    spec = {
        "podSelector": {"matchLabels": proxy_labels(gateway)},
        "policyTypes": ["Egress"],
        "egress": [
            {"to": everywhere},
            {"to": [_namespace("kube-system"), {"ipBlock": {"cidr": _NODE_LOCAL_DNS}}], "ports": dns},
            {"to": [_namespace(gateway.proxy_policy.namespace)]},
        ],
    }
    metadata = {
        "name": names.bounded(gateway.name, "endpoints"),
        "namespace": gateway.proxy_policy.namespace,
    }
    resource = {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": metadata, "spec": spec}
    return (Manifest(PROXY_POLICY_KEY, resource),)


def proxy_labels(gateway: Gateway) -> Mapping[str, str]:
    """Return the labels of the pods of the gateway's proxies."""
    return {
        f"{_OWNING_GATEWAY}-name": gateway.gateway_name,
        f"{_OWNING_GATEWAY}-namespace": gateway.gateway_namespace,
    }


def named(namespace: str) -> Mapping[str, Json]:
    """Return the selector of one Namespace, by the label that only Kubernetes writes."""
    return {"matchLabels": {"kubernetes.io/metadata.name": namespace}}


def _namespace(name: str) -> Mapping[str, Json]:
    return {"namespaceSelector": named(name)}


def _release_name(gateway: Gateway, standing: Mapping[str, str]) -> str:
    return standing.get(RELEASE_KEY) or names.bounded(gateway.name, _RELEASE)


def _proxy(gateway: Gateway) -> Manifest:
    """Return the proxies' settings: two of them, and streams get ten minutes to end when one is stopped.

    A Service of policy Cluster shows the address of a node instead of the client's.
    """
    known = gateway.client_addresses
    policy = "Local" if known is not None and known.source is AddressSource.CONNECTION else "Cluster"
    spec: dict[str, Json] = {
        "provider": {
            "type": "Kubernetes",
            "kubernetes": {
                "envoyDeployment": {"replicas": 2},
                "envoyService": {"type": "LoadBalancer", "externalTrafficPolicy": policy},
            },
        },
        "shutdown": {"drainTimeout": "600s", "minDrainDuration": "10s"},
        **backend_tls(gateway),
    }
    return Manifest(
        PROXY_KEY,
        {
            "apiVersion": routing.ENVOY_VERSION,
            "kind": "EnvoyProxy",
            "metadata": {"name": gateway.gateway_name, "namespace": gateway.gateway_namespace},
            "spec": spec,
        },
    )


def backend_tls(gateway: Gateway) -> Mapping[str, Json]:
    """Return the part of the proxies' settings with the certificate that they show to endpoints, empty for none."""
    if not gateway.client_certificate:
        return {}
    reference = {"group": "", "kind": "Secret", "name": gateway.client_certificate}
    return {"backendTLS": {"clientCertificateRef": reference}}


def _gateway(gateway: Gateway) -> Manifest:
    listener: dict[str, Json] = {
        "name": "https" if gateway.is_tls else "http",
        "protocol": "HTTPS" if gateway.is_tls else "HTTP",
        "port": gateway.port,
        "allowedRoutes": {"namespaces": {"from": "All"}},
    }
    hostname = hosts.listener(gateway.hostname, gateway.grants)
    if hostname:
        listener["hostname"] = hostname
    if gateway.is_tls:
        refs = [{"group": "", "kind": "Secret", "name": name} for name in gateway.certificates]
        listener["tls"] = {"mode": "Terminate", "certificateRefs": refs}
    return Manifest(
        GATEWAY_KEY,
        {
            "apiVersion": routing.GATEWAY_API_VERSION,
            "kind": "Gateway",
            "metadata": {"name": gateway.gateway_name, "namespace": gateway.gateway_namespace},
            "spec": {
                "gatewayClassName": class_name(gateway),
                "infrastructure": {
                    "parametersRef": {"group": routing.ENVOY, "kind": "EnvoyProxy", "name": gateway.gateway_name}
                },
                "listeners": [listener],
            },
        },
    )
