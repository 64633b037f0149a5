"""Objects by which the gateway of a cluster asks its clients for a certificate.

They outlive their composite on the cluster: without the policy a listener would serve anybody.

Source: Envoy Gateway v1.9.0 (ClientTrafficPolicy), Gateway API v1.6.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from modelplane import names, seen
from modelplane.render import certificates, routing
from modelplane.render.certificates import Identity
from modelplane.render.manifest import Lifecycle, Manifest, Purpose
from modelplane.workload import authorities
from modelplane.workload.site import ClusterFacts

Json: TypeAlias = Any
Resource: TypeAlias = Mapping[str, Json]

CLIENTS_KEY, POLICY_KEY, REQUEST_KEY = "mtls-clients", "mtls-policy", "mtls-request"
KEYS = (*certificates.KEYS, CLIENTS_KEY, POLICY_KEY, REQUEST_KEY)
PORT = 443


def identity(facts: ClusterFacts) -> Identity:
    """Return the identity of a cluster's gateway."""
    return Identity(
        owner=facts.gateway_name,
        namespace=facts.gateway_namespace,
        uri=names.cluster_identity(facts.name),
        hosts=(names.server_name(facts.name),),
        is_server=True,
    )


def manifests(facts: ClusterFacts, clients: Sequence[str], trusted: str) -> tuple[Manifest, ...]:
    """Return the certificates of the gateway, and the policy that lets in `clients` alone, whom `trusted` signs for.

    While nobody is known who may come in there is no policy, and the listener waits for it.
    """
    # On a cluster only what carries this label is Modelplane's to change.
    labels = {names.LABEL_NAMESPACE: facts.gateway_namespace}
    made = certificates.manifests(identity(facts), Lifecycle.KEEP, labels)
    if not clients or not trusted:
        return made
    config = names.bounded(facts.gateway_name, CLIENTS_KEY)
    validation = {
        "caCertificateRefs": [{"group": "", "kind": "ConfigMap", "name": config}],
        "subjectAltNames": {"uris": [{"type": "Exact", "value": uri} for uri in clients]},
        # Who shows an expired certificate still has its key. That a renewal fails is told, and traffic goes on.
        "allowExpiredCertificate": True,
    }
    target = {
        "group": routing.GATEWAY_API,
        "kind": "Gateway",
        "name": facts.gateway_name,
        "sectionName": names.MUTUAL_TLS_LISTENER,
    }
    metadata = {"name": config, "namespace": facts.gateway_namespace, "labels": labels}
    return (
        *made,
        Manifest(
            CLIENTS_KEY,
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {authorities.KEY: trusted}},
            Purpose.SHARED,
            lifecycle=Lifecycle.KEEP,
        ),
        Manifest(
            POLICY_KEY,
            {
                "apiVersion": routing.ENVOY_VERSION,
                "kind": "ClientTrafficPolicy",
                "metadata": {
                    "name": names.bounded(facts.gateway_name, POLICY_KEY),
                    "namespace": facts.gateway_namespace,
                    "labels": labels,
                },
                "spec": {"targetRefs": [target], "tls": {"clientValidation": validation}},
            },
            Purpose.SHARED,
            lifecycle=Lifecycle.KEEP,
        ),
    )


def request(authority: Resource | None) -> Manifest | None:
    """Return the observation of the CertificateRequest of the authority, None while that is not issued."""
    found = certificates.request_of(authority)
    return None if found is None else Manifest(REQUEST_KEY, found, Purpose.SHARED, lifecycle=Lifecycle.OBSERVE)


def listener(secret: str) -> dict[str, Json]:
    """Return the listener of a Gateway that shows the certificate in `secret`."""
    return {
        "name": names.MUTUAL_TLS_LISTENER,
        "protocol": "HTTPS",
        "port": PORT,
        "tls": {"mode": "Terminate", "certificateRefs": [{"group": "", "kind": "Secret", "name": secret}]},
        "allowedRoutes": {"namespaces": {"from": "All"}},
    }


def shows(listener: Resource, secret: str) -> bool:
    """Return whether a listener terminates TLS with the certificate in `secret`."""
    refs = seen.objects(seen.at(listener, "tls", "certificateRefs"))
    return listener.get("protocol") == "HTTPS" and any(ref.get("name") == secret for ref in refs)


def is_programmed(gateway: Resource, name: str) -> bool:
    """Return whether a listener of a Gateway serves, as its controller reports on the current form of it."""
    generation = seen.count(seen.at(gateway, "metadata", "generation")) or 0
    told = (one for one in seen.objects(seen.at(gateway, "status", "listeners")) if one.get("name") == name)
    condition = seen.condition(next(told, None), "Programmed")
    looked_at = seen.count(condition.get("observedGeneration"))
    return seen.verdict(condition) is True and (looked_at is None or looked_at >= generation)
