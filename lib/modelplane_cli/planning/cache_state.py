"""The state of one ModelCache: the clusters that hold its files or should, and who waits for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane import names, seen, words
from modelplane.api import inference_cluster, model_cache
from modelplane_cli.planning import causes
from modelplane_cli.planning.replicas import DEPLOYMENT
from modelplane_cli.simulator.offline import World
from modelplane_cli.simulator.store import Key
from modelplane_cli.simulator.verdict import Failure

Json: TypeAlias = Any

_WELL = frozenset({"Ready", "Retained"})
_NAMED = 3


@dataclass(frozen=True, slots=True)
class Copy:
    """The files on one cluster. `causes` are those of the cluster, then those of the copy there."""

    cluster: str
    phase: str
    claim: str
    is_current: bool
    """The files are those of the source as it is now."""
    reason: str
    message: str
    causes: tuple[Failure, ...]

    @property
    def is_as_wanted(self) -> bool:
        """Return whether the files are complete there, also where they are only kept."""
        return self.phase in _WELL and not self.causes


@dataclass(frozen=True, slots=True)
class CacheState:
    """A ModelCache with its copies, those that are not complete first, and the deployments that use it."""

    key: Key
    source: str
    copies: tuple[Copy, ...]
    users: tuple[str, ...]
    causes: tuple[Failure, ...]

    @property
    def message(self) -> str:
        """Return the answer in one sentence."""
        wanted = [one for one in self.copies if one.phase != "Retained"]
        if not wanted:
            return "no cluster should hold it" if not self.causes else self.causes[0].message
        complete = sum(one.phase == "Ready" for one in wanted)
        noun = "cluster holds" if len(wanted) == 1 else "clusters hold"
        said = f"{complete} of {len(wanted)} {noun} the files"
        waiting = [one.cluster for one in wanted if one.phase != "Ready"]
        return f"{said}; not complete on {words.first(waiting, _NAMED)}" if waiting else said

    @property
    def is_as_wanted(self) -> bool:
        """Return whether every cluster that should hold the files does."""
        return not self.causes and all(one.is_as_wanted for one in self.copies)


def of(world: World, key: Key) -> CacheState:
    """Return the state of a cache, as its documents and the functions say it."""
    resource = world.store.get(key) or {}
    status = resource.get("status")
    current = seen.text(seen.at(status, "key"))
    copies = sorted(
        (_copy(world, key, entry, current) for entry in seen.objects(seen.at(status, "clusters"))),
        key=lambda one: (one.is_as_wanted, one.phase == "Retained", one.cluster, one.claim),
    )
    source = seen.text(seen.at(status, "source"))
    return CacheState(key, source, tuple(copies), tuple(_users(world, key)), causes.of(world, key))


def _copy(world: World, key: Key, entry: Mapping[str, Json], current: str) -> Copy:
    cluster, of_files = seen.text(entry.get("name")), seen.text(entry.get("key"))
    found: list[Failure] = []
    there = Key(names.GROUP, inference_cluster.KIND, "", cluster)
    if entry.get("phase") not in _WELL:
        found += causes.of(world, there) if world.store.get(there) is not None else ()
        for one in _copies(world, key):
            spec = (world.store.get(one) or {}).get("spec")
            if (seen.at(spec, "clusterName"), seen.at(spec, "key")) == (cluster, of_files):
                found += causes.of(world, one)
    return Copy(
        cluster=cluster,
        phase=seen.text(entry.get("phase")),
        claim=seen.text(entry.get("claimName")),
        is_current=of_files == current,
        reason=seen.text(entry.get("reason")),
        message=seen.text(entry.get("message")),
        causes=tuple(found),
    )


def _copies(world: World, key: Key) -> Iterator[Key]:
    for one in world.store.of_kind(names.GROUP, model_cache.COPY_KIND):
        named = seen.at((world.store.get(one) or {}).get("spec"), "cacheRef", "name")
        if one.namespace == key.namespace and named == key.name:
            yield one


def _users(world: World, key: Key) -> Iterator[str]:
    """Yield the deployments whose replicas use the files, by name."""
    for one in world.store.of_kind(names.GROUP, DEPLOYMENT):
        named = seen.at((world.store.get(one) or {}).get("spec"), "modelCacheRef", "name")
        if one.namespace == key.namespace and named == key.name:
            yield one.name
