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
        r"InsufficientInstanceCapacity|InsufficientCapacity|do\snot\shave\ssufficient\s.*\scapacity|no\sSpot\scapacity",
        "Amazon has no such node free in the zone at the moment. It is tried again; another zone (a new pool with "
        "other zones), or capacity that is bought before would help",
    ),
    Hint(
        r"VcpuLimitExceeded|InstanceLimitExceeded|MaxSpotInstanceCountExceeded|more\svCPU\scapacity\sthan\syour",
        "the quota of the account for this family of nodes is used up in the region. Ask for more in Service Quotas: "
        "families P and G have quotas of their own, On-Demand and Spot, counted in vCPUs",
    ),
    Hint(
        r"quota\sfor\smaximum\sFleet\sRequests",
        "the account may make no more fleets of EC2 in the region. Ask AWS Support to raise or to enable it; new "
        "accounts begin without",
    ),
    Hint(
        r"UnsupportedAvailabilityZone|does\snot\ssupport\screating\scontrol\splane\sinstances",
        "EKS has no control plane in that zone. Name at least two of the zones in the message in "
        "spec.cluster.eks.zones of a new InferenceCluster",
    ),
    Hint(
        r"UnknownInstanceType|(requested|supplied)\sinstance\stype|instance\stypes\sdo\snot\sexist|"
        r"Your\srequested\sinstance\stype\s.*\sis\snot\ssupported",
        "the type is not offered in the zone. `aws ec2 describe-instance-type-offerings --location-type "
        "availability-zone` lists the zones that have it; make the pool there",
    ),
    Hint(
        r"InvalidCapacityReservation|CapacityReservation|Capacity\sBlock",
        "the capacity that was bought does not fit: it must be active, of the same type, and in the zone of the pool. "
        "Look at it with `aws ec2 describe-capacity-reservations`",
    ),
    Hint(
        r"ResourceLimitExceeded|LimitExceeded",
        "a quota of the account is used up (clusters, pools of a cluster, VPCs, addresses, roles). The message names "
        "it; remove what is not needed, or ask for more in Service Quotas",
    ),
    Hint(
        r"CannotAssumeRole|trust\spolicy|cannot\sbe\sassumed\sby|not\sauthorized\sto\sperform:\siam:PassRole",
        "the role is not one that EKS or its nodes may use. Its trust policy must name eks.amazonaws.com (roleArn) or "
        "ec2.amazonaws.com (nodeRoleArn), and the provider needs iam:PassRole",
    ),
    Hint(
        r"AccessDenied|UnauthorizedOperation|not\sauthorized\sto\sperform|AuthFailure|InvalidClientTokenId|ExpiredToken|"
        r"UnrecognizedClient",
        "the credentials of the provider are missing, have ended, or lack the permission in the message. See "
        "spec.cluster.eks.providerConfigRef, and docs/clouds-eks.md for the permissions",
    ),
    Hint(
        r"cannot\sget\scredentials|no\sEC2\sIMDS\srole\sfound|failed\sto\srefresh\scached\scredentials|"
        r"ClusterProviderConfig\s.*not\sfound|cannot\sget\sreferenced\sProviderConfig",
        "the provider finds no credentials. Make the ClusterProviderConfig that spec.cluster.eks.providerConfigRef "
        "names",
    ),
    Hint(
        r"NodeCreationFailure|failed\sto\sjoin\sthe\skubernetes\scluster",
        "nodes started and did not join. They must reach the API server and the registry: given subnets need a way "
        "out, and nodeRoleArn the policies of an EKS node",
    ),
    Hint(
        r"Unsupported\sKubernetes\sminor\sversion\supdate|minor\sversion\supdate",
        "EKS upgrades one minor version at a time. Write the next one in spec.cluster.eks.kubernetesVersion, and go on "
        "when the cluster has it",
    ),
    Hint(
        r"unsupported\sKubernetes\sversion|Nodegroup\sKubernetes\sversion",
        "EKS does not offer that version to new clusters. Write one that `aws eks describe-cluster-versions` lists",
    ),
    Hint(
        r"InvalidSubnet|SubnetNotFound|InsufficientFreeAddresses|not\shave\senough\sfree\saddresses",
        "a subnet is missing or has no free address. Every pod takes one; give larger subnets, or a larger cidrBlock "
        "to a new InferenceCluster",
    ),
    Hint(
        r"InvalidVpc\.Range|CidrConflict|InvalidSubnet\.Conflict|conflicts\swith\sanother\ssubnet",
        "the range is taken in the network. Write another in spec.cluster.eks.cidrBlock of a new InferenceCluster",
    ),
    Hint(
        r"DependencyViolation|has\sdependencies\sand\scannot\sbe\sdeleted|has\ssome\smapped\spublic\saddress",
        "something in the network is still there: mostly a load balancer of a Service, or its interfaces. It is tried "
        "again; delete what `aws ec2 describe-network-interfaces` lists for the VPC and Modelplane did not make",
    ),
    Hint(
        r"ResourceInUse|already\sexists|EntityAlreadyExists|AlreadyExists",
        "an object of that name exists in the account, and Modelplane did not make it. Delete it, or name the "
        "InferenceCluster otherwise",
    ),
    Hint(
        r"refuse\sto\supdate\sthe\sexternal\sresource|requires\sreplacing|cannot\sbe\supdated\sbecause",
        "Amazon cannot change that on what exists. Make another pool with a new name, drain this one, and remove it",
    ),
    Hint(
        r"RequestLimitExceeded|Throttling|TooManyRequests|Rate\sexceeded",
        "Amazon limits how often it is asked. It is tried again",
    ),
    Hint(
        r"InvalidParameter",
        "EKS refuses a setting that it names. Correct it in the InferenceCluster or in the provisioning of the class",
    ),
)
_COMPILED = tuple((re.compile(one.pattern, re.IGNORECASE), one.helps) for one in _HINTS)


def advice(message: str) -> str:
    """Return the help against an error of Amazon, empty if it is unknown. The first that matches is given."""
    return next((text for pattern, text in _COMPILED if pattern.search(message)), "")
