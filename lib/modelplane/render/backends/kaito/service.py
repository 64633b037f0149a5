"""Replica rendered to an InferenceSet: namespace, claims, InferenceSet, Service and route.

KAITO makes a StatefulSet from the template of a member once, and ignores each later change of the template. So the name
of an InferenceSet follows from its pods: a change of those is another object. Its count is applied in place.

Source: KAITO v0.11.0 (pkg/inferenceset, pkg/workspace/manifests: names of children, labels of pods;
garbageCollectInferenceSet, which deletes the Workspaces of a deleted set in the background before the garbage collector
deletes them in the foreground).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane import names
from modelplane.render import capability, claims, cluster_route, engines, namespaces, operated, pods
from modelplane.render.backends.kaito import launching
from modelplane.render.engines import Member
from modelplane.render.manifest import NOTHING, Manifest
from modelplane.render.workers import manifests
from modelplane.render.workers.manifests import Workers
from modelplane.workload.model import BoundRole, Replica
from modelplane.workload.site import ClusterFacts

Json: TypeAlias = Any

LABEL_SET = "inferenceset.kaito.sh/created-by"
"""The label that KAITO gives the members of a set; its value is the name of the set."""

# A member is "<set>-<5>" and so is its StatefulSet, whose pods carry "<member>-<10>" as the value of a label: what is
# left of 63 characters holds the longest replica (36), a dash and these.
_DIGEST_DIGITS = 8
_BENCHMARK = "kaito.sh/disable-benchmark"

KIND = operated.Kind(
    "kaito.sh/v1beta1",
    "InferenceSet",
    "has(object.status) && has(object.status.conditions) && "
    "object.status.conditions.exists(c, c.type == 'InferenceSetReady' && c.status == 'True') && "
    "has(object.status.replicas) && object.status.replicas == object.spec.replicas && "
    "has(object.status.readyReplicas) && object.status.readyReplicas == object.spec.replicas",
    outlives_pods=False,
)


def identity(replica: Replica) -> operated.Identity:
    """Return the identity of the InferenceSet."""
    return KIND.identity(replica, _contents(replica), digits=_DIGEST_DIGITS)


def render(replica: Replica, facts: ClusterFacts, standing: Mapping[str, str] = NOTHING) -> tuple[Manifest, ...]:
    """Return every object of the replica on its cluster.

    Raises: InvalidInput where the replica's flags contradict it; `check` refuses the same before a replica exists.
    """
    (bound,) = replica.roles
    devices = claims.of(replica, bound, pods.role_labels(replica, bound), standing)
    template = () if devices.template is None else (devices.template,)
    # KAITO's own Service of a member leads to pods that are not ready, too. The labels are ours and not the name of the
    # set, so that a set that another version named is served as long as it runs.
    serving = {names.LABEL_REPLICA: replica.name, names.LABEL_SERVES: manifests.SERVES}
    service = manifests.service(replica, serving, launching.PORT)
    target = cluster_route.service(service.resource["metadata"]["name"], launching.PORT)
    route = cluster_route.of(replica, facts, (cluster_route.rule(("/",), target),))
    return (namespaces.of(replica, facts), *template, _set(replica, bound, facts, devices), service, route)


def _set(replica: Replica, bound: BoundRole, facts: ClusterFacts, devices: claims.PodDevices) -> Manifest:
    launch = launching.launch(replica.engine, replica.model, bound.spec)
    found = identity(replica)
    workers = Workers(replica, bound, facts, devices, launch, found.name, selector={})
    said = engines.said_of(capability.command_line(launch, bound.spec))
    pod = manifests.pod_template(workers, Member.ALONE)
    selected = pod["spec"]["nodeSelector"]
    # KAITO writes an affinity of its own.
    del pod["spec"]["affinity"]
    labels = pods.role_labels(replica, bound)
    return KIND.manifest(
        found,
        labels,
        # KAITO can measure its own images alone.
        {names.ANNOTATION_ENGINE_ARGUMENTS: f"{bound.spec.role}: {said}", _BENCHMARK: "true"},
        {
            "replicas": bound.spec.workers,
            "labelSelector": {"matchLabels": dict(selected)},
            "template": {
                "metadata": {"labels": labels},
                # Nodes are there already; the key is required by v0.11.
                "resource": {"instanceType": ""},
                "inference": {"template": pod},
            },
        },
    )


def _contents(replica: Replica) -> dict[str, Json]:
    """Return the contents of the pods of the replica, without their number and the facts of its cluster.

    They change with the replica's own spec alone, so that nothing that happens to a cluster makes another object.
    """
    (bound,) = replica.roles
    spec, topology, model = bound.spec, bound.spec.topology, replica.model
    devices = claims.of(replica, bound, {})
    return {
        "pool": bound.pool,
        "engine": str(replica.engine),
        "model": None if model is None else [model.name, model.uri],
        "topology": [topology.tensor, topology.pipeline, topology.data, topology.data_local, topology.expert],
        "claims": None if devices.template is None else devices.template.key,
        "limits": dict(devices.limits),
        "template": spec.template,
    }
