"""A cluster scheduler added from outside: one object with the interface of a scheduler, one entry in the registry."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from modelplane.errors import Unsupported
from modelplane.render import objects
from modelplane.render.backend import Problem
from modelplane.render.scheduler import PodMarks, Queue, Scheduler, Sight
from modelplane.render.schedulers import selection
from modelplane.workload.model import BoundRole, Replica, Workload
from modelplane.workload.site import ClusterFacts
from modelplane_cli.simulator.offline import World
from tests.support import rendered
from tests.support import replicas as build

Json = Any
# The definitions list the schedulers of the API, so the toy answers to the name of one of them.
NAME = "Volcano"
QUEUE = "serving"
QUICKSTART = Path(__file__).parents[3] / "examples" / "quickstart"


class Toy:
    """A scheduler whose queue is a label of the pod; it takes at most `workers_max` workers of a role."""

    def __init__(self, workers_max: int = 8) -> None:
        """Return a toy that is as large as its room."""
        self.workers_max = workers_max

    def check(self, workload: Workload, backend: str) -> None:
        most = max(role.workers for role in workload.roles)
        if most > self.workers_max:
            raise Unsupported(f"the toy has room for {self.workers_max} workers, a role has {most}", reason="ToyFull")

    def marks(self, replica: Replica, bound: BoundRole, facts: ClusterFacts) -> PodMarks:
        return PodMarks(
            labels={"toys.example.org/queue": facts.queue},
            annotations={"toys.example.org/role": f"{replica.name}.{bound.spec.role}"},
            scheduler_name="toy-scheduler",
            object_labels={"toys.example.org/queue": facts.queue},
        )

    def frozen(self, resource: Json) -> Json:
        return (resource["metadata"].get("labels") or {}).get("toys.example.org/queue")

    def queue(self, replica: Replica, resource: Json) -> Queue | None:
        name = (resource["metadata"].get("labels") or {}).get("toys.example.org/queue")
        if name is None:
            return None
        what = {"apiVersion": "toys.example.org/v1", "kind": "Line"}
        return Queue(NAME, name, {**what, "metadata": {"name": name}}, what, {"modelplane.ai/replica": replica.name})

    def quota(self, facts: ClusterFacts) -> Json:
        return None

    def limit(self, holder: Json, resource: str) -> int | None:
        return None

    def waits(self, queue: Queue, sight: Sight) -> Problem | None:
        return Problem("InLine", f"it stands in line {queue.name}", is_queued=True) if sight.entries else None


def _offer(monkeypatch: pytest.MonkeyPatch, toy: Scheduler) -> None:
    monkeypatch.setitem(selection.SCHEDULERS, NAME, toy)


def _world(clusters: str = NAME) -> World:
    """Return the quickstart on clusters of that scheduler."""
    return rendered.quickstart(scheduler={"type": clusters, "queueName": QUEUE})


def _services(world: World) -> list[Json]:
    carried = (objects.unwrap(one) for one in world.objects() if one["kind"] == "Object")
    return [manifest for manifest in carried if manifest.get("kind") == "LLMInferenceService"]


def _of(world: World, kind: str) -> Json:
    return next(one for one in world.objects() if one["kind"] == kind)


def test_its_queue_stands_on_every_pod(monkeypatch: pytest.MonkeyPatch) -> None:
    _offer(monkeypatch, Toy())
    world = _world()
    services = _services(world)
    assert len(services) == 2
    for service in services:
        assert service["spec"]["labels"]["toys.example.org/queue"] == QUEUE
        assert service["spec"]["annotations"]["toys.example.org/role"].endswith(".decode")
        assert service["spec"]["template"]["schedulerName"] == "toy-scheduler"
    assert _of(world, "ModelDeployment")["status"]["readyReplicas"] == 2
    stack = next(c for c in _of(world, "InferenceCluster")["status"]["conditions"] if c["type"] == "StackReady")
    assert "spec.scheduler" not in stack["message"]


def test_what_waits_in_its_queue_is_told_in_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    _offer(monkeypatch, Toy())
    (first, _) = _services(_world())
    replica = build.replica(name=first["metadata"]["name"])
    found = selection.queue(replica, [first])
    assert found is not None
    assert (found.scheduler, found.name) == (NAME, QUEUE)
    said = selection.waits(found, Sight(entries=({"kind": "Line"},)))
    assert said is not None
    assert (said.reason, said.is_queued) == ("InLine", True)
    assert selection.waits(found, Sight()) is None
    other = {**first, "metadata": {**first["metadata"], "labels": {"toys.example.org/queue": "other"}}}
    assert selection.is_replaced(first, other)
    assert not selection.is_replaced(first, first)


def test_its_limit_is_told_as_the_reason_of_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    _offer(monkeypatch, Toy(workers_max=0))
    deployment = _of(_world(), "ModelDeployment")
    (reason,) = deployment["status"]["unschedulable"]["reasons"]
    assert reason["reason"] == "BackendUnavailable"
    assert "the toy has room for 0 workers, a role has 1" in reason["detail"]


def test_one_that_is_not_registered_takes_no_replica_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(selection.SCHEDULERS, NAME)
    world = _world()
    assert not _services(world)
    (reason,) = _of(world, "ModelDeployment")["status"]["unschedulable"]["reasons"]
    assert f"spec.scheduler is {NAME}, and no backend supports its queues yet" in reason["detail"]
    stack = next(c for c in _of(world, "InferenceCluster")["status"]["conditions"] if c["type"] == "StackReady")
    assert f"spec.scheduler {NAME} is not supported yet" in stack["message"]


def test_kube_scheduler_marks_nothing() -> None:
    (service, _) = _services(rendered.folder(QUICKSTART))
    assert "schedulerName" not in service["spec"]["template"]
    assert all(not key.startswith("toys") for key in service["spec"]["labels"])
