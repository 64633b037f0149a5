"""What a backend renders for a replica, by key and by purpose."""

from __future__ import annotations

from modelplane.render.backend import Backend
from modelplane.render.manifest import Manifest, Purpose
from modelplane.workload.model import Replica
from modelplane.workload.site import ClusterFacts
from tests.support import kserve


def by_key(backend: Backend, replica: Replica, facts: ClusterFacts = kserve.FACTS) -> dict[str, Manifest]:
    """Return the manifests of a replica by key."""
    return {manifest.key: manifest for manifest in backend.render(replica, facts)}


def workload(backend: Backend, replica: Replica, facts: ClusterFacts = kserve.FACTS) -> Manifest:
    """Return the only object that runs pods."""
    (found,) = (one for one in backend.render(replica, facts) if one.purpose is Purpose.WORKLOAD)
    return found
