"""The pods of a replica as provider-kubernetes lists and reads them.

The names of pods are not known, so an ObservedObjectCollection lists them by label. For each pod the provider makes an
Object that only reads it. These Objects belong to the collection and go with it; the pods are never written.
Source: provider-kubernetes v1.2.1 (internal/controller/namespaced/observedobjectcollection/reconciler.go).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from modelplane import names, seen
from modelplane.render import objects, pod_errors
from modelplane.render.backend import Problem
from modelplane.workload.model import Replica

Json: TypeAlias = Any
Resource: TypeAlias = Mapping[str, Json]

API_VERSION = objects.API_VERSION
KIND = "ObservedObjectCollection"
KEY = "pods"
cut = pod_errors.cut
"""The composition key of the collection."""

_MEMBER_OF = "kubernetes.crossplane.io/owned-by-collection"
# So the provider words that an object which it reads is not there.
_GONE = "does not exist"
# And so that it may not list pods on the cluster, or make an Object of one on the control plane.
_FORBIDDEN, _LISTING = "is forbidden", "error fetching objects"
# The phases of a pod that uses no device any more.
_ENDED = ("Succeeded", "Failed")


def name_of(replica: Replica) -> str:
    """Return the name of the collection."""
    return objects.name_of(replica.name, KEY)


def wrap(replica: Replica, provider_config: Mapping[str, Json]) -> dict[str, Json]:
    """Return the collection of the replica's pods; `provider_config` is {kind, name} of the way to the cluster."""
    selector = {"matchLabels": {names.LABEL_REPLICA: replica.name}}
    return _wrap((replica.namespace, name_of(replica)), replica.namespace, selector, provider_config)


def wrap_all(
    where: tuple[str, str], namespace: str, replicas: Sequence[str], provider_config: Mapping[str, Json]
) -> dict[str, Json]:
    """Return the collection of the pods of several replicas of one namespace; `where` is its own namespace and name."""
    selector = {"matchExpressions": [{"key": names.LABEL_REPLICA, "operator": "In", "values": list(replicas)}]}
    return _wrap(where, namespace, selector, provider_config)


def wrap_labelled(
    where: tuple[str, str], labels: Mapping[str, str], provider_config: Mapping[str, Json]
) -> dict[str, Json]:
    """Return the collection of the pods with these labels; `where` is the namespace of the pods, and its own name."""
    return _wrap(where, where[0], {"matchLabels": dict(labels)}, provider_config)


def _wrap(
    where: tuple[str, str], namespace: str, selector: Mapping[str, Json], provider_config: Mapping[str, Json]
) -> dict[str, Json]:
    criteria = {"apiVersion": "v1", "kind": "Pod", "namespace": namespace, "selector": selector}
    reference = {"kind": provider_config["kind"], "name": provider_config["name"]}
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": where[1], "namespace": where[0]},
        "spec": {"observeObjects": criteria, "providerConfigRef": reference},
    }


def wrap_entries(
    replica: Replica,
    key: str,
    entries: Mapping[str, Json],
    labels: Mapping[str, str],
    provider_config: Mapping[str, Json],
) -> dict[str, Json]:
    """Return the collection of other objects of a replica's namespace: `entries` is {apiVersion, kind} of those."""
    where = (replica.namespace, objects.name_of(replica.name, key))
    made = _wrap(where, replica.namespace, {"matchLabels": dict(labels)}, provider_config)
    criteria = {**made["spec"]["observeObjects"], **entries}
    return {**made, "spec": {**made["spec"], "observeObjects": criteria}}


def is_collection(resource: Resource) -> bool:
    """Return whether the resource is a collection of provider-kubernetes."""
    return resource.get("kind") == KIND and resource.get("apiVersion") == API_VERSION


def membership(name: str) -> dict[str, str]:
    """Return the label by which the provider marks the members of the collection of this name."""
    return {_MEMBER_OF: name}


def error(replica: Replica, collection: Resource, found: Iterable[Resource]) -> Problem | None:
    """Return the first useful error of the pods that the members of the collection have read.

    `found` are Objects with the label of a member. One that belongs to no collection, or to another, is passed over.
    """
    return pod_errors.explain(replica, pods(collection, found))


def pods(collection: Resource, found: Iterable[Resource]) -> list[Resource]:
    """Return the pods that the members of the collection have read and that were there at the last attempt."""
    return members(collection, found, "Pod")


def members(collection: Resource, found: Iterable[Resource], kind: str) -> list[Resource]:
    """Return the objects of a kind that the members of the collection have read and that were there at last."""
    uid = seen.at(collection, "metadata", "uid")
    read = [objects.observed(one) for one in found if _belongs(one, uid) and not is_gone(one)]
    return [one for one in read if one is not None and one.get("kind") == kind]


def has_listed(collection: Resource) -> bool:
    """Return whether the provider has listed the pods since the collection was made, and its last attempt succeeded."""
    said = (objects.condition(collection, kind).get("status") for kind in ("Ready", "Synced"))
    return all(status == "True" for status in said)


def holder(member: Resource) -> str | None:
    """Return the replica whose devices the pod of a member may hold, None where it has ended, empty where unknown."""
    pod = objects.observed(member)
    if pod is None:
        return ""
    if seen.text(seen.at(pod, "status", "phase")) in _ENDED:
        return None
    return seen.text(seen.at(pod, "metadata", "labels", names.LABEL_REPLICA))


def unread(collection: Resource) -> tuple[Problem, ...]:
    """Return that the pods cannot be listed, with what would change that."""
    message = failure(collection)
    if _FORBIDDEN not in message:
        return ()
    what = f"the errors of its pods are not known, because provider-kubernetes cannot read them: {message}"
    return (Problem("PodsNotRead", what),)


def failure(collection: Resource) -> str:
    """Return the reason why the last list of the pods failed, with a remedy, empty if it did not."""
    synced = objects.condition(collection, "Synced")
    if synced.get("status") != "False":
        return ""
    message = seen.text(synced.get("message")) or "no reason was reported"
    if _FORBIDDEN not in message:
        return pod_errors.cut(message)
    remedy = (
        "examples/rbac-workload.yaml on the cluster" if _LISTING in message else "examples/rbac on the control plane"
    )
    return f"{pod_errors.cut(message)}; apply {remedy}"


def _belongs(member: Resource, uid: Json) -> bool:
    owners = seen.objects(seen.at(member, "metadata", "ownerReferences"))
    return bool(uid) and any(one.get("kind") == KIND and one.get("uid") == uid for one in owners)


def is_gone(member: Resource) -> bool:
    """Return whether the pod of a member was not found at the last attempt. The provider may not delete the member."""
    synced = objects.condition(member, "Synced")
    return synced.get("status") == "False" and seen.text(synced.get("message")).endswith(_GONE)
