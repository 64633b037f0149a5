"""Selection of the cloud by the source that an author names."""

from __future__ import annotations

from modelplane.errors import Unsupported
from modelplane.render.cloud import Cloud
from modelplane.render.clouds import existing
from modelplane.render.provisioning import Provisioner

CLOUDS: dict[str, Cloud | Provisioner] = {"Existing": existing}
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


def provisioner(source: str) -> Provisioner | None:
    """Return the provisioner of that source, None for a cluster that exists. Raises: Unsupported, as `cloud`."""
    found = cloud(source)
    return found if isinstance(found, Provisioner) else None
