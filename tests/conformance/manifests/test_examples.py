"""Every object that an example leads to, on the control plane and on the clusters, is what its API server accepts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support import controlplane, installation, kubeapi, rendered

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
OURS = "modelplane.ai/v1alpha1"
# Not a world but the arguments of one `crossplane composition render`, objects given twice included.
NO_WORLD = {"render"}
FOLDERS = sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir() and path.name not in NO_WORLD)


@pytest.mark.parametrize("example", FOLDERS)
def test_every_object_of_the_example_is_accepted(plane: controlplane.Plane, example: str) -> None:
    refused = []
    for place, document in rendered.placed(rendered.folder(EXAMPLES / example)):
        if (words := refusal(plane, document)) is not None:
            refused.append(f"{place}: {document['kind']} {document['metadata']['name']}: {words}")
    assert refused == []


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
        # A status can be written only to what exists. Nothing here watches, so what is stored disturbs nobody.
        plane.api.apply(wanted)
        plane.api.apply(
            {**{key: wanted[key] for key in ("apiVersion", "kind", "metadata")}, "status": status},
            owner="status",
            dry_run=True,
            subresource="status",
        )
    except kubeapi.Refused as refused:
        return str(refused)
    return None


def test_an_unknown_field_is_refused(plane: controlplane.Plane) -> None:
    """The judge is strict: a field that nobody defined does not pass."""
    document = {
        "apiVersion": "serving.kserve.io/v1alpha2",
        "kind": "LLMInferenceService",
        "metadata": {"name": "a", "namespace": "default"},
        "spec": {"replica": 2},
    }
    words = refusal(plane, document)
    assert words is not None
    assert "spec.replica" in words
