"""Kinds of managed resources that an AKS cluster is made of, and the packages that bring them."""

from __future__ import annotations

from modelplane.render.clouds.aks import access, control_plane, vnet
from modelplane.render.provisioning import Served

_PACKAGE = "xpkg.upbound.io/upbound/provider-{}:v2.7.0"

_KINDS = (
    (access.ROLES, "RoleAssignment", "azure-authorization"),
    (vnet.AZURE, "ResourceGroup", "family-azure"),
    (control_plane.CONTAINERS, "KubernetesCluster", "azure-containerservice"),
    (control_plane.CONTAINERS, "KubernetesClusterNodePool", "azure-containerservice"),
    (access.IDENTITIES, "UserAssignedIdentity", "azure-managedidentity"),
    (vnet.NETWORKS, "Subnet", "azure-network"),
    (vnet.NETWORKS, "VirtualNetwork", "azure-network"),
)


def served() -> tuple[Served, ...]:
    """Return the kinds, sorted, each once."""
    return tuple(Served(version, kind, _PACKAGE.format(package)) for version, kind, package in _KINDS)
