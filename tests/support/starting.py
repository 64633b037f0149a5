"""Replicas of any backend whose workers are known not to be ready, with the pods that a collection has listed."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from modelplane import names
from modelplane.render import objects, pod_collection
from modelplane.render.manifest import Purpose
from modelplane.workload.model import Replica
from tests.support import any_backend, situations
from tests.support.situations import Situation

Json = Any

_UID = "uid-collection"
# What the operators say of workers that are ready, and what they say of others.
_WORDS = {"Ready": "NotReady", "RUNNING": "DEPLOYING", "successful": "pending"}
_REASONS = {
    "all_resources_are_ready": ("pods_not_ready", "Pods not ready"),
    "inferencesetReady": ("inferencesetNotReady", "inferenceset is not ready, 0/1 replicas are ready"),
    "NonZeroServeEndpoints": ("ZeroServeEndpoints", "Number of serve endpoints is 0"),
}
# Of a Deployment, and of those that KServe copies.
_COUNTED = ("MinimumReplicasUnavailable", "Deployment does not have minimum availability.")
_COUNTS = ("readyReplicas", "availableReplicas", "numServeEndpoints")
_OF_WORKERS = ("Ready", "Available", "InferenceSetReady", "MainWorkloadReady", "PrefillWorkloadReady", "WorkloadsReady")


def situation(replica: Replica, pods: Sequence[Json]) -> Situation:
    """Return the replica while none of its workers is ready; `pods` are what its collection has listed."""
    running = any_backend.situation(replica)
    children = {key: situations.received(_down(child)) for key, child in running.children.items()}
    children[pod_collection.KEY] = situations.received(_collection(replica, children))
    members = (_member(replica, number, pod) for number, pod in enumerate(pods))
    made = replace(running, children=children, store=(*running.store, *map(situations.received, members)))
    # Once more, for the status that is of these children.
    return situations.after(made, situations.decided(made))


def _down(child: Json) -> Json:
    """Return the Object with a workload whose workers are not ready; any other as it is."""
    found = copy.deepcopy(dict(child))
    if objects.purpose(child) is Purpose.WORKLOAD:
        bare = found["status"]["atProvider"]["manifest"]
        bare["status"] = _unready(bare["status"])
    return found


def _unready(value: Json, key: str = "") -> Json:
    if isinstance(value, dict):
        if value.get("type") in _OF_WORKERS:
            reason, message = _REASONS.get(value.get("reason", ""), _COUNTED)
            return {**value, "status": "False", "reason": reason, "message": message}
        return {name: _unready(inside, name) for name, inside in value.items()}
    if isinstance(value, list):
        return [_unready(inside) for inside in value]
    if key in _COUNTS:
        return 0
    return _WORDS.get(value, value) if isinstance(value, str) else value


def _collection(replica: Replica, children: Json) -> Json:
    (reference,) = {
        str(one["spec"]["providerConfigRef"]): one["spec"]["providerConfigRef"] for one in _of(children)
    }.values()
    made = copy.deepcopy(pod_collection.wrap(replica, reference))
    made["metadata"]["uid"] = _UID
    return {**made, "status": {"conditions": [{"type": "Synced", "status": "True", "reason": "ReconcileSuccess"}]}}


def _of(children: Json) -> list[Json]:
    return [one for one in children.values() if objects.is_object(one)]


def _member(replica: Replica, number: int, pod: Json) -> Json:
    owner = {"apiVersion": pod_collection.API_VERSION, "kind": pod_collection.KIND}
    return {
        "apiVersion": objects.API_VERSION,
        "kind": objects.KIND,
        "metadata": {
            "name": f"pods-{number:07}",
            "namespace": replica.namespace,
            "labels": pod_collection.membership(pod_collection.name_of(replica)),
            "ownerReferences": [{**owner, "name": pod_collection.name_of(replica), "uid": _UID}],
        },
        "spec": {"managementPolicies": ["Observe"]},
        "status": {"conditions": [{"type": "Synced", "status": "True"}], "atProvider": {"manifest": pod}},
    }


# --- pods -------------------------------------------------------------------------------------------------------------


def _condition(kind: str, status: str, **fields: str) -> Json:
    return {"conditions": [{"type": kind, "status": status, **fields}]}


def _container(**fields: Json) -> Json:
    return {"containerStatuses": [{"name": "engine", "ready": False, "restartCount": 3, **fields}]}


_DEVICE = {"resourceID": "claim:gpu", "health": "Unhealthy"}
STATUSES = {
    "Evicted": {"phase": "Failed", "reason": "Evicted", "message": "the node was low on resource: memory"},
    "Unschedulable": _condition("PodScheduled", "False", reason="Unschedulable", message="0/3 nodes are available"),
    "DeviceUnhealthy": _container(allocatedResourcesStatus=[{"name": "claim:gpu", "resources": [_DEVICE]}]),
    "ImagePullBackOff": _container(state={"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}),
    "OOMKilled": _container(state={"terminated": {"exitCode": 137, "reason": "OOMKilled"}}),
    "PreparingPod": {
        "conditions": [
            {"type": "PodScheduled", "status": "True"},
            {"type": "PodReadyToStartContainers", "status": "False"},
        ]
    },
}
"""Statuses of pods that are not ready, by the reason that is told of them: the first useful error comes first."""
_READY = _condition("Ready", "True")
_JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=12), inside, max_size=3),
    max_leaves=8,
)


def pod(replica: Replica, name: str, status: Json) -> Json:
    """Return a pod of the replica."""
    labels = {names.LABEL_REPLICA: replica.name, names.LABEL_ROLE: "decode"}
    metadata = {"name": name, "namespace": replica.namespace, "labels": labels}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {}, "status": status}


@st.composite
def pods(draw: st.DrawFn, replica: Replica) -> list[Json]:
    """Return pods of the replica and of others, and what is no pod at all."""
    statuses = st.sampled_from([*STATUSES.values(), _READY, {}]) | _JUNK
    found = [pod(replica, f"pod-{number}", one) for number, one in enumerate(draw(st.lists(statuses, max_size=4)))]
    other = replace(replica, name="other-0")
    return [*found, pod(other, "other", STATUSES["Evicted"]), *draw(st.lists(_JUNK, max_size=2))]
