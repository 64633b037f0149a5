"""GKE cluster: the identities, the cluster, and its system pool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane import names, seen
from modelplane.render import asked_version
from modelplane.render.clouds.gke import access, naming, settings
from modelplane.render.manifest import Manifest
from modelplane.render.provisioning import CLUSTER, Identity, Resource, Site, at_provider, managed

Json: TypeAlias = Any

CONTAINER = "container.gcp.m.upbound.io/v1beta1"
SYSTEM_POOL = "system-pool"

_SYSTEM_NODES = {"totalMinNodeCount": 1, "totalMaxNodeCount": 3, "locationPolicy": "BALANCED"}
_SYSTEM_DISK_GIB = 100
# The scope is the whole platform because roles decide, not scopes.
_SCOPES = ("https://www.googleapis.com/auth/cloud-platform",)


def cluster(site: Site, observed: Mapping[str, Resource]) -> tuple[Manifest, ...]:
    """Return the identities, the cluster and its system pool. Nothing needs a fact of an observed resource.

    Raises: InvalidInput for a field that its author must change.
    """
    return (*access.identities(site), _cluster(site), _system_pool(site))


def facts(site: Site, observed: Mapping[str, Resource]) -> dict[str, str]:
    """Return the version and the address of the API server, each once it is known."""
    made = observed.get(CLUSTER)
    known = {
        "version": seen.text(at_provider(made, "masterVersion")),
        "endpoint": seen.text(at_provider(made, "endpoint")),
    }
    return {key: value for key, value in known.items() if value}


def node_base(site: Site, machine: str) -> dict[str, Json]:
    """Return the part of a node's configuration that all pools have."""
    return {
        "machineType": machine,
        **access.node_identity(site),
        "oauthScopes": list(_SCOPES),
        "workloadMetadataConfig": {"mode": "GKE_METADATA"},
    }


def upkeep(site: Site) -> dict[str, Json]:
    """Return the upgrades and repairs of a pool, and its version if that is pinned.

    A release channel upgrades nodes; GKE refuses a pool there that is not upgraded and repaired ("Auto_upgrade and
    auto_repair cannot be false when release_channel REGULAR is set").
    """
    pinned = settings.pin(site)
    if pinned is None:
        return {"management": {"autoRepair": True, "autoUpgrade": True}}
    return {"management": {"autoRepair": True, "autoUpgrade": False}, "version": pinned.text}


def _cluster(site: Site) -> Manifest:
    project = settings.project(site)
    asked = asked_version.read(settings.version_field(site))
    spec: dict[str, Json] = {
        "project": project,
        "location": settings.region(site),
        # Left out it is true, and the cluster can never be deleted.
        "deletionProtection": False,
        **_place(site),
        "ipAllocationPolicy": _addresses(site),
        "networkingMode": "VPC_NATIVE",
        "datapathProvider": "ADVANCED_DATAPATH",
        "removeDefaultNodePool": True,
        "initialNodeCount": 1,
        "releaseChannel": {"channel": settings.channel(site)},
        # Envoy Gateway brings the definitions of the Gateway API, in another channel than GKE.
        "gatewayApiConfig": {"channel": "CHANNEL_DISABLED"},
        "workloadIdentityConfig": {"workloadPool": f"{project}.svc.id.goog"},
        "addonsConfig": {
            "gcpFilestoreCsiDriverConfig": {"enabled": True},
            "gcsFuseCsiDriverConfig": {"enabled": True},
        },
        "ignoreNodeCountChanges": True,
    }
    if asked is not None:
        spec["minMasterVersion"] = asked.text
    identity = Identity(
        CLUSTER,
        CONTAINER,
        "Cluster",
        naming.resource(site),
        naming.cluster_name(site),
        secret=naming.resource(site, access.KUBECONFIG),
    )
    return managed(identity, spec, site=site)


def _place(site: Site) -> dict[str, Json]:
    if settings.has_own_network(site):
        name = naming.resource(site)
        return {"networkRef": {"name": name}, "subnetworkRef": {"name": name}}
    return {"network": site.settings.at("network").text(), "subnetwork": site.settings.at("subnetwork").text()}


def _addresses(site: Site) -> dict[str, Json]:
    """Return where pods and services get addresses: secondary ranges by name, or ranges that GKE adds itself."""
    if settings.has_own_network(site):
        return {
            "clusterSecondaryRangeName": settings.POD_RANGE_NAME,
            "servicesSecondaryRangeName": settings.SERVICE_RANGE_NAME,
        }
    given = site.settings
    found = {
        "clusterSecondaryRangeName": given.at("podRangeName").text(""),
        "servicesSecondaryRangeName": given.at("serviceRangeName").text(""),
        "clusterIpv4CidrBlock": given.at("podCidr").text(""),
        "servicesIpv4CidrBlock": given.at("serviceCidr").text(""),
    }
    return {"stackType": "IPV4"} | {key: value for key, value in found.items() if value}


def _system_pool(site: Site) -> Manifest:
    node = node_base(site, settings.system_machine(site))
    node |= {
        "diskSizeGb": _SYSTEM_DISK_GIB,
        "diskType": "pd-balanced",
        "labels": {names.LABEL_POOL: naming.SYSTEM_POOL},
    }
    spec = {
        "clusterRef": {"name": naming.resource(site)},
        "autoscaling": dict(_SYSTEM_NODES),
        "ignoreNodeCountChanges": True,
        **upkeep(site),
        "nodeConfig": node,
    }
    name = naming.resource(site, "pool", naming.SYSTEM_POOL)
    identity = Identity(SYSTEM_POOL, CONTAINER, "NodePool", name, naming.SYSTEM_POOL)
    return managed(identity, spec, site=site, init_provider={"initialNodeCount": 1})


def lifelines() -> tuple[str, ...]:
    """Return the keys of the control plane, of the pool for controllers, and of the identity that gives access."""
    return (CLUSTER, SYSTEM_POOL, *(f"{access.ACCESS}-{part}" for part in ("identity", "role", "key")))
