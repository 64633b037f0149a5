"""The rendering of a replica: its objects made anew, or the observed ones held, and why.

Rendered objects are replaced only when the replica's own spec changes and its cluster has admitted the change, or when
another client edited them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

from modelplane import names
from modelplane import seen as remote
from modelplane.api import inference_cluster, rendered
from modelplane.api import replica as replicas
from modelplane.api.fields import Field
from modelplane.api.inference_cluster import ProviderConfigRef
from modelplane.api.rendered import NOTHING_RENDERED, Rendered
from modelplane.errors import InvalidInput
from modelplane.render import objects, overrides
from modelplane.render.backend import Backend
from modelplane.render.manifest import Lifecycle, Manifest, Purpose
from modelplane.render.schedulers import selection as schedulers
from modelplane.workload import cached
from modelplane.workload.model import Replica
from modelplane.workload.site import ClusterFacts
from modelplane_functions import cache_facts, hold, replica_verdict
from modelplane_functions.exchange import Child, Json, Observed, Ready, Resource
from modelplane_functions.memory.resources import recall
from modelplane_functions.replica_verdict import ReplicaCluster, Verdict

# A change of these restarts or unseats pods; everything else may follow the cluster at any time.
_PODS = frozenset({Purpose.WORKLOAD, Purpose.POD_INPUT})


@dataclass(frozen=True, slots=True)
class Rendering:
    """The children to emit. `held` is the reason why they are the observed ones, empty when they are rendered anew.

    `awaited` are the children that must exist before the workload is created. `record` holds the digests of the pods'
    objects. `edited` are the objects of the pods that another client changed; they are restored. `replaced` are the
    workloads that are deleted now and made anew, because a scheduler refuses their change.
    """

    children: Mapping[str, Child]
    held: str = ""
    awaited: tuple[str, ...] = ()
    record: Rendered = NOTHING_RENDERED
    edited: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Made:
    """The manifests of a replica by key, the digests of the pods' objects, and the inputs they were made from."""

    inputs: tuple[Replica, ClusterFacts, Mapping[str, str]]
    manifests: Mapping[str, Manifest]
    digests: Mapping[str, str]


def decide(
    observed: Observed, replica: Replica, backend: Backend, found: ReplicaCluster, verdict: Verdict
) -> Rendering:
    """Return the objects of an admitted replica.

    The observed objects are held when the current spec is not admitted, or when an input for rendering is missing.
    """
    cluster = found.resource
    if cluster is None and observed.children:
        return _held(observed, found.absence)
    if not verdict.renders or cluster is None:
        return _held(observed, verdict.holds) if observed.children else Rendering({})
    provider = _provider_config(observed, cluster)
    if provider is None:
        why = f"cluster {replica.cluster} has not published status.providerConfigRef; see its conditions"
        return _held(observed, why)
    facts = recall(cluster, "facts", partial(inference_cluster.decode_facts, cluster))
    obstacle = _obstacle(observed, replica, facts)
    if obstacle:
        return _held(observed, obstacle)
    return _rendered(observed, replica, backend, facts, provider)


def _rendered(
    observed: Observed, replica: Replica, backend: Backend, facts: ClusterFacts, provider: ProviderConfigRef
) -> Rendering:
    """Return the objects as they are rendered now, those of running pods as they were rendered for the same spec."""
    source = replica_verdict.fingerprint(observed, replica)
    is_anothers = bool(_anothers(observed, replica))
    named = {} if is_anothers else _standing(observed)
    made = _made(observed, replica, backend, facts, named)
    manifests = made.manifests
    fresh = {key: _child(observed, replica, manifest, provider, source) for key, manifest in manifests.items()}
    workloads = {key: child for key, child in fresh.items() if manifests[key].purpose is Purpose.WORKLOAD}
    record = Rendered(source, made.digests)
    awaited = tuple(key for key, one in manifests.items() if one.comes_first and fresh[key].ready is not Ready.TRUE)
    if awaited and not workloads.keys() & observed.children.keys():
        children = {key: child for key, child in fresh.items() if key not in workloads}
        return Rendering(children, awaited=awaited, record=record)
    remembered, standing = rendered.decode(observed.status), _pods(observed, manifests)
    is_known = remembered.source == source and _sources(observed, workloads) == {source}
    digests = {key: recall(observed.children[key], "digest", partial(_digest, one)) for key, one in standing.items()}
    edited = remembered.edited(digests) if is_known else ()
    if edited or is_anothers or not _runs_as_rendered(observed, source, workloads):
        # What somebody edited was not rendered, and is no reason to make anew what runs.
        replaced = () if edited else _replaced(observed, workloads)
        children = {key: child for key, child in fresh.items() if key not in replaced}
        return Rendering(children, record=record, edited=edited, replaced=replaced)
    others = {key: child for key, child in fresh.items() if manifests[key].purpose not in _PODS}
    pods = {key: _child(observed, replica, one, provider, source) for key, one in standing.items()}
    if not is_known:
        remembered = Rendered(source, digests)
    return Rendering({**others, **pods}, record=remembered)


def _made(
    observed: Observed, replica: Replica, backend: Backend, facts: ClusterFacts, named: Mapping[str, str]
) -> _Made:
    """Return the manifests of the replica. They are made again when something that they are made from has changed."""

    def read() -> _Made:
        made = overrides.apply(backend.render(cached.mounted(replica), facts, named), replica, backend.PATCHABLE)
        manifests = {manifest.key: manifest for manifest in made}
        digests = {key: _digest(one) for key, one in sorted(manifests.items()) if one.purpose in _PODS}
        return _Made((replica, facts, named), manifests, digests)

    def still(known: _Made) -> bool:
        return known.inputs == (replica, facts, named)

    return recall(next(iter(observed.children.values()), None), "made", read, still)


def _replaced(observed: Observed, workloads: Mapping[str, Child]) -> tuple[str, ...]:
    """Return the observed workloads that a scheduler lets nobody change into those that are rendered now.

    They are left out until they are gone: an object that is being deleted is none of the observed ones, and then the
    new one is made under the same name.
    """
    standing = {key: objects.unwrap(observed.children[key]) for key in workloads if key in observed.children}
    return tuple(
        key for key, one in sorted(standing.items())
        if one and schedulers.is_replaced(one, objects.unwrap(workloads[key].resource))
    )  # fmt: skip


def _digest(manifest: Manifest) -> str:
    return rendered.digest(manifest.resource)


def _obstacle(observed: Observed, replica: Replica, facts: ClusterFacts) -> str:
    """Return why the replica cannot be rendered anew, empty when it can."""
    missing = {bound.pool for bound in replica.roles} - facts.pool_node_selector.keys()
    if missing:
        lacking = ", ".join(sorted(missing))
        return f"cluster {replica.cluster} has no pool {lacking}; the replica's pods are not moved"
    if not observed.children and not schedulers.is_offered(facts.scheduler):
        return f"spec.scheduler {facts.scheduler} of cluster {replica.cluster} is not supported yet"
    unqueued = schedulers.refusal(replica, facts.scheduler)
    if unqueued:
        return f"spec.scheduler of cluster {replica.cluster} is {facts.scheduler} now, and {unqueued}"
    uncached = cache_facts.obstacle(observed, replica)
    running = {_rendered_from(child) for child in observed.children.values()} if uncached else set()
    if uncached and replica_verdict.fingerprint(observed, replica) not in running:
        return uncached  # what runs has its files mounted, whatever is said about them later
    return recall(observed.spec, "refusal", partial(_refusal, observed.composite))


def _refusal(composite: Resource) -> str:
    """Return why the templates may not be rendered, empty when they may."""
    try:
        replicas.check(composite)
    except InvalidInput as error:
        return f"its template is refused: {error}"
    return ""


def _held(observed: Observed, why: str) -> Rendering:
    return Rendering(hold.hold(observed.children, _judge), why, record=rendered.decode(observed.status))


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
            is_kept = remote.at(child, "spec", "managementPolicies") is not None and not objects.is_yielded(child)
            lifecycle = Lifecycle.KEEP if is_kept else Lifecycle.OWN
            purpose, outlives_pods = objects.purpose(child) or Purpose.POD_INPUT, objects.outlives_pods(child)
            one = Manifest(key, bare, purpose, lifecycle=lifecycle, outlives_pods=outlives_pods)
        else:
            one = replace(manifests[key], resource=bare)
        if one.purpose in _PODS:
            found[key] = one
    return found


def _rendered_from(running: Resource) -> str | None:
    """Return the digest of the replica that a workload was rendered from, None when it is not recorded."""
    return Field(running).at("metadata", "annotations", names.ANNOTATION_RENDERED_FROM).optional()


def is_rendered(observed: Observed, replica: Replica, rendering: Rendering) -> bool:
    """Return whether the workload that runs and is reported was rendered from the current spec."""
    noted = {_rendered_from(child) for child in observed.children.values()}
    return not rendering.held or noted <= {None, replica_verdict.fingerprint(observed, replica)}


def mounted(observed: Observed, rendering: Rendering, *, settled: bool) -> tuple[str, ...]:
    """Return the files of caches that pods of the replica may mount, as name and key of each, the latest last.

    Those from before a change count until all workers are ready with what is rendered now.
    """
    given = _texts(observed.status.get("mountedCaches"))
    there = (_mounts(child) for child in observed.children.values())
    now = tuple(_mounts(child.resource) for _, child in sorted(rendering.children.items()))
    is_applied = not rendering.held and all(
        _mounts(child) in ("", *now) and _is_applied(child) for child in observed.children.values()
    )
    found = now if settled and is_applied else (*given, *there, *now)
    return tuple(dict.fromkeys(text for text in found if text))


def _is_applied(child: Resource) -> bool:
    """Return whether what is observed of an Object is of its current spec."""
    return remote.at(child, "metadata", "generation") is None or objects.is_current(child)


def _texts(value: Json) -> tuple[str, ...]:
    """Return the texts of an observed list, none for another type."""
    return tuple(text for text in value if isinstance(text, str)) if isinstance(value, list | tuple) else ()


def _mounts(child: Resource) -> str:
    return remote.text(remote.at(child, "metadata", "annotations", names.ANNOTATION_MODEL_CACHE))


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


def _child(observed: Observed, replica: Replica, manifest: Manifest, provider: ProviderConfigRef, source: str) -> Child:
    wrapped = objects.wrap(manifest, provider_config=provider.encode(), namespace=replica.namespace, owner=replica.name)
    wrapped["metadata"]["labels"] = {
        names.LABEL_DEPLOYMENT: replica.deployment,
        names.LABEL_REPLICA: replica.name,
        names.LABEL_CLUSTER: replica.cluster,
    }
    if manifest.purpose is Purpose.WORKLOAD:
        wrapped["metadata"]["annotations"][names.ANNOTATION_RENDERED_FROM] = source
        if cached.is_cached(replica):
            mounted = names.qualified(str(replica.model_cache), replica.cache_key)
            wrapped["metadata"]["annotations"][names.ANNOTATION_MODEL_CACHE] = mounted
    child = observed.children.get(manifest.key)
    return Child(wrapped, Ready.FALSE if child is None else _judge(child))


def _judge(child: Resource) -> Ready:
    return Ready.TRUE if objects.is_ready(child) else Ready.FALSE
