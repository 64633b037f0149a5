"""A replica that we refused, rendered all the same, as if it had been placed on a pool."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from modelplane.api import inference_class, inference_cluster, workload
from modelplane.devices.model import Claim, Device, Request
from modelplane.render.backends import selection
from modelplane.workload.model import BoundRole, Replica, ResolvedRequest

Document = dict[str, Any]


def forced(deployment: Document, cluster: Document, pool: Document, node_class: Document) -> list[Document] | None:
    """Return the manifests of one more replica on a pool that does not take it.

    None where nothing on a cluster could tell: a pool without the kind of device, or one whose devices are not
    claimed (a selector over those is only ours to obey).
    """
    meta = deployment["metadata"]
    wanted = workload.decode(deployment["spec"], namespace=meta["namespace"], deployment=meta["name"])
    devices = {device.name: device for device in inference_class.decode(node_class).devices}
    (role,) = wanted.roles
    bound = tuple(_resolved(request, devices) for request in role.requests)
    if any(one is None or one.claim is not Claim.DRA for one in bound):
        return None
    replica = Replica(
        namespace=meta["namespace"],
        name=f"{meta['name']}-refused-{cluster['metadata']['name']}-{pool['name']}",
        deployment=meta["name"],
        cluster=cluster["metadata"]["name"],
        backend="KServe",
        model=wanted.model,
        engine=wanted.engine,
        roles=(BoundRole(role, pool["name"], tuple(one for one in bound if one is not None)),),
    )
    facts = inference_cluster.decode_facts(cluster)
    return [dict(one.resource) for one in selection.backend("KServe").render(replica, facts)]


def _resolved(request: Request, devices: dict[str, Device]) -> ResolvedRequest | None:
    device = devices.get(request.name) or next(_claimed(devices), None)
    if device is None:
        return None
    return ResolvedRequest(
        name=request.name,
        device=device.name,
        driver=device.driver,
        claim=device.claim,
        count=request.count,
        device_class=device.device_class,
        selectors=request.selectors,
    )


def _claimed(devices: dict[str, Device]) -> Iterator[Device]:
    return (device for device in devices.values() if device.claim is Claim.DRA)
