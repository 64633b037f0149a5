"""Access to a GKE cluster, and the identity of its nodes.

The kubeconfig of a GKE cluster has no usable user. The providers of Kubernetes and Helm sign each request as a Google
service account: with the key of one that is made for the cluster, or as the identity of their own pod.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from modelplane import names
from modelplane.render import cloud
from modelplane.render.clouds.gke import naming, settings
from modelplane.render.manifest import Manifest
from modelplane.render.provisioning import Identity, Site, managed

Json: TypeAlias = Any

IAM = "cloudplatform.gcp.m.upbound.io/v1beta1"
KUBECONFIG, KEY = "kubeconfig", "key"
NODES, ACCESS = "nodes", "access"

# What nodes write and read: logs and metrics, and images of the project's registries.
_NODE_ROLES = (("role", "roles/container.defaultNodeServiceAccount"), ("registry", "roles/artifactregistry.reader"))
_ACCESS_ROLES = (("role", "roles/container.admin"),)


def identities(site: Site) -> tuple[Manifest, ...]:
    """Return the accounts of nodes and of access, with their roles, and the key of the latter; what exists is left out.

    Raises: InvalidInput for a field that its author must change.
    """
    made: tuple[Manifest, ...] = ()
    if not settings.node_account(site):
        made += _account(site, NODES, f"Nodes of {site.cluster}", _NODE_ROLES)
    if settings.access(site) == settings.KEY:
        made += _account(site, ACCESS, f"Control plane access to {site.cluster}", _ACCESS_ROLES)
        made += (_key(site),)
    return made


def node_identity(site: Site) -> dict[str, Json]:
    """Return the account of the nodes as a part of a node's configuration."""
    existing = settings.node_account(site)
    if existing:
        return {"serviceAccount": existing}
    return {"serviceAccountRef": {"name": naming.resource(site, NODES)}}


def config(site: Site) -> Manifest:
    """Return the configuration of provider-kubernetes. Raises: InvalidInput, as `identities`."""
    return cloud.provider_config(
        site.cluster,
        namespace=names.SYSTEM_NAMESPACE,
        secret=naming.resource(site, KUBECONFIG),
        key="kubeconfig",
        identity=_identity(site),
    )


def _account(site: Site, part: str, title: str, roles: tuple[tuple[str, str], ...]) -> tuple[Manifest, ...]:
    project, identifier = settings.project(site), naming.account_id(site, part)
    account = managed(
        Identity(f"{part}-identity", IAM, "ServiceAccount", naming.resource(site, part), identifier),
        {"project": project, "displayName": title},
        site=site,
    )
    member = f"serviceAccount:{identifier}@{project}.iam.gserviceaccount.com"
    return (
        account,
        *(
            managed(
                Identity(f"{part}-{word}", IAM, "ProjectIAMMember", naming.resource(site, part, word)),
                {"project": project, "role": role, "member": member},
                site=site,
            )
            for word, role in roles
        ),
    )


def _key(site: Site) -> Manifest:
    return managed(
        Identity(
            f"{ACCESS}-key",
            IAM,
            "ServiceAccountKey",
            naming.resource(site, ACCESS),
            secret=naming.resource(site, KEY),
        ),
        {"serviceAccountIdRef": {"name": naming.resource(site, ACCESS)}},
        site=site,
    )


def _secret(site: Site, part: str, key: str) -> dict[str, Json]:
    reference = {"namespace": names.SYSTEM_NAMESPACE, "name": naming.resource(site, part), "key": key}
    return {"source": "Secret", "secretRef": reference}


def _identity(site: Site) -> dict[str, Json]:
    if settings.access(site) == settings.INJECTED_IDENTITY:
        return {"type": "GoogleApplicationCredentials", "source": "InjectedIdentity"}
    return {"type": "GoogleApplicationCredentials", **_secret(site, KEY, "private_key")}
