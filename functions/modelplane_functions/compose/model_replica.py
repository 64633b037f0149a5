"""ModelReplica: a complete serving instance, rendered onto its cluster.

Reads: its InferenceCluster and its ModelCache by name; while workers are not ready, its pods and their queue as
provider-kubernetes has read them. Emits: provider-kubernetes Objects with the manifests of its backend, once the
cluster has admitted it; while workers are not ready, a collection that lists its pods, and what reads their queue.
Reports: phase, ready workers per role, the address for routing; conditions
Admitted, WorkloadReady, Serving, StatusStale, and Fits of a known model.

A rendered replica keeps its objects while the InferenceCluster is missing, reports nothing, or no longer lists the
replica. It is rendered anew only when its own spec changes and the cluster has admitted the change. An edited pool or a
new version of this function restarts nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import astuple, replace
from functools import partial

from modelplane import names
from modelplane import seen as remote
from modelplane.api import applied, inference_cluster, rendered, replica_status
from modelplane.api import replica as replicas
from modelplane.api.fields import Field
from modelplane.render import drift, objects, progress
from modelplane.render.backend import Backend, Observation, Problem
from modelplane.render.backends import selection
from modelplane.render.drift import Applied, Drift
from modelplane.render.manifest import Purpose
from modelplane.render.progress import Known, Phase, Progress
from modelplane.workload import cached
from modelplane.workload.model import Replica
from modelplane_functions import (
    cache_facts,
    model_fit,
    replica_outage,
    replica_pods,
    replica_queue,
    replica_rendering,
    replica_verdict,
)
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
from modelplane_functions.replica_rendering import Rendering
from modelplane_functions.replica_verdict import Verdict

_WAITING_SECONDS, _SETTLED_SECONDS = 30, 300
# The prefixes of the messages with which provider-kubernetes reports that it could not reach the cluster.
_UNSEEN = ("connect failed", "observe failed")
# With this it reports that an object which is only read is not there; somebody else has to make it.
_ABSENT = "external resource does not exist"
_REFUSED = ("is invalid", "denied the request", "is forbidden")


def compose(observed: Observed) -> Outcome:
    """Return the replica's objects and their progress."""
    replica = _decoded(observed)
    observed, pods = replica_pods.split(replace(observed, children=dict(_living(observed))))
    observed, waiting = replica_queue.split(observed)
    requirements = {
        replica_verdict.CLUSTER: Requirement(names.API_VERSION, inference_cluster.KIND, name=replica.cluster),
        **pods.requirements(replica),
        **waiting.requirements(replica),
        **(cache_facts.requirements(observed) if cached.is_cached(replica) else {}),
    }
    if not {replica_verdict.CLUSTER, *requirements.keys() & {cache_facts.CACHE}} <= observed.required.keys():
        return Outcome(requirements=requirements)
    backend = selection.backend(replica.backend)
    found = replica_verdict.cluster(observed, replica)
    cluster = found.resource
    verdict = replica_verdict.of(observed, replica, found)
    rendering = replica_rendering.decide(observed, replica, backend, found, verdict)
    before = replica_status.decode(observed.status)
    gateway = None if cluster is None else recall(cluster, "gateway", partial(_gateway, cluster))
    address = replica_status.address(replica, gateway, before)
    looks = _looks(observed)
    rendering = replace(rendering, children=_yielding(observed, rendering.children, looks))
    observation = pods.explained(replica, _observation(observed, replica, backend))
    standing = (child for _, child in sorted(observed.children.items()))
    observation = waiting.explained(replica, observation, standing, pods)
    seen = progress.judge(replica, observation, before=before.workers, has_address=address is not None)
    phase = _phase(verdict, rendering, seen)
    is_rendered = replica_rendering.is_rendered(observed, replica, rendering)
    settled = seen.workload.known is Known.YES and seen.serving.known is Known.YES
    mounted = replica_rendering.mounted(observed, rendering, settled=settled)
    return Outcome(
        requirements=requirements,
        kinds=pods.kinds(rendering.children, seen),
        children={
            **rendering.children,
            **pods.children(replica, rendering.children, seen),
            **waiting.children(replica, rendering.children, seen, pods),
        },
        status={
            **replica_status.encode(replica, phase, seen.workers, address),
            **replica_status.encode_generation(observed.composite, is_rendered=is_rendered),
            **rendered.encode(rendering.record),
            **({"mountedCaches": list(mounted)} if mounted else {}),
            **replica_outage.encode(observed, replica, seen, pods),
            **applied.encode({key: astuple(one.applied) for key, one in looks.items() if one.applied is not None}),
        },
        conditions=(
            *_conditions(observed, verdict, rendering, seen),
            *_conflicts(observed, looks),
            *model_fit.of_replica(observed, replica),
        ),
        events=(*_events(before.phase, phase, verdict, seen), *_edits(rendering), *_reverts(looks)),
        ready=Ready.TRUE if settled else Ready.FALSE,
        ttl_seconds=_SETTLED_SECONDS if settled else _WAITING_SECONDS,
    )


def _decoded(observed: Observed) -> Replica:
    """Return the replica. Replicas of one deployment on one cluster share their spec, which is decoded once."""
    spec_alone = recall(observed.spec, "replica", partial(replicas.decode, observed.composite))
    return replace(spec_alone, namespace=observed.namespace, name=observed.name)


def _gateway(cluster: Resource) -> inference_cluster.GatewayAddress | None:
    return inference_cluster.decode_gateway(Field(cluster).at("status", "gateway"))


def _living(observed: Observed) -> Iterator[tuple[str, Resource]]:
    """Yield the children that are not being deleted.

    A replica that reuses the name of a deleted one applies its objects onto those that are still being deleted.
    Crossplane then shows the old objects, whose status is that of the earlier replica.
    """
    for key, child in observed.children.items():
        if not child["metadata"].get("deletionTimestamp"):
            yield key, child


# --- emits ------------------------------------------------------------------------------------------------------------


def _looks(observed: Observed) -> dict[str, Drift]:
    """Return the looks at the rendered objects, by key, for what others changed there."""
    before = {key: Applied(*entry) for key, entry in applied.decode(observed.status).items()}
    return {key: drift.look(child, before.get(key)) for key, child in sorted(observed.children.items())}


def _yielding(observed: Observed, children: Mapping[str, Child], looks: Mapping[str, Drift]) -> dict[str, Child]:
    """Return the children; one in conflict is not updated until it is rendered differently."""
    return {
        key: replace(child, resource=objects.yielding(child.resource))
        if key in looks and looks[key].conflict and _is_left(observed.children[key], child.resource)
        else child
        for key, child in children.items()
    }


def _is_left(child: Resource, desired: Resource) -> bool:
    is_shared = "managementPolicies" in desired["spec"] and not objects.is_yielded(desired)
    return not is_shared and objects.unwrap(child) == objects.unwrap(desired)


# --- reports ----------------------------------------------------------------------------------------------------------


def _observation(observed: Observed, replica: Replica, backend: Backend) -> Observation:
    """Return the observation of the backend, with the objects that the cluster refused first."""
    seen = {key: _own(child, replica) for key, child in observed.children.items()}
    observation = backend.observe(cached.mounted(replica), seen)
    unapplied = tuple(_unapplied(observed))
    return replace(observation, problems=(*unapplied, *observation.problems))


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
        if synced.get("status") == "False" and message.startswith(_UNSEEN) and not message.endswith(_ABSENT):
            yield f"{key}: {message}"


def _phase(verdict: Verdict, rendering: Rendering, seen: Progress) -> Phase:
    if rendering.children:
        return seen.phase
    return Phase.ADMITTED if verdict.known is Known.YES else Phase.PENDING


def _conditions(observed: Observed, verdict: Verdict, rendering: Rendering, seen: Progress) -> Iterator[Condition]:
    yield Condition("Admitted", Truth(verdict.known), verdict.reason, verdict.message)
    if not rendering.children:
        waits = rendering.held or verdict.message
        yield Condition("WorkloadReady", Truth.FALSE, "NotRendered", waits)
        yield Condition("Serving", Truth.FALSE, "NotRendered", waits)
    else:
        note = f"; the workload is kept as it is because {rendering.held}" if rendering.held else ""
        if rendering.replaced:
            note = (
                f"; {' and '.join(rendering.replaced)} is deleted and made anew, because the scheduler of the cluster "
                "refuses this change of it"
            )
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
    below = {Phase.STARTING, Phase.QUEUED}
    worse = {Phase.RUNNING: {Phase.DEGRADED, *below}, Phase.DEGRADED: below}
    bad = phase is Phase.FAILED or any(before == old and phase in new for old, new in worse.items())
    message = messages.get(phase, seen.workload.message)
    yield Event(Severity.WARNING if bad else Severity.NORMAL, str(phase), message)


def _edits(rendering: Rendering) -> Iterator[Event]:
    """Yield an event for objects that another client changed. This answer restores them."""
    if rendering.edited:
        changed = " and ".join(rendering.edited)
        message = f"{changed} was changed by another client; the rendered object is restored"
        yield Event(Severity.WARNING, "ObjectEdited", message)


def _reverts(looks: Mapping[str, Drift]) -> Iterator[Event]:
    """Yield an event for objects that were changed on the cluster. The provider has put them back."""
    changed = " and ".join(key for key, one in looks.items() if one.is_reverted)
    if changed:
        message = f"{changed} was changed on the cluster by another client; the rendered fields are put back"
        yield Event(Severity.WARNING, "DriftReverted", message)


def _conflicts(observed: Observed, looks: Mapping[str, Drift]) -> Iterator[Condition]:
    """Yield whether another client keeps writing rendered fields; nothing where that was never so."""
    told = "; ".join(f"{key}: {one.conflict}" for key, one in looks.items() if one.conflict)
    if told:
        message = f"{told}; the object is left as it is until that ends: stop the other client"
        yield Condition("FieldConflict", Truth.TRUE, "FieldConflict", message)
    elif "FieldConflict" in remote.conditions(observed.status):
        yield Condition("FieldConflict", Truth.FALSE, "NoConflict", "no other client keeps writing a rendered field")
