"""Identity of an AKS control plane, and the access to it.

The control plane adds load balancers and addresses to the subnet of the nodes, for which its identity needs a role. Of
the identities of Azure only one that is made before the cluster can have it in time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane import names, seen
from modelplane.render import cloud
from modelplane.render.clouds.aks import naming, settings, vnet
from modelplane.render.manifest import Manifest
from modelplane.render.provisioning import Identity, Resource, Site, at_provider, managed

Json: TypeAlias = Any

IDENTITIES = "managedidentity.azure.m.upbound.io/v1beta1"
ROLES = "authorization.azure.m.upbound.io/v1beta1"
IDENTITY, ROLE = "identity", "identity-role"
KUBECONFIG = "kubeconfig"

_ROLE_NAME = "Network Contributor"
_SUBSCRIPTIONS = "subscriptions"


def identities(site: Site, observed: Mapping[str, Resource]) -> tuple[Manifest, ...]:
    """Return the identity, and its role as soon as its principal is known; none where the author names one.

    Raises: InvalidInput for a field that its author must change.
    """
    if settings.identity(site):
        return ()
    made = managed(
        Identity(IDENTITY, IDENTITIES, "UserAssignedIdentity", naming.resource(site)),
        {"name": naming.group_name(site), "location": settings.location(site), **vnet.in_group(site)},
        site=site,
    )
    role = _role(site, observed.get(IDENTITY))
    return (made,) if role is None else (made, role)


def of_cluster(site: Site) -> dict[str, Json]:
    """Return the identity as a part of the cluster."""
    existing = settings.identity(site)
    chosen = {"identityIds": [existing]} if existing else {"identityIdsRefs": [{"name": naming.resource(site)}]}
    return {"type": "UserAssigned", **chosen}


def config(site: Site) -> Manifest:
    """Return the configuration of provider-kubernetes: the certificate of a local administrator."""
    secret = naming.resource(site, KUBECONFIG)
    return cloud.provider_config(site.cluster, namespace=names.SYSTEM_NAMESPACE, secret=secret, key="kubeconfig")


def _role(site: Site, identity: Resource | None) -> Manifest | None:
    principal = seen.text(at_provider(identity, "principalId"))
    scope = settings.subnet(site) or _network_id(site, seen.text(at_provider(identity, "id")))
    if not principal or not scope:
        return None
    spec = {"principalId": principal, "roleDefinitionName": _ROLE_NAME, "scope": scope}
    name = naming.resource(site, IDENTITY, "role")
    return managed(Identity(ROLE, ROLES, "RoleAssignment", name), spec, site=site)


def _network_id(site: Site, identity: str) -> str:
    """Return the resource ID of the virtual network that is made, by that of the identity beside it, if it is known."""
    start, _, rest = identity.strip("/").partition("/")
    subscription = rest.partition("/")[0]
    if start.lower() != _SUBSCRIPTIONS or not subscription:
        return ""
    group = settings.group(site) or naming.group_name(site)
    return (
        f"/{_SUBSCRIPTIONS}/{subscription}/resourceGroups/{group}/providers/Microsoft.Network/virtualNetworks/"
        f"{naming.group_name(site)}"
    )
