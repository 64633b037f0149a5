"""Advice for errors of Amazon, by the words in which the provider passes them on.

Source: EC2 API reference, "Error codes for the Amazon EC2 API" (capacity, quotas, permissions); EKS API reference,
CreateCluster and CreateNodegroup, and "Nodegroup health issue codes" (Issue); messages as users met them:
eksctl-io/eksctl #4732 (no capacity in a zone), aws/containers-roadmap #2204, terraform-aws-modules/terraform-aws-eks
#2149 (nodes that do not join, a quota of fleets), hashicorp/terraform-provider-aws (a zone without control planes, the
dependency of a VPC); crossplane/upjet, "refuse to update the external resource".
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Hint:
    """A pattern of a message, and what would help against it."""

    pattern: str
    helps: str


_HINTS = (
    Hint(
        r"InsufficientInstanceCapacity|InsufficientCapacity|do not have sufficient .* capacity|no Spot capacity",
        "Amazon has no such node free in the zone at the moment. It is tried again; another zone (a new pool with "
        "other zones), a Capacity Block or a Capacity Reservation would help",
    ),
    Hint(
        r"VcpuLimitExceeded|InstanceLimitExceeded|MaxSpotInstanceCountExceeded|more vCPU capacity than your",
        "the quota of the account for this family of nodes is used up in the region. Ask for more in Service Quotas: "
        "Running On-Demand P instances or G and VT instances, or All P or G Spot Instance Requests, counted in vCPUs",
    ),
    Hint(
        r"quota for maximum Fleet Requests",
        "the account may make no more fleets of EC2 in the region. Ask AWS Support to raise or to enable it; new "
        "accounts begin without",
    ),
    Hint(
        r"UnsupportedAvailabilityZone|does not support creating control plane instances",
        "EKS has no control plane in that zone. Name at least two of the zones in the message in "
        "spec.cluster.eks.zones of a new InferenceCluster",
    ),
    Hint(
        r"UnknownInstanceType|(requested|supplied) instance type|instance types do not exist|"
        r"Your requested instance type .* is not supported",
        "the type is not offered in the zone. `aws ec2 describe-instance-type-offerings --location-type "
        "availability-zone` lists the zones that have it; make the pool there",
    ),
    Hint(
        r"InvalidCapacityReservation|CapacityReservation|Capacity Block",
        "the capacity that was bought does not fit: it must be active, of the same type, and in the zone of the pool. "
        "Look at it with `aws ec2 describe-capacity-reservations`",
    ),
    Hint(
        r"ResourceLimitExceeded|LimitExceeded",
        "a quota of the account is used up (clusters, pools of a cluster, VPCs, addresses, roles). The message names "
        "it; remove what is not needed, or ask for more in Service Quotas",
    ),
    Hint(
        r"CannotAssumeRole|trust policy|cannot be assumed by|not authorized to perform: iam:PassRole",
        "the role is not one that EKS or its nodes may use. Its trust policy must name eks.amazonaws.com (roleArn) or "
        "ec2.amazonaws.com (nodeRoleArn), and the provider needs iam:PassRole",
    ),
    Hint(
        r"AccessDenied|UnauthorizedOperation|not authorized to perform|AuthFailure|InvalidClientTokenId|ExpiredToken|"
        r"UnrecognizedClient",
        "the credentials of the provider are missing, have ended, or lack the permission in the message. See "
        "spec.cluster.eks.providerConfigRef, and docs/clouds-eks.md for the permissions",
    ),
    Hint(
        r"cannot get credentials|no EC2 IMDS role found|failed to refresh cached credentials|"
        r"ClusterProviderConfig .*not found|cannot get referenced ProviderConfig",
        "the provider finds no credentials. Make the ClusterProviderConfig that spec.cluster.eks.providerConfigRef "
        "names",
    ),
    Hint(
        r"NodeCreationFailure|failed to join the kubernetes cluster",
        "nodes started and did not join. They must reach the API server and the registry: given subnets need a way "
        "out, and nodeRoleArn the policies of an EKS node",
    ),
    Hint(
        r"Unsupported Kubernetes minor version update|minor version update",
        "EKS upgrades one minor version at a time. Write the next one in spec.cluster.eks.kubernetesVersion, and go on "
        "when the cluster has it",
    ),
    Hint(
        r"unsupported Kubernetes version|Nodegroup Kubernetes version",
        "EKS does not offer that version to new clusters. Write one that `aws eks describe-cluster-versions` lists",
    ),
    Hint(
        r"InvalidSubnet|SubnetNotFound|InsufficientFreeAddresses|not have enough free addresses",
        "a subnet is missing or has no free address. Every pod takes one; give larger subnets, or a larger cidrBlock "
        "to a new InferenceCluster",
    ),
    Hint(
        r"InvalidVpc\.Range|CidrConflict|InvalidSubnet\.Conflict|conflicts with another subnet",
        "the range is taken in the network. Write another in spec.cluster.eks.cidrBlock of a new InferenceCluster",
    ),
    Hint(
        r"DependencyViolation|has dependencies and cannot be deleted|has some mapped public address",
        "something in the network is still there: mostly a load balancer of a Service, or its interfaces. It is tried "
        "again; delete what `aws ec2 describe-network-interfaces` lists for the VPC and Modelplane did not make",
    ),
    Hint(
        r"ResourceInUse|already exists|EntityAlreadyExists|AlreadyExists",
        "an object of that name exists in the account, and Modelplane did not make it. Delete it, or name the "
        "InferenceCluster otherwise",
    ),
    Hint(
        r"refuse to update the external resource|requires replacing|cannot be updated because",
        "Amazon cannot change that on what exists. Make another pool with a new name, drain this one, and remove it",
    ),
    Hint(
        r"RequestLimitExceeded|Throttling|TooManyRequests|Rate exceeded",
        "Amazon limits how often it is asked. It is tried again",
    ),
    Hint(
        r"InvalidParameter",
        "EKS refuses a setting that it names. Correct it in the InferenceCluster or in the provisioning of the class",
    ),
)
_COMPILED = tuple((re.compile(one.pattern, re.IGNORECASE), one.helps) for one in _HINTS)


def advice(message: str) -> str:
    """Return what would help against an error of Amazon, empty if unknown. The first that matches is given."""
    return next((text for pattern, text in _COMPILED if pattern.search(message)), "")
