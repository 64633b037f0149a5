"""Selection of the cloud by the source that an author names."""

from __future__ import annotations

from dataclasses import replace

from modelplane.errors import Unsupported
from modelplane.render.cloud import Access, Cloud, Given
from modelplane.render.clouds import aks, eks, existing, gke
from modelplane.render.provisioning import Provisioner

CLOUDS: dict[str, Cloud | Provisioner] = {"AKS": aks, "EKS": eks, "Existing": existing, "GKE": gke}
"""The clouds by their name in spec.cluster.source; their order does not matter."""


def cloud(source: str) -> Cloud | Provisioner:
    """Return the cloud of that source.

    Raises: Unsupported for a source of the API that is not offered yet.
    """
    found = CLOUDS.get(source)
    if found is None:
        raise Unsupported(
            f"spec.cluster.source {source} is not offered yet; create the cluster yourself and use source Existing",
            reason="SourceNotOffered",
        )
    return found


def access(source: str, cluster: str, given: Given) -> Access:
    """Return the access to a cluster that is not created; `given` is spec.cluster. Raises: as `cloud` and the cloud."""
    found = cloud(source)
    if isinstance(found, Provisioner):
        raise Unsupported(f"source {source} creates the cluster", reason="SourceNotOffered")
    return replace(found.access(cluster, given), is_ready=found.is_ready)


def provisioner(source: str) -> Provisioner | None:
    """Return the provisioner of that source, None for a cluster that exists. Raises: Unsupported, as `cloud`."""
    found = cloud(source)
    return found if isinstance(found, Provisioner) else None


def maker(source: str) -> Provisioner:
    """Return the provisioner of that source. Raises: Unsupported for a source by which no cluster is created."""
    found = provisioner(source)
    if found is None:
        raise Unsupported(f"source {source} creates no cluster", reason="SourceNotOffered")
    return found
