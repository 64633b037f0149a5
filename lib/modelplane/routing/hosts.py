"""Ownership of host names, which keeps namespaces apart.

A host name identifies a service to its clients. It also identifies a replica among all that share the address of one
gateway, by the Host that the fleet's gateway sends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from modelplane import names
from modelplane.errors import InvalidInput
from modelplane.routing import egress

_INTERNAL = f".{names.INTERNAL_DOMAIN}"
# How a Service of the control plane is named from inside: [<pod>.]<service>.<namespace>.svc[.<cluster domain>]. Only
# the usual cluster domain is known here; where it is another one, a network policy has to keep namespaces apart.
_CLUSTER_SERVICE = (".svc", ".svc.cluster.local")
# Names under which a gateway finds itself, its API server, or the metadata of its machine. Nothing allows them.
_NOBODYS = (
    *("localhost", "*.localhost", "kubernetes.default", "*.kubernetes.default"),
    *("metadata.google.internal", "metadata.goog", "*.metadata.goog", "metadata.azure.internal"),
    *("metadata.azure.com", "metadata.tencentyun.com", "metadata.packet.net", "metadata.platformequinix.com"),
    *("instance-data.ec2.internal", "api.metadata.cloud.ibm.com"),
)


def check_upstream(namespace: str, host: str) -> None:
    """Check that an endpoint of `namespace` may use `host` as its address or Host header.

    Raises: InvalidInput if the host belongs to another namespace or to the gateway (the author's fault).
    """
    if egress.covers(_NOBODYS, host):
        raise InvalidInput(
            f"host {host} is the gateway itself, its API server or its node's metadata; write the endpoint's host"
        )
    check_owner(namespace, host)


def check_owner(namespace: str, host: str) -> None:
    """Check that a lower-case `host` names no replica and no Service of another namespace.

    Raises: InvalidInput if it does (the author's fault).
    """
    if host == names.INTERNAL_DOMAIN or host.endswith(_INTERNAL):
        owner = host.removesuffix(_INTERNAL).split(".")
        if len(owner) != 2 or owner[1] != namespace:
            raise InvalidInput(
                f"host {host} does not belong to namespace {namespace}: names under {names.INTERNAL_DOMAIN} are "
                f"replicas, and an endpoint may only use <replica>.{namespace}.{names.INTERNAL_DOMAIN}"
            )
        return
    for suffix in _CLUSTER_SERVICE:
        if not host.endswith(suffix):
            continue
        owner = host.removesuffix(suffix).split(".")
        if len(owner) < 2 or owner[-1] != namespace:
            raise InvalidInput(
                f"host {host} is a Service outside namespace {namespace}; an endpoint may only use Services of its "
                f"namespace: <service>.{namespace}.svc"
            )


def domain(hostname: str) -> str:
    """Return the host name of a gateway without a leading "*."."""
    return hostname.removeprefix("*.")


def is_allowed(host: str, namespace: str, *, hostname: str, grants: Mapping[str, Sequence[str]]) -> bool:
    """Return whether a service of `namespace` may use `host`.

    `hostname` is that of the gateway, empty if it has none. `grants` has the namespaces by host. A namespace owns all
    names under `.<namespace>.<domain>`; the platform grants others host by host.
    """
    if namespace in grants.get(host, ()):
        return True
    return bool(hostname) and host.endswith(f".{namespace}.{domain(hostname)}")


def is_served(host: str, *, hostname: str) -> bool:
    """Return whether the gateway's listener accepts requests for `host`; one without a host name accepts all."""
    if not hostname or host == hostname:
        return True
    return hostname.startswith("*.") and host.endswith(f".{domain(hostname)}")


def listener(hostname: str, grants: Mapping[str, Sequence[str]]) -> str:
    """Return the host name of the gateway's listener, empty if it must accept any.

    One listener serves all hosts, because Envoy Gateway disables HTTP/2 on TLS for overlapping listeners. The listener
    cannot have a name without "*.", because namespaces own subdomains of it. Each route is limited by its own hosts.
    """
    if hostname.startswith("*.") and all(is_served(host, hostname=hostname) for host in grants):
        return hostname
    return ""


def of_routes(host: str, hostname: str) -> tuple[str, ...]:
    """Return the hosts of a service's route: its own, else the gateway's, else any."""
    wanted = host or hostname
    return (wanted,) if wanted else ()


def base_url(authority: str, path: str, *, port: int, is_tls: bool) -> str:
    """Return the URL to which clients append `/v1/...`; `authority` is a host name or an address."""
    literal = f"[{authority}]" if ":" in authority else authority
    shown = "" if port == (443 if is_tls else 80) else f":{port}"
    return f"{'https' if is_tls else 'http'}://{literal}{shown}{path.rstrip('/')}"


def authority(host: str, namespace: str, *, hostname: str, address: str) -> str:
    """Return the name or address by which clients reach a service of `namespace`, empty while none is known.

    On a gateway with a wildcard host name, a service without a host has the host name of its namespace.
    """
    if host:
        return host
    if hostname.startswith("*."):
        return f"{namespace}.{domain(hostname)}"
    return hostname or address
