"""Namespace of a replica on its cluster, with the name of its namespace on the control plane."""

from __future__ import annotations

from modelplane import names
from modelplane.render.manifest import Lifecycle, Manifest, Purpose
from modelplane.workload.model import Replica

KEY = "namespace"


def of(replica: Replica) -> Manifest:
    """Return the remote namespace. All replicas in it share it, so it refers to none of them."""
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
