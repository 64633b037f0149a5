"""The ModelCache of a deployment and of a replica: what is asked of it, and what it says about clusters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from modelplane import names, seen
from modelplane.api import model_cache
from modelplane.api.fields import Field
from modelplane.api.model_cache import Entry, Phase, Preference
from modelplane.errors import InvalidInput
from modelplane.placement.snapshot import CacheNeed
from modelplane.workload import cached
from modelplane.workload.model import Replica, Workload
from modelplane_functions import admissible
from modelplane_functions.exchange import Observed, Requirement, Resource
from modelplane_functions.memory.resources import recall

CACHE = "cache"
_PATH = ("spec", "modelCacheRef")


@dataclass(frozen=True, slots=True)
class CacheFacts:
    """The cache of a deployment. `need` is None without one; `key` is empty while it is not known.

    `uri` is that of files that KServe keeps on the disks of nodes.
    `fault` says why the cache cannot be used. Replicas that `may_fetch` load model.uri where the files are not.
    """

    need: CacheNeed | None = None
    key: str = ""
    uri: str = ""
    may_fetch: bool = False
    fault: str = ""


NO_CACHE = CacheFacts()


def requirements(observed: Observed) -> dict[str, Requirement]:
    """Return the requirement for the cache that the composite's spec names, none if it names none."""
    name = Field(observed.spec, ("spec",)).at("modelCacheRef", "name").optional()
    if name is None:
        return {}
    return {CACHE: Requirement(names.API_VERSION, model_cache.KIND, name=name, namespace=observed.namespace)}


def read(observed: Observed, workload: Workload) -> CacheFacts:
    """Return the cache of a deployment. Without a readable one nothing new is placed, and what runs is kept.

    Raises: InvalidInput for a workload that the cache can never serve (the author's fault).
    """
    name = workload.model_cache
    if name is None:
        return NO_CACHE
    resource = next(iter(observed.required[CACHE]), None)
    if resource is None:
        return _unusable(name, f"ModelCache {name} does not exist in namespace {observed.namespace}; create it")
    why = recall(resource, "unusable", partial(_unreadable, resource))
    if why:
        return _unusable(name, f"ModelCache {name} cannot be used: {why}")
    cache = model_cache.decode(resource)
    pods = sum(role.pods for role in workload.roles)
    _check(cache, name, workload, pods)
    entries = [one for one in model_cache.entries(resource) if one.key == cache.key]
    ready = frozenset(one.cluster for one in entries if one.told.phase is Phase.READY and _serves(one, pods))
    may_fetch = cache.preference is Preference.PREFER
    need = CacheNeed(
        name,
        ready,
        required=not may_fetch and cache.labels is not None,
        told=tuple((one.cluster, _about(one, pods)) for one in entries if one.cluster not in ready),
    )
    return CacheFacts(need, cache.key, cache.uri, may_fetch=may_fetch)


def workload_on(workload: Workload, facts: CacheFacts, cluster: str, child: Resource | None) -> Workload:
    """Return the workload as a replica on the cluster runs it: with the files of the cache there, or without.

    While the key is not known a replica keeps the one that it has.
    """
    if facts.need is None:
        return workload
    before, uri = files_of(child)
    if not facts.key:
        return replace(workload, cache_key=before, cache_uri=uri)
    fetches = facts.may_fetch and not before and cluster not in facts.need.ready_clusters
    if fetches:
        return replace(workload, cache_key="", cache_uri="")
    return replace(workload, cache_key=facts.key, cache_uri=facts.uri)


def files_of(child: Resource | None) -> tuple[str, str]:
    """Return the key of the files that an observed replica mounts, and their URI where they are on disks of nodes.

    Both are empty if it mounts none.
    """
    key = seen.text(seen.at(child, "spec", "cacheKey"))
    return (key, seen.text(seen.at(child, "spec", "cacheUri"))) if cached.is_key(key) else ("", "")


def obstacle(observed: Observed, replica: Replica) -> str:
    """Return the reason why the files of a replica are not on its cluster yet, empty if they are."""
    if not cached.is_cached(replica):
        return ""
    resource = next(iter(observed.required[CACHE]), None)
    if resource is None:
        return f"ModelCache {replica.model_cache} does not exist; create it"
    found = (one for one in model_cache.entries(resource) if one.key == replica.cache_key)
    entry = next((one for one in found if one.cluster == replica.cluster), None)
    pods = sum(bound.spec.pods for bound in replica.roles)
    if entry is None:
        return f"ModelCache {replica.model_cache} has no copy with key {replica.cache_key} on {replica.cluster} yet"
    if _is_complete(entry) and _serves(entry, pods):
        return ""
    return f"ModelCache {replica.model_cache} is not ready on {replica.cluster}: {_about(entry, pods)}"


def _is_complete(entry: Entry) -> bool:
    told = entry.told
    return told.phase is Phase.READY or (told.phase is Phase.RETAINED and told.reason in ("InUse", "Retained"))


def _serves(entry: Entry, pods: int) -> bool:
    """Return whether pods can mount the claim together: those of one node alone can mount a ReadWriteOnce claim."""
    return entry.told.access_mode != model_cache.SINGLE_NODE or pods == 1


def _about(entry: Entry, pods: int) -> str:
    told = entry.told
    if not _serves(entry, pods):
        return (
            f"its claim is {model_cache.SINGLE_NODE}, and a replica has {pods} pods; use a class of storage for "
            "several nodes and accessMode ReadWriteMany in another ModelCache"
        )
    return ": ".join(part for part in (told.reason or str(told.phase), told.message) if part)


def _unusable(name: str, fault: str) -> CacheFacts:
    return CacheFacts(CacheNeed(name, required=True), fault=f"{fault}; no new replica is placed")


def _unreadable(resource: Resource) -> str:
    try:
        admissible.check_other(model_cache.KIND, resource)
        model_cache.decode(resource)
    except InvalidInput as error:
        return str(error)
    return ""


def _check(cache: model_cache.Cache, name: str, workload: Workload, pods: int) -> None:
    if cache.storage.access_mode == model_cache.SINGLE_NODE and pods > 1:
        raise InvalidInput(
            f"ModelCache {name} has accessMode ReadWriteOnce, which the pods of one node can mount, and a replica has "
            f"{pods} pods; use a cache with ReadWriteMany",
            path=_PATH,
        )
    has_uri = workload.model is not None and workload.model.uri is not None
    if cache.preference is Preference.PREFER and not has_uri:
        raise InvalidInput(
            f"placement of ModelCache {name} is Prefer, and nothing says what a replica loads without it; write "
            "model.uri, or use a cache with placement Require",
            path=_PATH,
        )
