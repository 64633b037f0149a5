"""Observed fields that Amazon's resources have once they are made, for a world without a cloud."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane import names, seen
from modelplane.render.clouds.eks import kinds

Json: TypeAlias = Any

_DEFAULT_VERSION = "1.34"
_DIGITS = 17


def assumed(resource: Mapping[str, Json]) -> dict[str, Json]:
    """Return the status.atProvider of a managed resource that is made. Ids follow from the name."""
    kind = seen.text(resource.get("kind"))
    name = seen.text(seen.at(resource, "metadata", "name"))
    wanted = seen.at(resource, "spec", "forProvider")
    fields: Mapping[str, Json] = wanted if isinstance(wanted, Mapping) else {}
    if kind == kinds.CLUSTER.name:
        return _cluster(name, fields)
    if kind == kinds.NODE_GROUP.name:
        return _node_group(resource, fields)
    if kind == kinds.LAUNCH_TEMPLATE.name:
        return {"id": _id("lt", name), "latestVersion": 1, "defaultVersion": 1}
    prefix = _PREFIXES.get(kind)
    return {} if prefix is None else {"id": _id(prefix, name)}


_PREFIXES = {
    kinds.VPC.name: "vpc",
    kinds.SUBNET.name: "subnet",
    kinds.INTERNET_GATEWAY.name: "igw",
    kinds.NAT_GATEWAY.name: "nat",
    kinds.ELASTIC_IP.name: "eipalloc",
    kinds.ROUTE_TABLE.name: "rtb",
    kinds.SECURITY_GROUP.name: "sg",
    kinds.FILE_SYSTEM.name: "fs",
    kinds.VPC_ENDPOINT.name: "vpce",
}


def _cluster(name: str, fields: Mapping[str, Json]) -> dict[str, Json]:
    region = seen.text(fields.get("region"))
    vpc = {"clusterSecurityGroupId": _id("sg", name), "vpcId": _id("vpc", name)}
    return {
        "id": name,
        "status": "ACTIVE",
        "version": seen.text(fields.get("version")) or _DEFAULT_VERSION,
        "endpoint": f"https://{names.digest(name).upper()}.gr7.{region}.eks.amazonaws.com",
        "vpcConfig": vpc,
    }


def _node_group(resource: Mapping[str, Json], fields: Mapping[str, Json]) -> dict[str, Json]:
    initial = seen.at(resource, "spec", "initProvider", "scalingConfig")
    asked = seen.at(fields, "scalingConfig")
    scaling = {
        key: value for part in (initial, asked) if isinstance(part, Mapping) for key, value in sorted(part.items())
    }
    return {"status": "ACTIVE", "scalingConfig": scaling}


def _id(prefix: str, name: str) -> str:
    return f"{prefix}-{names.digest(prefix, name, digits=_DIGITS)}"
