"""Status of managed resources of an AKS cluster as it is once they are made, for worlds without a cloud."""

from __future__ import annotations

from typing import Any, TypeAlias

from modelplane import names, seen
from modelplane.render.provisioning import Resource

Json: TypeAlias = Any

_VERSION = "1.35.1"
_NOBODY = "00000000-0000-0000-0000-000000000000"


def assumed(resource: Resource) -> dict[str, Json]:
    """Return status.atProvider, empty for a kind of which nothing is read."""
    asked = seen.at(resource, "spec", "forProvider")
    name = seen.text(seen.at(resource, "metadata", "name"))
    match seen.text(resource.get("kind")):
        case "UserAssignedIdentity":
            called = seen.text(seen.at(asked, "name"))
            group = seen.text(seen.at(asked, "resourceGroupName")) or called
            where = f"/subscriptions/{_NOBODY}/resourceGroups/{group}/providers/Microsoft.ManagedIdentity"
            return {"id": f"{where}/userAssignedIdentities/{called}", "principalId": _principal(name)}
        case "KubernetesCluster":
            prefix, location = seen.text(seen.at(asked, "dnsPrefix")), seen.text(seen.at(asked, "location"))
            version = _full(seen.text(seen.at(asked, "kubernetesVersion")))
            return {"fqdn": f"{prefix}.hcp.{location}.azmk8s.io", "currentKubernetesVersion": version}
        case "KubernetesClusterNodePool":
            declared, least = (seen.count(seen.at(asked, key)) for key in ("nodeCount", "minCount"))
            return {"nodeCount": (declared if declared is not None else least) or 0}
    return {}


def _principal(name: str) -> str:
    """Return an identifier that is another for each identity."""
    digest = names.digest(name, digits=32)
    return "-".join((digest[:8], digest[8:12], digest[12:16], digest[16:20], digest[20:]))


def _full(version: str) -> str:
    """Return the version that AKS takes for the one that is asked for, a minor or all of it."""
    if not version:
        return _VERSION
    return version if version.count(".") > 1 else f"{version}.1"
