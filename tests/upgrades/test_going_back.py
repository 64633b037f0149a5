"""Going back with what the earlier release does not know: what that costs, and how nothing is touched by it.

The earlier release cannot be changed any more, so what it does with new fields is recorded here and told to operators
(docs/operate.md). A composite that is paused is not called; with the definitions of today in place it loses no field.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any, Final

import pytest

from modelplane_cli.simulator.crossplane import ANNOTATION_PAUSED
from tests.support import examples, rendered
from tests.upgrades import judge, released
from tests.upgrades.plane import Plane
from tests.upgrades.released import Release

Json = Any
NEW: Final = tuple(sorted({*examples.fleets()} - {*released.fleets()}))
"""Today's examples of what the earlier release does not have."""

LOST: Final = {
    "InferenceClass: spec.provisioning.eks.diskThroughputMiB",
    "InferenceCluster: spec.allowedNamespaces",
    "InferenceCluster: spec.cluster.eks.adminRoleArns",
    "InferenceCluster: spec.cluster.eks.privateNodes",
    "InferenceCluster: spec.cluster.eks.storageDrivers",
    "InferenceCluster: spec.cluster.eks.zones",
    "InferenceCluster: spec.gateway.mutualTLS",
    "InferenceCluster: spec.observe",
    "InferenceCluster: spec.scheduler.priorityClasses",
    "InferenceCluster: spec.scheduler.quota",
    "InferenceCluster: spec.storage",
    "InferenceGateway: spec.clientCertificate",
    "InferenceGateway: spec.clients",
    "InferenceGateway: spec.rateLimit",
    "InferenceGateway: spec.relay",
    "InferenceGateway: spec.scaling",
    "LLMInference: spec.args",
    "LLMInference: spec.modelCacheRef",
    "LLMInference: spec.replicas",
    "LLMInference: spec.scaling",
    "ModelDeployment: spec.placement.recovery",
    "ModelDeployment: spec.scaling",
    "ModelEndpoint: spec.tls.caCertificates",
    "ModelReplica: spec.cacheKey",
    "ModelService: spec.affinity",
    "ModelService: spec.clients",
    "ModelService: spec.cors",
    "ModelService: spec.ejection",
    "ModelService: spec.endpoints[].maxRequests",
    "ModelService: spec.locality",
    "ModelService: spec.maxRequestSize",
    "ModelService: spec.rateLimit.budgets",
    "ModelService: spec.rateLimit.clients",
    "ModelService: spec.rateLimit.per",
    "ModelService: spec.rateLimit.tokens",
}
"""The fields of specs that are lost for good once the earlier definitions are installed over objects that have them."""

TOUCHED: Final[dict[str, set[str]]] = {
    "access": set(),
    "ai-gateway": set(),
    "budgets": set(),
    "clouds/aks": {"qwen3-8b-1"},
    "clouds/eks": set(),
    "clouds/gke": {"qwen3-8b-1"},
    "capacity": set(),
    "cache": {"llama-70b-0", "llama-70b-1", "qwen3-8b-0", "summaries-0"},
    "hosts": set(),
    "models": {"chat-0", "embedding-0", "embedding-1", "experts-0"},
    "queues/kai": set(),
    "queues/kueue": set(),
    "queues/volcano": set(),
    "quota": set(),
    "regions": set(),
    "scaling": set(),
    "spillover": set(),
    "stack": set(),
    "tenants": set(),
}
"""Replicas that the earlier release renders anew or moves: those that mount a cache, and those of an LLMInference that
leaves its size or its replicas to today's release."""


def _today(name: str, release: Release) -> Plane:
    plane = Plane(rendered.written(examples.EXAMPLES / name, release.definitions), release)
    plane.settle()
    assert plane.refusals() == []
    return plane


def _touched(found: Iterable[judge.Difference]) -> set[str]:
    """Return the replicas whose workload has gone or is another."""
    workloads = (one for one in found if one.key.kind == "Object" and one.key.name.endswith("-workload"))
    return {
        one.key.name.removesuffix("-workload")
        for one in workloads
        if one.path.startswith("spec.") or (one.path, one.after) == ("", judge.ABSENT)
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", NEW)
def test_what_the_earlier_release_touches(earlier: Release, today: Release, name: str) -> None:
    plane = _today(name, today)
    before = plane.objects()
    plane.run(earlier)
    plane.settle()
    assert _touched(judge.differences(before, plane.objects())) == TOUCHED[name]
    assert plane.lost == set()


@pytest.mark.slow
def test_the_earlier_definitions_lose_what_was_written(earlier: Release, today: Release) -> None:
    lost = set[str]()
    for name in NEW:
        plane = _today(name, today)
        plane.define(earlier)
        assert plane.invalid() == []
        lost |= {one for one in plane.lost if ": spec." in one}
    assert lost == LOST


_COMPOSITES: Final = {
    *("LLMInference", "ModelDeployment", "ModelReplica", "ModelCache", "ModelCacheCopy", "ModelService"),
    "InferenceGateway",
}
_OF_CLUSTERS: Final = {
    *("InferenceCluster", "ServingStack", "CloudNetwork", "CloudCluster", "CloudNodePool"),
    "ModelEndpoint",
}
"""What is paused too where clusters were created, are observed, have a queue or a serving stack, which the earlier
release would delete, and where endpoints use TLS with client certificates, of which it knows nothing."""


UNLIMITED: Final = {"quota"}
"""Examples with replicas that wait for a quota. The earlier release knows none, and its clusters admit them."""


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow) if name != "cache" else name for name in NEW if name not in UNLIMITED],
)
def test_a_paused_fleet_is_as_it_was(earlier: Release, today: Release, name: str) -> None:
    """What is paused before going back with the functions alone is untouched, also once today's are there again."""
    plane = _today(name, today)
    before = plane.objects()
    _pause(plane, name)
    plane.run(earlier)
    plane.settle()
    found = judge.differences(before, plane.objects())
    assert judge.noticed(found) == []
    plane.run(today)
    _resume(plane)
    plane.settle()
    assert list(map(str, judge.differences(before, plane.objects()))) == []
    assert plane.record.deletions == []


def _pause(plane: Plane, name: str) -> None:
    with_clusters = name in ("stack", "capacity") or name.startswith(("clouds/", "queues/"))
    kinds = _COMPOSITES | (_OF_CLUSTERS if with_clusters else set())
    for key in plane.composites():
        if key.kind in kinds:
            found = copy.deepcopy(plane.store.get(key) or {})
            found["metadata"].setdefault("annotations", {})[ANNOTATION_PAUSED] = "true"
            plane.store.put(found)


def _resume(plane: Plane) -> None:
    for key in plane.composites():
        found = copy.deepcopy(plane.store.get(key) or {})
        if (found["metadata"].get("annotations") or {}).pop(ANNOTATION_PAUSED, None):
            if not found["metadata"]["annotations"]:
                del found["metadata"]["annotations"]
            plane.store.put(found)
