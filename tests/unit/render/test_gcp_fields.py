"""The check of managed resources of Google Cloud: each thing that its provider or its API refuses is found."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from modelplane.render.clouds import gke
from tests.support import gcp_fields, sites

Json = Any


def _made(key: str) -> Json:
    site = sites.site("gke", {"project": "acme-inference", "region": "us-central1"})
    pool = sites.pool("gke", {"machineType": "a3-ultragpu-8g"}, zones=("us-central1-b",))
    made = (*gke.network(site), *gke.cluster(site, {}), *gke.node_pool(site, pool, {}, {}))
    return next(copy.deepcopy(dict(one.resource)) for one in made if one.key == key)


def _edit(resource: Json, path: str, value: Json) -> Json:
    *above, last = path.split(".")
    at = resource
    for key in above:
        at = at[int(key)] if isinstance(at, list) else at.setdefault(key, {})
    if value is None:
        del at[last]
    else:
        at[last] = value
    return resource


@pytest.mark.parametrize(
    ("key", "path", "value", "found"),
    [
        pytest.param(
            "cluster", "spec.forProvider.autopilot", True, "forProvider.autopilot: unknown", id="unknown-field"
        ),
        pytest.param("pool", "spec.forProvider.nodeConfig.gpus", 8, "nodeConfig.gpus: unknown", id="unknown-below"),
        pytest.param("pool", "spec.forProvider.nodeCount", "2", "nodeCount: must be a number", id="count-as-text"),
        pytest.param("pool", "spec.forProvider.nodeCount", True, "nodeCount: must be a number", id="count-as-flag"),
        pytest.param("cluster", "spec.forProvider.location", None, "location: required", id="location-is-missing"),
        pytest.param("subnetwork", "spec.forProvider.region", None, "region: required", id="region-is-missing"),
        pytest.param("access-role", "spec.forProvider.member", None, "member: required", id="member-is-missing"),
        pytest.param(
            "pool", "spec.forProvider.nodeConfig.taint", {"key": "a"}, "taint: must be a list", id="one-taint"
        ),
        pytest.param(
            "pool", "spec.forProvider.nodeConfig.taint", ["a=b"], "taint[]: must be an object", id="text-taint"
        ),
        pytest.param(
            "pool",
            "spec.forProvider.nodeConfig.taint.0.effect",
            "NoSchedule",
            "'NoSchedule' is none of",
            id="word-of-kubernetes",
        ),
        pytest.param(
            "pool", "spec.forProvider.nodeConfig.labels.a", 1, "must be texts by name", id="label-of-a-number"
        ),
        pytest.param("pool", "spec.providerConfigRef", {"name": "a"}, "must have exactly", id="config-without-kind"),
        pytest.param(
            "cluster",
            "spec.writeConnectionSecretToRef.namespace",
            "a",
            "must have exactly",
            id="secret-with-a-namespace",
        ),
        pytest.param("pool", "spec.deletionPolicy", "Orphan", "spec.deletionPolicy: unknown", id="deletion-policy"),
        pytest.param("pool", "spec.managementPolicies", ["Keep"], "managementPolicies: 'Keep'", id="unknown-policy"),
        pytest.param("pool", "spec.forProvider.clusterRef", {}, "clusterRef.name: required", id="nameless-reference"),
        pytest.param("pool", "metadata.namespace", None, "namespace: required", id="no-namespace"),
        pytest.param("pool", "metadata.name", "a" * 64, "metadata.name", id="long-name"),
        pytest.param(
            "cluster",
            "metadata.annotations",
            {"crossplane.io/external-name": "a" * 41},
            "is not within 1 to 40",
            id="long-name-in-the-cloud",
        ),
        pytest.param(
            "access-identity",
            "metadata.annotations",
            {"crossplane.io/external-name": "short"},
            "is not within 6 to 30",
            id="short-name-of-an-account",
        ),
        pytest.param("pool", "kind", "NodeGroup", "no such kind", id="unknown-kind"),
    ],
)
def test_what_is_refused_is_found(key: str, path: str, value: Json, found: str) -> None:
    assert gcp_fields.problems(_made(key)) == []
    (problem,) = gcp_fields.problems(_edit(_made(key), path, value))
    assert found in problem


def test_what_is_only_observed_needs_no_fields() -> None:
    role = _edit(_made("access-role"), "spec.managementPolicies", ["Observe"])
    assert gcp_fields.problems(_edit(role, "spec.forProvider", {})) == []
    assert gcp_fields.problems(_edit(_made("cluster"), "spec.forProvider", {})) == [
        "spec.forProvider.location: required"
    ]
