"""The object that runs the workers of one role, and the Service in front of those that serve.

Source: Kubernetes v1.36 (apps/v1, v1), LeaderWorkerSet v0.8.0 (names of children, gang environment).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from modelplane import names
from modelplane.render import capability, claims, engines, pods, volume
from modelplane.render.engines import Launch, Member
from modelplane.render.manifest import Manifest, Purpose, Readiness
from modelplane.workload.model import BoundRole, Replica, RoleSpec
from modelplane.workload.site import ClusterFacts

Json: TypeAlias = Any

# A change from one node to several makes another object of another kind, so it is another child and not an edit.
KEY_DEPLOYMENT = "deployment"
KEY_GANGS = "leaderworkerset"
KEY_SERVICE = "service"
SERVES = "true"

# What a pod may wait for its node, its claim and its image's layers before its own start budget begins.
_SCHEDULING_SECONDS = 600

DEPLOYMENT_READY = (
    "has(object.status) && has(object.status.observedGeneration) && "
    "object.status.observedGeneration == object.metadata.generation && "
    "has(object.status.updatedReplicas) && object.status.updatedReplicas == object.spec.replicas && "
    "has(object.status.availableReplicas) && object.status.availableReplicas == object.spec.replicas"
)
"""The CEL query for a Deployment whose pods are all available with the current template."""


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of workload, and when an object of it is ready."""

    key: str
    api_version: str
    name: str
    is_ready: str


_DEPLOYMENT = _Kind(KEY_DEPLOYMENT, "apps/v1", "Deployment", DEPLOYMENT_READY)
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
class Workers:
    """The workers of one role on their way into an object.

    `launch` is that of one process; those of a gang differ in `member` alone. `selector` finds the pods that serve and
    never changes, because that of a Deployment cannot. `labels`, `sidecars` and `service_account` are of pods that
    serve; an author's service account takes precedence. `env` is of every pod. `suffix` tells the objects of roles
    apart.
    """

    replica: Replica
    bound: BoundRole
    facts: ClusterFacts
    devices: claims.PodDevices
    launch: Launch
    name: str
    selector: Mapping[str, str]
    suffix: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    env: Sequence[Mapping[str, Json]] = ()
    sidecars: Sequence[Mapping[str, Json]] = ()
    service_account: str = ""


def key(role: RoleSpec, suffix: str = "") -> str:
    """Return the key of the object that runs the workers of a role."""
    return (KEY_GANGS if role.topology.is_gang else KEY_DEPLOYMENT) + suffix


def render(workers: Workers) -> Manifest:
    """Return the Deployment or LeaderWorkerSet of the workers.

    Raises: InvalidInput where flags contradict the replica; a check refuses the same before a replica exists.
    """
    return _gangs(workers) if workers.bound.spec.topology.is_gang else _deployment(workers)


def serving_pod(manifest: Manifest) -> Mapping[str, Json]:
    """Return the template of the pods that serve, of an object that `render` made."""
    spec = manifest.resource["spec"]
    gang = spec.get("leaderWorkerTemplate")
    found: Mapping[str, Json] = spec["template"] if gang is None else gang["leaderTemplate"]
    return found


def service(replica: Replica, selector: Mapping[str, str], port: int) -> Manifest:
    """Return the Service in front of the pods that serve.

    A LeaderWorkerSet has a headless Service of its own name, and would adopt another Service of that name.
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
                "selector": dict(selector),
                "ports": [{"name": "http", "port": port, "targetPort": port, "protocol": "TCP"}],
            },
        },
        purpose=Purpose.ROUTE,
    )


def _deployment(workers: Workers) -> Manifest:
    """Return the Deployment whose pods are the workers.

    The replica has no spare devices, so a pod stops before its successor starts.
    """
    pod = pod_template(workers, Member.ALONE)
    spec = {
        "replicas": workers.bound.spec.workers,
        "selector": {"matchLabels": dict(workers.selector)},
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}},
        "progressDeadlineSeconds": _SCHEDULING_SECONDS + _start_seconds(pod["spec"]),
        "template": pod,
    }
    return _workload(workers, _DEPLOYMENT, spec)


def _gangs(workers: Workers) -> Manifest:
    """Return the LeaderWorkerSet whose groups are the workers. A group that loses a pod is created again as a whole.

    A leader is ready only after its workers have joined, so they do not wait for a ready leader.
    """
    spec = {
        "replicas": workers.bound.spec.workers,
        "startupPolicy": "LeaderCreated",
        "rolloutStrategy": {
            "type": "RollingUpdate",
            "rollingUpdateConfiguration": {"maxSurge": 0, "maxUnavailable": 1},
        },
        "leaderWorkerTemplate": {
            "size": workers.bound.spec.topology.nodes,
            "restartPolicy": "RecreateGroupOnPodRestart",
            "leaderTemplate": pod_template(workers, Member.LEADER),
            "workerTemplate": pod_template(workers, Member.WORKER),
        },
    }
    return _workload(workers, _GANGS, spec)


def _workload(workers: Workers, kind: _Kind, spec: Mapping[str, Json]) -> Manifest:
    replica, role = workers.replica, workers.bound.spec
    said = engines.said_of(_command(workers, pods.members(role.topology)[0]))
    return Manifest(
        key=key(role, workers.suffix),
        resource={
            "apiVersion": kind.api_version,
            "kind": kind.name,
            "metadata": {
                "name": workers.name,
                "namespace": replica.namespace,
                "labels": {
                    **pods.object_labels(replica, workers.bound, workers.facts),
                    **pods.role_labels(replica, workers.bound),
                },
                "annotations": {
                    **pods.object_annotations(replica, workers.bound, workers.facts),
                    names.ANNOTATION_ENGINE_ARGUMENTS: f"{role.role}: {said}",
                },
            },
            "spec": spec,
        },
        purpose=Purpose.WORKLOAD,
        readiness=Readiness(kind.is_ready),
        outlives_pods=True,
    )


def pod_template(workers: Workers, member: Member) -> dict[str, Json]:
    """Return the PodTemplateSpec of one pod of a worker; those that serve carry a label that says so."""
    replica, bound, facts = workers.replica, workers.bound, workers.facts
    labels = pods.pod_labels(replica, bound, facts)
    if member is not Member.WORKER:
        labels |= {names.LABEL_SERVES: SERVES, **workers.labels}
    metadata: dict[str, Json] = {"labels": labels}
    annotations = pods.pod_annotations(replica, bound, facts)
    if annotations:
        metadata["annotations"] = annotations
    return {"metadata": metadata, "spec": _pod_spec(workers, member)}


def _pod_spec(workers: Workers, member: Member) -> dict[str, Json]:
    replica, bound = workers.replica, workers.bound
    pod = pods.EnginePod(
        member=member,
        command=_command(workers, member),
        port=workers.launch.port,
        devices=workers.devices,
        container_name=pods.ENGINE,
        gang=pods.LEADER_WORKER_SET if bound.spec.topology.is_gang else None,
        extra_env=workers.env,
    )
    spec = pods.pod_spec(replica, bound, workers.facts, pod)
    claim = volume.of(replica.model)
    if claim is not None:
        volume.mount(spec, claim)
    pods.complete(spec, pods.ENGINE, member)
    if member is not Member.WORKER:
        _serve_with(spec, workers)
    return spec


def _serve_with(spec: dict[str, Json], workers: Workers) -> None:
    """Add the sidecars and the service account of a pod that serves."""
    if workers.sidecars:
        spec["initContainers"] = [*spec.get("initContainers", ()), *map(dict, workers.sidecars)]
    if workers.service_account and not spec.get("serviceAccountName"):
        spec["serviceAccountName"] = workers.service_account


def _command(workers: Workers, member: Member) -> engines.CommandLine:
    return capability.command_line(replace(workers.launch, member=member), workers.bound.spec)


def _start_seconds(spec: Mapping[str, Json]) -> int:
    """Return how long the pod's own startup probe waits for the engine."""
    engine = next(container for container in spec["containers"] if container["name"] == pods.ENGINE)
    probe = engine["startupProbe"]
    tries: int = probe.get("failureThreshold", 3) * probe.get("periodSeconds", 10)
    return tries + int(probe.get("initialDelaySeconds", 0))
