"""Replica rendered to a RayService: namespace, claims, RayService and route.

With the upgrade strategy None KubeRay applies only changes of the Serve configuration, in place, and ignores those of
counts. The name of the RayService therefore depends on its pods and their number: a change of those makes another one.

Source: KubeRay v1.6.2 (names of children, upgrade strategies, initializing timeout; cleanUpRayClusterInstance, which
deletes the RayCluster of a deleted RayService in the background and so forgets its pods).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane import names
from modelplane.render import claims, cluster_route, namespaces, operated, pods, volume
from modelplane.render.backends.kuberay import cluster, launching, serving
from modelplane.render.backends.kuberay.launching import Started
from modelplane.render.manifest import NOTHING, Manifest
from modelplane.workload.model import BoundRole, Model, Replica, Role
from modelplane.workload.site import ClusterFacts

Json: TypeAlias = Any

# KubeRay makes a cluster "<name>-<5>" and Services of it, and wants 47 characters at most: those of the longest replica
# (36), a dash and these.
_DIGEST_DIGITS = 10
_TIMEOUT = "ray.io/initializing-timeout"
# What pods may wait for a node and their claims, and what the head may take to be ready before any worker starts.
_SCHEDULING_SECONDS, _HEAD_SECONDS = 600, 1200

KIND = operated.Kind(
    "ray.io/v1",
    "RayService",
    "has(object.status) && has(object.status.conditions) && "
    "object.status.conditions.exists(c, c.type == 'Ready' && c.status == 'True') && "
    "has(object.status.observedGeneration) && object.status.observedGeneration == object.metadata.generation && "
    "has(object.status.activeServiceStatus) && has(object.status.activeServiceStatus.applicationStatuses) && "
    "object.status.activeServiceStatus.applicationStatuses.all(name, "
    "object.status.activeServiceStatus.applicationStatuses[name].status == 'RUNNING')",
    outlives_pods=False,
)


def identity(replica: Replica) -> operated.Identity:
    """Return the identity of the RayService."""
    return KIND.identity(replica, _contents(replica), digits=_DIGEST_DIGITS)


def serve_service(replica: Replica) -> str:
    """Return the name of the Service that KubeRay creates when the first cluster of the RayService is ready."""
    return f"{identity(replica).name}-serve-svc"


def render(replica: Replica, facts: ClusterFacts, standing: Mapping[str, str] = NOTHING) -> tuple[Manifest, ...]:
    """Return every object of the replica on its cluster.

    Raises: InvalidInput where the replica's flags contradict it; `check` refuses the same before a replica exists.
    """
    devices = {
        bound.spec.role: claims.of(replica, bound, pods.role_labels(replica, bound), standing)
        for bound in replica.roles
    }
    templates = tuple(found.template for found in devices.values() if found.template is not None)
    starts = {bound.spec.role: start_seconds(bound) for bound in replica.roles}
    target = cluster_route.service(serve_service(replica), launching.PORT)
    route = cluster_route.of(replica, facts, (cluster_route.rule(("/",), target),))
    service = _service(replica, facts, cluster.Members(devices, starts))
    return (namespaces.of(replica, facts), *templates, service, route)


def start_seconds(bound: BoundRole) -> int:
    """Return the time that an engine of the role may take to start, from the author's startup probe or its devices."""
    probe = pods.engine_container(bound.spec)[1].get("startupProbe")
    if not probe:
        return pods.start_budget_seconds(bound)
    tries: int = probe.get("failureThreshold", 3) * probe.get("periodSeconds", 10)
    return tries + int(probe.get("initialDelaySeconds", 0))


def _service(replica: Replica, facts: ClusterFacts, members: cluster.Members) -> Manifest:
    model = launching.required(replica.model)
    started = _started(replica, model)
    said = "; ".join(f"{role}: {one.said}" for role, (_, one) in started.items())
    timeout = _SCHEDULING_SECONDS + _HEAD_SECONDS + max(members.start_seconds.values())
    return KIND.manifest(
        identity(replica),
        pods.base_labels(replica),
        {names.ANNOTATION_ENGINE_ARGUMENTS: said, _TIMEOUT: f"{timeout}s"},
        {
            # Any other strategy starts a second cluster beside the first, and there are no devices for it.
            "upgradeStrategy": {"type": "None"},
            "excludeHeadPodFromServeSvc": True,
            "serveConfigV2": serving.text(model, started),
            "rayClusterConfig": cluster.of(replica, facts, members),
        },
    )


def _started(replica: Replica, model: Model) -> dict[Role, tuple[Any, Started]]:
    engine = launching.Engine(replica.engine, model, replica.is_disaggregated)
    return {bound.spec.role: (bound.spec, launching.start(engine, bound.spec)) for bound in replica.roles}


def _contents(replica: Replica) -> list[dict[str, Json]]:
    """Return the contents of the pods of the replica and their number, without the facts of its cluster.

    They depend only on the replica's own spec, so that no event on a cluster makes another object.
    """
    return [_contents_of(replica, bound) for bound in replica.roles]


def _contents_of(replica: Replica, bound: BoundRole) -> dict[str, Json]:
    spec, topology = bound.spec, bound.spec.topology
    devices = claims.of(replica, bound, {})
    # The flags stand in the Serve configuration, which changes in place, and the ports are Ray's.
    found = pods.engine_container(spec)[1]
    engine = {key: value for key, value in found.items() if key not in ("command", "args", "ports")}
    others = [one for one in spec.template["spec"]["containers"] if one["name"] != pods.ENGINE]
    claim = volume.of(replica.model)
    return {
        "role": str(spec.role),
        "pool": bound.pool,
        "workers": spec.workers,
        "topology": [topology.tensor, topology.pipeline, topology.data, topology.data_local],
        "claims": None if devices.template is None else devices.template.key,
        "limits": dict(devices.limits),
        "template": {**spec.template, "spec": {**spec.template["spec"], "containers": [engine, *others]}},
        "volume": None if claim is None else [claim.name, claim.path],
    }
