"""ModelCache: the weights of one model on the clusters that serve it.

Reads: the ModelReplicas of its namespace; the InferenceClusters that its selector matches, if it has one, and its
Namespace where labels decide which of them allow it.
Emits: a ModelCacheCopy for each cluster that should hold the files; while replicas use it, and for one call more, a
Usage, which makes Crossplane refuse to delete it.
Reports: source, revision, key, and each cluster's phase with its reason; condition Staged.

A copy is removed only after it was reported as Retained, when no replica uses its files: none has the key in its spec,
and none may still have pods from before that mount it. A replica that cannot be read uses all copies. A copy of an
earlier source stays until then, beside the copy of the present one. A revision that moves is resolved by one cluster,
and the others stage the commit that it found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

from modelplane import names, seen, words
from modelplane.api import inference_cluster, model_cache, replica, tenants
from modelplane.api.fields import Field
from modelplane.api.model_cache import Cache, Copy, Entry, Phase, Told
from modelplane.errors import InvalidInput
from modelplane.render import protection, staging_status
from modelplane.workload import cached, tenancy
from modelplane.workload.tenancy import Access
from modelplane_functions import allowed_namespaces, hold
from modelplane_functions.exchange import Child, Condition, Observed, Outcome, Ready, Requirement, Resource, Truth

Json: TypeAlias = Any

_REPLICAS, _CLUSTERS, _COPY = "replicas", "clusters", "copy-"
_RESOLVING = "ResolvingRevision"
_IN_USE = "InUse"
_TOLD = 3
_WAITING_SECONDS, _SETTLED_SECONDS = 30, 300


@dataclass(frozen=True, slots=True)
class _Standing:
    """An observed copy. `cluster` and `key` are empty where they cannot be read."""

    child_key: str
    resource: Resource
    cluster: str
    key: str
    told: Told


@dataclass(frozen=True)
class _Facts:
    """The inputs of the decision."""

    observed: Observed
    cache: Cache

    @cached_property
    def standing(self) -> tuple[_Standing, ...]:
        """Return the observed copies."""
        return tuple(
            _standing(key, child) for key, child in sorted(self.observed.children.items()) if key.startswith(_COPY)
        )

    @cached_property
    def used(self) -> dict[tuple[str, str], list[str]]:
        """Return the replicas that use files of the cache, by cluster and key, which are empty where unknown."""
        found: dict[tuple[str, str], list[str]] = {}
        for one in self.observed.required[_REPLICAS]:
            keys = model_cache.used_by(one, self.observed.name)
            cluster, name = seen.text(seen.at(one, "spec", "clusterName")), seen.text(seen.at(one, "metadata", "name"))
            for key in {""} if keys is None else keys:
                found.setdefault((cluster, key), []).append(name)
        return found

    @cached_property
    def followed(self) -> frozenset[str]:
        """Return the clusters of the replicas that name the cache and are not being deleted."""
        named = (
            one
            for one in self.observed.required[_REPLICAS]
            if seen.at(one, "spec", "modelCacheRef", "name") == self.observed.name
            and not seen.at(one, "metadata", "deletionTimestamp")
        )
        return frozenset(cluster for one in named if (cluster := seen.text(seen.at(one, "spec", "clusterName"))))

    @cached_property
    def selected(self) -> frozenset[str] | None:
        """Return the clusters that the selector matches, None where the answer cannot be believed.

        Copies exist and no cluster was listed: the list is more likely wrong than the whole fleet gone.
        """
        if self.cache.labels is None:
            return frozenset()
        listed = self.observed.required.get(_CLUSTERS, ())
        if not listed and self.standing:
            return None
        found = {seen.text(seen.at(one, "metadata", "name")): tenants.readable(one) for one in listed}
        namespace = self.observed.namespace
        labels = allowed_namespaces.labels(self.observed, namespace)
        # Copies that stand are kept: the cluster takes nothing new, and what it has is not its to remove here.
        standing = {one.cluster for one in self.standing}
        return frozenset(
            name
            for name, rule in found.items()
            if name and (name in standing or tenancy.access(rule, namespace, labels) is Access.ALLOWED)
        )

    @property
    def wanted(self) -> frozenset[str]:
        """Return the clusters that should hold the files of the present key."""
        return (self.selected or frozenset()) | self.followed

    def users(self, one: _Standing) -> list[str]:
        """Return the replicas that use a copy. One whose use is not known counts."""
        places = {(one.cluster, one.key), (one.cluster, ""), ("", one.key), ("", "")}
        return sorted({name for place in places for name in self.used.get(place, ())})


def compose(observed: Observed) -> Outcome:
    """Return the copies of the cache. Raises: InvalidInput when the author must change something."""
    cache = model_cache.decode(observed.composite)
    requirements = _requirements(observed, cache)
    if not requirements.keys() <= observed.required.keys():
        return Outcome(requirements=requirements)
    facts = _Facts(observed, cache)
    copies = dict(_copies(facts))
    entries = tuple(sorted(_entries(facts, copies), key=lambda one: (one.cluster, one.key)))
    wanted = [one for one in entries if one.key == cache.key and one.cluster in facts.wanted]
    is_ready = facts.selected is not None and all(one.told.phase is Phase.READY for one in wanted)
    protected = _protection(facts)
    is_settled = is_ready and len(entries) == len(wanted) and bool(protected) == bool(facts.used)
    return Outcome(
        requirements=requirements,
        children={**copies, **protected},
        status=_status(facts, entries, wanted),
        conditions=(_condition(facts, wanted),),
        ready=Ready.TRUE if is_ready else Ready.FALSE,
        ttl_seconds=_SETTLED_SECONDS if is_settled else _WAITING_SECONDS,
    )


# --- reads ------------------------------------------------------------------------------------------------------------


def _requirements(observed: Observed, cache: Cache) -> dict[str, Requirement]:
    # All of the namespace: a label that somebody removed would hide a user.
    needed = {_REPLICAS: Requirement(names.API_VERSION, replica.KIND, namespace=observed.namespace)}
    if cache.labels is not None:
        labels = dict(cache.labels)
        by_name = labels.pop(names.LABEL_CLUSTER, None)
        needed[_CLUSTERS] = Requirement(names.API_VERSION, inference_cluster.KIND, name=by_name, labels=labels)
        rules = [tenants.readable(one) for one in observed.required.get(_CLUSTERS, ())]
        needed |= allowed_namespaces.requirements(rules, (observed.namespace,))
    return needed


def _standing(key: str, child: Resource) -> _Standing:
    told = model_cache.decode_told(child.get("status"))
    try:
        spec = Field(child).at("spec")
        files = spec.at("key").text("")
        cluster = spec.at("clusterName").text("")
    except InvalidInput:
        return _Standing(key, child, "", "", told)
    return _Standing(key, child, cluster, files if cached.is_key(files) else "", told)


# --- decides ----------------------------------------------------------------------------------------------------------


def _copies(facts: _Facts) -> Iterator[tuple[str, Child]]:
    """Yield the copies to emit: those that are wanted, and those that may not leave yet."""
    commit = _commit(facts)
    for one in facts.standing:
        if one.key == facts.cache.key and one.cluster in facts.wanted:
            yield one.child_key, _renewed(facts, one)
        elif not _may_leave(facts, one):
            yield one.child_key, _held(facts, one)
    for cluster in _new(facts, commit):
        copy = _copy(facts, cluster, commit)
        yield _COPY + names.digest(cluster, facts.cache.key), Child(model_cache.encode_copy(copy))


def _new(facts: _Facts, commit: str) -> tuple[str, ...]:
    """Return the clusters that get a copy now: one while a revision is not resolved, otherwise all."""
    present = [one for one in facts.standing if one.key == facts.cache.key]
    missing = sorted(facts.wanted - {one.cluster for one in present})
    if commit or not facts.cache.source.is_moving or not missing:
        return tuple(missing)
    resolves = any(_resolves(one.told) for one in present)
    is_done = any(one.told.phase is Phase.READY for one in present)
    return tuple(missing) if is_done else () if resolves else tuple(missing[:1])


def _resolves(told: Told) -> bool:
    """Return whether a copy can be expected to resolve the revision: nothing is known to keep its pod from starting."""
    waits = told.phase is Phase.PENDING and told.reason not in ("", staging_status.STARTING)
    return not waits and told.phase is not Phase.FAILED


def _commit(facts: _Facts) -> str:
    """Return the commit of the present key, empty while none is known."""
    source = facts.cache.source
    if source.commit or not source.is_moving:
        return source.commit
    known = [one.told.commit for one in facts.standing if one.key == facts.cache.key and one.told.commit]
    status = facts.observed.status
    published = seen.text(status.get("revision")) if status.get("key") == facts.cache.key else ""
    return published if cached.is_commit(published) else min(known, default="")


def _may_leave(facts: _Facts, one: _Standing) -> bool:
    """Return whether a copy that is not wanted is removed now.

    Not before it was reported as leaving: from then on nothing new is placed on it, and whoever was placed before is
    seen.
    """
    if facts.cache.is_retained or facts.selected is None or not (one.cluster and one.key) or facts.users(one):
        return False
    before = {(entry.cluster, entry.key): entry.told for entry in model_cache.entries(facts.observed.composite)}
    told = before.get((one.cluster, one.key))
    return told is not None and told.phase is Phase.RETAINED and told.reason == _leaving_reason(facts, one)


def _leaving_reason(facts: _Facts, one: _Standing) -> str:
    return "NotWanted" if one.key == facts.cache.key else "SourceChanged"


def _copy(facts: _Facts, cluster: str, commit: str, name: str = "") -> Copy:
    observed, cache = facts.observed, facts.cache
    return Copy(
        namespace=observed.namespace,
        name=name or names.hashed(observed.name, cluster, of=(observed.namespace, cache.key)),
        cache=observed.name,
        cluster=cluster,
        key=cache.key,
        source=cache.source,
        size=cache.size,
        storage=cache.storage,
        is_retained=cache.is_retained,
        commit="" if cache.source.commit else commit,
        attempt=cache.attempt,
    )


def _renewed(facts: _Facts, one: _Standing) -> Child:
    """Return a standing copy with the present size and settings. The commit that it stages does not change."""
    commit = seen.text(seen.at(one.resource, "spec", "commit"))
    copy = _copy(facts, one.cluster, commit if cached.is_commit(commit) else "", hold.name_of(one.resource))
    return Child(model_cache.encode_copy(copy), _readiness(one))


def _held(facts: _Facts, one: _Standing) -> Child:
    """Return a copy as it is observed; whether its files outlive it is what the author wants now."""
    kept = hold.held(one.resource)
    if isinstance(kept.get("spec"), Mapping):
        kept["spec"] = {**kept["spec"], "retention": model_cache.encode_retention(is_retained=facts.cache.is_retained)}
    return Child(kept, _readiness(one))


def _readiness(one: _Standing) -> Ready:
    return Ready.TRUE if one.told.phase is Phase.READY else Ready.FALSE


def _protection(facts: _Facts) -> dict[str, Child]:
    """Return the Usage that refuses the deletion of the cache. It outlives its last user by one call."""
    replicas = sorted({name for found in facts.used.values() for name in found})
    before = seen.text(seen.at(facts.observed.children.get(protection.IN_USE_KEY), "spec", "reason"))
    manifest = protection.cache_in_use(facts.observed.namespace, facts.observed.name, replicas, before=before)
    if manifest is None:
        return {}
    exists = manifest.key in facts.observed.children
    return {manifest.key: Child(manifest.resource, Ready.TRUE if exists else Ready.FALSE)}


# --- reports ----------------------------------------------------------------------------------------------------------


def _entries(facts: _Facts, copies: Mapping[str, Child]) -> Iterator[Entry]:
    """Yield the state of each wanted cluster and of each copy that stays."""
    present = {one.cluster for one in facts.standing if one.key == facts.cache.key}
    for one in facts.standing:
        if one.child_key in copies and one.cluster and one.key:
            yield Entry(one.cluster, one.key, _reported(facts, one))
    started = {seen.text(seen.at(child.resource, "spec", "clusterName")) for child in copies.values()}
    for cluster in sorted(facts.wanted - present):
        told = Told(reason=staging_status.STARTING, message="the copy is made")
        if cluster not in started:
            message = f"another cluster resolves {facts.cache.source.revision} to a commit first"
            told = Told(reason=_RESOLVING, message=message)
        yield Entry(cluster, facts.cache.key, told)


def _reported(facts: _Facts, one: _Standing) -> Told:
    """Return the state of a copy as the cache reports it; complete files that are not wanted are Retained."""
    is_wanted = facts.selected is None or (one.key == facts.cache.key and one.cluster in facts.wanted)
    if is_wanted and (facts.selected is None or one.key == facts.cache.key):
        unselected = facts.cache.labels is not None and one.cluster not in (facts.selected or {one.cluster})
        if unselected and one.told.phase is Phase.READY:
            message = "the cluster is not selected any more; replicas use the files"
            return replace(one.told, reason=_IN_USE, message=message)
        return one.told
    users = facts.users(one)
    if users:
        message = f"kept for {words.first(users, _TOLD)}"
        return replace(one.told, phase=_kept_phase(one), reason=_IN_USE, message=message)
    if facts.cache.is_retained:
        return replace(one.told, phase=_kept_phase(one), reason="Retained", message="spec.retention is Retain")
    return replace(one.told, phase=Phase.RETAINED, reason=_leaving_reason(facts, one), message="the files are removed")


def _kept_phase(one: _Standing) -> Phase:
    return Phase.RETAINED if one.told.phase is Phase.READY else one.told.phase


def _status(facts: _Facts, entries: tuple[Entry, ...], wanted: list[Entry]) -> dict[str, Json]:
    cache, phases = facts.cache, [one.told.phase for one in wanted]
    commit = _commit(facts) or cache.source.revision
    status: dict[str, Json] = {
        "source": str(cache.source),
        "key": cache.key,
        "summary": {
            "wanted": len(wanted),
            "ready": phases.count(Phase.READY),
            "failed": phases.count(Phase.FAILED),
        },
        "clusters": [model_cache.encode_entry(facts.observed.name, one) for one in entries],
    }
    return status | ({"revision": commit} if commit else {})


def _condition(facts: _Facts, wanted: list[Entry]) -> Condition:
    if facts.selected is None:
        message = "no InferenceCluster was listed although copies exist; all is kept until the list is complete again"
        return Condition("Staged", Truth.UNKNOWN, "ClustersUnknown", message)
    lacking = [one for one in wanted if one.told.phase is not Phase.READY]
    if not wanted:
        message = (
            "no InferenceCluster that allows the namespace matches spec.clusterSelector"
            if facts.cache.labels is not None
            else "no deployment that names this cache has a replica; it is staged where one is placed"
        )
        return Condition("Staged", Truth.TRUE, "NothingWanted", message)
    done = f"{len(wanted) - len(lacking)} of {len(wanted)} clusters hold the files"
    if not lacking:
        return Condition("Staged", Truth.TRUE, "AllStaged", done)
    first = sorted(lacking, key=lambda one: one.told.phase is not Phase.FAILED)
    told = [f"{one.cluster}: {one.told.reason or one.told.phase}: {one.told.message}" for one in first]
    reason = first[0].told.reason or str(first[0].told.phase)
    return Condition("Staged", Truth.FALSE, reason, f"{done}; {words.first(told, _TOLD, '; ')}")
