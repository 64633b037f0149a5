"""Replicas in a queue of Kueue: queued, admitted, preempted, and what Kueue lets nobody change.

Kueue's controllers and webhooks run as a process, configured as the serving stack does it; kube-scheduler, the
controllers of Kubernetes, LeaderWorkerSet and KServe run too, and kwok runs the pods.
Source: Kueue v0.19.2, built from its module.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from modelplane.render import progress
from modelplane.render.backends import native
from modelplane.render.manifest import Purpose
from modelplane.render.progress import Phase, Progress
from modelplane.render.scheduler import Queue, Sight
from modelplane.render.schedulers import selection
from modelplane.topology.shape import Topology
from modelplane.workload.model import Replica
from modelplane.workload.site import ClusterFacts, Quota
from tests.e2e import workload
from tests.support import controlplane, examples, installation, kubeapi, live, replicas

Document = dict[str, Any]

pytestmark = pytest.mark.slow

FOLDER = examples.EXAMPLES / "queues" / "kueue"
NAMESPACE = "ml-team"
SECONDS = 120
CLASSES = ((0, "standard"), (100, "production"))
FACTS = ClusterFacts(
    "shared", "modelplane", "modelplane-system", pool_node_selector={"h100": {"modelplane.ai/pool": "h100"}},
    scheduler="Kueue", queue="serving", priority_classes=CLASSES,
)  # fmt: skip
_OF_THE_ENGINE = {"resources": {"requests": {"cpu": "8", "memory": "64Gi"}}}
TEMPLATE = replicas.template(engine=_OF_THE_ENGINE)


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[controlplane.Plane]:
    live.needs("kueue", "go")
    documents = list(installation.documents(FOLDER / "fleet.yaml"))
    (cluster,) = (one for one in documents if one["kind"] == "InferenceCluster")
    cluster["spec"]["backends"] = ["Native"]
    with controlplane.running(tmp_path_factory.mktemp("kueue"), "kueue") as plane:
        workload.install(plane, cluster, [one for one in documents if one["kind"] == "InferenceClass"])
        for document in installation.documents(FOLDER / "on-the-cluster" / "queues.yaml"):
            if document["kind"] == "LocalQueue":
                installation.namespace(plane, NAMESPACE)
            kubeapi.until(lambda one=document: plane.api.apply(one), seconds=60, what=document["kind"])  # type: ignore[misc]
        yield plane


def _gang(name: str, priority: int = 0, **fields: Any) -> Replica:
    """Return a replica of one worker over two nodes with eight GPUs each."""
    role = replicas.role(topology=Topology(tensor=8, pipeline=2), pod_template=TEMPLATE)
    return replicas.replica(role, name=name, backend="Native", priority=priority, **fields)


def _single(name: str, **fields: Any) -> Replica:
    """Return a replica of two workers of one pod with one GPU each."""
    return replicas.replica(replicas.role(workers=2, pod_template=TEMPLATE), name=name, backend="Native", **fields)


def _apply(plane: controlplane.Plane, replica: Replica, facts: ClusterFacts = FACTS) -> Document:
    """Apply what the replica is rendered to, and return the object that runs its pods."""
    manifests = native.render(replica, facts)
    for manifest in manifests:
        plane.api.apply(copy.deepcopy(dict(manifest.resource)))
    (found,) = (one.resource for one in manifests if one.purpose is Purpose.WORKLOAD)
    return copy.deepcopy(dict(found))


def _sight(plane: controlplane.Plane, queue: Queue, replica: Replica) -> Sight:
    """Return what provider-kubernetes would read: the entries and pods by their labels, and the queue by its name."""
    labels = ",".join(f"{key}={value}" for key, value in queue.labels.items())
    found = plane.api.get(queue.entries["apiVersion"], "LocalQueue", queue.name, replica.namespace)
    return Sight(
        entries=tuple(plane.api.all_of(queue.entries["apiVersion"], queue.entries["kind"], replica.namespace, labels)),
        pods=tuple(_pods(plane, replica)),
        queue=found,
        is_absent=found is None,
    )


def _pods(plane: controlplane.Plane, replica: Replica) -> list[Document]:
    return plane.api.all_of("v1", "Pod", replica.namespace, f"modelplane.ai/replica={replica.name}")


def _judged(plane: controlplane.Plane, replica: Replica, document: Document) -> Progress:
    """Return what our own reading makes of the objects as they are, with a route that is taken."""
    metadata = document["metadata"]
    found = plane.api.get(document["apiVersion"], document["kind"], metadata["name"], metadata["namespace"])
    accepted = [{"type": kind, "status": "True"} for kind in ("Accepted", "ResolvedRefs")]
    route = {"status": {"parents": [{"conditions": accepted}]}}
    key = "deployment" if document["kind"] == "Deployment" else "leaderworkerset"
    observation = native.observe(replica, {key: found, "route": route})
    queue = selection.queue(replica, [found])
    assert queue is not None
    waits = selection.waits(queue, _sight(plane, queue, replica))
    return progress.judge(replica, progress.queued(observation, waits), before={}, has_address=True)


def _until(plane: controlplane.Plane, replica: Replica, document: Document, *wanted: Any) -> Progress:
    """Wait until the replica is in a phase, and for a reason where one is given."""
    return kubeapi.until(
        lambda: _judged(plane, replica, document),
        seconds=SECONDS, what=f"{replica.name} as {wanted}",
        enough=lambda one: (one.phase, one.workload.reason)[: len(wanted)] == wanted,
    )  # fmt: skip


def _gone(plane: controlplane.Plane, replica: Replica, document: Document) -> None:
    plane.api.delete(document, propagation="Foreground")
    kubeapi.until(lambda: _pods(plane, replica), seconds=SECONDS, what="no pod", enough=lambda left: not left)


def _are_gated(plane: controlplane.Plane, replica: Replica) -> bool:
    return all(pod["spec"].get("schedulingGates") for pod in _pods(plane, replica))


def test_a_gang_waits_as_a_whole_and_a_higher_priority_preempts_it(plane: controlplane.Plane) -> None:
    low, second, high = _gang("low-0"), _gang("second-0"), _gang("high-0", priority=100)
    first = _apply(plane, low)
    _until(plane, low, first, Phase.RUNNING)

    # 24 GPUs of quota and 16 of them taken: the nodes have room for another gang, the queue has not.
    waiting = _apply(plane, second)
    told = _until(plane, second, waiting, Phase.QUEUED, "QueuePending").workload.message
    assert "LocalQueue ml-team/serving" in told
    assert "modelplane.ai/gpu" in told, "the queue's own words"
    assert len(_pods(plane, second)) == 2
    assert _are_gated(plane, second)

    taking = _apply(plane, high)
    _until(plane, high, taking, Phase.RUNNING)
    told = _until(plane, low, first, Phase.QUEUED, "Preempted").workload.message
    assert "LocalQueue ml-team/serving" in told
    assert "Preempted to accommodate a workload" in told, "the queue's own words"
    assert _judged(plane, high, taking).phase is Phase.RUNNING

    _gone(plane, high, taking)
    kubeapi.until(
        lambda: {_judged(plane, low, first).phase, _judged(plane, second, waiting).phase},
        seconds=SECONDS, what="one of the two that waited runs", enough=lambda found: Phase.RUNNING in found,
    )  # fmt: skip
    _gone(plane, second, waiting)
    _until(plane, low, first, Phase.RUNNING)
    _gone(plane, low, first)


def test_a_queue_that_does_not_exist_is_told_and_its_loss_stops_nothing_that_runs(plane: controlplane.Plane) -> None:
    facts, replica = replace(FACTS, queue="mistyped"), _single("alone-0")
    made = _apply(plane, replica, facts)
    told = _until(plane, replica, made, Phase.QUEUED, "QueueMissing").workload.message
    assert "LocalQueue ml-team/mistyped does not exist" in told
    assert _are_gated(plane, replica)
    queue = {
        "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue",
        "metadata": {"name": "mistyped", "namespace": NAMESPACE}, "spec": {"clusterQueue": "ml-team"},
    }  # fmt: skip
    plane.api.apply(queue)
    _until(plane, replica, made, Phase.RUNNING)
    plane.api.delete(queue)
    kubeapi.until(
        lambda: plane.api.get("kueue.x-k8s.io/v1beta2", "LocalQueue", "mistyped", NAMESPACE),
        seconds=SECONDS, what="no queue", enough=lambda left: left is None,
    )  # fmt: skip
    assert _judged(plane, replica, made).phase is Phase.RUNNING
    _gone(plane, replica, made)


def test_devices_that_no_node_has_are_refused_by_the_queue_and_not_waited_for(plane: controlplane.Plane) -> None:
    """A claim whose selector matches no device in the cluster is never admitted, so that no node is added for it."""
    impossible = replicas.device(selectors=('device.attributes["gpu.nvidia.com"].productName == "none"',))
    role = replicas.role(devices=(impossible,), pod_template=TEMPLATE)
    replica = replicas.replica(role, name="none-0", backend="Native")
    made = _apply(plane, replica)
    told = _until(plane, replica, made, Phase.QUEUED, "QueueRefuses").workload.message
    assert "waiting alone does not change that" in told
    _gone(plane, replica, made)


def test_the_quota_is_read_where_kueue_keeps_it(plane: controlplane.Plane) -> None:
    facts = replace(FACTS, quota=Quota("modelplane.ai/gpu", "ml-team"))
    wanted = selection.quota(facts)
    assert wanted is not None
    found = plane.api.get(wanted["apiVersion"], wanted["kind"], wanted["metadata"]["name"])
    assert selection.limit(facts, found) == 24


def _changed(replica: Replica, **engine: Any) -> Replica:
    (bound,) = replica.roles
    template = replicas.template(engine={**_OF_THE_ENGINE, **engine})
    return replace(replica, roles=(replace(bound, spec=replace(bound.spec, template=template)),))


_MORE = {"resources": {"requests": {"cpu": "9", "memory": "64Gi"}}}


@pytest.mark.parametrize("make", [_gang, _single], ids=["gang", "one node"])
def test_what_kueue_refuses_to_change_is_what_we_make_anew(plane: controlplane.Plane, make: Any) -> None:
    replica: Replica = make("frozen-0")
    made = _apply(plane, replica)
    _until(plane, replica, made, Phase.RUNNING)
    changes = {
        "flags": (_changed(replica, args=["--max-num-seqs=8"]), FACTS),
        "requests": (_changed(replica, **_MORE), FACTS),
        "ports": (_changed(replica, ports=[{"containerPort": 9000, "name": "more"}]), FACTS),
        "priority": (replace(replica, priority=100), FACTS),
        "no priority class": (replica, replace(FACTS, priority_classes=())),
        "another queue": (replica, replace(FACTS, queue="other")),
        "no queue": (replica, replace(FACTS, scheduler="None", queue="", priority_classes=())),
    }
    found = {name: _is_refused(plane, one, facts) for name, (one, facts) in changes.items()}
    ours = {name: _is_replaced(made, one, facts) for name, (one, facts) in changes.items()}
    assert found == ours
    assert not found["flags"]
    assert found["another queue"]
    assert found["requests"] == (make is _gang)
    _gone(plane, replica, made)


def _workload(replica: Replica, facts: ClusterFacts) -> Document:
    (found,) = (one.resource for one in native.render(replica, facts) if one.purpose is Purpose.WORKLOAD)
    return copy.deepcopy(dict(found))


def _is_refused(plane: controlplane.Plane, replica: Replica, facts: ClusterFacts) -> bool:
    try:
        plane.api.apply(_workload(replica, facts), dry_run=True)
    except kubeapi.Refused as refused:
        assert "immutable" in refused.message or "cannot be" in refused.message, refused.message
        return True
    return False


def _is_replaced(made: Document, replica: Replica, facts: ClusterFacts) -> bool:
    return selection.is_replaced(made, _workload(replica, facts))
