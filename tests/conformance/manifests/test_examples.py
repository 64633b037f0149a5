"""Every object that an example leads to, on the control plane and on the clusters, is what its API server accepts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.manifests.judge import refusal
from tests.support import controlplane, rendered

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
# Permissions, and not a world but the arguments of one `crossplane composition render`, objects given twice included.
NO_WORLD = {"rbac", "render"}
# Kinds whose definitions are not installed on the plane; what is said in them is checked with the scale contract.
FOREIGN = "keda.sh/"
FOLDERS = sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir() and path.name not in NO_WORLD)


@pytest.mark.parametrize("example", FOLDERS)
def test_every_object_of_the_example_is_accepted(plane: controlplane.Plane, example: str) -> None:
    refused = []
    for place, document in rendered.placed(rendered.folder(EXAMPLES / example)):
        if document["apiVersion"].startswith(FOREIGN):
            continue
        if (words := refusal(plane, document)) is not None:
            refused.append(f"{place}: {document['kind']} {document['metadata']['name']}: {words}")
    assert refused == []


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
