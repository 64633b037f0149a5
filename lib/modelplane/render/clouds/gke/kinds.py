"""Kinds of managed resources that a GKE cluster is made of, and the packages that bring them."""

from __future__ import annotations

from modelplane.render.clouds.gke import access, control_plane, vpc
from modelplane.render.provisioning import Served

_PACKAGE = "xpkg.upbound.io/upbound/provider-gcp-{}:v3.0.0"
"""The first release with acceleratorNetworkProfile and ignoreNodeCountChanges."""

_KINDS = (
    (access.IAM, "ProjectIAMMember", "cloudplatform"),
    (access.IAM, "ServiceAccount", "cloudplatform"),
    (access.IAM, "ServiceAccountKey", "cloudplatform"),
    (vpc.COMPUTE, "Network", "compute"),
    (vpc.COMPUTE, "Subnetwork", "compute"),
    (control_plane.CONTAINER, "Cluster", "container"),
    (control_plane.CONTAINER, "NodePool", "container"),
)


def served() -> tuple[Served, ...]:
    """Return the kinds, sorted, each once."""
    return tuple(Served(version, kind, _PACKAGE.format(package)) for version, kind, package in _KINDS)
