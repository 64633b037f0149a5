"""The Gateway of a cluster: the Object that observes it, its address, and the condition ClusterReady."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

from modelplane import names, seen
from modelplane.api import inference_cluster
from modelplane.api.fields import Field
from modelplane.api.inference_cluster import GatewayAddress, ProviderConfigRef
from modelplane.render import objects
from modelplane.render.manifest import Lifecycle, Manifest
from modelplane.routing.transport import Transport
from modelplane.workload.site import ClusterFacts
from modelplane_functions import hold
from modelplane_functions.exchange import Child, Condition, Observed, Ready, Truth
from modelplane_functions.memory.resources import recall

Json: TypeAlias = Any

KEY = "gateway"


def facts(observed: Observed) -> ClusterFacts:
    """Return the facts of the cluster, which name its gateway. Cost: once per version of the cluster."""
    return recall(observed.composite, "facts", partial(inference_cluster.decode_facts, observed.composite))


def read(observed: Observed, serving: Transport | None, trusted: str = "") -> GatewayAddress | None:
    """Return the observed address of the cluster's gateway, or the last known one: an address may be briefly absent.

    It is that of the listener for the transport that endpoints are told (`serving`), None before there is one.
    `trusted` are the authorities behind the certificate of the gateway.
    """
    if serving is None:
        return None
    manifest = objects.observed(observed.children.get(KEY))
    before = hold.published(lambda: published(observed))
    if serving is Transport.MUTUAL_TLS:
        now = None if manifest is None else _address(manifest, names.MUTUAL_TLS_LISTENER)
        known = now or (before if before is not None and before.server_name else None)
        if known is None:
            return None
        return replace(known, server_name=names.server_name(observed.name), authorities=trusted or known.authorities)
    now = None if manifest is None else _address(manifest, _spec(observed).at("listener").text(""))
    return now or (before if before is not None and not before.server_name else None)


def published(observed: Observed) -> GatewayAddress | None:
    """Return the published address. Raises: InvalidInput."""
    return inference_cluster.decode_gateway(Field(observed.status).at("gateway"))


def _address(gateway: Mapping[str, Json], listener_name: str) -> GatewayAddress | None:
    address = next((seen.text(one.get("value")) for one in seen.objects(seen.at(gateway, "status", "addresses"))), "")
    listeners = seen.objects(seen.at(gateway, "spec", "listeners"))
    if listener_name:
        listeners = tuple(listener for listener in listeners if listener.get("name") == listener_name)
    else:
        # One that asks for certificates is used by its own name alone.
        others = tuple(one for one in listeners if one.get("name") != names.MUTUAL_TLS_LISTENER)
        listeners = others or listeners
    if not address or not listeners:
        return None
    listener = listeners[0]
    secure, port = listener.get("protocol") in ("HTTPS", "TLS"), listener.get("port")
    known = (443 if secure else 80) if port is None else seen.count(port)
    if known is None:
        return None
    return GatewayAddress(
        address=address,
        port=known,
        scheme="https" if secure else "http",
        hostname=seen.text(listener.get("hostname")),
    )


def _spec(observed: Observed) -> Field:
    return Field(observed.spec, ("spec",)).at("gateway")


def child(observed: Observed, provider: ProviderConfigRef) -> Child:
    """Return the Object that only observes the gateway."""
    known = facts(observed)
    gateway = Manifest(
        key=KEY,
        resource={
            "apiVersion": "gateway.networking.k8s.io/v1",
            "kind": "Gateway",
            "metadata": {"name": known.gateway_name, "namespace": known.gateway_namespace},
        },
        lifecycle=Lifecycle.OBSERVE,
    )
    wrapped = objects.wrap(
        gateway, provider_config=provider.encode(), namespace=names.SYSTEM_NAMESPACE, owner=observed.name
    )
    is_seen = objects.observed(observed.children.get(KEY)) is not None
    return Child(wrapped, Ready.TRUE if is_seen else Ready.FALSE)


def ready(observed: Observed, gateway: GatewayAddress | None) -> Condition:
    """Return the condition ClusterReady: the cluster is reached when its gateway is read."""
    child = observed.children.get(KEY)
    where = f"Gateway {_described(observed)}"
    synced = {} if child is None else objects.condition(child, "Synced")
    if synced.get("status") == "False":
        message = f"{where} cannot be read from the cluster: {synced.get('message', 'no reason was reported')}"
        return Condition("ClusterReady", Truth.FALSE, "Unreachable", message)
    if child is None or objects.observed(child) is None:
        return Condition(
            "ClusterReady",
            Truth.UNKNOWN,
            "Connecting",
            f"waiting for provider-kubernetes to read {where} from the cluster",
        )
    if gateway is None:
        return Condition(
            "ClusterReady",
            Truth.TRUE,
            "NoGatewayAddress",
            f"the cluster is reachable, but {where} has no address yet; replicas are placed here once it has one",
        )
    message = f"{where} has address {gateway.address} port {gateway.port}"
    return Condition("ClusterReady", Truth.TRUE, "Reachable", message)


def _described(observed: Observed) -> str:
    known = facts(observed)
    return names.qualified(known.gateway_namespace, known.gateway_name)
