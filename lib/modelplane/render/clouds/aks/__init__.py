"""AKS: clusters of Azure Kubernetes Service, made by the managed resources of provider-azure (v2.6.0 or newer)."""

from __future__ import annotations

from modelplane.render.clouds.aks.access import config
from modelplane.render.clouds.aks.checks import problems
from modelplane.render.clouds.aks.control_plane import cluster, facts, lifelines
from modelplane.render.clouds.aks.kinds import served
from modelplane.render.clouds.aks.offline import assumed
from modelplane.render.clouds.aks.pools import node_pool, nodes
from modelplane.render.clouds.aks.troubles import advice
from modelplane.render.clouds.aks.vnet import network
from modelplane.render.provisioning import Site, StackNeeds

__all__ = [
    "advice",
    "assumed",
    "cluster",
    "config",
    "facts",
    "lifelines",
    "network",
    "node_pool",
    "nodes",
    "problems",
    "rights",
    "served",
    "stack_needs",
]


def rights() -> tuple[str, ...]:
    """Return no keys: nothing that is made for a cluster is a right of somebody alone."""
    return ()


def stack_needs(site: Site) -> StackNeeds:
    """Return the needs of the serving stack: the driver lies in the root of a node, and no quota is asked for."""
    return StackNeeds()
