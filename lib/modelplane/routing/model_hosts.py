"""Host names on a gateway that chooses a service by the model in the request.

A route of Envoy AI Gateway matches headers and no path, and the model is a header. So the host name is what keeps
namespaces apart: no two of them share one, and a model name is looked up among the services of one host alone.

Whoever may call is checked before the body is read, thus before the service is known: Envoy takes the checks of the
oldest route of the host. A service that checks its callers therefore has a host to itself, where every route has its
checks.

Source: Envoy AI Gateway v1.0.0 (`newHTTPRoute`, `insertAIGatewayExtProcFilter`), Envoy Gateway v1.9.0 (order of
filters).
"""

from __future__ import annotations

from dataclasses import replace

from modelplane.errors import Unsupported
from modelplane.routing import hosts
from modelplane.routing.model import Gateway, Service


def check_gateway(gateway: Gateway) -> None:
    """Check that namespaces can have host names. Raises: Unsupported if the gateway has none."""
    if not gateway.hostname:
        raise Unsupported(
            f"a gateway of type {gateway.type} needs spec.gateway.hostname, for example *.models.example.com: each "
            "namespace has a host name under it, because routes of this type match no path; write one, or use type "
            "Envoy",
            reason="HostnameRequired",
        )


def of_namespace(namespace: str, gateway: Gateway) -> str:
    """Return the host name under which all models of a namespace are served."""
    return f"{namespace}.{hosts.domain(gateway.hostname)}"


def own(service: Service, gateway: Gateway) -> str:
    """Return the host name that a service has to itself."""
    return f"{service.name}.{of_namespace(service.namespace, gateway)}"


def placed(service: Service, gateway: Gateway) -> Service:
    """Return the service with the host name that it has on this gateway.

    Raises: Unsupported for a host name that others may have too, with those that are free.
    """
    check_gateway(gateway)
    shared, alone = of_namespace(service.namespace, gateway), own(service, gateway)
    if service.auth is not None:
        if service.host not in ("", alone):
            raise Unsupported(
                f"spec.host {service.host} may have other models, and a gateway of type {gateway.type} checks callers "
                f"before it knows the model; a service with spec.auth has the host {alone} to itself; remove "
                "spec.host, or use an InferenceGateway of type Envoy",
                reason="HostNotAllowed",
            )
        return replace(service, host=alone)
    if service.host in ("", shared, alone):
        return replace(service, host=service.host or shared)
    owners = set(gateway.grants.get(service.host, ()))
    if owners != {service.namespace} or service.host.endswith(f".{hosts.domain(gateway.hostname)}"):
        given = sorted(
            host
            for host, namespaces in gateway.grants.items()
            if set(namespaces) == {service.namespace} and not host.endswith(f".{hosts.domain(gateway.hostname)}")
        )
        offers = " or ".join(part for part in (shared, alone, ", ".join(given)) if part)
        raise Unsupported(
            f'InferenceGateway "{gateway.name}" of type {gateway.type} does not let namespace {service.namespace} use '
            f"host {service.host}: a model name would be looked up among the services of all who may have it; use "
            f"{offers}, or ask the platform team to grant the host to this namespace alone in spec.gateway.hosts",
            reason="HostNotAllowed",
        )
    return service
