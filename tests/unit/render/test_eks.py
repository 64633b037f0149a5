"""The network and the cluster of EKS, and the access to it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from modelplane import names
from modelplane.render.clouds import eks, selection
from modelplane.render.manifest import Manifest
from modelplane.render.provisioning import CLUSTER, NETWORK, Provisioner
from modelplane.render.stack import releases
from tests.support import eks as world

Json = Any


def _of(manifests: tuple[Manifest, ...]) -> dict[str, Json]:
    found = {one.key: one.resource for one in manifests}
    assert len(found) == len(manifests), "two resources have one key"
    return found


def _fields(resource: Json) -> Json:
    return resource["spec"]["forProvider"]


def test_it_is_a_provisioner_in_the_registry() -> None:
    assert isinstance(eks, Provisioner)
    assert selection.maker("EKS") is eks


def test_every_kind_that_is_composed_is_among_those_that_must_be_served() -> None:
    where = world.site(storageDrivers=["EFS", "EBS"], privateNodes=True, adminRoleArns=[world.ROLE])
    fabric = world.pool(
        "b200", devices=8, recipe={"instanceType": "p6-b200.48xlarge", "efaInterfaces": 8, "placementPolicy": "Cluster"}
    )
    composed = {
        (one.resource["apiVersion"], one.resource["kind"])
        for part, one in world.everything(where, (fabric,))
        if part != "config" and one.resource["kind"] != "Usage"
    }
    served = eks.served()
    assert {(one.api_version, one.kind) for one in served} == composed
    assert sorted(set(served), key=lambda one: (one.api_version, one.kind)) == list(served)
    assert {one.package for one in served} == {f"provider-aws-{name}" for name in ("ec2", "eks", "efs", "iam")}


# --- network ----------------------------------------------------------------------------------------------------------


def test_a_network_has_a_public_subnet_for_each_zone_and_no_gateway_that_costs() -> None:
    found = _of(eks.network(world.site()))
    assert {one["kind"] for one in found.values()} == {
        "VPC", "Subnet", "InternetGateway", "RouteTable", "Route", "RouteTableAssociation",
    }  # fmt: skip
    assert _fields(found[NETWORK])["cidrBlock"] == "10.0.0.0/16"
    subnets = [_fields(one) for one in found.values() if one["kind"] == "Subnet"]
    assert [(one["availabilityZone"], one["cidrBlock"], one["mapPublicIpOnLaunch"]) for one in subnets] == [
        (world.A, "10.0.0.0/20", True),
        (world.B, "10.0.32.0/20", True),
    ]
    assert {one["tags"]["kubernetes.io/role/elb"] for one in subnets} == {"1"}
    assert _fields(found["route"])["gatewayIdRef"] == {"name": "ohio"}


def test_a_zone_that_is_added_moves_no_subnet() -> None:
    before = _of(eks.network(world.site(zones=[world.A, world.B], pool_zones=(world.A,))))
    after = _of(eks.network(world.site(pool_zones=(world.A, world.C))))
    assert before.keys() < after.keys()
    for key, resource in before.items():
        assert after[key] == resource


def test_private_nodes_get_a_nat_gateway_that_never_moves_and_a_free_way_to_s3() -> None:
    public = _of(eks.network(world.site(zones=[world.B, world.C])))
    private = _of(eks.network(world.site(privateNodes=True, pool_zones=(world.A, world.B, world.C))))
    assert {key: private[key] for key in public if key in private} == {
        key: public[key] for key in public if key in private
    }
    nat = _fields(_of(eks.network(world.site(privateNodes=True, pool_zones=(world.A, world.C))))["nat-gateway"])
    assert nat["subnetIdRef"] == {"name": private[f"subnet-{world.A}"]["metadata"]["name"]}
    assert _fields(private["private-route"])["natGatewayIdRef"] == nat["allocationIdRef"]
    assert _fields(private["s3-endpoint"])["serviceName"] == f"com.amazonaws.{world.REGION}.s3"
    cidrs = [_fields(one)["cidrBlock"] for one in private.values() if one["kind"] == "Subnet"]
    assert len(set(cidrs)) == 6


def test_given_subnets_leave_no_network_to_make() -> None:
    where = world.site(zones=None, **world.GIVEN)
    assert eks.network(where) == ()
    found = _of(eks.cluster(where, {}))
    assert _fields(found[CLUSTER])["vpcConfig"]["subnetIds"] == world.GIVEN["subnetIds"]
    assert _fields(found["system-pool"])["subnetIds"] == world.GIVEN["subnetIds"]


# --- cluster ----------------------------------------------------------------------------------------------------------


def test_a_cluster_has_roles_addons_a_system_pool_and_its_access() -> None:
    found = _of(eks.cluster(world.site(), {}))
    cluster = _fields(found[CLUSTER])
    assert cluster["version"] == "1.34"
    assert cluster["accessConfig"]["authenticationMode"] == "API"
    assert cluster["bootstrapSelfManagedAddons"] is False
    assert "computeConfig" not in cluster, "Auto Mode has no DRA"
    assert found[CLUSTER]["metadata"]["annotations"]["crossplane.io/external-name"] == "ohio"
    addons = {_fields(one)["addonName"] for one in found.values() if one["kind"] == "Addon"}
    assert addons == {"vpc-cni", "coredns", "kube-proxy", "eks-pod-identity-agent"}
    policies = {
        _fields(one)["policyArn"].rpartition("/")[2] for one in found.values() if one["kind"] == "RolePolicyAttachment"
    }
    assert policies == {
        "AmazonEKSClusterPolicy", "AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy",
        "AmazonEC2ContainerRegistryReadOnly",
    }  # fmt: skip
    trust = json.loads(_fields(found["role-nodes"])["assumeRolePolicy"])
    assert trust["Statement"][0]["Principal"] == {"Service": "ec2.amazonaws.com"}
    system = _fields(found["system-pool"])
    assert (system["labels"], system["scalingConfig"]) == (
        {"modelplane.ai/pool": "system"},
        {"minSize": 1, "desiredSize": 2, "maxSize": 3},
    )
    assert "taint" not in system
    auth = found["cluster-auth"]
    assert _fields(auth)["refreshPeriod"] == "5m0s"
    assert auth["spec"]["writeConnectionSecretToRef"]["name"] == _secret(eks.config(world.site()))


def _secret(config: Manifest) -> str:
    reference = config.resource["spec"]["credentials"]["secretRef"]
    assert (reference["namespace"], reference["key"]) == (names.SYSTEM_NAMESPACE, "kubeconfig")
    name = reference["name"]
    assert isinstance(name, str)
    return name


@pytest.mark.parametrize(
    ("region", "arn", "service"),
    [
        pytest.param("us-east-2", "arn:aws:iam::aws:policy/", "ec2.amazonaws.com", id="commercial"),
        pytest.param("cn-north-1", "arn:aws-cn:iam::aws:policy/", "ec2.amazonaws.com.cn", id="china"),
        pytest.param("us-gov-west-1", "arn:aws-us-gov:iam::aws:policy/", "ec2.amazonaws.com", id="govcloud"),
    ],
)
def test_policies_are_those_of_the_partition(region: str, arn: str, service: str) -> None:
    where = world.site(region=region, zones=[f"{region}a", f"{region}b"])
    found = _of(eks.cluster(where, {}))
    assert _fields(found["policy-nodes-cni"])["policyArn"].startswith(arn)
    assert service in _fields(found["role-nodes"])["assumeRolePolicy"]


def test_given_roles_are_used_and_none_is_made() -> None:
    found = _of(eks.cluster(world.site(roleArn=world.ROLE, nodeRoleArn=world.ROLE), {}))
    assert not {one["kind"] for one in found.values()} & {"Role", "RolePolicyAttachment"}
    assert _fields(found[CLUSTER])["roleArn"] == world.ROLE
    assert _fields(found["system-pool"])["nodeRoleArn"] == world.ROLE


def test_roles_and_their_policies_outlive_the_cluster() -> None:
    """Source: terraform-provider-aws, aws_eks_cluster: without them interfaces and security groups are left behind."""
    found = _of(eks.cluster(world.site(storageDrivers=["EBS"]), {}))
    kept = {
        (one["spec"]["of"]["kind"], one["spec"]["of"]["resourceRef"]["name"])
        for one in found.values()
        if one["kind"] == "Usage"
        and one["spec"]["by"] == {
            "apiVersion": "eks.aws.m.upbound.io/v1beta1", "kind": "Cluster", "resourceRef": {"name": "ohio"},
        }
    }  # fmt: skip
    ours = {
        key: one
        for key, one in found.items()
        if key.startswith(("role-cluster", "role-nodes", "policy-cluster", "policy-nodes"))
    }
    assert kept == {(one["kind"], one["metadata"]["name"]) for one in ours.values()}
    assert len(kept) == 6
    (of_pool,) = [
        one.resource["spec"]
        for one in eks.cluster(world.site(roleArn=world.ROLE, nodeRoleArn=world.ROLE), {})
        if one.resource["kind"] == "Usage"
    ]
    assert (of_pool["of"]["kind"], of_pool["by"]["kind"]) == ("Cluster", "NodeGroup"), "roles of others are theirs"


def test_without_a_version_neither_cluster_nor_pools_have_one() -> None:
    where = world.site(kubernetesVersion=None)
    found = _of(world.settled_cluster(where))
    assert "version" not in _fields(found[CLUSTER])
    assert "version" not in _fields(found["system-pool"])
    assert "version" not in _fields(_of(world.settled_pool(where, world.pool()))["pool"])


def test_pools_follow_the_version_that_the_cluster_has_and_not_the_one_it_is_to_get() -> None:
    observed = world.made(eks.cluster(world.site(), {}))
    found = _of(eks.cluster(world.site(kubernetesVersion="1.35"), observed))
    assert _fields(found[CLUSTER])["version"] == "1.35"
    assert _fields(found["system-pool"])["version"] == "1.34"


def test_the_control_plane_keeps_its_zones_when_pools_add_one() -> None:
    first = world.site(zones=None, pool_zones=(world.A, world.B))
    observed = world.made(eks.cluster(first, {}))
    later = _of(eks.cluster(world.site(zones=None, pool_zones=(world.A, world.B, world.C)), observed))
    assert len(_fields(later[CLUSTER])["vpcConfig"]["subnetIdRefs"]) == 2
    assert len(_fields(later["system-pool"])["subnetIdRefs"]) == 2


def test_facts_are_what_is_known_and_nothing_else() -> None:
    where = world.site(storageDrivers=["EFS"])
    observed = world.made(eks.cluster(where, {}))
    assert eks.facts(where, {}) == {}
    assert set(eks.facts(where, observed)) == {"version", "endpoint", "clusterSecurityGroupId", "vpcId", "fileSystemId"}
    observed[CLUSTER]["status"]["atProvider"] = {"version": 134, "vpcConfig": ["odd"], "endpoint": None}
    assert set(eks.facts(where, observed)) == {"fileSystemId"}


def test_another_name_in_the_cloud_is_that_of_the_cluster_alone() -> None:
    found = _of(eks.cluster(replace(world.site(), external_name="legacy"), {}))
    assert found[CLUSTER]["metadata"]["annotations"]["crossplane.io/external-name"] == "legacy"
    assert found[CLUSTER]["metadata"]["name"] == "ohio"


# --- storage and access -----------------------------------------------------------------------------------------------


def test_a_file_system_in_given_subnets_waits_for_their_network() -> None:
    where = world.site(zones=None, storageDrivers=["EFS"], **world.GIVEN)
    first = _of(eks.cluster(where, {}))
    assert "file-system" in first
    assert not {one["kind"] for one in first.values()} & {"MountTarget", "SecurityGroup"}
    then = _of(world.settled_cluster(where))
    assert first.keys() < then.keys()
    assert _fields(then["nfs-group"])["vpcId"].startswith("vpc-")
    assert {_fields(one)["subnetId"] for one in then.values() if one["kind"] == "MountTarget"} == set(
        world.GIVEN["subnetIds"]
    )


def test_a_storage_driver_brings_its_role_and_identity() -> None:
    found = _of(eks.cluster(world.site(storageDrivers=["EBS"]), {}))
    identity = _fields(found["identity-aws-ebs-csi-driver"])
    assert (identity["namespace"], identity["serviceAccount"]) == ("kube-system", "ebs-csi-controller-sa")
    trust = json.loads(_fields(found["role-aws-ebs-csi-driver"])["assumeRolePolicy"])["Statement"][0]
    assert trust["Principal"] == {"Service": "pods.eks.amazonaws.com"}
    assert set(trust["Action"]) == {"sts:AssumeRole", "sts:TagSession"}


def test_an_entry_belongs_to_its_role_and_not_to_a_place_in_the_list() -> None:
    other = f"{world.ROLE}-2"
    one = _of(eks.cluster(world.site(adminRoleArns=[world.ROLE]), {}))
    both = _of(eks.cluster(world.site(adminRoleArns=[other, world.ROLE]), {}))
    entries = {key: resource for key, resource in one.items() if resource["kind"].startswith("Access")}
    assert len(entries) == 2
    assert all(both[key] == resource for key, resource in entries.items())


@pytest.mark.parametrize(
    ("access", "identity"),
    [
        pytest.param(None, None, id="a-token"),
        pytest.param(
            "WebIdentity", {"type": "AWSWebIdentityCredentials", "source": "InjectedIdentity"}, id="the-pods-own"
        ),
    ],
)
def test_both_providers_enter_by_the_secret_of_the_cluster(access: str | None, identity: Json) -> None:
    config = eks.config(world.site(access=access))
    found = (config, releases.config(config.resource))
    assert [(one.key, one.resource["apiVersion"]) for one in found] == [
        ("provider-config", "kubernetes.m.crossplane.io/v1alpha1"),
        ("helm-config", "helm.m.crossplane.io/v1beta1"),
    ]
    assert {one.resource["metadata"]["name"] for one in found} == {"modelplane-ohio"}
    assert [one.resource["spec"].get("identity") for one in found] == [identity, identity]
    assert len({_secret(one) for one in found}) == 1


def test_what_is_kept_is_never_deleted_in_the_cloud() -> None:
    where = replace(world.site(), is_kept=True)
    for part, one in world.everything(where, (world.pool(),)):
        if part != "config" and one.resource["kind"] != "Usage":
            assert "Delete" not in one.resource["spec"]["managementPolicies"], one.key
