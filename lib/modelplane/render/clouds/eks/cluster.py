"""Cluster of EKS, with identities, add-ons, a pool for controllers, and the Secret by which it is reached."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane import names, seen
from modelplane.render import provisioning
from modelplane.render.clouds.eks import access, images, kinds, roles, settings, storage, subnets
from modelplane.render.manifest import Manifest
from modelplane.render.provisioning import CLUSTER, Resource, Site

Json: TypeAlias = Any

SYSTEM = "system"
"""The name of the pool for controllers, and the value of its label."""

SYSTEM_KEY = "system-pool"

FACT_VERSION, FACT_ENDPOINT = "version", "endpoint"
FACT_SECURITY_GROUP, FACT_VPC, FACT_FILE_SYSTEM = "clusterSecurityGroupId", "vpcId", "fileSystemId"

_ADDONS = ("coredns", "eks-pod-identity-agent", "kube-proxy", "vpc-cni")
_SYSTEM_DISK_GIB = 100


def cluster(site: Site, observed: Mapping[str, Resource]) -> tuple[Manifest, ...]:
    """Return identities, the cluster, its add-ons, its system pool, the access to it, and what outlives it.

    Raises: InvalidInput for a setting of which `problems` speaks.
    """
    vpc = facts(site, observed).get(FACT_VPC, "")
    made, identities = _cluster(site, observed), tuple(roles.roles(site))
    system = _system_pool(site, observed)
    return (
        *identities,
        made,
        # Without the roles EKS cannot delete the interfaces and the security group that it made: these keep the VPC.
        *(provisioning.usage(one.resource, made.resource) for one in identities),
        provisioning.usage(made.resource, system.resource),
        *access.manifests(site),
        *(addon(site, name) for name in _ADDONS),
        system,
        *storage.manifests(site, vpc),
    )


def lifelines() -> tuple[str, ...]:
    """Return the keys of the cluster, its access, and what its controllers run on: nodes, network and names."""
    return (CLUSTER, access.AUTH, SYSTEM_KEY, *(f"addon-{name}" for name in ("coredns", "kube-proxy", "vpc-cni")))


def facts(site: Site, observed: Mapping[str, Resource]) -> dict[str, str]:
    """Return the facts of the observed cluster that pools and the stack must know. An unknown one is left out."""
    seen_cluster = observed.get(CLUSTER)
    found = {
        FACT_VERSION: provisioning.at_provider(seen_cluster, "version"),
        FACT_ENDPOINT: provisioning.at_provider(seen_cluster, "endpoint"),
        FACT_SECURITY_GROUP: provisioning.at_provider(seen_cluster, "vpcConfig", "clusterSecurityGroupId"),
        FACT_VPC: provisioning.at_provider(seen_cluster, "vpcConfig", "vpcId"),
        FACT_FILE_SYSTEM: provisioning.at_provider(observed.get(storage.FILE_SYSTEM), "id"),
    }
    return {key: seen.text(value) for key, value in found.items() if seen.text(value)}


def addon(site: Site, name: str) -> Manifest:
    """Return an add-on of EKS, which goes with the cluster."""
    fields = {
        "clusterNameRef": kinds.reference(site),
        "addonName": name,
        "resolveConflictsOnCreate": "OVERWRITE",
        "resolveConflictsOnUpdate": "OVERWRITE",
        "preserve": False,
    }
    return kinds.made(site, kinds.ADDON, kinds.Part(f"addon-{name}", (name,)), fields)


def _cluster(site: Site, observed: Mapping[str, Resource]) -> Manifest:
    fields: dict[str, Json] = {
        **roles.cluster_role(site),
        "accessConfig": {"authenticationMode": "API", "bootstrapClusterCreatorAdminPermissions": True},
        "bootstrapSelfManagedAddons": False,
        "deletionProtection": False,
        "upgradePolicy": {"supportType": "STANDARD"},
        "vpcConfig": {
            "endpointPublicAccess": True,
            "endpointPrivateAccess": True,
            **_control_subnets(site, observed.get(CLUSTER)),
        },
        "tags": {names.LABEL_CLUSTER: site.cluster},
    }
    if wanted := settings.version(site):
        fields["version"] = wanted
    if (services := settings.service_cidr(site)) is not None:
        fields["kubernetesNetworkConfig"] = {"serviceIpv4Cidr": str(services)}
    return kinds.made(
        site, kinds.CLUSTER, kinds.Part(CLUSTER, (), external_name=site.external_name or site.cluster), fields
    )


def _control_subnets(site: Site, standing: Resource | None) -> dict[str, Json]:
    """Return the subnets of the control plane: those that it has, because EKS refuses other zones later."""
    if not settings.has_own_network(site):
        return {"subnetIds": list(settings.subnet_ids(site))}
    had = seen.at(standing, "spec", "forProvider", "vpcConfig", "subnetIdRefs")
    kept = [{"name": name} for one in seen.objects(had) if (name := seen.text(one.get("name")))]
    return {"subnetIdRefs": kept or subnet_references(site, settings.control_zones(site), subnets.PUBLIC)}


def subnet_references(site: Site, zones: tuple[str, ...], part: str) -> list[dict[str, Json]]:
    """Return references to the subnets of zones."""
    return [kinds.reference(site, part, zone) for zone in zones]


def node_subnets(site: Site, zones: tuple[str, ...]) -> dict[str, Json]:
    """Return the fields of a NodeGroup for its subnets: those of its zones, else all that the author gives."""
    if settings.has_own_network(site):
        part = subnets.PRIVATE if settings.has_private_nodes(site) else subnets.PUBLIC
        return {"subnetIdRefs": subnet_references(site, zones, part)}
    of_zone = settings.zone_subnets(site)
    chosen = [of_zone[zone] for zone in zones if zone in of_zone]
    return {"subnetIds": chosen or list(settings.subnet_ids(site))}


def pool_version(site: Site, version: str) -> dict[str, Json]:
    """Return the version of a pool, none if EKS chooses: that of the cluster, so that it follows an upgrade."""
    return {"version": version} if settings.version(site) and version else {}


def _system_pool(site: Site, observed: Mapping[str, Resource]) -> Manifest:
    system = settings.system(site)
    standing = observed.get(SYSTEM_KEY)
    had = seen.at(standing, "spec", "forProvider", "subnetIdRefs")
    kept = [{"name": name} for one in seen.objects(had) if (name := seen.text(one.get("name")))]
    zones = settings.control_zones(site) if settings.has_own_network(site) else ()
    where = {"subnetIdRefs": kept} if kept else node_subnets(site, zones)
    fields: dict[str, Json] = {
        "clusterNameRef": kinds.reference(site),
        **roles.node_role(site),
        **where,
        "amiType": images.default(system.instance_type, has_gpus=False),
        "instanceTypes": [system.instance_type],
        "diskSize": _SYSTEM_DISK_GIB,
        "scalingConfig": {"minSize": 1, "desiredSize": system.nodes, "maxSize": settings.MOST_SYSTEM_NODES},
        "updateConfig": {"maxUnavailable": 1},
        "labels": {names.LABEL_POOL: SYSTEM},
        **pool_version(site, facts(site, observed).get(FACT_VERSION, "")),
    }
    return kinds.made(site, kinds.NODE_GROUP, kinds.Part(SYSTEM_KEY, (SYSTEM, "pool"), external_name=SYSTEM), fields)
