"""Changes of what runs with one backend: its example as a settled world, edited, and settled anew."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from modelplane.render import objects
from modelplane_cli.simulator.offline import World
from modelplane_cli.simulator.store import Key
from tests.support import rendering

Json = Any
Change = Callable[[Json], None]
"""An edit of the workers of a deployment."""


@dataclass(frozen=True)
class Running:
    """One deployment of a backend's example, and the kind of the object that the backend runs it with."""

    backend: str
    kind: str
    name: str

    @property
    def deployment(self) -> Key:
        return rendering.ours("ModelDeployment", self.name, "ml-team")

    def world(self, workers: int, change: Change | None = None) -> World:
        """Return the settled world of the example with that deployment alone."""
        documents = [
            copy.deepcopy(one)
            for one in rendering.example(f"backends/{self.backend}")
            if one["kind"] != "ModelDeployment" or one["metadata"]["name"] == self.name
        ]
        for one in documents:
            if one["kind"] == "ModelDeployment":
                one["spec"]["workers"]["count"] = workers
                if change is not None:
                    change(one["spec"]["workers"])
        return rendering.world(documents)

    def after(self, before: World, change: Change) -> World:
        """Return the world that follows from a change of the deployment, in which no composer has failed."""

        def apply(found: dict[Key, Json]) -> None:
            change(found[self.deployment]["spec"]["workers"])

        after = rendering.again(before, change=apply)
        assert not after.settled.record.bugs
        return after

    def objects(self, world: World) -> list[Json]:
        """Return the objects of the kind on all clusters."""
        found = [world.store.get(key) or {} for key in world.store.of_kind("kubernetes.m.crossplane.io", "Object")]
        return [dict(objects.unwrap(one)) for one in found if objects.unwrap(one).get("kind") == self.kind]

    def status(self, world: World) -> Json:
        """Return the status of the deployment."""
        return (world.store.get(self.deployment) or {})["status"]

    def replaces_nothing(self, before: World, pool: int, **fields: Json) -> bool:
        """Return whether all objects stay as they are where these fields of a pool change in every cluster."""

        def apply(found: dict[Key, Json]) -> None:
            for key, one in found.items():
                if key.kind == "InferenceCluster":
                    one["spec"]["nodePools"][pool].update(fields)

        after = rendering.again(before, change=apply)
        assert self.objects(before), f"no {self.kind} runs"
        return self.objects(after) == self.objects(before) and not after.settled.record.deletions


def flags(workers: Json) -> None:
    """Give the engine another flag."""
    workers["template"]["spec"]["containers"][0]["args"] = ["--max-model-len=8192"]


def fewer(workers: Json) -> None:
    """Take a worker away."""
    workers["count"] -= 1


def image(name: str) -> Change:
    """Return the change to another image."""

    def change(workers: Json) -> None:
        workers["template"]["spec"]["containers"][0]["image"] = name

    return change
