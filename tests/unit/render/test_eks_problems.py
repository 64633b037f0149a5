"""What EKS would refuse, said before anything is made; and what helps against its errors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from modelplane.errors import dotted
from modelplane.render.clouds import eks
from modelplane.workload.created import NodeTaint, PoolSpec, Site
from tests.support import eks as world

Json = Any

SETTINGS, ENTRY = "spec.cluster.eks", "spec.nodePools.0"
FABRIC = {"instanceType": "p5en.48xlarge", "efaInterfaces": 16}
BLOCK = {"capacityType": "CAPACITY_BLOCK", "capacityReservationId": world.BLOCK}


def _said(where: Site, *pools: PoolSpec) -> list[tuple[str, str]]:
    return [(dotted(one.path), one.message) for one in eks.problems(where, pools)]


@pytest.mark.parametrize(
    ("settings", "field", "words"),
    [
        pytest.param({"region": "us-east-2a"}, "region", "not a zone", id="a-zone-as-region"),
        pytest.param({"kubernetesVersion": "1.33"}, "kubernetesVersion", "write 1.34 or later", id="before-dra"),
        pytest.param({"kubernetesVersion": "1.34.2"}, "kubernetesVersion", "minor version alone", id="a-patch-version"),
        pytest.param({"kubernetesVersion": "latest"}, "kubernetesVersion", "for example 1.34", id="no-version"),
        pytest.param({"zones": [world.A]}, "zones", "at least 2 zones", id="one-zone"),
        pytest.param({"zones": None}, "zones", "only us-east-2a is named", id="one-zone-by-its-pool"),
        pytest.param({"zones": [world.A, "us-west-2b"]}, "zones", "us-west-2b", id="a-zone-of-another-region"),
        pytest.param({"zones": [world.A, "us-east-2-chi-1a"]}, "zones", "is no zone of us-east-2", id="a-local-zone"),
        pytest.param({"cidrBlock": "10.0.0.1/16"}, "cidrBlock", "is no IPv4 range", id="bits-of-a-host"),
        pytest.param({"cidrBlock": "10.0.0.0/8"}, "cidrBlock", "/16 to /20", id="larger-than-a-vpc"),
        pytest.param({"cidrBlock": "10.0.0.0/24"}, "cidrBlock", "/16 to /20", id="too-small"),
        pytest.param(
            {"serviceCidrBlock": "10.0.128.0/20"}, "serviceCidrBlock", "overlaps with 10.0.0.0/16", id="overlap"
        ),
        pytest.param({"serviceCidrBlock": "8.8.0.0/16"}, "serviceCidrBlock", "172.20.0.0/16", id="public-addresses"),
        pytest.param({"serviceCidrBlock": "172.20.0.0/28"}, "serviceCidrBlock", "/12 to /24", id="few-services"),
        pytest.param({"roleArn": "arn:aws:iam::1:user/a"}, "roleArn", "is no role", id="a-user-as-role"),
        pytest.param(
            {"adminRoleArns": ["arn:aws:s3:::bucket-of-mine"]}, "adminRoleArns", "is no role", id="a-bucket-as-role"
        ),
        pytest.param({"systemPool": {"nodeCount": 4}}, "systemPool.nodeCount", "from 1 to 3", id="a-large-system-pool"),
        pytest.param(
            {"systemPool": {"instanceType": "p5.48xlarge"}}, "systemPool.instanceType", "no model runs", id="gpus"
        ),
        pytest.param({"access": "Password"}, "access", "Token, WebIdentity", id="another-access"),
        pytest.param({"storageDrivers": ["FSx"]}, "storageDrivers", "EBS, EFS", id="another-driver"),
        pytest.param({"autoscaler": "yes"}, "autoscaler", "must be true or false", id="a-text-for-a-flag"),
        pytest.param({"zones": "us-east-2a"}, "zones", "must be a list", id="a-text-for-a-list"),
        pytest.param(
            {
                "zones": None,
                "subnetIds": ["subnet-0aaaaaaaaaaaaaaa0"],
                "zoneSubnetIds": {world.A: "subnet-0aaaaaaaaaaaaaaa0"},
            },
            "subnetIds",
            "one is named",
            id="one-subnet",
        ),
        pytest.param(world.GIVEN, "zones", "remove one of them", id="zones-beside-given-subnets"),
        pytest.param(
            world.GIVEN | {"zones": None, "privateNodes": True}, "privateNodes", "remove one", id="private-and-given"
        ),
        pytest.param(
            world.GIVEN | {"zones": None, "subnetIds": ["vpc-1", "subnet-0aaaaaaaaaaaaaaa0"]},
            "subnetIds",
            "'vpc-1' is no subnet",
            id="a-vpc-as-subnet",
        ),
        pytest.param(
            world.GIVEN | {"zones": None, "zoneSubnetIds": {world.A: "subnet-0cccccccccccccccc"}},
            f"zoneSubnetIds.{world.A}",
            "is not in subnetIds",
            id="a-subnet-that-is-not-listed",
        ),
        pytest.param(
            {"zoneSubnetIds": {world.A: "subnet-0a"}}, "zoneSubnetIds", "list them in subnetIds", id="none-given"
        ),
        pytest.param({"zoneSubnetIds": ["subnet-0a"]}, "zoneSubnetIds", "must be an object", id="a-list-of-zones"),
    ],
)
def test_a_setting_is_refused(settings: Json, field: str, words: str) -> None:
    said = _said(world.site(**settings), world.pool())
    assert any(path == f"{SETTINGS}.{field}" and words in message for path, message in said), said


@pytest.mark.parametrize(
    ("of", "field", "words"),
    [
        pytest.param(world.pool("system"), "name", "pool for controllers", id="the-name-of-the-system-pool"),
        pytest.param(world.pool(zones=()), "zones", "is required", id="no-zone"),
        pytest.param(world.pool(zones=("us-east-1a",)), "zones", "no zone of us-east-2", id="a-zone-of-another-region"),
        pytest.param(
            world.pool(recipe={"efaInterfaces": 1}, zones=(world.A, world.B)),
            "zones",
            "exactly one zone, not 2",
            id="efa",
        ),
        pytest.param(
            world.pool(recipe={"placementGroup": "g"}, zones=(world.A, world.B)), "zones", "placement group", id="group"
        ),
        pytest.param(world.pool(recipe=BLOCK, zones=()), "zones", "a Capacity Block lies in one zone", id="a-block"),
        pytest.param(
            world.grown(recipe=BLOCK), "nodeCount", "a Capacity Block has a fixed number", id="a-block-that-grows"
        ),
        pytest.param(world.grown(least=0), "nodeCount", "would stay empty", id="nothing-makes-it-grow"),
        pytest.param(
            world.pool(taints=tuple(NodeTaint(f"t{n}", "", "NoSchedule") for n in range(50))),
            "taints",
            "at most 50",
            id="taints",
        ),
    ],
)
def test_a_pool_is_refused_at_its_entry(of: PoolSpec, field: str, words: str) -> None:
    said = _said(world.site(), of)
    assert any(path == f"{ENTRY}.{field}" and words in message for path, message in said), said


def test_a_dra_pool_that_would_never_wake_is_refused() -> None:
    where = world.site(autoscaler=True)
    ((path, message),) = _said(where, world.grown(least=0))
    assert path == f"{ENTRY}.minNodeCount"
    assert "never wakes; write minNodeCount: 1" in message
    assert _said(where, world.grown(least=0, drivers=())) == [], "a device plugin is known to the autoscaler"


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        pytest.param(
            {"recipe": {"instanceType": "p5.24xlarge"}}, "instanceType", "p5 has p5.48xlarge, p5.4xlarge", id="a-size"
        ),
        pytest.param(
            {"recipe": {"instanceType": "p5en48xlarge"}}, "instanceType", "write for example p5en.48xlarge", id="a-typo"
        ),
        pytest.param({"devices": 8}, "instanceType", "g6e.12xlarge has 4 L40S, and the class counts 8", id="too-many"),
        pytest.param({"devices": 2}, "instanceType", "the class counts 2", id="too-few"),
        pytest.param(
            {"recipe": {"instanceType": "p5.48xlarge"}, "devices": 60},
            "instanceType",
            "up to 56 equal slices",
            id="mig",
        ),
        pytest.param(
            {"recipe": {"amiType": "AL2023_x86_64_NVIDA"}}, "amiType", "AL2023_x86_64_NVIDIA", id="an-image-typo"
        ),
        pytest.param(
            {"recipe": {"amiType": "AL2023_x86_64_STANDARD"}}, "amiType", "no driver for GPUs", id="no-driver"
        ),
        pytest.param(
            {"recipe": {"amiType": "AL2023_ARM_64_NVIDIA"}}, "amiType", "other processors", id="another-architecture"
        ),
        pytest.param(
            {"recipe": {"amiType": "BOTTLEROCKET_x86_64_NVIDIA"}}, "amiType", "a second time", id="a-second-plugin"
        ),
        pytest.param(
            {"recipe": {"efaInterfaces": 2}}, "efaInterfaces", "takes at most 1, not 2", id="too-many-adapters"
        ),
        pytest.param(
            {"recipe": {"instanceType": "g6e.xlarge", "efaInterfaces": 1}, "devices": 1},
            "efaInterfaces",
            "no adapter",
            id="none",
        ),
        pytest.param(
            {"recipe": {"instanceType": "p9.48xlarge", "efaInterfaces": 4}},
            "efaInterfaces",
            "are unknown",
            id="unknown-cards",
        ),
        pytest.param(
            {"recipe": {"capacityType": "SPOT", "capacityReservationId": world.BLOCK}},
            "capacityReservationId",
            "spot",
            id="spot",
        ),
        pytest.param(
            {"recipe": {"capacityType": "CAPACITY_BLOCK"}},
            "capacityReservationId",
            "is required",
            id="a-block-without-id",
        ),
        pytest.param({"recipe": {"capacityReservationId": "my-block"}}, "capacityReservationId", "cr-0123", id="no-id"),
        pytest.param({"recipe": {"capacityType": "CHEAP"}}, "capacityType", "is not one of", id="another-capacity"),
        pytest.param(
            {"recipe": {"placementPolicy": "Cluster", "placementGroup": "g"}},
            "placementGroup",
            "remove one",
            id="two-groups",
        ),
        pytest.param(
            {"recipe": {"placementPolicy": "Spread"}}, "placementPolicy", "None, Cluster", id="another-policy"
        ),
        pytest.param({"recipe": {"diskThroughputMiB": 64}}, "diskThroughputMiB", "125 to 2000", id="a-slow-disk"),
        pytest.param({"recipe": {"diskSizeGiB": 10}}, "diskSizeGiB", "at least 20", id="smaller-than-the-image"),
    ],
)
def test_a_recipe_is_refused_at_the_entry_of_its_pool(changes: Json, field: str, words: str) -> None:
    said = _said(world.site(privateNodes=True), world.pool(**changes))
    start = f'class "node": spec.provisioning.eks.{field}: '
    assert any(
        path == f"{ENTRY}.className" and message.startswith(start) and words in message for path, message in said
    ), said


def test_a_class_with_dra_on_an_older_cluster_is_refused_with_the_version_to_write() -> None:
    said = _said(world.site(kubernetesVersion="1.33"), world.pool())
    assert any(path.endswith("className") and "kubernetesVersion: 1.34" in message for path, message in said)


def test_several_adapters_need_a_way_out() -> None:
    of = world.pool(recipe=FABRIC, devices=8)
    ((path, message),) = _said(world.site(), of)
    assert path == f"{SETTINGS}.privateNodes"
    assert "no public address" in message
    assert _said(world.site(privateNodes=True), of) == []
    assert _said(world.site(zones=None, **world.GIVEN), of) == []
    assert _said(world.site(), world.pool(recipe={"efaInterfaces": 1})) == [], "one adapter carries IP itself"


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({}, id="plain"),
        pytest.param({"recipe": {"instanceType": "p5.48xlarge"}, "devices": 56}, id="slices"),
        pytest.param({"recipe": {"instanceType": "p5.48xlarge"}, "devices": 8, "drivers": ()}, id="a-device-plugin"),
        pytest.param({"devices": 5, "drivers": ("dra.net", "gpu.nvidia.com")}, id="network-cards-are-devices-too"),
        pytest.param({"recipe": {"instanceType": "p9.48xlarge"}, "devices": 16}, id="a-family-that-is-not-known-yet"),
        pytest.param({"recipe": {"instanceType": "m7i.metal-24xl"}, "devices": 0, "drivers": ()}, id="metal"),
        pytest.param({"declared": 0, "least": 0, "most": 0}, id="an-empty-pool"),
    ],
)
def test_what_eks_takes_is_taken(changes: Json) -> None:
    assert _said(world.site(), world.pool(**changes)) == []


def test_given_subnets_need_their_zones_where_pools_name_zones() -> None:
    given = {"zones": None, "subnetIds": world.GIVEN["subnetIds"]}
    ((path, message),) = _said(world.site(**given), world.pool())
    assert path == f"{SETTINGS}.zoneSubnetIds"
    assert f"{world.A}: subnet-" in message
    assert _said(world.site(pool_zones=(), **given), world.pool(zones=())) == []


def test_all_problems_are_said_at_once() -> None:
    where = world.site(zones=[world.A], kubernetesVersion="1.20", access=7)
    said = _said(where, world.pool("system", zones=()), world.pool("b", recipe={"capacityType": "CAPACITY_BLOCK"}))
    assert {path.rpartition(".")[2] for path, _ in said} >= {
        "zones",
        "kubernetesVersion",
        "access",
        "name",
        "className",
    }


@pytest.mark.parametrize("broken", [None, 7, "text", [], {}, {"a": []}, True], ids=repr)
@pytest.mark.parametrize(
    "key", ["region", "kubernetesVersion", "zones", "cidrBlock", "subnetIds", "zoneSubnetIds", "systemPool", "roleArn"]
)
def test_no_setting_raises(key: str, broken: Json) -> None:
    for problem in eks.problems(world.site(**{key: broken}), (world.pool(),)):
        assert problem.message


@pytest.mark.parametrize("broken", [7, "text", [], {}, True], ids=repr)
@pytest.mark.parametrize(
    "key",
    [
        "instanceType",
        "amiType",
        "diskSizeGiB",
        "capacityType",
        "capacityReservationId",
        "efaInterfaces",
        "placementPolicy",
    ],
)
def test_no_recipe_raises(key: str, broken: Json) -> None:
    for problem in eks.problems(world.site(), (replace(world.pool(recipe={key: broken})),)):
        assert problem.message


# --- advice -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "helps"),
    [
        pytest.param(
            "Could not launch On-Demand Instances. InsufficientInstanceCapacity - We currently do not have sufficient "
            "p5.48xlarge capacity in the Availability Zone you requested (us-west-2b). Launching EC2 instance failed.",
            "another zone",
            id="no-stock",
        ),
        pytest.param(
            "VcpuLimitExceeded: You have requested more vCPU capacity than your current vCPU limit of 0 allows for the "
            "instance bucket that the specified instance type belongs to.",
            "Service Quotas",
            id="quota-of-vcpus",
        ),
        pytest.param(
            "AsgInstanceLaunchFailures: You've reached your quota for maximum Fleet Requests for this account.",
            "AWS Support",
            id="fleets",
        ),
        pytest.param(
            "UnsupportedAvailabilityZoneException: Cannot create cluster 'x' because EKS does not support creating "
            "control plane instances in us-east-1e, the targeted availability zone.",
            "spec.cluster.eks.zones",
            id="a-zone-without-eks",
        ),
        pytest.param("ResourceLimitExceededException: Cluster limit exceeded for account.", "quota", id="a-limit"),
        pytest.param("VpcLimitExceeded: The maximum number of VPCs has been reached.", "VPCs", id="vpcs"),
        pytest.param(
            "NodeCreationFailure: Instances failed to join the kubernetes cluster", "a way out", id="nodes-do-not-join"
        ),
        pytest.param(
            "InvalidParameterException: The following supplied instance types do not exist: [p5.48xlarge]",
            "describe-instance-type-offerings",
            id="type-not-in-the-zone",
        ),
        pytest.param(
            "InvalidParameterException: Disk size must be specified within the launch template",
            "refuses a setting",
            id="parameter",
        ),
        pytest.param(
            "User: arn:aws:sts::1:assumed-role/a/b is not authorized to perform: eks:CreateCluster on resource: x",
            "permission",
            id="a-permission",
        ),
        pytest.param(
            "AccessDeniedException: User is not authorized to perform: iam:PassRole on resource",
            "iam:PassRole",
            id="pass-role",
        ),
        pytest.param(
            "DependencyViolation: The vpc 'vpc-1' has dependencies and cannot be deleted.",
            "load balancer",
            id="left-behind",
        ),
        pytest.param(
            "ResourceInUseException: Cluster already exists with name: x", "name the InferenceCluster", id="taken"
        ),
        pytest.param(
            "refuse to update the external resource because the following update requires replacing it",
            "another pool",
            id="replace",
        ),
        pytest.param('cannot get referenced ProviderConfig: "default": not found', "providerConfigRef", id="no-config"),
        pytest.param(
            "InvalidParameterException: Unsupported Kubernetes minor version update from 1.33 to 1.35",
            "one minor",
            id="two-versions",
        ),
        pytest.param(
            "InvalidSubnet.Conflict: The CIDR '10.0.0.0/20' conflicts with another subnet", "cidrBlock", id="addresses"
        ),
    ],
)
def test_an_error_of_amazon_is_explained(message: str, helps: str) -> None:
    assert helps in eks.advice(message)


@pytest.mark.parametrize("message", ["", "connect: connection refused", "something else"])
def test_an_unknown_error_gets_no_advice(message: str) -> None:
    assert eks.advice(message) == ""
