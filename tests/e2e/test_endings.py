"""The end of a workload whose pods end slowly, on the real controllers of its backend.

provider-kubernetes deletes without a propagation policy, so these deletions have none. Without kwok nothing confirms
that a pod has ended: it terminates and holds its devices, as with a long grace period or on a node that is silent.
Source: kube-controller-manager (garbage collector), LeaderWorkerSet, KServe, KAITO and KubeRay, run as processes.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import pytest

from modelplane import names
from modelplane.render import objects
from modelplane.render.backends import kaito, kserve, kuberay, native
from modelplane.render.manifest import Manifest, Purpose
from modelplane.topology.shape import Topology
from modelplane.workload.model import EndpointPicker, Replica
from modelplane.workload.site import ClusterFacts
from tests.e2e import handed
from tests.e2e.handed import NAMESPACE, SECONDS
from tests.support import controlplane, kubeapi, replicas
from tests.support import kuberay as ray

Document = dict[str, Any]

HOLD_SECONDS = 10
"""Long enough for every controller to act on the deletion, and for KubeRay to ask again several times."""

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Case:
    """A replica of a backend on a cluster that its example describes, and the number of its pods."""

    backend: ModuleType
    replica: Replica
    pods: int
    facts: ClusterFacts

    def manifests(self) -> tuple[Manifest, ...]:
        """Return what the replica is rendered to."""
        found: tuple[Manifest, ...] = self.backend.render(self.replica, self.facts)
        return found


_GANG = Topology(tensor=2, pipeline=2)
_FACTS = ClusterFacts("ends", "modelplane", names.SYSTEM_NAMESPACE)
_PICKED = replace(replicas.replica(replicas.role(workers=2)), endpoint_picker=EndpointPicker())


def _of(backend: ModuleType, name: str, pods: int, *, pool: str = "h100", **role: Any) -> Case:
    facts = replace(_FACTS, pool_node_selector={pool: {}})
    return Case(backend, replicas.replica(replicas.role(pool=pool, **role), backend=name), pods, facts)


WAITS = {
    "native": _of(native, "Native", 2, workers=2),
    "native gangs": _of(native, "Native", 4, workers=2, topology=_GANG),
    "kserve": _of(kserve, "KServe", 1),
    "kserve gang": _of(kserve, "KServe", 2, topology=_GANG),
    "kserve picker": Case(kserve, _PICKED, 2, _FACTS),
}
FORGETS = {
    "kaito": _of(kaito, "KAITO", 2, pool="l40s", workers=2),
    "kuberay": Case(kuberay, ray.replica(ray.role(workers=2)), 3, replace(_FACTS, pool_node_selector={"h100": {}})),
}


@pytest.fixture(scope="module")
def planes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, controlplane.Plane]]:
    """Yield a place for the clusters, each of which is brought up by the first test that needs it."""
    open_: dict[str, tuple[Iterator[controlplane.Plane], controlplane.Plane]] = {}

    class Planes(dict[str, controlplane.Plane]):
        def __missing__(self, backend: str) -> controlplane.Plane:
            running = handed.running(tmp_path_factory, backend, backend)
            plane = next(running)
            open_[backend] = (running, plane)
            self[backend] = plane
            return plane

    yield Planes()
    for running, _ in open_.values():
        next(running, None)


class _Ending:
    """A workload whose pods run and then end only when they are let."""

    def __init__(self, plane: controlplane.Plane, case: Case) -> None:
        self.plane, self.case = plane, case
        for manifest in case.manifests():
            if manifest.purpose is Purpose.WORKLOAD:
                self.rendered, self.document = manifest, _written(replace(manifest, outlives_pods=False))
                plane.api.apply(self.document)
            else:
                plane.api.apply(handed.plain(manifest.resource))
        self.uids = set(
            kubeapi.until(
                self._running, seconds=SECONDS, what="pods", enough=lambda found: len(list(found)) == case.pods
            )
        )

    def mark(self) -> None:
        """Give it the finalizer, which an earlier version did not write."""
        self.plane.api.apply(_written(replace(self.rendered, outlives_pods=True)))

    def upgrade(self) -> None:
        """Give it the finalizer, and see that nothing restarts."""
        before = self._seen()
        self.mark()
        after = self._seen()
        assert objects.FOREGROUND in after["metadata"]["finalizers"]
        assert set(before["metadata"].get("finalizers", ())) < set(after["metadata"]["finalizers"])
        assert before["metadata"]["generation"] == after["metadata"]["generation"]
        assert self.uids == self._running().keys()

    def _pods(self) -> dict[str, Document]:
        labels = f"{names.LABEL_REPLICA}={self.case.replica.name}"
        found = self.plane.api.all_of("v1", "Pod", NAMESPACE, labels)
        return {pod["metadata"]["uid"]: pod for pod in found}

    def _running(self) -> dict[str, Document]:
        return {uid: pod for uid, pod in self._pods().items() if pod["status"].get("phase") == "Running"}

    def _seen(self) -> Document:
        metadata = self.document["metadata"]
        found = self.plane.api.get(self.document["apiVersion"], self.document["kind"], metadata["name"], NAMESPACE)
        return dict(found or {})

    @property
    def is_there(self) -> bool:
        """Return whether the workload is there; its Object is there as long."""
        return bool(self._seen())

    def delete(self) -> None:
        """Delete it as the provider does, and return when its pods terminate."""
        self.plane.others["kwok"].stop()
        self.plane.api.request("DELETE", self.plane.api.path_of(self.document))
        kubeapi.until(self._all_terminate, seconds=SECONDS, what="the pods to terminate")

    def _all_terminate(self) -> bool:
        return all("deletionTimestamp" in pod["metadata"] for pod in self._pods().values())

    def look(self) -> bool:
        """Return whether it is there. Raises: AssertionError when a controller made a pod anew."""
        is_there = self.is_there  # before its pods are counted
        pods = self._pods()
        assert pods.keys() <= self.uids, "a controller makes pods of what is being deleted"
        assert is_there or not pods, "it is gone, and its pods hold devices"
        return is_there

    def let(self) -> None:
        """Let the pods end."""
        self.plane.others["kwok"].start()

    def await_nothing(self) -> None:
        """Return once no pod is left."""
        kubeapi.until(lambda: not self._pods(), seconds=SECONDS, what="the pods to end")


def _written(manifest: Manifest) -> Document:
    """Return the object as its Object says it."""
    wrapped = objects.wrap(manifest, provider_config={"kind": "a", "name": "b"}, namespace=NAMESPACE, owner="c")
    return handed.plain(wrapped["spec"]["forProvider"]["manifest"])


@pytest.mark.parametrize("name", WAITS)
def test_the_workload_is_there_until_its_pods_have_ended(planes: dict[str, controlplane.Plane], name: str) -> None:
    case = WAITS[name]
    ending = _Ending(planes[name.partition(" ")[0]], case)
    assert ending.rendered.outlives_pods
    ending.upgrade()
    ending.delete()
    end = time.monotonic() + HOLD_SECONDS
    while time.monotonic() < end:
        assert ending.look(), "it is gone"
        time.sleep(0.5)
    ending.let()
    kubeapi.until(lambda: not ending.look(), seconds=SECONDS, what="the workload to go", every=0.05)


@pytest.mark.parametrize(
    ("name", "outlives_pods"),
    [
        pytest.param("kaito", False, id="kaito"),
        pytest.param("kuberay", False, id="kuberay"),
        pytest.param("kuberay", True, id="kuberay, whatever it is asked for"),
    ],
)
def test_the_workload_is_gone_before_its_pods(
    planes: dict[str, controlplane.Plane],
    name: str,
    outlives_pods: bool,  # noqa: FBT001
) -> None:
    """The controllers delete their own objects in the background: KubeRay always, KAITO when it is first."""
    case = FORGETS[name]
    ending = _Ending(planes[name], case)
    assert not ending.rendered.outlives_pods
    if outlives_pods:
        ending.mark()
    ending.delete()
    kubeapi.until(lambda: not ending.is_there, seconds=SECONDS, what="the workload to go")
    with pytest.raises(AssertionError, match="its pods hold devices"):
        ending.look()
    ending.let()
    ending.await_nothing()
