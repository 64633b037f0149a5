"""Refused clusters that are created, and their parts: what the cloud could not follow never changes."""

from __future__ import annotations

from typing import Any

from modelplane.structural import Cause
from tests.conformance.crd.case import Case, one
from tests.conformance.crd.documents import GONE

Json = Any
_GKE: Json = {"project": "acme-inference", "region": "us-central1"}
_AKS: Json = {"location": "westeurope"}
_ID = "/subscriptions/5/resourceGroups/shared/providers/Microsoft.Network/virtualNetworks/n/subnets/"


def _changes(source: str, block: Json, key: str, before: Json, after: Json, *, at: str = "") -> Case:
    """Return the change of one field of a cloud's block."""

    def written(value: Json) -> Json:
        return {"source": source, source.lower(): {**block, key: value}}

    return Case(
        f"cluster-{source.lower()}-{key}-changes",
        "InferenceCluster",
        ((("spec", "cluster"), written(after)),),
        f"spec.cluster.{source.lower()}{at}",
        f"{key} is immutable; drain this InferenceCluster and make another",
        ((("spec", "cluster"), written(before)),),
    )


_NETWORK = {**_GKE, "network": "shared", "subnetwork": "nodes"}
_SETTINGS: Json = {"clusterName": "a", "provider": "GKE", "settings": dict(_GKE)}
_POOL: Json = {**_SETTINGS, "pool": {"name": "l4", "className": "l4", "nodeCount": 1}, "recipe": {"machineType": "m"}}

CLOUD: tuple[Case, ...] = (
    *(_changes("GKE", _GKE, key, *values, at=f".{key}") for key, values in (
        ("project", ("project-a", "project-b")),
        ("region", ("us-central1", "us-east1")),
    )),
    *(_changes("GKE", _NETWORK, key, *values) for key, values in (
        ("network", ("shared", "other")),
        ("subnetwork", ("nodes", "other")),
        ("podRangeName", ("pods", "other")),
        ("serviceRangeName", ("services", "other")),
    )),
    *(_changes("GKE", _GKE, key, *values) for key, values in (
        ("nodeCidr", ("10.0.0.0/20", "10.1.0.0/20")),
        ("podCidr", ("10.16.0.0/14", "10.32.0.0/14")),
        ("serviceCidr", ("10.20.0.0/20", "10.21.0.0/20")),
    )),
    Case(
        "cluster-gke-network-alone",
        "InferenceCluster",
        ((("spec", "cluster"), {"source": "GKE", "gke": {**_GKE, "network": "shared"}}),),
        "spec.cluster.gke",
        "write both network and subnetwork",
        (),
    ),
    _changes("AKS", _AKS, "location", "westeurope", "northeurope", at=".location"),
    *(_changes("AKS", _AKS, key, *values) for key, values in (
        ("resourceGroup", ("a", "b")),
        ("subnetId", (f"{_ID}a", f"{_ID}b")),
        ("identityId", (f"{_ID}a", f"{_ID}b")),
        ("networkCidr", ("10.64.0.0/16", "10.65.0.0/16")),
        ("nodeCidr", ("10.64.0.0/20", "10.64.16.0/20")),
        ("podCidr", ("10.128.0.0/14", "10.132.0.0/14")),
        ("serviceCidr", ("10.96.0.0/16", "10.97.0.0/16")),
    )),
    Case(
        "cluster-external-name-changes",
        "InferenceCluster",
        ((("spec", "cluster"), {"source": "GKE", "gke": dict(_GKE), "externalName": "b"}),),
        "spec.cluster.externalName",
        "externalName is immutable",
        ((("spec", "cluster"), {"source": "GKE", "gke": dict(_GKE), "externalName": "a"}),),
    ),
    one(
        "cluster-existing-is-not-orphaned",
        "InferenceCluster",
        ("spec", "cluster", "deletionPolicy"),
        "Orphan",
        "externalName and deletionPolicy go with a cluster that is created",
        at="spec.cluster",
    ),
    *(
        Case(f"{kind.lower()}-of-another-{key}", kind, ((("spec",), {**spec, key: after}),), f"spec.{key}",
             f"{key} is immutable", ((("spec",), spec),))
        for kind, spec in (("CloudNetwork", _SETTINGS), ("CloudCluster", _SETTINGS), ("CloudNodePool", _POOL))
        for key, after in (("clusterName", "b"), ("provider", "EKS"))
    ),
    Case(
        "cloudnodepool-of-another-pool",
        "CloudNodePool",
        ((("spec",), {**_POOL, "pool": {**_POOL["pool"], "name": "b"}}),),
        "spec.pool.name",
        "name is immutable",
        ((("spec",), _POOL),),
    ),
    one("cloudnodepool-without-recipe", "CloudNodePool", ("spec", "recipe"), GONE, Cause.REQUIRED),
)  # fmt: skip
