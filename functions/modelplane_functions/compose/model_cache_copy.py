"""ModelCacheCopy: the files of a ModelCache on one cluster, in a claim or on the disks of nodes.

Reads: its InferenceCluster by name; its Namespace, where labels decide whether the cluster allows it; while the files
are fetched, the pods of its Job as provider-kubernetes has read them.
Emits: Objects with the namespace, a claim and the Job that fills it; while the files are fetched, a collection that
lists its pods. For the disks of nodes, Objects with the namespace and KServe's LocalModelNamespaceCache.
Reports: phase, reason and message, the claim and the resolved commit; condition Staged.

A claim keeps its class and access mode, which cannot change. A Job is made for one claim, and once it has completed it
is kept as it is: no input fetches complete files again, but a claim that is lost is filled anew. Everything is held
while the InferenceCluster is missing, cannot be read, or does not allow the namespace.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

from modelplane import names, seen
from modelplane.api import inference_cluster, model_cache, tenants
from modelplane.api.fields import Field
from modelplane.api.model_cache import Copy, Phase, Told
from modelplane.errors import InvalidInput
from modelplane.render import node_files, objects, pod_collection, pod_errors, staging, staging_status
from modelplane.render.manifest import Manifest
from modelplane.render.staging import Staging, Volume
from modelplane.workload import tenancy
from modelplane.workload.tenancy import Access
from modelplane_functions import admissible, allowed_namespaces, hold, replica_pods
from modelplane_functions.exchange import (
    Child,
    Condition,
    Event,
    Observed,
    Outcome,
    Ready,
    Requirement,
    Resource,
    Severity,
    Truth,
)
from modelplane_functions.memory.resources import recall

_CLUSTER, _MEMBERS = "cluster", "pods"
_WAITING_SECONDS, _SETTLED_SECONDS = 30, 300


@dataclass(frozen=True, slots=True)
class _Emitted:
    """The children, and why nothing new can be made, empty if something can."""

    children: Mapping[str, Child]
    reason: str = ""
    message: str = ""


def compose(observed: Observed) -> Outcome:
    """Return the claim and the Job of the copy, and their progress."""
    copy = model_cache.decode_copy(observed.composite)
    requirements = _requirements(observed, copy)
    if not requirements.keys() <= observed.required.keys():
        return Outcome(requirements=requirements)
    before = model_cache.decode_told(observed.status)
    found = _seen(observed)
    emitted = _emit(observed, copy, before, found)
    told = _told(observed, copy, before, found, emitted)
    is_ready = told.phase is Phase.READY
    return Outcome(
        requirements=requirements,
        kinds={} if is_ready else replica_pods.COLLECTIONS,
        children=emitted.children,
        status=model_cache.encode_told(copy, told),
        conditions=(_condition(told),),
        events=tuple(_events(before, told, copy)),
        ready=Ready.TRUE if is_ready else Ready.FALSE,
        ttl_seconds=_SETTLED_SECONDS if is_ready else _WAITING_SECONDS,
    )


# --- reads ------------------------------------------------------------------------------------------------------------


def _requirements(observed: Observed, copy: Copy) -> dict[str, Requirement]:
    needed = {_CLUSTER: Requirement(names.API_VERSION, inference_cluster.KIND, name=copy.cluster)}
    rules = [tenants.readable(one) for one in observed.required.get(_CLUSTER, ())]
    needed |= allowed_namespaces.requirements(rules, (copy.namespace,))
    if pod_collection.KEY in observed.children:
        labels = pod_collection.membership(objects.name_of(copy.name, pod_collection.KEY))
        needed[_MEMBERS] = Requirement(objects.API_VERSION, objects.KIND, labels=labels, namespace=copy.namespace)
    return needed


def _seen(observed: Observed) -> staging_status.Seen:
    """Return what is observed of the copy. Of several Jobs the one that the last answer made is meant."""
    key = staging.CLAIM_KEY if node_files.KEY not in observed.children else node_files.KEY
    claim = objects.observed(observed.children.get(key))
    job = next((found for _, child in _jobs(observed) if (found := _job_of(child, claim)) is not None), None)
    collection = observed.children.get(pod_collection.KEY)
    members = observed.required.get(_MEMBERS, ())
    pods = () if collection is None else tuple(pod_collection.pods(collection, members))
    return staging_status.Seen(claim, job, pods, "; ".join(_unapplied(observed)))


def _jobs(observed: Observed) -> Iterator[tuple[str, Resource]]:
    for key, child in sorted(observed.children.items()):
        if key.startswith(staging.STAGE):
            yield key, child


def _job_of(child: Resource, claim: Resource | None) -> Resource | None:
    """Return the observed Job of an Object, None where it was made for another claim than the observed one."""
    made_for = seen.at(child, "metadata", "annotations", names.ANNOTATION_RENDERED_FROM)
    uid = staging_status.claim_uid(claim)
    return objects.observed(child) if not uid or made_for == uid else None


def _unapplied(observed: Observed) -> Iterator[str]:
    for key, child in sorted(observed.children.items()):
        synced = objects.condition(child, "Synced")
        if key != pod_collection.KEY and seen.verdict(synced) is False:
            yield f"{key}: {pod_errors.cut(seen.text(synced.get('message')) or 'no message')}"


def _unusable(cluster: Resource) -> str:
    """Return why the cluster cannot be read, empty when it can."""
    try:
        admissible.check_other(inference_cluster.KIND, cluster)
        model_cache.decode_cluster_storage(cluster)
        inference_cluster.decode_provider_config(Field(cluster).at("status"))
    except InvalidInput as error:
        return str(error)
    return ""


# --- emits ------------------------------------------------------------------------------------------------------------


def _emit(observed: Observed, copy: Copy, before: Told, found: staging_status.Seen) -> _Emitted:
    cluster = next(iter(observed.required[_CLUSTER]), None)
    if cluster is None:
        return _held(observed, copy, "ClusterMissing", f"InferenceCluster {copy.cluster} does not exist; create it")
    why = recall(cluster, "unusable for caches", partial(_unusable, cluster))
    if why:
        return _held(observed, copy, "ClusterUnreadable", f"InferenceCluster {copy.cluster} cannot be read ({why})")
    labels = allowed_namespaces.labels(observed, copy.namespace)
    access = tenancy.access(tenants.readable(cluster), copy.namespace, labels)
    if access is not Access.ALLOWED:
        reason = allowed_namespaces.UNKNOWN if access is Access.UNKNOWN else allowed_namespaces.NOT_ALLOWED
        said = tenancy.refusal(access, copy.namespace)
        return _held(observed, copy, reason, f"InferenceCluster {copy.cluster} takes nothing new: {said}")
    provider = inference_cluster.decode_provider_config(Field(cluster).at("status"))
    if provider is None:
        message = f"cluster {copy.cluster} has not published status.providerConfigRef; see its conditions"
        return _held(observed, copy, "WaitingForCluster", message)
    made = _staging(observed, copy, model_cache.decode_cluster_storage(cluster), before, found)
    if copy.storage.node_group:
        return _Emitted(dict(_on_nodes(observed, copy, made, provider.encode())))
    if not made.volume.class_name:
        message = (
            "no StorageClass is named: set spec.storage.className, or spec.storage.weightsClassName of "
            f"InferenceCluster {copy.cluster}"
        )
        return _held(observed, copy, "NoStorageClass", message)
    return _Emitted(dict(_children(observed, made, provider.encode(), before, found)))


def _held(observed: Observed, copy: Copy, reason: str, message: str) -> _Emitted:
    """Return the children as they are observed; whether the files outlive the copy is what its author wants now."""
    children = hold.hold(observed.children, _judge)
    for key in (staging.CLAIM_KEY, node_files.KEY):
        if key in children and isinstance(children[key].resource.get("spec"), Mapping):
            fated = objects.outliving(children[key].resource, is_kept=copy.is_retained)
            children[key] = replace(children[key], resource=fated)
    return _Emitted(children, reason, message)


def _staging(
    observed: Observed,
    copy: Copy,
    cluster: model_cache.ClusterStorage,
    before: Told,
    found: staging_status.Seen,
) -> Staging:
    """Return what is rendered. A claim that was made keeps its class and access mode."""
    written = seen.at(objects.unwrap(observed.children.get(staging.CLAIM_KEY, {})), "spec")
    modes = seen.at(written, "accessModes")
    written_mode = seen.text(modes[0]) if isinstance(modes, list | tuple) and modes else ""
    volume = Volume(
        claim=copy.claim,
        size=copy.size,
        class_name=seen.text(seen.at(written, "storageClassName")) or copy.storage.class_name or cluster.class_name,
        access_mode=written_mode or copy.storage.access_mode or cluster.access_mode,
    )
    return Staging(
        namespace=copy.namespace,
        cache=copy.cache,
        cluster=copy.cluster,
        key=copy.key,
        source=copy.source,
        volume=volume,
        commit=copy.commit,
        claim_uid=staging_status.claim_uid(found.claim) or before.claim_uid,
        attempt=copy.attempt,
        image=cluster.image,
        hub_endpoint=cluster.hub_endpoint,
        is_retained=copy.is_retained,
    )


def _children(
    observed: Observed, made: Staging, provider: Mapping[str, str], before: Told, found: staging_status.Seen
) -> Iterator[tuple[str, Child]]:
    yield staging.NAMESPACE_KEY, _child(observed, made, staging.namespace(made), provider)
    yield staging.CLAIM_KEY, _child(observed, made, staging.claim(made), provider)
    is_lost = bool(before.claim_uid) and staging_status.is_lost(found.claim, before.claim_uid)
    is_filled = before.phase is Phase.READY and not is_lost
    standing = {key: Child(hold.held(child), _judge(child)) for key, child in _jobs(observed)}
    job = staging.job(made)
    fresh = _child(observed, made, job, provider)
    if is_filled or not made.claim_uid:  # what has completed is not made anew, and an edit of it is put back
        yield from {**standing, **({job.key: fresh} if job.key in standing else {})}.items()
        return
    yield job.key, fresh
    if is_lost:  # nothing is undone for a claim that somebody else may only have described wrongly
        yield from ((key, child) for key, child in standing.items() if key != job.key)
    if pod_collection.KEY in observed.children or replica_pods.are_collections_served(observed):
        where = (made.namespace, objects.name_of(observed.name, pod_collection.KEY))
        labels = staging.pod_labels(made.namespace, made.volume.claim)
        yield pod_collection.KEY, Child(pod_collection.wrap_labelled(where, labels, provider), Ready.TRUE)


def _on_nodes(
    observed: Observed, copy: Copy, made: Staging, provider: Mapping[str, str]
) -> Iterator[tuple[str, Child]]:
    yield staging.NAMESPACE_KEY, _child(observed, made, staging.namespace(made), provider)
    files = node_files.manifest(
        node_files.NodeFiles(
            namespace=copy.namespace,
            name=copy.claim,
            cache=copy.cache,
            cluster=copy.cluster,
            source=copy.source,
            size=copy.size,
            group=copy.storage.node_group,
            is_retained=copy.is_retained,
        )
    )
    yield files.key, _child(observed, made, files, provider)


def _child(observed: Observed, made: Staging, manifest: Manifest, provider: Mapping[str, str]) -> Child:
    wrapped = objects.wrap(manifest, provider_config=provider, namespace=made.namespace, owner=observed.name)
    wrapped["metadata"]["labels"] = {
        names.LABEL_MODEL_CACHE: made.cache,
        names.LABEL_CLUSTER: made.cluster,
        names.LABEL_NAMESPACE: made.namespace,
    }
    if manifest.key.startswith(staging.STAGE):
        wrapped["metadata"]["annotations"][names.ANNOTATION_RENDERED_FROM] = made.claim_uid
    child = observed.children.get(manifest.key)
    return Child(wrapped, Ready.FALSE if child is None else _judge(child))


def _judge(child: Resource) -> Ready:
    is_ready = objects.is_ready(child) if objects.is_object(child) else True
    return Ready.TRUE if is_ready else Ready.FALSE


# --- reports ----------------------------------------------------------------------------------------------------------


def _told(observed: Observed, copy: Copy, before: Told, found: staging_status.Seen, emitted: _Emitted) -> Told:
    uid = staging_status.claim_uid(found.claim)
    known = before.commit or copy.commit or copy.source.commit or staging_status.commit_in(found.pods)
    base = replace(before, access_mode=_access_mode(emitted.children) or before.access_mode, commit=known)
    if before.phase is Phase.READY and not staging_status.is_lost(found.claim, before.claim_uid):
        return replace(base, reason="", message="the files are complete", claim_uid=before.claim_uid or uid)
    if emitted.reason:
        phase = before.phase if observed.children and before.phase is not Phase.READY else Phase.PENDING
        return replace(base, phase=phase, reason=emitted.reason, message=emitted.message)
    group = copy.storage.node_group
    progress = node_files.judge(found.claim, group, found.unapplied) if group else staging_status.judge(found)
    filled = uid or before.claim_uid
    return replace(base, phase=_phase(progress), reason=progress.reason, message=progress.message, claim_uid=filled)


def _phase(progress: staging_status.Progress) -> Phase:
    if progress.is_ready:
        return Phase.READY
    if progress.is_final:
        return Phase.FAILED
    return Phase.STAGING if progress.is_running else Phase.PENDING


def _access_mode(children: Mapping[str, Child]) -> str:
    claim = children.get(staging.CLAIM_KEY)
    modes = None if claim is None else seen.at(objects.unwrap(claim.resource), "spec", "accessModes")
    return seen.text(modes[0]) if isinstance(modes, list | tuple) and modes else ""


def _condition(told: Told) -> Condition:
    if told.phase is Phase.READY:
        return Condition("Staged", Truth.TRUE, "Complete", told.message)
    return Condition("Staged", Truth.FALSE, told.reason or str(told.phase), told.message)


def _events(before: Told, told: Told, copy: Copy) -> Iterator[Event]:
    if told.phase is before.phase or told.phase not in (Phase.READY, Phase.FAILED):
        return
    severity = Severity.WARNING if told.phase is Phase.FAILED else Severity.NORMAL
    yield Event(severity, f"Copy{told.phase}", f"{copy.source} on {copy.cluster}: {told.message}")
