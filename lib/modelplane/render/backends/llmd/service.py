"""A replica as llm-d runs it: workers per role, a Service, and with several workers a pool and its picker."""

from __future__ import annotations

from collections.abc import Mapping

from modelplane import names
from modelplane.render import claims, cluster_route, namespaces, pods
from modelplane.render.backends.llmd import launching, metrics, monitors, picker, pool, sidecar
from modelplane.render.manifest import NOTHING, Manifest
from modelplane.render.workers import manifests
from modelplane.render.workers.manifests import Workers
from modelplane.workload.model import BoundRole, Replica, Role
from modelplane.workload.site import ClusterFacts


def suffix(bound: BoundRole) -> str:
    """Return the end of the keys and names of a role's objects."""
    return f"-{bound.spec.role}"


def render(replica: Replica, facts: ClusterFacts, standing: Mapping[str, str] = NOTHING) -> tuple[Manifest, ...]:
    """Return every object of the replica on its cluster.

    Raises: InvalidInput where the replica's flags contradict it; `check` refuses the same before a replica exists.
    """
    workers = tuple(_workers(replica, bound, facts, standing) for bound in replica.roles)
    templates = tuple(one.devices.template for one in workers if one.devices.template is not None)
    workloads = tuple(manifests.render(one) for one in workers)
    account = sidecar.account(replica) if replica.is_disaggregated else ()
    service = manifests.service(replica, _selector(replica, Role.DECODE), launching.PORT)
    watched = tuple(
        monitors.of_role(one, workload)
        for one, workload in zip(workers, workloads, strict=True)
        if facts.has_pod_monitors
    )
    routed = _routed(replica, facts, service)
    return (namespaces.of(replica, facts), *templates, *account, *workloads, service, *routed, *watched)


def _routed(replica: Replica, facts: ClusterFacts, service: Manifest) -> tuple[Manifest, ...]:
    """Return the route and the objects of the pool. It leads to the pool if there is one, else to the Service."""
    if not pool.required(replica):
        target = cluster_route.service(service.resource["metadata"]["name"], launching.PORT)
        return (cluster_route.of(replica, facts, (cluster_route.rule(("/",), target),)),)
    route = cluster_route.of(replica, facts, (cluster_route.rule(("/",), pool.reference(replica)),))
    watched = (monitors.of_picker(replica),) if facts.has_pod_monitors else ()
    return (*picker.render(replica, facts), *pool.render(replica, facts), route, *watched)


def _selector(replica: Replica, role: Role) -> dict[str, str]:
    """Return the labels of the pods of a role that serve."""
    return {
        names.LABEL_REPLICA: replica.name,
        names.LABEL_ROLE: str(role),
        names.LABEL_SERVES: manifests.SERVES,
    }


def _workers(replica: Replica, bound: BoundRole, facts: ClusterFacts, standing: Mapping[str, str]) -> Workers:
    role, is_apart = bound.spec.role, replica.is_disaggregated
    has_sidecar = is_apart and role is Role.DECODE
    member = pods.members(bound.spec.topology)[0]
    return Workers(
        replica=replica,
        bound=bound,
        facts=facts,
        devices=claims.of(replica, bound, pods.role_labels(replica, bound), standing),
        launch=launching.launch(replica.engine, replica.model, bound.spec, member, is_disaggregated=is_apart),
        name=names.bounded(replica.name, str(role)),
        selector=_selector(replica, role),
        suffix=suffix(bound),
        labels=metrics.labels(replica.engine, role),
        env=launching.env(replica.engine, is_disaggregated=is_apart),
        sidecars=(sidecar.container(replica, facts),) if has_sidecar else (),
        service_account=sidecar.account_name(replica) if has_sidecar else "",
    )
