"""How the API server takes a document."""

from __future__ import annotations

from typing import Any

from tests.support import controlplane, installation, kubeapi

OURS = "modelplane.ai/v1alpha1"


def refusal(plane: controlplane.Plane, document: dict[str, Any]) -> str | None:
    """Return how the API server refuses a document, its status included; None when it accepts it."""
    if namespace := document["metadata"].get("namespace"):
        installation.namespace(plane, namespace)
    status = document.get("status")
    wanted = {key: value for key, value in document.items() if key != "status"}
    try:
        if document["apiVersion"] != OURS or status is None:
            plane.api.apply(wanted, dry_run=True)
            return None
        # A status can be written only to what exists. It goes again: another example may use the name otherwise.
        plane.api.apply(wanted)
        try:
            plane.api.apply(
                {**{key: wanted[key] for key in ("apiVersion", "kind", "metadata")}, "status": status},
                owner="status",
                dry_run=True,
                subresource="status",
            )
        finally:
            plane.api.delete(wanted)
    except kubeapi.Refused as refused:
        return str(refused)
    return None
