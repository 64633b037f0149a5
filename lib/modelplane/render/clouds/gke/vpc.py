"""Network of a GKE cluster: a VPC with one subnetwork, whose secondary ranges are those of pods and services."""

from __future__ import annotations

from modelplane.render.clouds.gke import naming, settings
from modelplane.render.manifest import Manifest
from modelplane.render.provisioning import NETWORK, Identity, Site, managed

SUBNETWORK = "subnetwork"
COMPUTE = "compute.gcp.m.upbound.io/v1beta1"

_MTU_BYTES = 8896
"""The largest packet of a VPC, for RDMA and for weights that come over the network."""


def network(site: Site) -> tuple[Manifest, ...]:
    """Return the network and its subnetwork, none where the author names existing ones.

    Raises: InvalidInput for a field that its author must change.
    """
    if not settings.has_own_network(site):
        return ()
    project, name = settings.project(site), naming.resource(site)
    nodes, pods, services = settings.asked_ranges(site)
    vpc = {"project": project, "autoCreateSubnetworks": False, "routingMode": "REGIONAL", "mtu": _MTU_BYTES}
    subnetwork = {
        "project": project,
        "region": settings.region(site),
        "networkRef": {"name": name},
        "ipCidrRange": nodes.text,
        "privateIpGoogleAccess": True,
        "secondaryIpRange": [
            {"rangeName": settings.POD_RANGE_NAME, "ipCidrRange": pods.text},
            {"rangeName": settings.SERVICE_RANGE_NAME, "ipCidrRange": services.text},
        ],
    }
    called = naming.network_name(site)
    return (
        managed(Identity(NETWORK, COMPUTE, "Network", name, called), vpc, site=site),
        managed(Identity(SUBNETWORK, COMPUTE, "Subnetwork", name, called), subnetwork, site=site),
    )
