"""AKS cluster: its identity, and the cluster with its system pool, which Azure makes with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from modelplane import names, seen
from modelplane.render.clouds.aks import access, naming, settings, vnet
from modelplane.render.manifest import Manifest
from modelplane.render.provisioning import CLUSTER, Identity, Resource, Site, at_provider, managed

Json: TypeAlias = Any

CONTAINERS = "containerservice.azure.m.upbound.io/v1beta1"

_LATE = "LateInitialize"
_ALL = ("Observe", "Create", "Update", "Delete")


def cluster(site: Site, observed: Mapping[str, Resource]) -> tuple[Manifest, ...]:
    """Return the identity, its role and the cluster. The role follows when the identity is observed.

    Raises: InvalidInput for a field that its author must change.
    """
    return (*access.identities(site, observed), _cluster(site))


def facts(site: Site, observed: Mapping[str, Resource]) -> dict[str, str]:
    """Return the version and the address of the API server, each once it is known."""
    made = observed.get(CLUSTER)
    known = {
        "version": seen.text(at_provider(made, "currentKubernetesVersion")),
        "endpoint": seen.text(at_provider(made, "fqdn")),
    }
    return {key: value for key, value in known.items() if value}


def without_late_initialization(made: Manifest) -> Manifest:
    """Return the manifest of a resource whose unset fields stay unset.

    The provider would write the version and the number of nodes that it finds into the spec, and later undo the
    upgrades of the channel and the work of the autoscaler. Source: crossplane-contrib/provider-upjet-azure,
    config/namespaced/containerservice (these fields are not excepted).
    """
    spec = made.resource["spec"]
    policies = [one for one in spec.get("managementPolicies", _ALL) if one != _LATE]
    return replace(made, resource={**made.resource, "spec": {**spec, "managementPolicies": policies}})


def _cluster(site: Site) -> Manifest:
    asked, channel = settings.asked(site), settings.channel(site)
    name, called = naming.resource(site), naming.cluster_name(site)
    spec: dict[str, Json] = {
        "location": settings.location(site),
        **vnet.in_group(site),
        "dnsPrefix": naming.cloud_name(site.cluster, limit=naming.PREFIX_MAX),
        "nodeOsUpgradeChannel": "NodeImage",
        "skuTier": settings.tier(site),
        # Without local accounts the kubeconfig has no certificate, and nobody gets in.
        "localAccountDisabled": False,
        "roleBasedAccessControlEnabled": True,
        "oidcIssuerEnabled": True,
        "workloadIdentityEnabled": True,
        "identity": access.of_cluster(site),
        "networkProfile": _network(site),
        "storageProfile": {"fileDriverEnabled": True, "diskDriverEnabled": True, "blobDriverEnabled": True},
        "defaultNodePool": _system_pool(site),
    }
    if asked is not None:
        spec["kubernetesVersion"] = asked.text
    if channel:
        spec["automaticUpgradeChannel"] = channel
    if not site.external_name and len(_node_group(site)) > naming.GROUP_MAX:
        spec["nodeResourceGroup"] = naming.cloud_name("nodes", site.cluster, limit=naming.GROUP_MAX)
    secret = naming.resource(site, access.KUBECONFIG)
    identity = Identity(CLUSTER, CONTAINERS, "KubernetesCluster", name, called, secret)
    return without_late_initialization(managed(identity, spec, site=site))


def _node_group(site: Site) -> str:
    """Return the name that Azure gives to the resource group of the nodes."""
    group = settings.group(site) or naming.group_name(site)
    return f"MC_{group}_{naming.cluster_name(site)}_{settings.location(site)}"


def _network(site: Site) -> dict[str, Json]:
    pods = settings.address_range(site, settings.POD_RANGE)
    services = settings.address_range(site, settings.SERVICE_RANGE)
    return {
        "networkPlugin": "azure",
        "networkPluginMode": "overlay",
        "podCidr": pods.text,
        "serviceCidr": services.text,
        "dnsServiceIp": settings.dns_address(services),
        "loadBalancerSku": "standard",
        "outboundType": "loadBalancer",
    }


def _system_pool(site: Site) -> dict[str, Json]:
    pool: dict[str, Json] = {
        "name": naming.SYSTEM_POOL,
        "vmSize": settings.system_size(site),
        "osSku": "Ubuntu",
        "autoScalingEnabled": True,
        "minCount": 1,
        "maxCount": 3,
        **vnet.in_subnet(site),
        "onlyCriticalAddonsEnabled": False,
        # Without it a change of the size is an error.
        "temporaryNameForRotation": naming.ROTATION,
        "nodeLabels": {names.LABEL_POOL: naming.SYSTEM_POOL},
    }
    pinned = settings.pin(site)
    return pool | {"orchestratorVersion": pinned} if pinned else pool


def lifelines() -> tuple[str, ...]:
    """Return the key of the control plane, which has the pool for controllers and the access in it."""
    return (CLUSTER,)
