"""Random worlds of all shapes: what they lead to is accepted by the API server, down to the pods KServe would make.

MODELPLANE_CASES says how many worlds (default 40).
"""

from __future__ import annotations

import os

import pytest

from modelplane_cli.world.store import key_of
from tests.conformance.manifests import generator
from tests.conformance.manifests.judge import refusal
from tests.conformance.scheduler import hardware
from tests.support import controlplane, rendered

CASES = int(os.environ.get("MODELPLANE_CASES", "40"))


@pytest.mark.parametrize("seed", range(CASES))
def test_what_a_random_world_leads_to_is_accepted(plane: controlplane.Plane, seed: int) -> None:
    documents = generator.documents(seed)
    refused = [words for one in documents if (words := refusal(plane, one)) is not None]
    assert refused == [], "the generator made what our own API refuses"
    settled = rendered.world(documents)
    assert not settled.settled.record.bugs, settled.settled.record.bugs
    kinds = {key_of(one).kind for one in settled.objects()}
    assert {"ModelReplica", "Object", "HTTPRoute"} <= kinds, settled.settled.record
    for place, document in rendered.placed(settled):
        for one in [document, *_pods(document)]:
            words = refusal(plane, one)
            assert words is None, f"{place}: {one['kind']} {one['metadata']['name']}: {words}"


def _pods(document: dict[str, object]) -> list[dict[str, object]]:
    return list(hardware.pods(document, "here")) if document["kind"] == "LLMInferenceService" else []
