"""A ModelReplica, its cluster and its observed Objects: a running state that is easy to break in one place."""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping
from typing import Any

from modelplane.api import replica as replicas
from modelplane.workload.model import BoundRole, Replica, Role
from modelplane_functions.compose import model_replica
from modelplane_functions.exchange import Outcome
from tests.support import exchange, fleet
from tests.support import replicas as build

Json = Any
CLUSTER = "gke-us"


def role(which: Role = Role.DECODE, **fields: Any) -> BoundRole:
    """Return a role on the pool of the cluster below."""
    return build.role(which, **{"pool": "gpu", **fields})


def replica(*roles: BoundRole, **fields: Any) -> Replica:
    """Return a replica on the cluster below; one role of one worker unless said otherwise."""
    return build.replica(*(roles or (role(),)), cluster=CLUSTER, **fields)


def composite(value: Replica | None = None, status: Mapping[str, Json] | None = None) -> dict[str, Json]:
    """Return the ModelReplica as it is observed."""
    document = replicas.encode(value or replica())
    document["metadata"]["uid"] = "uid-replica"
    if status is not None:
        document["status"] = copy.deepcopy(dict(status))
    return document


def cluster(*, admits: bool = True, **status: Json) -> dict[str, Json]:
    """Return the cluster, which admits ml-team/llama-0 or says nothing of it."""
    document = fleet.inference_cluster(CLUSTER)
    document["status"]["admitted"] = ["ml-team/llama-0"] if admits else []
    document["status"].update(status)
    return document


def compose(
    document: Json,
    *store: Json,
    children: Mapping[str, Json] | None = None,
    kinds: Collection[str] | None = None,
    minute: int | None = None,
) -> Outcome:
    """Return what the composer decides, its requirements answered from `store`, questions for kinds from `kinds`."""
    return exchange.settle(model_replica.compose, document, children=children, store=store, kinds=kinds, minute=minute)


def applied(outcome: Outcome, remote: Mapping[str, Json] | None = None) -> dict[str, Json]:
    """Return the desired children as Crossplane and the provider leave them: ready, their remote object seen."""
    return {key: _applied(child.resource, (remote or {}).get(key)) for key, child in outcome.children.items()}


def _applied(resource: Json, remote_status: Json) -> Json:
    observed: Json = copy.deepcopy(dict(resource))
    observed["metadata"].update(
        uid=f"uid-{observed['metadata']['name']}",
        managedFields=[{"manager": "apiextensions.crossplane.io/composed"}],
        annotations={
            **observed["metadata"].get("annotations", {}),
            "crossplane.io/composition-resource-name": "x",
        },
    )
    manifest = copy.deepcopy(dict(observed["spec"]["forProvider"]["manifest"]))
    manifest["metadata"]["generation"] = 1
    status = remote_status or _healthy(manifest)
    if status:
        manifest["status"] = status
    observed["status"] = {
        "conditions": [{"type": "Synced", "status": "True"}, {"type": "Ready", "status": "True"}],
        "atProvider": {"manifest": manifest},
    }
    return observed


def _healthy(manifest: Json) -> Json:
    if manifest["kind"] == "LLMInferenceService":
        return healthy_service(manifest["spec"])
    if manifest["kind"] == "HTTPRoute":
        return {
            "parents": [
                {"conditions": [{"type": "Accepted", "status": "True"}, {"type": "ResolvedRefs", "status": "True"}]}
            ]
        }
    return None


def healthy_service(spec: Json, *, decode: int | None = None, prefill: int | None = None) -> Json:
    """Return the status of a service whose workers are all ready, or as many as said."""
    workloads = {"primary": {"readyReplicas": spec["replicas"] if decode is None else decode}}
    if "prefill" in spec:
        workloads["prefill"] = {"readyReplicas": spec["prefill"]["replicas"] if prefill is None else prefill}
    names_ = ("Ready", "PresetsCombined", "WorkloadsReady", "RouterReady")
    return {
        "observedGeneration": 1,
        "conditions": [{"type": name, "status": "True"} for name in names_],
        "workloads": workloads,
    }


def running(value: Replica | None = None) -> tuple[dict[str, Json], dict[str, Json]]:
    """Return the composite and the children of a replica that runs and has been reported so."""
    wanted = value or replica()
    outcome, children = compose(composite(wanted), cluster()), dict[str, Json]()
    while outcome.children.keys() != children.keys():
        children = applied(outcome)
        outcome = compose(composite(wanted, outcome.status), cluster(), children=children)
    return composite(wanted, outcome.status), children


def conditions(outcome: Outcome) -> dict[str, tuple[str, str]]:
    """Return status and reason of every condition."""
    return {condition.type: (condition.status.value, condition.reason) for condition in outcome.conditions}


def message(outcome: Outcome, kind: str) -> str:
    """Return the message of a condition."""
    return next(condition.message for condition in outcome.conditions if condition.type == kind)


def without(document: Json, *path: str) -> Json:
    """Return the document without one field."""
    changed = copy.deepcopy(document)
    parent = changed
    for key in path[:-1]:
        parent = parent[key]
    del parent[path[-1]]
    return changed
