"""The namespace of a replica on its cluster: the name is that of its own namespace."""

from __future__ import annotations

from modelplane import names
from modelplane.render.manifest import Lifecycle, Manifest, Purpose
from modelplane.workload.model import Replica

KEY = "namespace"


def of(replica: Replica) -> Manifest:
    """Return the remote namespace; all replicas in it share it, so nothing in it may speak of one of them."""
    return Manifest(
        key=KEY,
        resource={
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": replica.namespace, "labels": {names.LABEL_NAMESPACE: replica.namespace}},
        },
        purpose=Purpose.SHARED,
        lifecycle=Lifecycle.KEEP,
    )
