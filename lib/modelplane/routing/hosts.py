"""Who may use which host name: the rule by which namespaces never meet.

Host names carry identity twice: a service is asked for by its host, and a replica is told apart from its neighbours
behind the same address by the host that the gateway sends.
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
    """Return when an endpoint of `namespace` may be reached under, or send, `host`.

    Raises: InvalidInput when the host belongs to another namespace (the author's fault), or is the gateway's own.
    """
    if egress.covers(_NOBODYS, host):
        raise InvalidInput(
            f"host {host} is the gateway itself, its API server or its node's metadata; write the endpoint's name"
        )
    if host == names.INTERNAL_DOMAIN or host.endswith(_INTERNAL):
        owner = host.removesuffix(_INTERNAL).split(".")
        if len(owner) != 2 or owner[1] != namespace:
            raise InvalidInput(
                f"host {host} is not one of namespace {namespace}: names under {names.INTERNAL_DOMAIN} are replicas, "
                "and an "
                f"endpoint may only use <replica>.{namespace}.{names.INTERNAL_DOMAIN}"
            )
        return
    for suffix in _CLUSTER_SERVICE:
        if not host.endswith(suffix):
            continue
        owner = host.removesuffix(suffix).split(".")
        if len(owner) < 2 or owner[-1] != namespace:
            raise InvalidInput(
                f"host {host} is a Service outside namespace {namespace}; an endpoint may only use Services of its own "
                f"namespace: <service>.{namespace}.svc"
            )


def domain(hostname: str) -> str:
    """Return the domain of a gateway's host name: without a leading "*."."""
    return hostname.removeprefix("*.")


def is_allowed(host: str, namespace: str, *, hostname: str, grants: Mapping[str, Sequence[str]]) -> bool:
    """Return whether a service of `namespace` may be asked for as `host`.

    `hostname` is the gateway's (empty: none); `grants` gives namespaces by host. A namespace owns everything under
    `.<namespace>.<domain>`; the rest is granted by the platform, host by host.
    """
    if namespace in grants.get(host, ()):
        return True
    return bool(hostname) and host.endswith(f".{namespace}.{domain(hostname)}")


def is_served(host: str, *, hostname: str) -> bool:
    """Return whether the gateway's listener takes requests for `host`; one without a host name takes all."""
    if not hostname or host == hostname:
        return True
    return hostname.startswith("*.") and host.endswith(f".{domain(hostname)}")


def listener(hostname: str, grants: Mapping[str, Sequence[str]]) -> str:
    """Return the host name of the gateway's one listener, empty when it must take any.

    One listener serves all hosts: overlapping ones would make Envoy Gateway give up HTTP/2 on TLS. A name without
    "*." cannot stand there, since namespaces own subdomains of it; routes are restricted by their own hosts in any
    case.
    """
    if hostname.startswith("*.") and all(is_served(host, hostname=hostname) for host in grants):
        return hostname
    return ""


def of_routes(host: str, hostname: str) -> tuple[str, ...]:
    """Return the hosts of a service's route: its own, else the gateway's, else any."""
    wanted = host or hostname
    return (wanted,) if wanted else ()


def base_url(authority: str, path: str, *, port: int, is_tls: bool) -> str:
    """Return the URL that clients append `/v1/...` to; `authority` is a host name or an address."""
    literal = f"[{authority}]" if ":" in authority else authority
    shown = "" if port == (443 if is_tls else 80) else f":{port}"
    return f"{'https' if is_tls else 'http'}://{literal}{shown}{path.rstrip('/')}"


def authority(host: str, namespace: str, *, hostname: str, address: str) -> str:
    """Return the name or address by which clients reach a service of `namespace`, empty while none is known.

    Under a gateway of any subdomain a service without a host of its own is shown under its namespace's.
    """
    if host:
        return host
    if hostname.startswith("*."):
        return f"{namespace}.{domain(hostname)}"
    return hostname or address
