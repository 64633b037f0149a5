"""Refused ModelReplicas."""

from __future__ import annotations

from modelplane.structural import Cause
from tests.conformance.crd.case import Case, dotted, one
from tests.conformance.crd.documents import GONE, VALID

_WORKERS = ("spec", "workers")
_TOPOLOGY = (*_WORKERS, "topology")
_DEVICE = ("spec", "devices", 0)

REPLICA: tuple[Case, ...] = (
    one("replica-name-too-long", "ModelReplica", ("metadata", "name"), "a" * 37, Cause.TOO_LONG),
    one("replica-name-digit", "ModelReplica", ("metadata", "name"), "0-a", "start with a letter", at=""),
    one("cluster-changes", "ModelReplica", ("spec", "clusterName"), "eks-eu", "clusterName is immutable", old="gke-us"),
    one(
        "deployment-changes",
        "ModelReplica",
        ("spec", "deploymentRef", "name"),
        "b",
        "deploymentRef is immutable",
        at="spec.deploymentRef",
        old="a",
    ),
    one("replica-without-cluster", "ModelReplica", ("spec", "clusterName"), GONE, Cause.REQUIRED),
    one(
        "replica-dra-without-class",
        "ModelReplica",
        (*_DEVICE, "deviceClassName"),
        GONE,
        'a request with "claim: DRA" needs deviceClassName',
        at=dotted(_DEVICE),
    ),
    one(
        "replica-plugin-without-name",
        "ModelReplica",
        (*_DEVICE, "claim"),
        "DevicePlugin",
        'a request with "claim: DevicePlugin" needs resourceName',
        at=dotted(_DEVICE),
    ),
    one(
        "replica-prefill-without-pool",
        "ModelReplica",
        ("spec", "prefill"),
        {"nodeSelector": {"cel": "true"}, "devices": [], "workers": VALID["ModelReplica"]["spec"]["workers"]},
        Cause.REQUIRED,
        at="spec.prefill.pool",
    ),
)
