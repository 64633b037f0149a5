"""The law of caches: files are never removed under a replica, whatever sequence of changes led there."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from modelplane_functions.compose import model_cache as composer
from modelplane_functions.exchange import Outcome
from tests.support import caches, exchange, fleet

Json = Any
CLUSTERS, REVISIONS = ("a", "b", "c"), ("a" * 40, "b" * 40, "main")
KEYS = {revision: caches.key_of(caches.cache(revision=revision)) for revision in REVISIONS}
LABEL = "modelplane.ai/holds"

CHANGES = st.one_of(
    st.tuples(st.just("place"), st.sampled_from(["r-0", "r-1"]), st.sampled_from(CLUSTERS)),
    st.tuples(st.just("renew"), st.sampled_from(["r-0", "r-1"])),  # its spec takes the present key, its pods not yet
    st.tuples(st.just("settle"), st.sampled_from(["r-0", "r-1"])),  # only the pods of its spec are left
    st.tuples(st.just("delete"), st.sampled_from(["r-0", "r-1"])),
    st.tuples(st.just("edit"), st.sampled_from(REVISIONS)),
    st.tuples(st.just("select"), st.sampled_from(CLUSTERS)),
    st.tuples(st.just("unselect"), st.sampled_from(CLUSTERS)),
    st.tuples(st.just("lose"), st.sampled_from(CLUSTERS)),
    st.tuples(st.just("phase"), st.sampled_from(["Pending", "Staging", "Ready", "Failed"])),
    st.tuples(st.just("blink")),  # the status of the cache is lost
)


class World:
    """A cache, its clusters and the replicas that mount its files."""

    def __init__(self, *, follows: bool, retention: str) -> None:
        labels = None if follows else {LABEL: "yes"}
        self.cache: Json = caches.cache(labels=labels, retention=retention)
        self.clusters = {name: self._cluster(name) for name in CLUSTERS}
        self.replicas: dict[str, Json] = {}
        self.children: dict[str, Json] = {}
        self.phase = "Ready"

    @staticmethod
    def _cluster(name: str) -> Json:
        made = fleet.inference_cluster(name)
        made["metadata"]["labels"] = {LABEL: "yes"}
        return made

    def change(self, what: str, *where: str) -> None:
        if what == "place" and where[0] not in self.replicas:
            self.replicas[where[0]] = caches.replica(where[0], where[1], key=self.key)
        elif what == "renew" and where[0] in self.replicas:
            one: Json = self.replicas[where[0]]
            mounted = [*one["status"]["mountedCaches"], f"{caches.NAME}/{one['spec']['cacheKey']}"]
            one["status"]["mountedCaches"], one["spec"]["cacheKey"] = mounted, self.key
        elif what == "settle" and where[0] in self.replicas:
            one = self.replicas[where[0]]
            one["status"]["mountedCaches"] = [f"{caches.NAME}/{one['spec']['cacheKey']}"]
        elif what == "delete":
            self.replicas.pop(where[0], None)
        elif what == "edit":
            self.cache["spec"]["source"]["huggingFace"]["revision"] = where[0]
        elif what in ("select", "unselect"):
            made: Json = self.clusters.setdefault(where[0], self._cluster(where[0]))
            made["metadata"]["labels"] = {LABEL: "yes"} if what == "select" else {}
        elif what == "lose":
            self.clusters.pop(where[0], None)
        elif what == "phase":
            self.phase = where[0]
        elif what == "blink":
            self.cache.pop("status", None)

    @property
    def key(self) -> str:
        return KEYS[self.cache["spec"]["source"]["huggingFace"]["revision"]]

    def used(self) -> set[tuple[str, str]]:
        """Return the cluster and key of all files that a replica mounts or is to mount."""
        found = set()
        for one in self.replicas.values():
            keys = {one["spec"]["cacheKey"], *(text.partition("/")[2] for text in one["status"]["mountedCaches"])}
            found |= {(one["spec"]["clusterName"], key) for key in keys}
        return found

    def step(self) -> Outcome:
        store = (*self.clusters.values(), *self.replicas.values())
        outcome = exchange.settle(composer.compose, self.cache, children=self.children, store=store)
        before = self.children
        self.children = {}
        for key, child in outcome.children.items():
            status = copy.deepcopy(before.get(key, {}).get("status")) or {"phase": self.phase}
            if status.get("phase") != "Ready":
                status["phase"] = self.phase
            self.children[key] = caches.as_observed(child.resource, **status)
        self.cache["status"] = dict(outcome.status)
        return outcome


def places(children: dict[str, Json]) -> set[tuple[str, str]]:
    return {
        (one["spec"]["clusterName"], one["spec"]["key"]) for key, one in children.items() if key.startswith("copy-")
    }


@given(st.lists(CHANGES, max_size=14), st.booleans(), st.sampled_from(["Delete", "Retain"]))
@settings(max_examples=150, deadline=None)
def test_files_are_never_removed_under_a_replica(changes: list[Any], follows: bool, retention: str) -> None:  # noqa: FBT001
    world = World(follows=follows, retention=retention)
    world.step()
    for what, *where in changes:
        world.change(what, *where)
        held = places(world.children) & world.used()
        world.step()
        assert held <= places(world.children), (what, where)


@given(st.lists(CHANGES, max_size=10), st.booleans())
@settings(max_examples=100, deadline=None)
def test_what_nobody_uses_or_wants_is_gone_in_the_end(changes: list[Any], follows: bool) -> None:  # noqa: FBT001
    world = World(follows=follows, retention="Delete")
    for what, *where in changes:
        world.change(what, *where)
        world.step()
    for name in CLUSTERS:
        world.change("select", name)
    world.change("unselect", "c")
    for name in ("r-0", "r-1"):
        world.change("settle", name)
    world.change("phase", "Ready")
    for _ in range(6):
        world.step()
    wanted = set() if follows else {("a", world.key), ("b", world.key)}
    followed = {(one["spec"]["clusterName"], world.key) for one in world.replicas.values()}
    assert places(world.children) == wanted | followed | (world.used() & places(world.children))
    assert world.step().children.keys() == world.children.keys(), "at rest"
