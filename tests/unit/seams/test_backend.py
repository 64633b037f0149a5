"""A serving technology added from outside: one object with the interface of a backend, one entry in the registry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from modelplane.render import claims, objects, pods
from modelplane.render.backend import Backend, Capabilities, Definition, IsThere, Observation, Problem, Shape
from modelplane.render.backends import selection
from modelplane.render.manifest import NOTHING, Lifecycle, Manifest, Purpose, Readiness
from modelplane.workload.model import Replica, Role, Workload
from modelplane.workload.site import ClusterFacts
from modelplane_cli.checks import foreign
from modelplane_cli.output import outline, tree
from modelplane_cli.simulator.offline import World
from tests.support import rendered

Json = Any
# The definitions list the backends of the API, so the toy answers to the name of one of them.
NAME = "VLLMStack"


class Toy:
    """A technology with two workload objects per replica and a status of its own words."""

    CAPABILITIES = Capabilities(NAME, frozenset(Shape), frozenset({"hf"}), frozenset(), frozenset())
    DEFINITIONS: tuple[Definition, ...] = (Definition("toys.example.org", "v1", "Toy", "the toy box 1"),)
    PATCHABLE = frozenset({"spec.colour"})
    KINDS = frozenset({("toys.example.org", "Toy"), ("toys.example.org", "Helper")})
    SHAPES: Mapping[str, Json] = {
        "Toy": {
            "type": "object",
            "x-kubernetes-preserve-unknown-fields": True,
            "properties": {"status": {"type": "object", "properties": {"playing": {"type": "integer"}}}},
        }
    }

    def check(self, workload: Workload) -> None:
        """Return: a toy takes everything."""

    def render(
        self, replica: Replica, facts: ClusterFacts, standing: Mapping[str, str] = NOTHING
    ) -> tuple[Manifest, ...]:
        bound = replica.role(Role.DECODE)
        assert bound is not None
        devices = claims.of(replica, bound, pods.base_labels(replica))
        template = () if devices.template is None else (devices.template,)
        space = self._manifest("space", "v1", "Namespace", replica.namespace, Purpose.SHARED, namespace="")
        return (
            Manifest(space.key, space.resource, Purpose.SHARED, lifecycle=Lifecycle.KEEP),
            *template,
            self._workload(replica, "toy", "Toy", players=bound.spec.workers, pool=bound.pool),
            self._workload(replica, "helper", "Helper", players=1, pool=bound.pool),
            self._manifest(
                "way", "toys.example.org/v1", "Way", replica.name, Purpose.ROUTE, namespace=replica.namespace
            ),
        )

    def _workload(self, replica: Replica, key: str, kind: str, **spec: Json) -> Manifest:
        made = self._manifest(
            key, "toys.example.org/v1", kind, replica.name, Purpose.WORKLOAD, namespace=replica.namespace
        )
        return Manifest(key, {**made.resource, "spec": spec}, Purpose.WORKLOAD, Readiness("has(object.status)"))

    @staticmethod
    def _manifest(key: str, version: str, kind: str, name: str, purpose: Purpose, *, namespace: str) -> Manifest:
        metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
        return Manifest(key, {"apiVersion": version, "kind": kind, "metadata": metadata}, purpose)

    def observe(self, replica: Replica, found: Mapping[str, Mapping[str, Json] | None]) -> Observation:
        toy = found.get("toy")
        if toy is None:
            return Observation({}, is_ready=False, is_routed=None)
        playing = (toy.get("status") or {}).get("playing", 0)
        routed = None if found.get("way") is None else True
        problems = () if playing else (Problem("NobodyPlays", "the toy lies in its box; take it out"),)
        return Observation({Role.DECODE: playing}, is_ready=bool(playing), is_routed=routed, problems=problems)

    def assume(self, resource: Mapping[str, Json], gateway: str, is_there: IsThere) -> dict[str, Json]:
        namespace, name = resource["metadata"]["namespace"], resource["metadata"]["name"]
        other = "Helper" if resource["kind"] == "Toy" else "Toy"
        beside = is_there("toys.example.org", other, namespace, name)
        return {"playing": resource["spec"]["players"] if beside else 0}


TOY: Backend = Toy()


@pytest.fixture
def toy_world(monkeypatch: pytest.MonkeyPatch) -> World:
    """Return the quickstart on clusters that offer the toy alone."""
    monkeypatch.setitem(selection.BACKENDS, NAME, TOY)
    return rendered.quickstart(backends=[NAME])


def test_a_replica_runs_on_it_from_placement_to_a_served_url(toy_world: World) -> None:
    found = {(one["kind"], one["metadata"]["name"]): one for one in toy_world.objects()}
    deployment = next(one for (kind, _), one in found.items() if kind == "ModelDeployment")
    assert (deployment["status"]["backend"], deployment["status"]["readyReplicas"]) == (NAME, 2)
    assert [one["status"]["phase"] for (kind, _), one in found.items() if kind == "ModelReplica"] == ["Running"] * 2
    service = next(one for (kind, _), one in found.items() if kind == "ModelService")
    assert service["status"]["endpoints"] == {"matched": 2, "ready": 2}


def test_the_tree_shows_its_workloads_first_and_what_is_shared_last(toy_world: World) -> None:
    text = outline.text(tree.trees(toy_world))
    lines = [line.split("─ ")[-1].split()[0] for line in text.splitlines() if "ml-team" in line or "Namespace" in line]
    assert lines.index("Helper") < lines.index("Toy") < lines.index("ResourceClaimTemplate") < lines.index("Way")
    assert lines.index("Way") < lines.index("Namespace")


def test_each_of_its_workloads_says_what_it_was_rendered_from(toy_world: World) -> None:
    carried = {
        objects.unwrap(one).get("kind"): one["metadata"]["annotations"]
        for one in toy_world.objects()
        if one["kind"] == "Object" and objects.purpose(one) is Purpose.WORKLOAD
    }
    assert sorted(str(kind) for kind in carried) == ["Helper", "Toy"]
    assert all("modelplane.ai/rendered-from" in annotations for annotations in carried.values())


def test_a_status_out_of_its_shape_is_a_mistake_of_the_document(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(selection.BACKENDS, NAME, TOY)
    toy = {"apiVersion": "toys.example.org/v1", "kind": "Toy", "metadata": {"name": "t"}, "status": {"playing": "many"}}
    document = {
        "apiVersion": "kubernetes.m.crossplane.io/v1alpha1",
        "kind": "Object",
        "metadata": {"name": "t", "namespace": "team"},
        "spec": {"forProvider": {"manifest": {"apiVersion": "toys.example.org/v1", "kind": "Toy"}}},
        "status": {"atProvider": {"manifest": toy}},
    }
    assert [problem.path for problem in foreign.problems(document)] == [
        ("status", "atProvider", "manifest", "status", "playing")
    ]
