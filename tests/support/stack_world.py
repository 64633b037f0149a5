"""A ServingStack and its cluster, as its function sees them: providers install, fail, or do not reach the cluster."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any

from modelplane.api import serving_stack
from modelplane.render.stack import profile, releases
from modelplane.workload.stack import Component, Reference, Stack
from modelplane_functions.compose import serving_stack as composer
from modelplane_functions.exchange import Outcome
from tests.support import exchange

Json = Any
ABSENT = "observe failed: external resource does not exist"
LOST = "connect failed: cannot reach the cluster"
KSERVE = (
    Component("certManager"),
    Component("dra", variants=("gpu.nvidia.com",)),
    Component("gateway"),
    Component("kserve"),
    Component("leaderWorkerSet"),
)
CONFIG = Reference("ClusterProviderConfig", "modelplane-a")


def composite(components: Iterable[Component] = KSERVE, **fields: Any) -> Json:
    """Return the ServingStack of cluster `a`."""
    made = serving_stack.encode(Stack("a", "a", CONFIG, CONFIG, tuple(components), **fields))
    made["metadata"]["uid"] = "uid-ss-a"
    return made


def release(part: str) -> str:
    """Return the key of the Release of a part."""
    return f"{releases.RELEASE}{part}"


class World:
    """A stack, its children, and the cluster.

    `there` are the names of objects that others made there. `failing` and `slow` are parts whose releases fail,
    or have not ended. `broken` are parts that are deployed and do not work. `is_lost` if it does not answer.
    """

    def __init__(self, components: Iterable[Component] = KSERVE, **fields: Any) -> None:
        self.composite = composite(components, **fields)
        self.children: dict[str, Json] = {}
        self.there: set[str] = {"kube-system"}
        self.failing: set[str] = set()
        self.slow: set[str] = set()
        self.broken: set[str] = set()
        self.is_lost = False
        self.outcome: Outcome | None = None

    def want(self, *components: Component) -> None:
        """Let the InferenceCluster ask for other components."""
        kept = {key: value for key, value in self.composite["spec"].items() if key != "components"}
        self.composite["spec"] = {**kept, "components": composite(components)["spec"]["components"]}

    def say(self, name: str, **fields: Json) -> None:
        """Let the author say something of a component."""
        listed = [one for one in self.composite["spec"]["components"] if one["name"] != name]
        entry = next((one for one in self.composite["spec"]["components"] if one["name"] == name), {"name": name})
        self.composite["spec"]["components"] = [*listed, {**entry, **fields}]

    def compose(self) -> Outcome:
        """Return what the function decides."""
        return exchange.settle(composer.compose, copy.deepcopy(self.composite), children=copy.deepcopy(self.children))

    def step(self) -> Outcome:
        """Return what the function decides, and let it be written and the providers look."""
        outcome = self.compose()
        before, self.children = self.children, {}
        for key, child in outcome.children.items():
            self.children[key] = self._applied(key, copy.deepcopy(dict(child.resource)), before.get(key))
        self.composite["status"] = {
            **copy.deepcopy(dict(outcome.status)),
            "conditions": [
                {"type": one.type, "status": str(one.status), "reason": one.reason, "message": one.message}
                for one in outcome.conditions
            ],
        }
        self.look()
        self.outcome = outcome
        return outcome

    def settle(self, most: int = 12) -> Outcome:
        """Return the decision after so many steps that nothing changes any more."""
        for _ in range(most):
            before = copy.deepcopy((self.children, self.composite))
            outcome = self.step()
            if before == (self.children, self.composite):
                return outcome
        raise AssertionError("the stack does not settle")

    def look(self) -> None:
        """Let both providers look at the cluster."""
        for key, child in self.children.items():
            child["status"] = self._status(key, child)

    @property
    def parts(self) -> set[str]:
        """Return the parts that have a Release."""
        return {key.removeprefix(releases.RELEASE) for key in self.children if key.startswith(releases.RELEASE)}

    def version(self, part: str) -> str:
        """Return the version that the Release of a part asks for."""
        return str(self.children[release(part)]["spec"]["forProvider"]["chart"]["version"])

    @staticmethod
    def _applied(key: str, made: Json, before: Json) -> Json:
        was = (before or {}).get("metadata", {}).get("generation", 0)
        is_same = before is not None and before["spec"] == made["spec"]
        made["metadata"] |= {"uid": f"uid-{key}", "generation": was if is_same else was + 1}
        made["status"] = (before or {}).get("status", {})
        return made

    def _status(self, key: str, child: Json) -> Json:
        if self.is_lost:
            return {**child["status"], "conditions": [*_conditions(child, LOST), *_ready(child)]}
        if child["kind"] == releases.KIND:
            return self._released(key.removeprefix(releases.RELEASE), child)
        if child["kind"] != "Object":
            return {}
        manifest = child["spec"]["forProvider"]["manifest"]
        is_read = child["spec"].get("managementPolicies") == ["Observe"]
        if is_read and not self._is_there(key, manifest):
            return {"conditions": _conditions(child, ABSENT)}
        status = {"conditions": [{"type": one, "status": "True"} for one in ("Available", "Programmed")]}
        ready = [{"type": "Ready", "status": "True"}]
        return {"atProvider": {"manifest": {**manifest, "status": status}}, "conditions": [*_conditions(child), *ready]}

    def _is_there(self, key: str, manifest: Mapping[str, Json]) -> bool:
        if manifest["metadata"]["name"] in self.there:
            return True
        part = key.removeprefix(releases.PROOF)
        made = self.children.get(release(part), {}).get("status", {})
        is_deployed = made.get("atProvider", {}).get("state") == "deployed"
        return key.startswith(releases.PROOF) and part not in self.broken and is_deployed

    def _released(self, part: str, child: Json) -> Json:
        version = child["spec"]["forProvider"]["chart"]["version"]
        if part in self.slow:
            # It was not looked at since: what is said is of before.
            return dict(child["status"])
        if part in self.failing:
            told = {"state": "failed", "releaseDescription": f"Release {part} failed: timed out", "version": version}
            conditions = [*_conditions(child), {"type": "Ready", "status": "False"}]
            return {"atProvider": told, "failed": 5, "conditions": conditions}
        conditions = [*_conditions(child), {"type": "Ready", "status": "True"}]
        return {"atProvider": {"state": "deployed", "version": version, "revision": 1}, "conditions": conditions}


def pinned(part: str) -> str:
    """Return the version of a part in the profile."""
    return profile.parts()[part].chart.version


def _conditions(child: Json, message: str = "") -> list[Json]:
    status = {"message": message, "status": "False"} if message else {"status": "True"}
    return [{"type": "Synced", "observedGeneration": child["metadata"]["generation"], **status}]


def _ready(child: Json) -> list[Json]:
    return [one for one in child["status"].get("conditions", []) if one["type"] == "Ready"]
