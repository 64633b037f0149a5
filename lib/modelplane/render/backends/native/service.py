"""A replica as Kubernetes' own objects: namespace, claims, Deployment or LeaderWorkerSet, Service and route."""

from __future__ import annotations

from collections.abc import Mapping

from modelplane import names
from modelplane.render import claims, cluster_route, namespaces, pods
from modelplane.render.manifest import NOTHING, Manifest
from modelplane.render.workers import launching, manifests
from modelplane.render.workers.manifests import Workers
from modelplane.workload.model import Replica
from modelplane.workload.site import ClusterFacts


def render(replica: Replica, facts: ClusterFacts, standing: Mapping[str, str] = NOTHING) -> tuple[Manifest, ...]:
    """Return every object of the replica on its cluster.

    Raises: InvalidInput where the replica's flags contradict it; `check` refuses the same before a replica exists.
    """
    (bound,) = replica.roles
    devices = claims.of(replica, bound, pods.role_labels(replica, bound), standing)
    selector = {names.LABEL_REPLICA: replica.name, names.LABEL_SERVES: manifests.SERVES}
    launch = launching.launch(replica.engine, replica.model, bound.spec, pods.members(bound.spec.topology)[0])
    workload = manifests.render(Workers(replica, bound, facts, devices, launch, replica.name, selector))
    service = manifests.service(replica, selector, launching.PORT)
    target = cluster_route.service(service.resource["metadata"]["name"], launching.PORT)
    route = cluster_route.of(replica, facts, (cluster_route.rule(("/",), target),))
    template = () if devices.template is None else (devices.template,)
    return (namespaces.of(replica, facts), *template, workload, service, route)
