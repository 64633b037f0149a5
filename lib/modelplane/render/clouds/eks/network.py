"""Network of a cluster: a VPC with a public subnet for each zone, and private ones behind a NAT gateway where asked.

Public subnets cost nothing. A node with several network interfaces gets no public address, and then needs the NAT
gateway. Files in S3 go through a gateway endpoint of their own, which costs nothing either.

Resources refer to each other by name: a selector would be resolved once, from the objects that exist then.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from modelplane import names
from modelplane.render.clouds.eks import kinds, settings, subnets
from modelplane.render.manifest import Manifest
from modelplane.render.provisioning import NETWORK, Site

Json: TypeAlias = Any

_ANYWHERE = "0.0.0.0/0"
_PRIVATE = "private"


def network(site: Site) -> tuple[Manifest, ...]:
    """Return the managed resources of the network, none where the author names subnets.

    Raises: InvalidInput for a zone or a range of which `problems` speaks.
    """
    if not settings.has_own_network(site):
        return ()
    return (*_base(site), *_public(site), *(_private(site) if settings.has_private_nodes(site) else ()))


def _base(site: Site) -> Iterator[Manifest]:
    range_ = {"cidrBlock": str(settings.cidr(site)), "enableDnsSupport": True, "enableDnsHostnames": True}
    yield kinds.made(site, kinds.VPC, kinds.Part(NETWORK, ()), {**range_, "tags": _tags(site)})
    inside = {"vpcIdRef": kinds.reference(site), "tags": _tags(site)}
    yield kinds.made(site, kinds.INTERNET_GATEWAY, kinds.Part("internet-gateway", ()), inside)
    yield kinds.made(site, kinds.ROUTE_TABLE, kinds.Part("route-table", ()), inside)
    out = {"destinationCidrBlock": _ANYWHERE, "gatewayIdRef": kinds.reference(site)}
    yield kinds.made(site, kinds.ROUTE, kinds.Part("route", ()), {"routeTableIdRef": kinds.reference(site), **out})


def _public(site: Site) -> Iterator[Manifest]:
    for zone in settings.zones(site):
        fields = {"mapPublicIpOnLaunch": True, "tags": _tags(site) | {"kubernetes.io/role/elb": "1"}}
        yield _subnet(site, zone, subnets.PUBLIC, fields)
        yield _association(site, zone, subnets.PUBLIC, kinds.reference(site))


def _private(site: Site) -> Iterator[Manifest]:
    first = settings.zones(site)[0]
    tags = {"tags": _tags(site)}
    yield kinds.made(site, kinds.ELASTIC_IP, kinds.Part("nat-address", ("nat",)), {"domain": "vpc", **tags})
    inside = {"subnetIdRef": kinds.reference(site, subnets.PUBLIC, _nat_zone(site, first))}
    address = {"allocationIdRef": kinds.reference(site, "nat"), "connectivityType": "public"}
    yield kinds.made(site, kinds.NAT_GATEWAY, kinds.Part("nat-gateway", ("nat",)), {**inside, **address, **tags})
    table = kinds.reference(site, _PRIVATE)
    here = {"vpcIdRef": kinds.reference(site), **tags}
    yield kinds.made(site, kinds.ROUTE_TABLE, kinds.Part("private-route-table", (_PRIVATE,)), here)
    out = {"destinationCidrBlock": _ANYWHERE, "natGatewayIdRef": kinds.reference(site, "nat")}
    yield kinds.made(site, kinds.ROUTE, kinds.Part("private-route", (_PRIVATE,)), {"routeTableIdRef": table, **out})
    service = f"com.amazonaws.{settings.region(site)}.s3"
    if settings.partition(site) == "aws-cn":
        service = f"cn.{service}"
    fields = {"serviceName": service, "vpcEndpointType": "Gateway", **here}
    yield kinds.made(site, kinds.VPC_ENDPOINT, kinds.Part("s3-endpoint", ("s3",)), fields)
    yield kinds.made(
        site,
        kinds.VPC_ENDPOINT_ROUTES,
        kinds.Part("s3-endpoint-routes", ("s3", _PRIVATE)),
        {"vpcEndpointIdRef": kinds.reference(site, "s3"), "routeTableIdRef": table},
    )
    for zone in settings.zones(site):
        role = {"tags": _tags(site) | {"kubernetes.io/role/internal-elb": "1"}}
        yield _subnet(site, zone, subnets.PRIVATE, role)
        yield _association(site, zone, subnets.PRIVATE, table)


def _nat_zone(site: Site, first: str) -> str:
    """Return the zone of the NAT gateway, which must not move when a pool adds a zone before it."""
    chosen = settings.control_zones(site)
    return chosen[0] if chosen else first


def _subnet(site: Site, zone: str, part: str, fields: dict[str, Json]) -> Manifest:
    region = settings.region(site)
    zone_letter = subnets.letter(region, zone)
    if not zone_letter:
        raise site.settings.at("zones").wrong(f'"{zone}" is no zone of {region}')
    place = {"vpcIdRef": kinds.reference(site), "availabilityZone": zone}
    range_ = {"cidrBlock": subnets.block(settings.cidr(site), zone_letter, part)}
    return kinds.made(site, kinds.SUBNET, kinds.Part(f"{part}-{zone}", (part, zone)), {**place, **range_, **fields})


def _association(site: Site, zone: str, part: str, table: Json) -> Manifest:
    fields = {"routeTableIdRef": table, "subnetIdRef": kinds.reference(site, part, zone)}
    return kinds.made(site, kinds.ROUTE_TABLE_ASSOCIATION, kinds.Part(f"routes-{part}-{zone}", (part, zone)), fields)


def _tags(site: Site) -> dict[str, str]:
    return {"Name": site.cluster, names.LABEL_CLUSTER: site.cluster}
