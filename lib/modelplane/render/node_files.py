"""The files of a ModelCacheCopy on the disks of nodes: KServe fetches them to each node of a group, and mounts them.

A LocalModelNamespaceCache serves its own namespace alone. KServe's controller has each node fetch the files once, and
gives the pods of an LLMInferenceService with the same URI a claim on them.

Source: KServe v0.20.0 (pkg/apis/serving/v1alpha1/local_model_*.go, pkg/controller/v1alpha1/localmodel,
pkg/webhook/admission/llminferenceservice/defaulter.go).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane import names, seen, words
from modelplane.render.manifest import Lifecycle, Manifest, Purpose, Readiness
from modelplane.render.staging_status import Progress
from modelplane.workload.cached import Source

Json: TypeAlias = Any
Object: TypeAlias = Mapping[str, Json]

KEY = "node-files"

KIND = ("serving.kserve.io", "LocalModelNamespaceCache")
_COMPLETE = (
    "has(object.status) && has(object.status.copies) && has(object.status.copies.total) && "
    "object.status.copies.total > 0 && has(object.status.copies.available) && "
    "object.status.copies.available == object.status.copies.total"
)
_NODES_MAX = 3


@dataclass(frozen=True, slots=True)
class NodeFiles:
    """The files of one key on the nodes of a group. `name` is that of their object."""

    namespace: str
    name: str
    cache: str
    cluster: str
    source: Source
    size: str
    group: str
    is_retained: bool = False


def manifest(files: NodeFiles) -> Manifest:
    """Return the LocalModelNamespaceCache. One that is retained outlives its copy."""
    labels = {
        names.LABEL_NAMESPACE: files.namespace,
        names.LABEL_MODEL_CACHE: files.cache,
        names.LABEL_CLUSTER: files.cluster,
    }
    resource = {
        "apiVersion": f"{KIND[0]}/v1alpha1",
        "kind": KIND[1],
        "metadata": {"name": files.name, "namespace": files.namespace, "labels": labels},
        "spec": {"sourceModelUri": files.source.node_uri, "modelSize": files.size, "nodeGroups": [files.group]},
    }
    lifecycle = Lifecycle.KEEP if files.is_retained else Lifecycle.OWN
    return Manifest(KEY, resource, Purpose.SUPPORT, Readiness(_COMPLETE), lifecycle=lifecycle)


def judge(observed: Object | None, group: str, unapplied: str) -> Progress:
    """Return the progress of the nodes, as far as KServe reports it; `unapplied` says why nothing could be applied."""
    copies = seen.at(observed, "status", "copies")
    total, available, failed = (seen.count(seen.at(copies, key)) or 0 for key in ("total", "available", "failed"))
    done = f"{available} of {total} nodes of LocalModelNodeGroup {group} hold the files"
    if total and available >= total:
        return Progress(is_ready=True, message=done)
    if unapplied:
        return Progress(reason="NotApplied", message=unapplied)
    if failed:
        message = (
            f"{done}, and on {_named(observed, 'NodeDownloadError')} the download of KServe has failed; it begins anew "
            "when its object of kind Job is deleted"
        )
        return Progress(is_final=True, reason="NodesFailed", message=message)
    if total:
        return Progress(is_running=True, reason="Fetching", message=done)
    message = (
        f"KServe has reported no node of LocalModelNodeGroup {group}; check that the group exists and has nodes, and "
        "that localModel is enabled in KServe's configuration"
    )
    return Progress(reason="NoNodes", message=message)


def _named(observed: Object | None, state: str) -> str:
    """Return the first nodes in that state as words, "some nodes" where none is named."""
    states = seen.at(observed, "status", "nodeStatus")
    found = sorted(str(name) for name, one in states.items() if one == state) if isinstance(states, Mapping) else []
    return words.first(found, _NODES_MAX) or "some nodes"
