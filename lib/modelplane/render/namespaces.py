"""Namespace of a replica on its cluster, with the name of its namespace on the control plane."""

from __future__ import annotations

from modelplane import names
from modelplane.render.manifest import Lifecycle, Manifest, Purpose
from modelplane.render.schedulers import selection as schedulers
from modelplane.workload.model import Replica
from modelplane.workload.site import ClusterFacts

KEY = "namespace"


def of(replica: Replica, facts: ClusterFacts) -> Manifest:
    """Return the remote namespace. All replicas in it share it, so it refers to none of them.

    A scheduler may look only at namespaces with a label of its own, and what it does not look at would pass its queue.
    """
    marks = schedulers.marks(replica, replica.roles[0], facts)
    return Manifest(
        key=KEY,
        resource={
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {
                "name": replica.namespace,
                "labels": {**marks.namespace_labels, names.LABEL_NAMESPACE: replica.namespace},
            },
        },
        purpose=Purpose.SHARED,
        lifecycle=Lifecycle.KEEP,
    )
