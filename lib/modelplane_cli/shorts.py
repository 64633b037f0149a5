"""The kinds that `explain` takes, by their short names as in kubectl. Nothing else, so that completion is instant."""

from __future__ import annotations

KINDS = {
    "md": "ModelDeployment",
    "mr": "ModelReplica",
    "ms": "ModelService",
    "me": "ModelEndpoint",
    "ic": "InferenceCluster",
}
"""Kinds by short name."""
