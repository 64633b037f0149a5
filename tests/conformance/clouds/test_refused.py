"""What the definitions of a provider refuse, so that the judge is known to be strict; and what they let through.

The second is why there are checks of our own (render.clouds.eks.checks).
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from tests.conformance.manifests.judge import refusal
from tests.support import aks, controlplane, eks, sites

Json = Any
Change = Callable[[Json], Any]

FABRIC = {"instanceType": "p6-b200.48xlarge", "efaInterfaces": 8}
BLOCK = FABRIC | {"capacityType": "CAPACITY_BLOCK", "capacityReservationId": eks.BLOCK}


def _resources() -> dict[str, Json]:
    where = eks.site(privateNodes=True, storageDrivers=["EFS"])
    pool = eks.pool("b200", devices=8, recipe=BLOCK)
    return {
        one.resource["kind"]: copy.deepcopy(dict(one.resource))
        for part, one in eks.everything(where, (pool,))
        if part != "config"
    }


def _spec(change: Change) -> Change:
    return lambda document: change(document["spec"])


def _fields(change: Change) -> Change:
    return lambda document: change(document["spec"]["forProvider"])


@pytest.mark.parametrize(
    ("kind", "change", "says"),
    [
        pytest.param("Cluster", _fields(lambda one: one.update(autoMode=True)), "autoMode", id="an-unknown-field"),
        pytest.param(
            "NodeGroup", _fields(lambda one: one["scalingConfig"].update(maxSize="2")), "maxSize", id="a-count-as-text"
        ),
        pytest.param("VPC", _fields(lambda one: one.pop("region")), "region", id="no-region"),
        pytest.param(
            "NodeGroup",
            lambda one: (one["spec"]["forProvider"].pop("scalingConfig"), one["spec"].pop("initProvider")),
            "scalingConfig is a required parameter",
            id="no-sizes",
        ),
        pytest.param("Role", _fields(lambda one: one.pop("assumeRolePolicy")), "assumeRolePolicy", id="no-trust"),
        pytest.param(
            "NodeGroup", _fields(lambda one: one.update(taint=["a=b:NoSchedule"])), "taint", id="a-taint-as-text"
        ),
        pytest.param(
            "VPC", _spec(lambda one: one["providerConfigRef"].pop("kind")), "kind", id="a-config-without-kind"
        ),
        pytest.param(
            "ClusterAuth",
            _spec(lambda one: one["writeConnectionSecretToRef"].update(namespace="other")),
            "namespace",
            id="a-secret-of-another-namespace",
        ),
        pytest.param(
            "Cluster", _spec(lambda one: one.update(deletionPolicy="Orphan")), "deletionPolicy", id="a-policy"
        ),
        pytest.param(
            "LaunchTemplate",
            _fields(lambda one: one["networkInterfaces"][0].update(deleteOnTermination=True)),
            "deleteOnTermination",
            id="a-flag-that-is-a-text-there",
        ),
    ],
)
def test_the_definition_refuses(plane: controlplane.Plane, kind: str, change: Change, says: str) -> None:
    document = _resources()[kind]
    change(document)
    words = refusal(plane, document)
    assert words is not None
    assert says in words


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        pytest.param("NodeGroup", _fields(lambda one: one.update(capacityType="SPOTTY")), id="a-word-of-capacity"),
        pytest.param("NodeGroup", _fields(lambda one: one.update(amiType="AL1984")), id="an-image"),
        pytest.param("NodeGroup", _fields(lambda one: one.update(diskSize=20)), id="a-disk-beside-a-template"),
        pytest.param(
            "NodeGroup",
            lambda one: one["metadata"]["annotations"].update({"crossplane.io/external-name": "x" * 200}),
            id="a-name-that-is-too-long",
        ),
        pytest.param(
            "LaunchTemplate",
            _fields(lambda one: one.pop("capacityReservationSpecification")),
            id="a-block-without-an-id",
        ),
        pytest.param("VPC", _fields(lambda one: one.update(cidrBlock="10.0.0.0/8")), id="a-range-that-no-vpc-takes"),
        pytest.param("Cluster", _fields(lambda one: one.update(version="1.7")), id="a-version-that-never-was"),
    ],
)
def test_the_definition_lets_through(plane: controlplane.Plane, kind: str, change: Change) -> None:
    document = _resources()[kind]
    change(document)
    assert refusal(plane, document) is None


def _azure() -> dict[str, Json]:
    where = sites.site("aks", {"location": "swedencentral"})
    pool = sites.pool("aks", {"vmSize": "Standard_ND96isr_H100_v5"})
    return {one.resource["kind"]: copy.deepcopy(dict(one.resource)) for one in aks.everything(where, (pool,))}


@pytest.mark.parametrize(
    ("kind", "change", "says"),
    [
        pytest.param(
            "KubernetesClusterNodePool",
            _fields(lambda one: one.update(nodeTaints=[{"key": "a", "effect": "NoSchedule"}])),
            "nodeTaints",
            id="a-taint-as-object",
        ),
        pytest.param(
            "KubernetesClusterNodePool", _fields(lambda one: one.update(nodeCount="2")), "nodeCount", id="count-as-text"
        ),
        pytest.param("KubernetesCluster", _fields(lambda one: one.pop("location")), "location", id="no-location"),
        pytest.param(
            "KubernetesCluster", _fields(lambda one: one.pop("defaultNodePool")), "defaultNodePool", id="no-system-pool"
        ),
        pytest.param("RoleAssignment", _fields(lambda one: one.pop("scope")), "scope", id="a-role-for-nothing"),
        pytest.param("Subnet", _fields(lambda one: one.update(cidr="10.0.0.0/8")), "cidr", id="an-unknown-field"),
    ],
)
def test_the_definition_of_azure_refuses(plane: controlplane.Plane, kind: str, change: Change, says: str) -> None:
    document = _azure()[kind]
    assert refusal(plane, document) is None
    change(document)
    words = refusal(plane, document)
    assert words is not None
    assert says in words


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        pytest.param(
            "KubernetesClusterNodePool",
            _fields(lambda one: one.update(autoScalingEnabled=True, minCount=0, maxCount=4, nodeCount=2)),
            id="both-kinds-of-limits",
        ),
        pytest.param(
            "KubernetesClusterNodePool",
            lambda one: one["metadata"]["annotations"].update({"crossplane.io/external-name": "h100-8x-with-nvlink"}),
            id="a-name-that-is-too-long",
        ),
        pytest.param(
            "KubernetesClusterNodePool", _fields(lambda one: one.update(priority="Cheap")), id="a-word-of-capacity"
        ),
        pytest.param(
            "KubernetesCluster",
            _fields(lambda one: one["networkProfile"].update(podCidr="10.64.0.0/16")),
            id="ranges-that-overlap",
        ),
    ],
)
def test_the_definition_of_azure_lets_through(plane: controlplane.Plane, kind: str, change: Change) -> None:
    document = _azure()[kind]
    change(document)
    assert refusal(plane, document) is None
