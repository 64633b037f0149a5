"""GKE: clusters of Google Kubernetes Engine, made by the managed resources of provider-gcp (v3.0.0 or newer)."""

from __future__ import annotations

from modelplane.render.clouds.gke.access import config
from modelplane.render.clouds.gke.checks import problems
from modelplane.render.clouds.gke.control_plane import cluster, facts, lifelines
from modelplane.render.clouds.gke.kinds import served
from modelplane.render.clouds.gke.offline import assumed
from modelplane.render.clouds.gke.pools import node_pool, nodes
from modelplane.render.clouds.gke.troubles import advice
from modelplane.render.clouds.gke.vpc import network
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

_DRIVER_ROOT = "/home/kubernetes/bin/nvidia"


def rights() -> tuple[str, ...]:
    """Return no keys: nothing that is made for a cluster is a right of somebody alone."""
    return ()


def stack_needs(site: Site) -> StackNeeds:
    """Return the needs of the serving stack.

    GKE's driver and that of its installer lie in the same place. Pods with a critical priority are refused outside
    GKE's own namespaces without a quota.
    """
    return StackNeeds(_DRIVER_ROOT, needs_critical_quota=True)
