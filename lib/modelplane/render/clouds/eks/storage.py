"""Storage drivers of a cluster: add-ons of EKS with a role of their own, and a file system for weights.

EBS gives a disk to one node. EFS is shared by all nodes of the VPC: a FileSystem is made with the driver, which costs
by the gigabyte that lies in it. A StorageClass names it by status.facts.fileSystemId of the cluster.

Source: EKS user guide, "Store Kubernetes volumes with Amazon EBS", "Use elastic file system storage with Amazon EFS".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from modelplane import names
from modelplane.render.clouds.eks import kinds, roles, settings, subnets
from modelplane.render.manifest import Manifest
from modelplane.render.provisioning import Site

Json: TypeAlias = Any

FILE_SYSTEM = "file-system"
_NFS = 2049
_PART = "nfs"
_DRIVERS = {
    settings.EBS: ("aws-ebs-csi-driver", "ebs-csi-controller-sa", "AmazonEBSCSIDriverPolicy"),
    settings.EFS: ("aws-efs-csi-driver", "efs-csi-controller-sa", "AmazonEFSCSIDriverPolicy"),
}


def manifests(site: Site, vpc: str) -> Iterator[Manifest]:
    """Yield the drivers that the author asks for.

    `vpc` is the id of the network, empty while it is unknown; of given subnets it is only known from the cluster.
    """
    for driver in settings.storage_drivers(site):
        if driver in _DRIVERS:
            yield from _driver(site, *_DRIVERS[driver])
    if settings.EFS in settings.storage_drivers(site):
        yield from _file_system(site, vpc)


def _driver(site: Site, addon: str, account: str, policy: str) -> Iterator[Manifest]:
    yield from roles.of_pods(site, addon, policy)
    fields = {"clusterNameRef": kinds.reference(site), "addonName": addon}
    on_conflict = {"resolveConflictsOnCreate": "OVERWRITE", "resolveConflictsOnUpdate": "OVERWRITE", "preserve": False}
    yield kinds.made(site, kinds.ADDON, kinds.Part(f"addon-{addon}", (addon,)), {**fields, **on_conflict})
    yield kinds.made(
        site,
        kinds.POD_IDENTITY,
        kinds.Part(f"identity-{addon}", (addon,)),
        {
            "clusterNameRef": kinds.reference(site),
            "namespace": "kube-system",
            "serviceAccount": account,
            "roleArnRef": kinds.reference(site, addon),
        },
    )


def _file_system(site: Site, vpc: str) -> Iterator[Manifest]:
    tags = {"Name": f"{site.cluster}-weights", names.LABEL_CLUSTER: site.cluster}
    fields = {"encrypted": True, "throughputMode": "elastic", "tags": tags}
    yield kinds.made(site, kinds.FILE_SYSTEM, kinds.Part(FILE_SYSTEM, ("weights",)), fields)
    own = settings.has_own_network(site)
    if not own and not vpc:
        return
    where: dict[str, Json] = {"vpcIdRef": kinds.reference(site)} if own else {"vpcId": vpc}
    # EC2 wants names of at most 255 characters; a name of Kubernetes is shorter.
    name = kinds.reference(site, _PART)["name"]
    group = {"name": name, "description": "NFS from the nodes of the cluster", **where}
    yield kinds.made(site, kinds.SECURITY_GROUP, kinds.Part("nfs-group", (_PART,)), group)
    rule = {"ipProtocol": "tcp", "fromPort": _NFS, "toPort": _NFS, "securityGroupIdRef": kinds.reference(site, _PART)}
    source = str(settings.cidr(site)) if own else "0.0.0.0/0"
    yield kinds.made(site, kinds.INGRESS_RULE, kinds.Part("nfs-rule", (_PART,)), {**rule, "cidrIpv4": source})
    for key, place in _mounts(site):
        target = {
            "fileSystemIdRef": kinds.reference(site, "weights"),
            "securityGroupsRefs": [kinds.reference(site, _PART)],
            **place,
        }
        yield kinds.made(site, kinds.MOUNT_TARGET, kinds.Part(f"mount-{key}", ("mount", key)), target)


def _mounts(site: Site) -> Iterator[tuple[str, dict[str, Json]]]:
    """Yield a key and the subnet of each mount target: one for each zone."""
    if settings.has_own_network(site):
        for zone in settings.zones(site):
            yield zone, {"subnetIdRef": kinds.reference(site, subnets.PUBLIC, zone)}
        return
    # A zone takes one mount target, and only zoneSubnetIds says in which zone a given subnet lies.
    for zone, subnet in settings.zone_subnets(site).items():
        yield zone, {"subnetId": subnet}
