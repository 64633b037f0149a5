"""Needs of the serving stack on a cluster of EKS."""

from __future__ import annotations

from modelplane.render.provisioning import Site, StackNeeds


def stack_needs(site: Site) -> StackNeeds:
    """Return that the driver lies in the node's own file system, and that critical pods need no quota."""
    return StackNeeds(gpu_driver_root="/", needs_critical_quota=False)
