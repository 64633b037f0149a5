"""Both gateways with what we compose for them: the fleet's, which shows its certificate, and a cluster's."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from modelplane import names
from modelplane.api import gateway as gateways
from modelplane.render import certificates, mutual_tls
from modelplane.render import gateway as front
from modelplane.render import routing as rendering
from modelplane.render.stack import front_door
from modelplane.workload.site import ClusterFacts
from modelplane.workload.stack import Reference, Stack
from tests.conformance.routing import fleet, translation
from tests.conformance.routing.identities import Pair, Signer
from tests.conformance.routing.translation import Translation
from tests.support import routing

Json = Any
ADDRESS = "gateway.east.example.com"
PODS = "pods.example.com"
ME, CLUSTER = names.gateway_identity("default"), names.cluster_identity("east")
SERVER = names.server_name("east")
CLIENT_SECRET, SERVER_SECRET = "default-mtls-certificate", "modelplane-mtls-certificate"
# As Envoy Gateway names them.
CLIENT_SDS, SERVER_SDS = f"modelplane-system/{CLIENT_SECRET}", f"modelplane-system/{SERVER_SECRET}"
TRUSTED_SDS, CLIENTS_SDS = "a-0/ml-team-ca", "modelplane-system/modelplane-mtls-policy/ca.crt"
_REFERENCE = Reference("ClusterProviderConfig", "east")


def endpoint(servers: Signer | None) -> Json:
    """Return the endpoint of a replica, with TLS where an authority of its cluster is given."""
    if servers is None:
        return routing.replica_endpoint("a-0", "a", url=f"http://{ADDRESS}")
    tls = {"caCertificates": servers.certificate, "sni": SERVER}
    return routing.replica_endpoint("a-0", "a", url=f"https://{ADDRESS}", tls=tls)


def fleet_side(folder: Path, *endpoints: Json, client: Pair, groups: tuple[Json, ...] = ()) -> Translation:
    """Return the fleet's gateway, which shows a certificate."""
    service = routing.model_service(*(groups or (routing.group(deployment="a"),)))
    gateway = replace(gateways.decode(routing.inference_gateway()), client_certificate=CLIENT_SECRET)
    composed = [one for one in fleet.objects(service, list(endpoints)) if one["kind"] != "EnvoyProxy"]
    composed += [dict(one.resource) for one in front.front_door(gateway) if one.key == front.PROXY_KEY]
    return translation.translate([*composed, secret(CLIENT_SECRET, client)], folder)


def cluster_side(
    folder: Path, *, server: Pair, clients: tuple[str, ...], trusted: str, plain: bool = False
) -> Translation:
    """Return the gateway of a cluster, which asks for certificates, with the route of a replica."""
    stack = Stack("east", "east", _REFERENCE, _REFERENCE, gateway_plaintext=plain, gateway_certificate=SERVER_SECRET)
    facts = ClusterFacts("east", stack.gateway_name, stack.gateway_namespace)
    made = [*front_door.manifests(stack), *mutual_tls.manifests(facts, clients, trusted)]
    objects = [dict(one.resource) for one in made if one.key not in certificates.KEYS]
    return translation.translate([*objects, secret(SERVER_SECRET, server), *_replica(stack)], folder)


def _replica(stack: Stack) -> list[Json]:
    reference = {"group": rendering.ENVOY, "kind": "Backend", "name": "pods"}
    parent = {"group": rendering.GATEWAY_API, "kind": "Gateway", "name": stack.gateway_name}
    return [
        {
            "apiVersion": rendering.GATEWAY_API_VERSION,
            "kind": "HTTPRoute",
            "metadata": {"name": "a-0", "namespace": "ml-team"},
            "spec": {
                "parentRefs": [{**parent, "namespace": stack.gateway_namespace}],
                "hostnames": [names.internal_host("ml-team", "a-0")],
                "rules": [{"backendRefs": [reference], "timeouts": {"request": "0s"}}],
            },
        },
        {
            "apiVersion": rendering.ENVOY_VERSION,
            "kind": "Backend",
            "metadata": {"name": "pods", "namespace": "ml-team"},
            "spec": {"type": "Endpoints", "endpoints": [{"fqdn": {"hostname": PODS, "port": 80}}]},
        },
    ]


def secret(name: str, pair: Pair) -> Json:
    """Return a Secret as cert-manager writes it."""
    data = {"tls.crt": pair.certificate, "tls.key": pair.key}
    return fleet.secret(name, data, namespace=names.SYSTEM_NAMESPACE) | {"type": "kubernetes.io/tls"}


def shown(pair: Pair) -> Json:
    """Return a certificate as Envoy Gateway streams it to Envoy."""
    return {
        "tlsCertificate": {
            "certificateChain": {"inlineString": pair.certificate},
            "privateKey": {"inlineString": pair.key},
        }
    }


def trusts(bundle: str) -> Json:
    """Return authorities as Envoy Gateway streams them to Envoy."""
    return {"validationContext": {"trustedCa": {"inlineString": bundle}}}


def ask(port: int, folder: Path, trusted: str, client: Pair | None) -> int:
    """Return the status of a request to a cluster's gateway with a certificate. Raises: OSError where it is refused."""
    import http.client  # noqa: PLC0415 - beside the context that it is given

    (folder / "trusted.pem").write_text(trusted)
    context = ssl.create_default_context(cafile=str(folder / "trusted.pem"))
    context.check_hostname = False
    if client is not None:
        (folder / "client.pem").write_text(client.certificate + client.key)
        context.load_cert_chain(folder / "client.pem")
    connection = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=10)
    try:
        connection.request("GET", "/v1/models", headers={"host": names.internal_host("ml-team", "a-0")})
        return connection.getresponse().status
    finally:
        connection.close()


def presented(done: Translation) -> Mapping[str, list[str]]:
    """Return the certificates that the clusters of an Envoy show, by the name that they expect from the other side."""
    found: dict[str, list[str]] = {}
    for cluster in done.dumped("ClustersConfigDump", "dynamicActiveClusters", "cluster"):
        for match in cluster.get("transportSocketMatches", ()):
            context = match["transportSocket"]["typedConfig"]
            shows = context.get("commonTlsContext", {}).get("tlsCertificateSdsSecretConfigs", ())
            found[context.get("sni", "")] = [one["name"] for one in shows]
    return found
