"""A replica as Kubernetes' own objects: namespace, claims, Deployment or LeaderWorkerSet, Service and route.

Source: Kubernetes v1.36 (apps/v1, v1), LeaderWorkerSet v0.8.0 (names of children, gang environment).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane import names
from modelplane.render import capability, claims, cluster_route, engines, namespaces, pods, volume
from modelplane.render.backends.native import launching
from modelplane.render.engines import Member
from modelplane.render.manifest import NOTHING, Manifest, Purpose, Readiness
from modelplane.workload.model import BoundRole, Replica
from modelplane.workload.site import ClusterFacts

Json: TypeAlias = Any

# A change from one node to several makes another object of another kind, so it is another child and not an edit.
KEY_DEPLOYMENT = "deployment"
KEY_GANGS = "leaderworkerset"
KEY_SERVICE = "service"

# What a pod may wait for its node, its claim and its image's layers before its own start budget begins.
_SCHEDULING_SECONDS = 600
_SERVES = "true"


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of workload, and when an object of it is ready."""

    key: str
    api_version: str
    name: str
    is_ready: str


_DEPLOYMENT = _Kind(
    KEY_DEPLOYMENT,
    "apps/v1",
    "Deployment",
    "has(object.status) && has(object.status.observedGeneration) && "
    "object.status.observedGeneration == object.metadata.generation && "
    "has(object.status.updatedReplicas) && object.status.updatedReplicas == object.spec.replicas && "
    "has(object.status.availableReplicas) && object.status.availableReplicas == object.spec.replicas",
)
_GANGS = _Kind(
    KEY_GANGS,
    "leaderworkerset.x-k8s.io/v1",
    "LeaderWorkerSet",
    "has(object.status) && has(object.status.conditions) && "
    "object.status.conditions.exists(c, c.type == 'Available' && c.status == 'True') && "
    "has(object.status.updatedReplicas) && object.status.updatedReplicas == object.spec.replicas && "
    "has(object.status.readyReplicas) && object.status.readyReplicas == object.spec.replicas",
)


@dataclass(frozen=True, slots=True)
class _Rendering:
    """The only role of a replica on its way into manifests."""

    replica: Replica
    bound: BoundRole
    facts: ClusterFacts
    devices: claims.PodDevices


def workload_key(bound: BoundRole) -> str:
    """Return the key of the object that runs the role's pods."""
    return KEY_GANGS if bound.spec.topology.is_gang else KEY_DEPLOYMENT


def render(replica: Replica, facts: ClusterFacts, standing: Mapping[str, str] = NOTHING) -> tuple[Manifest, ...]:
    """Return every object of the replica on its cluster.

    Raises: InvalidInput where the replica's flags contradict it; `check` refuses the same before a replica exists.
    """
    (bound,) = replica.roles
    devices = claims.of(replica, bound, pods.role_labels(replica, bound), standing)
    rendering = _Rendering(replica, bound, facts, devices)
    template = () if devices.template is None else (devices.template,)
    workload = _gangs(rendering) if bound.spec.topology.is_gang else _deployment(rendering)
    service = _service(replica)
    target = cluster_route.service(service.resource["metadata"]["name"], launching.PORT)
    route = cluster_route.of(replica, facts, (cluster_route.rule(("/",), target),))
    return (namespaces.of(replica), *template, workload, service, route)


def _deployment(rendering: _Rendering) -> Manifest:
    """Return the Deployment whose pods are the workers.

    There are no devices beside those that are claimed, so a pod makes room before its successor starts.
    """
    pod = _pod(rendering, Member.ALONE)
    spec = {
        "replicas": rendering.bound.spec.workers,
        "selector": {"matchLabels": _selector(rendering.replica)},
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}},
        "progressDeadlineSeconds": _SCHEDULING_SECONDS + _start_seconds(pod["spec"]),
        "template": pod,
    }
    return _workload(rendering, _DEPLOYMENT, spec)


def _gangs(rendering: _Rendering) -> Manifest:
    """Return the LeaderWorkerSet whose groups are the workers; a group with a pod less is made anew as a whole.

    A leader answers once its workers have joined, so they are not made after it is ready.
    """
    topology = rendering.bound.spec.topology
    spec = {
        "replicas": rendering.bound.spec.workers,
        "startupPolicy": "LeaderCreated",
        "rolloutStrategy": {
            "type": "RollingUpdate",
            "rollingUpdateConfiguration": {"maxSurge": 0, "maxUnavailable": 1},
        },
        "leaderWorkerTemplate": {
            "size": topology.nodes,
            "restartPolicy": "RecreateGroupOnPodRestart",
            "leaderTemplate": _pod(rendering, Member.LEADER),
            "workerTemplate": _pod(rendering, Member.WORKER),
        },
    }
    return _workload(rendering, _GANGS, spec)


def _workload(rendering: _Rendering, kind: _Kind, spec: Mapping[str, Json]) -> Manifest:
    replica, role = rendering.replica, rendering.bound.spec
    said = engines.said_of(_command(rendering, pods.members(role.topology)[0]))
    return Manifest(
        key=kind.key,
        resource={
            "apiVersion": kind.api_version,
            "kind": kind.name,
            "metadata": {
                "name": replica.name,
                "namespace": replica.namespace,
                "labels": pods.role_labels(replica, rendering.bound),
                "annotations": {names.ANNOTATION_ENGINE_ARGUMENTS: f"{role.role}: {said}"},
            },
            "spec": spec,
        },
        purpose=Purpose.WORKLOAD,
        readiness=Readiness(kind.is_ready),
    )


def _pod(rendering: _Rendering, member: Member) -> dict[str, Json]:
    """Return the PodTemplateSpec of one pod of a worker; those that serve carry a label that says so."""
    replica, bound, facts = rendering.replica, rendering.bound, rendering.facts
    labels = pods.pod_labels(replica, bound, facts)
    if member is not Member.WORKER:
        labels[names.LABEL_SERVES] = _SERVES
    metadata: dict[str, Json] = {"labels": labels}
    annotations = pods.pod_annotations(replica, bound, facts)
    if annotations:
        metadata["annotations"] = annotations
    return {"metadata": metadata, "spec": _pod_spec(rendering, member)}


def _pod_spec(rendering: _Rendering, member: Member) -> dict[str, Json]:
    replica, bound = rendering.replica, rendering.bound
    pod = pods.EnginePod(
        member=member,
        command=_command(rendering, member),
        port=launching.PORT,
        devices=rendering.devices,
        container_name=pods.ENGINE,
        gang=pods.LEADER_WORKER_SET if bound.spec.topology.is_gang else None,
    )
    spec = pods.pod_spec(replica, bound, rendering.facts, pod)
    claim = volume.of(replica.model)
    if claim is not None:
        volume.mount(spec, claim)
    pods.complete(spec, pods.ENGINE, member)
    return spec


def _command(rendering: _Rendering, member: Member) -> engines.CommandLine:
    replica, role = rendering.replica, rendering.bound.spec
    return capability.command_line(launching.launch(replica.engine, replica.model, role, member), role)


def _start_seconds(spec: Mapping[str, Json]) -> int:
    """Return how long the pod's own startup probe waits for the engine."""
    engine = next(container for container in spec["containers"] if container["name"] == pods.ENGINE)
    probe = engine["startupProbe"]
    tries: int = probe.get("failureThreshold", 3) * probe.get("periodSeconds", 10)
    return tries + int(probe.get("initialDelaySeconds", 0))


def _selector(replica: Replica) -> dict[str, str]:
    """Return the labels by which the serving pods are found. They never change: a Deployment's selector cannot."""
    return {names.LABEL_REPLICA: replica.name, names.LABEL_SERVES: _SERVES}


def _service(replica: Replica) -> Manifest:
    """Return the Service in front of the pods that serve.

    A LeaderWorkerSet has a headless Service of its own name, and takes any other that is there for it.
    """
    return Manifest(
        key=KEY_SERVICE,
        resource={
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {
                "name": names.bounded(replica.name, "http"),
                "namespace": replica.namespace,
                "labels": pods.base_labels(replica),
            },
            "spec": {
                "selector": _selector(replica),
                "ports": [{"name": "http", "port": launching.PORT, "targetPort": launching.PORT, "protocol": "TCP"}],
            },
        },
        purpose=Purpose.ROUTE,
    )
