"""Every object that an example leads to, on the control plane and on the clusters, is what its API server accepts."""

from __future__ import annotations

import pytest

from tests.conformance.manifests.judge import refusal
from tests.support import controlplane, examples, installation, rendered

# Resources of the clouds' providers, which tests/conformance/clouds judges.
MANAGED = ".m.upbound.io/"


@pytest.mark.parametrize("example", examples.worlds())
def test_every_object_of_the_example_is_accepted(plane: controlplane.Plane, example: str) -> None:
    refused = []
    for place, document in rendered.placed(rendered.folder(examples.EXAMPLES / example)):
        if MANAGED in document["apiVersion"]:
            continue
        if (words := refusal(plane, document)) is not None:
            refused.append(f"{place}: {document['kind']} {document['metadata']['name']}: {words}")
    assert refused == []


@pytest.mark.parametrize("scheduler", ["kai", "kueue", "volcano"])
def test_the_queues_of_the_examples_are_accepted(plane: controlplane.Plane, scheduler: str) -> None:
    """What the platform makes on a cluster itself; nothing renders it."""
    found = list(installation.documents(examples.EXAMPLES / "queues" / scheduler / "on-the-cluster" / "queues.yaml"))
    assert {"Queue", "ClusterQueue"} & {one["kind"] for one in found}
    assert [words for one in found if (words := refusal(plane, one)) is not None] == []
    queue = next(one for one in found if one["kind"].endswith("Queue"))
    mistyped = {**queue, "spec": {**queue["spec"], "resource": {}}}
    assert "spec.resource" in str(refusal(plane, mistyped))


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
