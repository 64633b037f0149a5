"""ModelEndpoint of a serving replica.

The URL is that of its cluster's gateway. The gateway finds the replica by its internal host name.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane import names, seen
from modelplane.api.fields import Field
from modelplane.workload import authorities
from modelplane.workload.model import Model

Json: TypeAlias = Any

KIND = "ModelEndpoint"
API = "openai"
"""Value of the label that names the API of a replica's endpoint."""
_DEFAULT_PORTS = {"http": 80, "https": 443}


def encode(
    replica: Mapping[str, Json], model: Model | None, place: Mapping[str, str] | None = None
) -> dict[str, Json] | None:
    """Return the endpoint of an observed ModelReplica, None while the replica has no valid address.

    `place` are the labels of the place of its cluster.
    """
    root = Field(replica)
    told = seen.at(replica, "status", "address")
    gateway, scheme = seen.text(seen.at(told, "address")), seen.text(seen.at(told, "scheme")) or "http"
    port = seen.count(seen.at(told, "port"))
    if not gateway or scheme not in _DEFAULT_PORTS or (port is None and seen.at(told, "port") is not None):
        return None
    namespace = root.at("metadata", "namespace").text()
    name = root.at("metadata", "name").text()
    spec: dict[str, Json] = {
        "url": _url(scheme, gateway, _DEFAULT_PORTS[scheme] if port is None else port),
        "host": seen.text(seen.at(told, "host")) or names.internal_host(namespace, name),
        "api": ["OpenAI"],
    }
    server_name = seen.text(seen.at(told, "serverName"))
    trusted = authorities.bundle([seen.text(seen.at(told, "authorities"))])
    if server_name and trusted:
        spec["tls"] = {"sni": server_name, "caCertificates": trusted}
    if model is not None:
        spec["model"] = {"name": model.name}
    return {
        "apiVersion": names.API_VERSION,
        "kind": KIND,
        "metadata": {"name": name, "namespace": namespace, "labels": {**labels(replica), **(place or {})}},
        "spec": spec,
    }


def place(cluster: Mapping[str, str] | None, endpoint: Mapping[str, Json] | None) -> dict[str, str]:
    """Return the labels of the place of an endpoint from those of its cluster, None while these are not known.

    A label that the cluster has not, or not any more, stays on an endpoint that has it: an endpoint that lost it would
    leave the routes that select by it. One with another value is the decision of the platform.
    """
    before = seen.at(endpoint, "metadata", "labels")
    found: dict[str, str] = {}
    for name in names.LABELS_OF_PLACE:
        value = (cluster or {}).get(name) or seen.text(seen.at(before, name))
        if value:
            found[name] = value
    return found


def labels(replica: Mapping[str, Json]) -> dict[str, str]:
    """Return the labels of the endpoint of a ModelReplica, which it has while it serves. Raises: InvalidInput."""
    root = Field(replica)
    own = root.at("spec", "workers", "template", "metadata", "labels").members()
    return {
        **{key: str(value) for key, value in sorted(own.items()) if key not in names.LABELS_OF_PLACE},
        names.LABEL_DEPLOYMENT: root.at("spec", "deploymentRef", "name").text(),
        names.LABEL_CLUSTER: root.at("spec", "clusterName").text(),
        names.LABEL_API: API,
        names.LABEL_ENDPOINT: root.at("metadata", "name").text(),
    }


def _url(scheme: str, gateway: str, port: int) -> str:
    host = f"[{gateway}]" if _is_ipv6(gateway) else gateway
    return f"{scheme}://{host}" if port == _DEFAULT_PORTS[scheme] else f"{scheme}://{host}:{port}"


def _is_ipv6(text: str) -> bool:
    try:
        return ipaddress.ip_address(text).version == 6
    except ValueError:
        return False
