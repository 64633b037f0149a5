"""Roles of IAM: those of the control plane and of the nodes where the author names none, and those of storage drivers.

Each policy is attached on its own. `managedPolicyArns` of a Role would remove what others attach.
"""

from __future__ import annotations

from collections.abc import Iterator

from modelplane.render.clouds.eks import kinds, settings
from modelplane.render.manifest import Manifest
from modelplane.render.provisioning import Site

CLUSTER_ROLE, NODE_ROLE = "cluster", "nodes"

_EKS = "eks.amazonaws.com"
_PODS = "pods.eks.amazonaws.com"
_ASSUME = '"sts:AssumeRole"'
_ASSUME_AND_TAG = '["sts:AssumeRole", "sts:TagSession"]'
_CLUSTER_POLICIES = {"cluster": "AmazonEKSClusterPolicy"}
# Source: EKS user guide, "Amazon EKS node IAM role".
_NODE_POLICIES = {
    "worker": "AmazonEKSWorkerNodePolicy",
    "cni": "AmazonEKS_CNI_Policy",
    "registry": "AmazonEC2ContainerRegistryReadOnly",
}


def roles(site: Site) -> Iterator[Manifest]:
    """Yield the roles of the control plane and of the nodes that the author does not name, with their policies."""
    if not site.settings.at("roleArn").is_set:
        yield from _role(site, CLUSTER_ROLE, _EKS, _ASSUME, _CLUSTER_POLICIES)
    if not site.settings.at("nodeRoleArn").is_set:
        suffix = ".cn" if settings.partition(site) == "aws-cn" else ""
        yield from _role(site, NODE_ROLE, f"ec2.amazonaws.com{suffix}", _ASSUME, _NODE_POLICIES)


def of_pods(site: Site, part: str, policy: str) -> Iterator[Manifest]:
    """Yield a role that pods of the cluster assume by EKS Pod Identity, with one policy."""
    yield from _role(site, part, _PODS, _ASSUME_AND_TAG, {"driver": f"service-role/{policy}"})


def cluster_role(site: Site) -> dict[str, object]:
    """Return the field of a Cluster that names its role."""
    given = site.settings.at("roleArn")
    return {"roleArn": given.text()} if given.is_set else {"roleArnRef": kinds.reference(site, CLUSTER_ROLE)}


def node_role(site: Site) -> dict[str, object]:
    """Return the field of a NodeGroup that names the role of its nodes."""
    given = site.settings.at("nodeRoleArn")
    return {"nodeRoleArn": given.text()} if given.is_set else {"nodeRoleArnRef": kinds.reference(site, NODE_ROLE)}


def _role(site: Site, part: str, service: str, actions: str, policies: dict[str, str]) -> Iterator[Manifest]:
    # Both texts are ours: nothing of an author is in the policy.
    statement = f'{{"Effect": "Allow", "Action": {actions}, "Principal": {{"Service": "{service}"}}}}'
    trust = f'{{"Version": "2012-10-17", "Statement": [{statement}]}}'
    yield kinds.made(site, kinds.ROLE, kinds.Part(f"role-{part}", (part,)), {"assumeRolePolicy": trust})
    for name, policy in policies.items():
        arn = f"arn:{settings.partition(site)}:iam::aws:policy/{policy}"
        fields = {"roleRef": kinds.reference(site, part), "policyArn": arn}
        yield kinds.made(site, kinds.ROLE_POLICY, kinds.Part(f"policy-{part}-{name}", (part, name)), fields)
