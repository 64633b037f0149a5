"""Network of an AKS cluster: the resource group, and a virtual network with one subnet."""

from __future__ import annotations

from typing import Any, TypeAlias

from modelplane.render.clouds.aks import naming, settings
from modelplane.render.manifest import Manifest
from modelplane.render.provisioning import NETWORK, Identity, Site, managed

Json: TypeAlias = Any

AZURE = "azure.m.upbound.io/v1beta1"
NETWORKS = "network.azure.m.upbound.io/v1beta1"


def network(site: Site) -> tuple[Manifest, ...]:
    """Return the resource group, the virtual network and its subnet; what the author names is left out.

    The first of them is what the cluster stands in: a resource group takes everything in it along when it is deleted.
    Raises: InvalidInput for a field that its author must change.
    """
    made = [] if settings.group(site) else [("ResourceGroup", _group(site))]
    if not settings.subnet(site):
        made += [("VirtualNetwork", _network(site)), ("Subnet", _subnet(site))]
    keys = {"ResourceGroup": "resource-group", "VirtualNetwork": "virtual-network", "Subnet": "subnet"}
    name, called = naming.resource(site), naming.group_name(site)
    return tuple(
        managed(
            Identity(
                keys[kind] if place else NETWORK, AZURE if kind == "ResourceGroup" else NETWORKS, kind, name, called
            ),
            spec,
            site=site,
        )
        for place, (kind, spec) in enumerate(made)
    )


def in_group(site: Site) -> dict[str, Json]:
    """Return the resource group that a resource is in."""
    existing = settings.group(site)
    if existing:
        return {"resourceGroupName": existing}
    return {"resourceGroupNameRef": {"name": naming.resource(site)}}


def in_subnet(site: Site) -> dict[str, Json]:
    """Return the subnet that nodes are in."""
    existing = settings.subnet(site)
    return {"vnetSubnetId": existing} if existing else {"vnetSubnetIdRef": {"name": naming.resource(site)}}


def _group(site: Site) -> dict[str, Json]:
    return {"location": settings.location(site)}


def _network(site: Site) -> dict[str, Json]:
    space = settings.address_range(site, settings.NETWORK_RANGE)
    return {"location": settings.location(site), **in_group(site), "addressSpace": [space.text]}


def _subnet(site: Site) -> dict[str, Json]:
    nodes = settings.address_range(site, settings.NODE_RANGE)
    return {
        **in_group(site),
        "virtualNetworkNameRef": {"name": naming.resource(site)},
        "addressPrefixes": [nodes.text],
    }
