"""Replica rendered to a VLLMRuntime: namespace, VLLMRuntime, the operator's Deployment, which is only read, and route.

Source: vllm-project/production-stack at a6c01db (names of children, port of the Service; Reconcile, which makes a
Deployment that is missing even while the VLLMRuntime is being deleted).
"""

from __future__ import annotations

from collections.abc import Mapping

from modelplane import names
from modelplane.errors import Unsupported
from modelplane.render import cluster_route, namespaces, operated, pods
from modelplane.render.backends.vllmstack import launching, runtime
from modelplane.render.manifest import NOTHING, Lifecycle, Manifest
from modelplane.render.schedulers import selection as schedulers
from modelplane.workload.model import Replica
from modelplane.workload.site import ClusterFacts

KEY_DEPLOYMENT = "observed-deployment"
"""The key of the operator's Deployment, which says what the VLLMRuntime does not."""

KEY_INGRESS = "ingress"

_SERVICE_PORT = 80
_DIGEST_DIGITS = 10
KIND = operated.Kind(
    "production-stack.vllm.ai/v1alpha1",
    "VLLMRuntime",
    "has(object.status) && has(object.status.modelStatus) && object.status.modelStatus == 'Ready' && "
    "has(object.status.availableReplicas) && "
    "object.status.availableReplicas == object.spec.deploymentConfig.replicas && "
    "has(object.status.updatedReplicas) && object.status.updatedReplicas == object.spec.deploymentConfig.replicas",
    outlives_pods=False,
)


def identity(replica: Replica) -> operated.Identity:
    """Return the identity of the VLLMRuntime, whose name the operator's Deployment and Service have too.

    A Deployment's selector never changes, so other labels make another object.
    """
    return KIND.identity(replica, _labels(replica), digits=_DIGEST_DIGITS)


def render(replica: Replica, facts: ClusterFacts, standing: Mapping[str, str] = NOTHING) -> tuple[Manifest, ...]:
    """Return every object of the replica on its cluster.

    Raises: InvalidInput where the replica's flags contradict it; `check` refuses the same before a replica exists.
    """
    target = cluster_route.service(identity(replica).name, _SERVICE_PORT)
    route = cluster_route.of(replica, facts, (cluster_route.rule(("/",), target),))
    ingresses = (_ingress(replica, facts),) if facts.ingress_class else ()
    return (namespaces.of(replica, facts), _runtime(replica, facts), _deployment(replica), route, *ingresses)


def _runtime(replica: Replica, facts: ClusterFacts) -> Manifest:
    (bound,) = replica.roles
    _check_scheduler(replica, facts)
    started = launching.start(replica.model, bound.spec)
    return KIND.manifest(
        identity(replica),
        _labels(replica),
        {names.ANNOTATION_ENGINE_ARGUMENTS: f"{bound.spec.role}: {started.said}"},
        runtime.spec(replica, bound, facts, started),
    )


def _check_scheduler(replica: Replica, facts: ClusterFacts) -> None:
    """Refuse a cluster scheduler that knows its pods by more than annotations: a VLLMRuntime has no field for it."""
    marks = schedulers.marks(replica, replica.roles[0], facts)
    if marks.labels or marks.scheduler_name:
        raise Unsupported(
            f"pods of VLLMStack cannot be handed to {facts.scheduler}, the scheduler of cluster {replica.cluster}; use "
            "another backend there",
            reason="BackendUnavailable",
        )


def _deployment(replica: Replica) -> Manifest:
    return Manifest(
        key=KEY_DEPLOYMENT,
        resource={
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": identity(replica).name, "namespace": replica.namespace},
        },
        lifecycle=Lifecycle.OBSERVE,
    )


def _ingress(replica: Replica, facts: ClusterFacts) -> Manifest:
    """Return the Ingress that the platform asked for: the host of the route, by another door. Nothing waits for it."""
    service = {"name": identity(replica).name, "port": {"number": _SERVICE_PORT}}
    path = {"path": "/", "pathType": "Prefix", "backend": {"service": service}}
    host = names.internal_host(replica.namespace, replica.name)
    return Manifest(
        key=KEY_INGRESS,
        resource={
            "apiVersion": "networking.k8s.io/v1",
            "kind": "Ingress",
            "metadata": {"name": replica.name, "namespace": replica.namespace, "labels": pods.base_labels(replica)},
            "spec": {"ingressClassName": facts.ingress_class, "rules": [{"host": host, "http": {"paths": [path]}}]},
        },
    )


def _labels(replica: Replica) -> dict[str, str]:
    """Return the labels of the VLLMRuntime, all of which the operator gives to the pods and writes into a selector."""
    (bound,) = replica.roles
    return pods.own_labels(replica, bound)
