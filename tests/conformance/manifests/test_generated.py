"""Random worlds of all shapes: what they lead to is accepted by the API server, down to the pods of each.

MODELPLANE_CASES says how many worlds (default 40).
"""

from __future__ import annotations

import os
from typing import Any

import pytest

from tests.conformance.manifests import generator
from tests.conformance.manifests.judge import refusal
from tests.conformance.scheduler import hardware
from tests.support import controlplane, installation, rendered

CASES = int(os.environ.get("MODELPLANE_CASES", "40"))


@pytest.mark.parametrize("seed", range(CASES))
def test_what_a_random_world_leads_to_is_accepted(plane: controlplane.Plane, seed: int) -> None:
    documents = generator.documents(seed)
    refused = [words for one in documents if (words := refusal(plane, one)) is not None]
    assert refused == [], "the generator made what our own API refuses"
    settled = rendered.world(documents)
    assert not settled.settled.record.bugs, settled.settled.record.bugs
    assert [one for one in settled.objects() if one["kind"] == "ModelReplica"], settled.settled.record
    placed = list(rendered.placed(settled))
    for _, document in placed:
        if document["kind"] == "ServiceAccount":
            plane.api.apply(document)  # pods name it, in whatever order, and a dry run leaves none
    for place, document in placed:
        for one in [document, *_pods(document)]:
            words = refusal(plane, one)
            assert words is None, f"{place}: {one['kind']} {one['metadata']['name']}: {words}"


def test_the_worlds_tell_something() -> None:
    """Among the worlds are all kinds that we write, gangs and disaggregated replicas."""
    found = [one for seed in range(min(CASES, 30)) for one in _all(seed)]
    kinds = {one["kind"] for one in found}
    assert {"HTTPRoute", "Backend", "HTTPRouteFilter", "BackendTrafficPolicy", "SecurityPolicy", "Usage"} <= kinds
    assert {"ResourceClaimTemplate", "LLMInferenceService", "LLMInferenceServiceConfig", "Namespace"} <= kinds
    assert {"Deployment", "LeaderWorkerSet", "Service", "RayService", "InferenceSet"} <= kinds
    assert {"VLLMRuntime", "DynamoGraphDeployment"} <= kinds
    assert {"InferencePool", "ConfigMap", "Role", "RoleBinding", "PodMonitor", "DestinationRule"} <= kinds
    services = [one["spec"] for one in found if one["kind"] == "LLMInferenceService"]
    assert any("worker" in spec for spec in services)
    assert any("prefill" in spec for spec in services)


def _all(seed: int) -> list[dict[str, Any]]:
    return [document for _, document in rendered.placed(rendered.world(generator.documents(seed)))]


@pytest.fixture(scope="module", autouse=True)
def _accounts(plane: controlplane.Plane) -> None:
    """Service accounts that pods name; what makes them is not running here."""
    installation.namespace(plane, generator.NAMESPACE)
    for name in ("default", "runner"):
        metadata = {"name": name, "namespace": generator.NAMESPACE}
        plane.api.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})
    # The production stack's operator names it in every pod; the driver's installation makes it.
    runtime = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "nvidia"}}
    plane.api.apply({**runtime, "handler": "nvidia"})


def _pods(document: dict[str, Any]) -> list[dict[str, Any]]:
    return list(hardware.pods(document, "here")) if document["kind"] in hardware.WORKLOADS else []
