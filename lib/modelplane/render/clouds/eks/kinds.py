"""Kinds of Amazon's provider that are composed, and the maker of one managed resource.

Source: provider-upjet-aws v2.5.0 and v2.6.0, package/crds (the fields used are the same in both).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane.render import provisioning
from modelplane.render.clouds.eks import settings as wishes
from modelplane.render.manifest import Manifest
from modelplane.render.provisioning import Identity, Served, Site

Json: TypeAlias = Any

_GROUP = "aws.m.upbound.io/v1beta1"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of a service of Amazon. Every service but IAM is regional."""

    service: str
    name: str

    @property
    def api_version(self) -> str:
        """Return the API version."""
        return f"{self.service}.{_GROUP}"

    @property
    def is_regional(self) -> bool:
        """Return whether the provider wants a region."""
        return self.service != "iam"

    @property
    def served(self) -> Served:
        """Return the entry of it among the kinds that must be served."""
        return Served(self.api_version, self.name, f"provider-aws-{self.service}")


VPC = Kind("ec2", "VPC")
SUBNET = Kind("ec2", "Subnet")
INTERNET_GATEWAY = Kind("ec2", "InternetGateway")
NAT_GATEWAY = Kind("ec2", "NATGateway")
ELASTIC_IP = Kind("ec2", "EIP")
ROUTE_TABLE = Kind("ec2", "RouteTable")
ROUTE = Kind("ec2", "Route")
ROUTE_TABLE_ASSOCIATION = Kind("ec2", "RouteTableAssociation")
VPC_ENDPOINT = Kind("ec2", "VPCEndpoint")
VPC_ENDPOINT_ROUTES = Kind("ec2", "VPCEndpointRouteTableAssociation")
SECURITY_GROUP = Kind("ec2", "SecurityGroup")
INGRESS_RULE = Kind("ec2", "SecurityGroupIngressRule")
LAUNCH_TEMPLATE = Kind("ec2", "LaunchTemplate")
PLACEMENT_GROUP = Kind("ec2", "PlacementGroup")
ROLE = Kind("iam", "Role")
ROLE_POLICY = Kind("iam", "RolePolicyAttachment")
CLUSTER = Kind("eks", "Cluster")
CLUSTER_AUTH = Kind("eks", "ClusterAuth")
ADDON = Kind("eks", "Addon")
NODE_GROUP = Kind("eks", "NodeGroup")
ACCESS_ENTRY = Kind("eks", "AccessEntry")
ACCESS_POLICY = Kind("eks", "AccessPolicyAssociation")
POD_IDENTITY = Kind("eks", "PodIdentityAssociation")
FILE_SYSTEM = Kind("efs", "FileSystem")
MOUNT_TARGET = Kind("efs", "MountTarget")

ALL = (
    VPC, SUBNET, INTERNET_GATEWAY, NAT_GATEWAY, ELASTIC_IP, ROUTE_TABLE, ROUTE, ROUTE_TABLE_ASSOCIATION, VPC_ENDPOINT,
    VPC_ENDPOINT_ROUTES, SECURITY_GROUP, INGRESS_RULE, LAUNCH_TEMPLATE, PLACEMENT_GROUP, ROLE, ROLE_POLICY, CLUSTER,
    CLUSTER_AUTH, ADDON, NODE_GROUP, ACCESS_ENTRY, ACCESS_POLICY, POD_IDENTITY, FILE_SYSTEM, MOUNT_TARGET,
)  # fmt: skip


def served() -> tuple[Served, ...]:
    """Return the kinds that may be composed, sorted, each once."""
    return tuple(sorted((kind.served for kind in ALL), key=lambda one: (one.api_version, one.kind)))


@dataclass(frozen=True, slots=True)
class Part:
    """A managed resource as a part of its composite: its key there, and what its name has behind that of the cluster.

    `external_name` is its name at Amazon where that is chosen here. `secret` names the Secret for connection details.
    """

    key: str
    names: tuple[str, ...]
    external_name: str = ""
    secret: str = ""


def made(
    site: Site, kind: Kind, part: Part, fields: Mapping[str, Json], *, initial: Mapping[str, Json] | None = None
) -> Manifest:
    """Return a managed resource. `initial` is written once, at its creation."""
    name = provisioning.part_name(site.cluster, *part.names)
    identity = Identity(part.key, kind.api_version, kind.name, name, part.external_name, part.secret)
    where = {"region": wishes.region(site)} if kind.is_regional else {}
    return provisioning.managed(identity, {**where, **fields}, site=site, init_provider=initial)


def reference(site: Site, *parts: str) -> dict[str, Json]:
    """Return a reference to the managed resource of the cluster that was made with these parts."""
    return {"name": provisioning.part_name(site.cluster, *parts)}
