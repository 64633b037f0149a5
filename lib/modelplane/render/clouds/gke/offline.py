"""Status of managed resources of a GKE cluster as it is once they are made, for worlds without a cloud."""

from __future__ import annotations

from typing import Any, TypeAlias

from modelplane import seen
from modelplane.render import external_names
from modelplane.render.provisioning import Resource

Json: TypeAlias = Any

_VERSION = "1.35.1-gke.1396002"
# An address that belongs to nobody (RFC 5737).
_ENDPOINT = "203.0.113.10"


def assumed(resource: Resource) -> dict[str, Json]:
    """Return status.atProvider, empty for a kind of which nothing is read."""
    asked = seen.at(resource, "spec", "forProvider")
    name = seen.text(seen.at(resource, "metadata", "annotations", external_names.ANNOTATION)) or seen.text(
        seen.at(resource, "metadata", "name")
    )
    match seen.text(resource.get("kind")):
        case "Network" | "Subnetwork":
            return {
                "id": f"projects/{seen.text(seen.at(asked, 'project'))}/{name}",
                "project": seen.at(asked, "project"),
            }
        case "ServiceAccount":
            email = f"{name}@{seen.text(seen.at(asked, 'project'))}.iam.gserviceaccount.com"
            return {"accountId": name, "email": email, "member": f"serviceAccount:{email}"}
        case "Cluster":
            return {"endpoint": _ENDPOINT, "masterVersion": _full(seen.text(seen.at(asked, "minMasterVersion")))}
        case "NodePool":
            return _pool(resource, asked)
    return {}


def _pool(resource: Resource, asked: Json) -> dict[str, Json]:
    declared = seen.count(seen.at(asked, "nodeCount"))
    first = seen.count(seen.at(resource, "spec", "initProvider", "initialNodeCount"))
    count = declared if declared is not None else first
    return {"version": _full(seen.text(seen.at(asked, "version"))), "nodeCount": count or 0}


def _full(version: str) -> str:
    """Return the version that GKE takes for the one that is asked for, a minor or all of it."""
    if not version:
        return _VERSION
    return version if "-" in version else f"{version}.1-gke.1396002"
