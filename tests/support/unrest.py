"""Situations that no example leads to: services and gateways with all that they may compose, and what is not at rest.

The latter are a cluster with replicas that are pending, edited and deleted, replicas whose workers are not ready, and
composites that find their names in use. What must hold is the same as at rest, compared with the answer to right
inputs.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from modelplane import names
from modelplane.render import pod_collection
from modelplane.render.manifest import Purpose
from modelplane_cli.documents import reading
from modelplane_cli.simulator.store import key_of
from tests.support import any_backend, cluster_world, fleet, rendered, situations, starting
from tests.support.any_backend import State
from tests.support.situations import EXAMPLES, Situation

Json = Any
SERVED = frozenset({pod_collection.KIND})
NOT_READY = "not ready"
"""The state of the replicas whose workers are not ready."""
_COMPOSITE = "crossplane.io/composite"


@functools.cache
def every() -> tuple[Situation, ...]:
    """Return all of them."""
    return (*guarded(), *clusters(), *unready(), *afresh(), *autoscaled(), *growing())


# --- all that a service and a gateway compose -------------------------------------------------------------------------

_ENDPOINTS: Json = {"deniedCIDRs": ["10.96.0.0/12"], "networkPolicy": {"enabled": True}}
_SERVICES: Json = {
    "qwen3-4b": {"auth": {"apiKeys": {"secretRef": {"name": "clients"}}}},
    "qwen3-8b": {"auth": {"jwt": {"issuer": "https://id.example.com", "jwksUri": "https://id.example.com/keys"}}},
}
_ALLOWED: Json = {"matchLabels": {"tier": "prod"}}
_NAMESPACE: Json = {
    "apiVersion": "v1",
    "kind": "Namespace",
    "metadata": {"name": "ml-team", "labels": {"tier": "prod"}},
}
_LIMIT = {"requests": 100, "unit": "Second"}


@functools.cache
def guarded() -> tuple[Situation, ...]:
    """Return services with authentication and a limit, one with failover too, and a gateway with a NetworkPolicy.

    The gateway allows namespaces by their labels.
    """
    documents = [one.data for one in reading.read([str(EXAMPLES / "autoscaling")]).documents]
    given = {}
    ours = [_guarded(one) for one in documents if one["apiVersion"] == names.API_VERSION]
    for document in (*ours, _NAMESPACE):
        stored = rendered.stored(document)
        given[key_of(stored)] = stored
    found = situations.settled("guarded", given)
    return tuple(one for one in found if one.kind in ("ModelService", "InferenceGateway"))


def _guarded(document: Json) -> Json:
    if document["kind"] == "InferenceGateway":
        return {**document, "spec": {**document["spec"], "endpoints": _ENDPOINTS, "allowedNamespaces": _ALLOWED}}
    if document["kind"] == "ModelService":
        spec = {**document["spec"], "rateLimit": _LIMIT, **_SERVICES[document["metadata"]["name"]]}
        return {**document, "spec": spec}
    return document


# --- scalers ----------------------------------------------------------------------------------------------------------


@functools.cache
def autoscaled() -> tuple[Situation, ...]:
    """Return deployments that a HorizontalPodAutoscaler scales. Another one in the namespace is not theirs."""
    given = {}
    for document in (one.data for one in reading.read([str(EXAMPLES / "scaling")]).documents):
        stored = rendered.stored(_autoscaled(document))
        given[key_of(stored)] = stored
    found = situations.settled("autoscaled", given)
    return tuple(
        replace(one, store=(*one.store, situations.received(copy.deepcopy(_OF_OTHERS))), kinds=frozenset())
        for one in found
        if one.kind == "ModelDeployment"
    )


_OF_OTHERS: Json = {
    "apiVersion": "autoscaling/v2",
    "kind": "HorizontalPodAutoscaler",
    "metadata": {"name": "web", "namespace": "ml-team", "labels": {"app": "web"}},
    "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}, "maxReplicas": 3},
}


def _autoscaled(document: Json) -> Json:
    if document["kind"] == "InferenceGateway":
        return {**document, "spec": {**document["spec"], "scaling": {"autoscaler": "HPA"}}}
    if "scaling" in document["spec"]:
        scaling = {"max": document["spec"]["scaling"]["max"], "target": document["spec"]["scaling"]["target"]}
        return {**document, "spec": {**document["spec"], "scaling": scaling}}
    return document


# --- deployments that ask for the fleet -------------------------------------------------------------------------------


@functools.cache
def growing() -> tuple[Situation, ...]:
    """Return a deployment that wants one replica more, beside BackendRules: only then the whole fleet is asked for."""
    found = (
        one
        for one in situations.running()
        if one.kind == "ModelDeployment" and any(other["kind"] == "BackendRules" for other in one.store)
    )
    first = next(found)
    spec = first.composite["spec"]
    composite = {**first.composite, "spec": {**spec, "replicas": spec["replicas"] + 1}}
    told: Json = {"example": "growing", "state": "growing", "shape": "growing"}
    return (replace(first, composite=_seen(composite), is_waiting=True, **told),)


# --- clusters ---------------------------------------------------------------------------------------------------------


@functools.cache
def clusters() -> tuple[Situation, ...]:
    """Return a cluster that is full and one with room: replicas ask, are edited, lost a label and are deleted."""
    return (_cluster("full", nodes=1), _cluster("with room", nodes=2))


def _cluster(told: str, *, nodes: int) -> Situation:
    running = cluster_world.Running(replicas=7, nodes=nodes)
    running.kinds = set(SERVED)
    other = fleet.model_deployment("phi", replicas=1)
    (changed,) = cluster_world.replicas_of(other, {**running.cluster, "status": fleet.inference_cluster("a")["status"]})
    running.replicas.append(changed)
    running.others = [fleet.referring(other, [changed])]
    running.step()
    assert len(running.cluster["status"]["admitted"]) == 8
    ran = tuple(copy.deepcopy(one) for one in (*running.replicas[:2], changed))
    leaving, _, edited, unlabelled, *_ = running.replicas
    del running.replicas[:2]
    standing = [fleet.referring(other, [changed]), _labelled(leaving), fleet.workload_of(edited)]
    running.others = list(standing)
    running.step()
    running.lists(cluster_world.pod("llama-1"), cluster_world.pod("other-1"))
    for number in range(2):
        running.add(f"late-{number}")
    running.others[0] = _larger(other, changed)
    edited["spec"]["workers"]["template"]["spec"]["containers"][0]["image"] = "vllm/vllm-openai:v0.24.0"
    del unlabelled["metadata"]["labels"][names.LABEL_CLUSTER]
    referring = fleet.referring(running.deployment, running.replicas)
    return Situation(
        told,
        _seen(running.cluster),
        {key: _seen(child) for key, child in running.children.items()},
        tuple(map(_seen, (*running.replicas, *running.classes, referring, *running.others))),
        state="unrest",
        kinds=SERVED,
        ran=ran,
        is_waiting=True,
        recorded=frozenset(f"ml-team/{one['metadata']['name']}" for one in (*ran, edited, unlabelled)),
    )


def _larger(deployment: Json, replica: Json) -> Json:
    """Return the deployment with twice the devices, which its replica asks for too."""
    for document in (deployment, replica):
        document["spec"]["workers"]["topology"]["tensor"] = 2
    replica["spec"]["devices"][0]["count"] = 2
    return fleet.referring(deployment, [replica])


def _labelled(replica: Json) -> Json:
    """Return an Object of the replica's workload that is found by its label."""
    annotations = {names.ANNOTATION_PURPOSE: str(Purpose.WORKLOAD), names.ANNOTATION_RENDERED_FROM: "0" * 16}
    labels = {_COMPOSITE: replica["metadata"]["name"]}
    made = fleet.workload_of(replica, labels=labels, annotations=annotations, name="named-by-its-backend")
    return {**made, "metadata": {**made["metadata"], "deletionTimestamp": "2026-01-02T00:00:00Z"}}


# --- replicas whose workers are not ready -----------------------------------------------------------------------------


@functools.cache
def unready() -> tuple[Situation, ...]:
    """Return a replica of every backend whose workers are not ready, with the pods that its collection lists."""
    made = []
    for backend in any_backend.NAMES:
        replica = any_backend.plain(backend)[0]
        statuses = [starting.STATUSES[name] for name in ("DeviceUnhealthy", "ImagePullBackOff")]
        pods = [starting.pod(replica, f"pod-{number}", status) for number, status in enumerate(statuses)]
        start = starting.situation(replica, pods)
        children = {key: _seen(child) for key, child in start.children.items()}
        told: Json = {"example": f"{backend}, {NOT_READY}", "state": NOT_READY, "shape": NOT_READY}
        made.append(replace(start, children=children, composite=_seen(start.composite), kinds=SERVED, **told))
    return tuple(made)


# --- names in use -----------------------------------------------------------------------------------------------------


@functools.cache
def afresh() -> tuple[Situation, ...]:
    """Return a composite of every kind with children, of which none is observed: they exist under their names.

    Every second one belongs to somebody else. The others lost their owners when a backup was restored.
    """
    first = {one.kind: one for one in (*_running_replicas(), *guarded(), *situations.running()) if one.children}
    wanted = {**first, **{one.kind: one for one in (*guarded(), *_running_replicas())}}
    return tuple(_afresh(wanted[kind]) for kind in sorted(wanted))


def _running_replicas() -> Iterator[Situation]:
    yield any_backend.situation(any_backend.plain("Native")[0], State.BY_RECORD)


def _afresh(start: Situation) -> Situation:
    own = str(start.composite["metadata"]["name"])
    found = [_found(child, own, number) for number, (_, child) in enumerate(sorted(start.children.items()))]
    bare = {key: value for key, value in start.composite.items() if key != "status"}
    others = {key_of(one) for one in found}
    store = (*(one for one in start.store if key_of(one) not in others), *map(_seen, found))
    state = f"afresh, {start.state}"
    told: Json = {"state": state, "shape": state, "example": "afresh", "is_waiting": True}
    # Who writes what an object was before a backup was restored gives it back to its composite.
    earlier = {key: versions for key, versions in start.earlier.items() if key not in others}
    return replace(start, composite=_seen(bare), children={}, store=store, earlier=earlier, **told)


def _found(child: Json, own: str, number: int) -> Json:
    metadata = {key: value for key, value in child["metadata"].items() if key != "ownerReferences"}
    labels = dict(metadata.get("labels") or {})
    metadata["annotations"] = dict(metadata.get("annotations") or {})
    if number % 2:
        return {**child, "metadata": {**metadata, "labels": {**labels, _COMPOSITE: own}}}
    owner = {"apiVersion": "example.com/v1", "kind": "Other", "name": "somebody", "uid": "uid-other"}
    references = [{**owner, "controller": True, "blockOwnerDeletion": True}]
    labels[_COMPOSITE] = "somebody"
    return {**child, "metadata": {**metadata, "labels": labels, "ownerReferences": references}}


def _seen(document: Json) -> Json:
    return situations.received(copy.deepcopy(dict(document)))
