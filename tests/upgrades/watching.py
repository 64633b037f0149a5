"""A world that is watched at every call: what runs goes on, nothing is promised twice, nothing restarts by itself.

Nothing here asks the library. What runs is read from the Objects of replicas; `tests.support.room` counts the room.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from modelplane_cli.simulator.pipeline import ANNOTATION_KEY
from modelplane_cli.simulator.store import Key, Object, controller_of
from tests.support import room
from tests.upgrades.plane import Plane

Json = Any
GROUP: Final = "modelplane.ai"
OBJECTS: Final = ("kubernetes.m.crossplane.io", "Object")
_ASIDE: Final = {"namespace", "route", "observed", "monitor"}
"""Composition keys of what a replica has beside its pods, up to the first hyphen."""


@dataclass
class Running:
    """What one replica runs: its deployment, its cluster, the specs of its pods' objects, and whether all are ready."""

    deployment: Key
    cluster: str
    manifests: dict[Key, Json] = field(default_factory=dict)
    is_ready: bool = True


@dataclass
class Watch:
    """The laws, and what they compare with."""

    plane: Plane
    wanted: dict[Key, int] = field(default_factory=dict)
    least: dict[Key, int] = field(default_factory=dict)
    """How many replicas of a deployment serve at least: the fewest that were wanted since nothing moved.

    One that was to succeed another counts among those of a later scale-up, and the other leaves nevertheless.
    """
    edits: Counter[Key] = field(default_factory=Counter)
    seen: dict[Key, Running] = field(default_factory=dict)
    stood: dict[Key, Object] = field(default_factory=dict)
    """Each replica as it was when its pods were last rendered."""
    known: dict[Key, int] = field(default_factory=dict)
    """How many edits of its deployment an object of a replica has seen."""

    def __post_init__(self) -> None:
        """Begin with the world as it is."""
        for key in self.deployments():
            self.wanted[key] = self.least[key] = self.deployment(key)["spec"]["replicas"]
        self.seen = self._running()
        self._remember(self.seen)

    # --- acts -----------------------------------------------------------------------------------------------------

    def deployments(self) -> list[Key]:
        """Return the deployments, sorted."""
        return self.plane.store.of_kind(GROUP, "ModelDeployment")

    def clusters(self) -> list[Key]:
        """Return the clusters, sorted."""
        return self.plane.store.of_kind(GROUP, "InferenceCluster")

    def deployment(self, key: Key) -> Object:
        """Return a deployment."""
        return self.plane.store.get(key) or {}

    def said(self, key: Key, condition: str) -> Json:
        """Return a condition of an object."""
        found = self.plane.store.get(key) or {}
        return next(one for one in found["status"]["conditions"] if one["type"] == condition)

    def is_drained(self, cluster: str) -> bool:
        """Return whether all have to leave a cluster."""
        return "taints" in (self.plane.store.get(Key(GROUP, "InferenceCluster", "", cluster)) or {})["spec"]

    def write(self, key: Key, change: Callable[[Json], None]) -> None:
        """Change the spec of an object as its author does."""
        found = copy.deepcopy(self.plane.store.get(key) or {})
        change(found["spec"])
        self.plane.store.put(found)

    def scale(self, key: Key, replicas: int) -> None:
        """Ask for another number of replicas."""
        self.wanted[key] = replicas
        self.least[key] = min(self.least[key], replicas)
        self.write(key, lambda spec: spec.update(replicas=replicas))

    def edit(self, key: Key, change: Callable[[Json], None]) -> None:
        """Change the workers of a deployment, after which its pods may restart once."""
        self.edits[key] += 1
        self.write(key, lambda spec: change(spec["workers"]))

    def drain(self, cluster: str) -> None:
        """Taint a cluster so that all leave it."""
        taint = {"key": "maintenance", "value": "true", "effect": "NoExecute"}
        self.write(Key(GROUP, "InferenceCluster", "", cluster), lambda spec: spec.update(taints=[taint]))

    def allow(self, cluster: str) -> None:
        """Take the taints of a cluster away."""
        self.write(Key(GROUP, "InferenceCluster", "", cluster), lambda spec: spec.pop("taints", None))

    # --- laws -----------------------------------------------------------------------------------------------------

    def go(self, calls: int | None = None) -> None:
        """Let so many calls happen, or all until nothing moves, and look after each."""
        if calls == 0:
            return
        for number, _ in enumerate(self.plane.steps(), 1):
            self.look()
            if number == calls:
                return
        self.look()
        self.least = dict(self.wanted)

    def look(self) -> None:
        """Check the laws. Raises: AssertionError."""
        now = self._running()
        before, after = self.serving(self.seen), self.serving(now)
        for key, least in self.least.items():
            assert after[key] >= min(before[key], least), f"{key} served {before[key]}, now {after[key]} of {least}"
        for replica, running in now.items():
            self._check_restarts(replica, running)
        self._remember(now)
        classes = [self.plane.store.get(key) or {} for key in self.plane.store.of_kind(GROUP, "InferenceClass")]
        clusters = [self.plane.store.get(key) or {} for key in self.clusters()]
        assert list(room.lacking([self.stood[key] for key in sorted(now)], [], [*classes, *clusters])) == []
        self.seen = now

    def _check_restarts(self, replica: Key, running: Running) -> None:
        earlier = self.seen.get(replica)
        if earlier is None:
            return
        edits = self.edits[running.deployment]
        for key in sorted({*earlier.manifests, *running.manifests}):
            pair = [one.manifests.get(key) for one in (earlier, running)]
            # The objects of a new replica come one after another.
            if pair[0] != pair[1] and not (pair[0] is None and not earlier.is_ready):
                assert self.known.get(key, 0) < edits, f"{key} of {replica} restarts without a cause: {pair}"

    def _remember(self, now: Mapping[Key, Running]) -> None:
        for replica, running in now.items():
            earlier = self.seen.get(replica)
            for key, manifest in running.manifests.items():
                if key not in self.known or earlier is None or earlier.manifests.get(key) != manifest:
                    self.known[key] = self.edits[running.deployment]
            if replica not in self.stood or earlier is None or earlier.manifests != running.manifests:
                self.stood[replica] = self.plane.store.get(replica) or {}

    def serving(self, now: Mapping[Key, Running] | None = None) -> Counter[Key]:
        """Return the number of replicas of each deployment whose pods are all there and ready."""
        found = self._running() if now is None else now
        return Counter(one.deployment for one in found.values() if one.is_ready)

    def places(self) -> Counter[tuple[Key, str]]:
        """Return the number of replicas that run by deployment and cluster."""
        return Counter((one.deployment, one.cluster) for one in self._running().values())

    def _running(self) -> dict[Key, Running]:
        store, found = self.plane.store, dict[Key, Running]()
        for key in store.of_kind(*OBJECTS):
            one = store.get(key) or {}
            owner = controller_of(one)
            aside = str(one["metadata"].get("annotations", {}).get(ANNOTATION_KEY, "")).partition("-")[0]
            if owner is None or owner["kind"] != "ModelReplica" or aside in _ASIDE:
                continue
            replica = Key(GROUP, "ModelReplica", key.namespace, owner["name"])
            spec = store.get(replica) or {}
            name = (controller_of(spec) or {}).get("name", "")
            running = found.setdefault(
                replica, Running(Key(GROUP, "ModelDeployment", key.namespace, name), spec["spec"]["clusterName"])
            )
            manifest = one["spec"]["forProvider"]["manifest"]
            running.manifests[key] = {name: part for name, part in manifest.items() if name != "metadata"}
            running.is_ready &= _is_ready(one)
        return found


def _is_ready(resource: Object) -> bool:
    said = (resource.get("status") or {}).get("conditions") or ()
    return any(one["type"] == "Ready" and one["status"] == "True" for one in said)
