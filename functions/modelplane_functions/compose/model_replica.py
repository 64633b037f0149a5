"""ModelReplica: a complete serving instance, rendered onto its cluster.

Reads: its InferenceCluster by name. Emits: provider-kubernetes Objects with the manifests of its backend, once the
cluster has admitted it. Reports: phase, ready workers per role, the address for routing; conditions Admitted,
WorkloadReady, Serving, StatusStale.

A rendered replica keeps its objects while the InferenceCluster is missing, reports nothing, or no longer lists the
replica. It is rendered anew only when its own spec changes and the cluster has admitted the change. An edited pool or a
new version of this function restarts nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from modelplane import names
from modelplane import seen as remote
from modelplane.api import inference_cluster, rendered, replica_status
from modelplane.api import replica as replicas
from modelplane.api.fields import Field
from modelplane.api.inference_cluster import ProviderConfigRef
from modelplane.api.rendered import NOTHING_RENDERED, Rendered
from modelplane.errors import InvalidInput
from modelplane.render import objects, progress
from modelplane.render.backend import Backend, Observation, Problem
from modelplane.render.backends import selection
from modelplane.render.manifest import Lifecycle, Manifest, Purpose
from modelplane.render.progress import Known, Phase, Progress
from modelplane.render.schedulers import selection as schedulers
from modelplane.workload.model import Replica
from modelplane.workload.site import ClusterFacts
from modelplane_functions import hold, replica_verdict
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
from modelplane_functions.replica_verdict import ReplicaCluster, Verdict

_WAITING_SECONDS, _SETTLED_SECONDS = 30, 300
# A change of these restarts or unseats pods; everything else may follow the cluster at any time.
_PODS = frozenset({Purpose.WORKLOAD, Purpose.POD_INPUT})
# The prefixes of the messages with which provider-kubernetes reports that it could not reach the cluster.
_UNSEEN = ("connect failed", "observe failed")
_REFUSED = ("is invalid", "denied the request", "is forbidden")


@dataclass(frozen=True, slots=True)
class _Rendering:
    """The children to emit. `held` is the reason why they are the observed ones, empty when they are rendered anew.

    `awaited` are the children that must exist before the workload is created. `record` holds the digests of the pods'
    objects. `edited` are the objects of the pods that another client changed; they are restored.
    """

    children: Mapping[str, Child]
    held: str = ""
    awaited: tuple[str, ...] = ()
    record: Rendered = NOTHING_RENDERED
    edited: tuple[str, ...] = ()


def compose(observed: Observed) -> Outcome:
    """Return the replica's objects and their progress."""
    replica = replicas.decode(observed.composite)
    observed = replace(observed, children=dict(_living(observed)))
    requirements = {
        replica_verdict.CLUSTER: Requirement(names.API_VERSION, inference_cluster.KIND, name=replica.cluster),
    }
    if replica_verdict.CLUSTER not in observed.required:
        return Outcome(requirements=requirements)
    backend = selection.backend(replica.backend)
    found = replica_verdict.cluster(observed, replica)
    cluster = found.resource
    verdict = replica_verdict.of(observed, replica, found)
    rendering = _render(observed, replica, backend, found, verdict)
    before = replica_status.decode(observed.status)
    gateway = None if cluster is None else inference_cluster.decode_gateway(Field(cluster).at("status", "gateway"))
    address = replica_status.address(replica, gateway, before)
    seen = _progress(observed, replica, backend, before, has_address=address is not None)
    phase = _phase(verdict, rendering, seen)
    is_rendered = _is_rendered(observed, replica, rendering)
    settled = seen.workload.known is Known.YES and seen.serving.known is Known.YES
    return Outcome(
        requirements=requirements,
        children=rendering.children,
        status={
            **replica_status.encode(replica, phase, seen.workers, address),
            **replica_status.encode_generation(observed.composite, is_rendered=is_rendered),
            **rendered.encode(rendering.record),
        },
        conditions=tuple(_conditions(observed, verdict, rendering, seen)),
        events=(*_events(before.phase, phase, verdict, seen), *_edits(rendering)),
        ready=Ready.TRUE if settled else Ready.FALSE,
        ttl_seconds=_SETTLED_SECONDS if settled else _WAITING_SECONDS,
    )


def _living(observed: Observed) -> Iterator[tuple[str, Resource]]:
    """Yield the children that are not being deleted.

    A replica that reuses the name of a deleted one applies its objects onto those that are still being deleted.
    Crossplane then shows the old objects, whose status is that of the earlier replica.
    """
    for key, child in observed.children.items():
        if not child["metadata"].get("deletionTimestamp"):
            yield key, child


# --- decides ----------------------------------------------------------------------------------------------------------


def _render(
    observed: Observed, replica: Replica, backend: Backend, found: ReplicaCluster, verdict: Verdict
) -> _Rendering:
    """Return the objects of an admitted replica.

    The observed objects are held when the current spec is not admitted, or when an input for rendering is missing.
    """
    cluster = found.resource
    if cluster is None and observed.children:
        return _held(observed, found.absence)
    if not verdict.renders or cluster is None:
        return _held(observed, verdict.holds) if observed.children else _Rendering({})
    provider = _provider_config(observed, cluster)
    if provider is None:
        why = f"cluster {replica.cluster} has not published status.providerConfigRef; see its conditions"
        return _held(observed, why)
    facts = inference_cluster.decode_facts(cluster)
    obstacle = _obstacle(observed, replica, facts)
    if obstacle:
        return _held(observed, obstacle)
    source = replicas.fingerprint(replica)
    is_anothers = bool(_anothers(observed, replica))
    named = {} if is_anothers else _standing(observed)
    manifests = {manifest.key: manifest for manifest in backend.render(replica, facts, named)}
    fresh = {key: _child(observed, replica, manifest, provider, source) for key, manifest in manifests.items()}
    workloads = {key: child for key, child in fresh.items() if manifests[key].purpose is Purpose.WORKLOAD}
    record = rendered.of(source, {key: one.resource for key, one in manifests.items() if one.purpose in _PODS})
    awaited = tuple(key for key, one in manifests.items() if one.comes_first and fresh[key].ready is not Ready.TRUE)
    if awaited and not workloads.keys() & observed.children.keys():
        children = {key: child for key, child in fresh.items() if key not in workloads}
        return _Rendering(children, awaited=awaited, record=record)
    remembered, standing = rendered.decode(observed.status), _pods(observed, manifests)
    is_known = remembered.source == source and _sources(observed, workloads) == {source}
    edited = remembered.edited({key: one.resource for key, one in standing.items()}) if is_known else ()
    if edited or is_anothers or not _runs_as_rendered(observed, source, workloads):
        return _Rendering(fresh, record=record, edited=edited)
    others = {key: child for key, child in fresh.items() if manifests[key].purpose not in _PODS}
    pods = {key: _child(observed, replica, one, provider, source) for key, one in standing.items()}
    if not is_known:
        remembered = rendered.of(source, {key: one.resource for key, one in standing.items()})
    return _Rendering({**others, **pods}, record=remembered)


def _obstacle(observed: Observed, replica: Replica, facts: ClusterFacts) -> str:
    """Return why the replica cannot be rendered anew, empty when it can."""
    missing = {bound.pool for bound in replica.roles} - facts.pool_node_selector.keys()
    if missing:
        lacking = ", ".join(sorted(missing))
        return f"cluster {replica.cluster} has no pool {lacking}; the replica's pods are not moved"
    if not observed.children and not schedulers.is_offered(facts.scheduler):
        return f"spec.scheduler {facts.scheduler} of cluster {replica.cluster} is not supported yet"
    try:
        replicas.check(observed.composite)
    except InvalidInput as error:
        return f"its template is refused: {error}"
    return ""


def _held(observed: Observed, why: str) -> _Rendering:
    return _Rendering(hold.hold(observed.children, _judge), why, record=rendered.decode(observed.status))


def _standing(observed: Observed) -> dict[str, str]:
    """Return the names of the observed objects on the cluster, by key. An existing object is not renamed."""
    bare = {key: objects.unwrap(child) for key, child in observed.children.items()}
    return {key: remote.text(remote.at(manifest, "metadata", "name")) for key, manifest in bare.items()}


def _anothers(observed: Observed, replica: Replica) -> set[str]:
    """Return the other replicas whose workload has the name of this one's: an earlier version gave both one name."""
    workloads = [child for child in observed.children.values() if objects.purpose(child) in (None, Purpose.WORKLOAD)]
    told = [remote.at(objects.observed(child), "metadata", "labels", names.LABEL_REPLICA) for child in workloads]
    return {remote.text(owner) for owner in told} - {"", replica.name}


def _pods(observed: Observed, manifests: Mapping[str, Manifest]) -> dict[str, Manifest]:
    """Return the observed objects that the running pods were made from, with the current lifecycle and readiness rules.

    An object without a purpose was written by an older version and is kept with the pods.
    """
    found: dict[str, Manifest] = {}
    for key, child in sorted(observed.children.items()):
        bare = objects.unwrap(child)
        if key not in manifests:
            is_kept = remote.at(child, "spec", "managementPolicies") is not None
            lifecycle = Lifecycle.KEEP if is_kept else Lifecycle.OWN
            one = Manifest(key, bare, objects.purpose(child) or Purpose.POD_INPUT, lifecycle=lifecycle)
        else:
            one = replace(manifests[key], resource=bare)
        if one.purpose in _PODS:
            found[key] = one
    return found


def _rendered_from(running: Resource) -> str | None:
    """Return the digest of the replica that a workload was rendered from, None when it is not recorded."""
    return Field(running).at("metadata", "annotations", names.ANNOTATION_RENDERED_FROM).optional()


def _is_rendered(observed: Observed, replica: Replica, rendering: _Rendering) -> bool:
    """Return whether the workload that runs and is reported was rendered from the current spec."""
    noted = {_rendered_from(child) for child in observed.children.values()}
    return not rendering.held or noted <= {None, replicas.fingerprint(replica)}


def _runs_as_rendered(observed: Observed, source: str, fresh: Mapping[str, Child]) -> bool:
    """Return whether the observed workloads match the current spec but would be rendered differently now."""
    running = {key: observed.children[key] for key in fresh if key in observed.children}
    bare = {key: objects.unwrap(child) for key, child in running.items()}
    if _sources(observed, fresh) != {source} or not all(bare.values()):
        return False
    return any(bare.get(key) != objects.unwrap(child.resource) for key, child in fresh.items())


def _sources(observed: Observed, workloads: Mapping[str, Child]) -> set[str]:
    """Return the digests that the observed workloads were rendered from."""
    running = [observed.children[key] for key in workloads if key in observed.children]
    told = [remote.at(child, "metadata", "annotations", names.ANNOTATION_RENDERED_FROM) for child in running]
    return {remote.text(source) for source in told}


def _provider_config(observed: Observed, cluster: Resource) -> ProviderConfigRef | None:
    """Return the provider configuration that the cluster publishes, else the one that the observed objects use."""
    published = inference_cluster.decode_provider_config(Field(cluster).at("status"))
    if published is not None:
        return published
    for _, child in sorted(observed.children.items()):
        used = Field(child).at("spec", "providerConfigRef")
        if objects.is_object(child) and used.at("name").optional() is not None:
            return ProviderConfigRef(used.at("kind").text(), used.at("name").text())
    return None


# --- emits ------------------------------------------------------------------------------------------------------------


def _child(observed: Observed, replica: Replica, manifest: Manifest, provider: ProviderConfigRef, source: str) -> Child:
    wrapped = objects.wrap(manifest, provider_config=provider.encode(), namespace=replica.namespace, owner=replica.name)
    wrapped["metadata"]["labels"] = {
        names.LABEL_DEPLOYMENT: replica.deployment,
        names.LABEL_REPLICA: replica.name,
        names.LABEL_CLUSTER: replica.cluster,
    }
    if manifest.purpose is Purpose.WORKLOAD:
        wrapped["metadata"]["annotations"][names.ANNOTATION_RENDERED_FROM] = source
    child = observed.children.get(manifest.key)
    return Child(wrapped, Ready.FALSE if child is None else _judge(child))


def _judge(child: Resource) -> Ready:
    return Ready.TRUE if objects.is_ready(child) else Ready.FALSE


# --- reports ----------------------------------------------------------------------------------------------------------


def _progress(
    observed: Observed, replica: Replica, backend: Backend, before: replica_status.Before, *, has_address: bool
) -> Progress:
    seen = {key: _own(child, replica) for key, child in observed.children.items()}
    observation = backend.observe(replica, seen)
    unapplied = tuple(_unapplied(observed))
    complete = Observation(
        observation.workers, observation.is_ready, observation.is_routed, (*unapplied, *observation.problems)
    )
    return progress.judge(replica, complete, before=before.workers, has_address=has_address)


def _own(child: Resource, replica: Replica) -> Resource | None:
    """Return the observed remote object, None where the cluster refuses to change it and it is somebody else's.

    Its status then says nothing about the replica.
    """
    found = objects.observed(child)
    synced = objects.condition(child, "Synced")
    is_refused = synced.get("status") == "False" and any(text in str(synced.get("message")) for text in _REFUSED)
    is_own = remote.at(found, "metadata", "labels", names.LABEL_REPLICA) == replica.name
    return None if is_refused and not is_own else found


def _unapplied(observed: Observed) -> Iterator[Problem]:
    """Yield the objects that the cluster refused."""
    for key, child in sorted(observed.children.items()):
        synced = objects.condition(child, "Synced")
        message = str(synced.get("message") or "no message")
        if synced.get("status") == "False" and not message.startswith(_UNSEEN):
            is_final = any(text in message for text in _REFUSED)
            about_route = objects.purpose(child) is Purpose.ROUTE
            yield Problem("NotApplied", f"{key} could not be applied: {message}", is_final, about_route=about_route)


def _unseen(observed: Observed) -> Iterator[str]:
    """Yield the children whose state on the cluster could not be read at the last attempt."""
    for key, child in sorted(observed.children.items()):
        synced = objects.condition(child, "Synced")
        message = str(synced.get("message") or "")
        if synced.get("status") == "False" and message.startswith(_UNSEEN):
            yield f"{key}: {message}"


def _phase(verdict: Verdict, rendering: _Rendering, seen: Progress) -> Phase:
    if rendering.children:
        return seen.phase
    return Phase.ADMITTED if verdict.known is Known.YES else Phase.PENDING


def _conditions(observed: Observed, verdict: Verdict, rendering: _Rendering, seen: Progress) -> Iterator[Condition]:
    yield Condition("Admitted", Truth(verdict.known), verdict.reason, verdict.message)
    if not rendering.children:
        waits = rendering.held or verdict.message
        yield Condition("WorkloadReady", Truth.FALSE, "NotRendered", waits)
        yield Condition("Serving", Truth.FALSE, "NotRendered", waits)
    else:
        note = f"; the workload is kept as it is because {rendering.held}" if rendering.held else ""
        if rendering.awaited:
            note = f"; the workload is created once {' and '.join(rendering.awaited)} exists"
        for kind, judgement in (("WorkloadReady", seen.workload), ("Serving", seen.serving)):
            yield Condition(kind, Truth(judgement.known), judgement.reason, judgement.message + note)
    unseen = list(_unseen(observed))
    if unseen:
        message = f"the cluster could not be read; the last known state is reported: {'; '.join(unseen)}"
        yield Condition("StatusStale", Truth.TRUE, "ClusterUnreachable", message)
    else:
        yield Condition("StatusStale", Truth.FALSE, "Fresh", "the state on the cluster was read without errors")


def _events(before: str, phase: Phase, verdict: Verdict, seen: Progress) -> Iterator[Event]:
    """Yield an event when the phase has changed."""
    if before == phase:
        return
    messages = {Phase.PENDING: verdict.message, Phase.ADMITTED: verdict.message, Phase.RUNNING: seen.serving.message}
    worse = {Phase.RUNNING: {Phase.DEGRADED, Phase.STARTING}, Phase.DEGRADED: {Phase.STARTING}}
    bad = phase is Phase.FAILED or any(before == old and phase in new for old, new in worse.items())
    message = messages.get(phase, seen.workload.message)
    yield Event(Severity.WARNING if bad else Severity.NORMAL, str(phase), message)


def _edits(rendering: _Rendering) -> Iterator[Event]:
    """Yield an event for objects that another client changed. This answer restores them."""
    if rendering.edited:
        changed = " and ".join(rendering.edited)
        message = f"{changed} was changed by another client; the rendered object is restored"
        yield Event(Severity.WARNING, "ObjectEdited", message)
