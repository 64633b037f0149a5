"""The story: what a platform team and an ML team do with the quickstart, and what must (not) happen."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from functools import partial

from modelplane.api import catalogue
from tests.e2e import inventory, machine, steady
from tests.e2e.ending import Ending
from tests.e2e.looking import Looking
from tests.e2e.machine import Machine, Say
from tests.e2e.race import Race
from tests.e2e.stage import DEPLOYMENT, HOLD_SECONDS, LAST, PATIENCE_SECONDS, SERVICE
from tests.e2e.view import CLAIM, GROUP, NAMESPACE
from tests.support import installation, kubeapi

# What was written a moment ago is not yet in every cache.
SETTLE_SECONDS = 3
# How often the clock is looked at where a time is said.
GLANCE_SECONDS = 0.1
STEADY_SECONDS = 60
# Some of the kinds that the quickstart brings to the control plane and to each cluster a replica is on.
BROUGHT_FLEET = {
    "ModelReplica",
    "ModelEndpoint",
    "Object",
    "Backend",
    "HTTPRoute",
    "ClusterProviderConfig",
    "ClusterUsage",
}
BROUGHT_WORKLOAD = {
    "LLMInferenceService",
    "Deployment",
    "Pod",
    "Service",
    "ResourceClaim",
    "ResourceClaimTemplate",
    "HTTPRoute",
}

CAUSES = (AssertionError, TimeoutError, kubeapi.Refused)


class Story(Looking, Race, Ending):
    """The steps, in order; each leaves the fleet as the next expects it."""

    def __init__(self, found: Machine, say: Say) -> None:
        super().__init__(found, say)
        self.stopped_at: str | None = None
        self._applied_at = 0.0

    def play(self, step: Step) -> None:
        """Play one step. Raises: AssertionError with what was seen instead; nothing should be played after that."""
        self.say(f"{step.__name__}: {(step.__doc__ or '').splitlines()[0]}")
        try:
            step(self)
        except BaseException as error:
            self.stopped_at = step.__name__
            if isinstance(error, CAUSES):
                raise AssertionError(f"{step.__name__}: {error}") from error
            raise

    def apply(self) -> None:
        """The platform team applies classes, clusters and the gateway, then the ML team its model."""
        installation.namespace(self.machine.fleet, NAMESPACE)
        mine = [one for one in machine.documents() if one["metadata"].get("namespace") == NAMESPACE]
        for document in machine.documents():
            if document not in mine:
                self.api.apply(document, owner="platform")
        # A model that is applied earlier goes where it fits at that moment, and stays there.
        for name in self.machine.workloads:
            self._until(partial(self._is_true, "InferenceCluster", name, "Ready"), f"{name} ready")
        time.sleep(SETTLE_SECONDS)
        self._applied_at = time.monotonic()
        for document in mine:
            self.api.apply(document, owner="ml-team")
        for reached, what in (
            (lambda: len(self._admitted()) == 2, "all replicas admitted"),
            (lambda: self._bound(2), "all pods bound, devices allocated"),
            (lambda: self._is_true("ModelDeployment", DEPLOYMENT, "ReplicasReady"), "deployment ready"),
            (lambda: self._is_true("ModelService", SERVICE, "Ready"), "service ready"),
        ):
            self._until(reached, what, show=self._why, every=GLANCE_SECONDS)
            self.say(f"  {what:<36} {time.monotonic() - self._applied_at:5.1f} s after kubectl apply")

    def admitted(self) -> None:
        """Both replicas are placed, one on each cluster, and admitted by it."""
        self._until(lambda: len(self._admitted()) == 2, "two admitted replicas", show=self._why)
        placed = {name: one["spec"]["clusterName"] for name, one in self.view.replicas(DEPLOYMENT).items()}
        self.say(f"  placed: {placed}")
        assert sorted(placed.values()) == sorted(self.machine.workloads), placed

    def running(self) -> None:
        """KServe makes pods of them, on the chosen pool, with the devices allocated."""
        self._serve(2)
        for name, replica in self.view.replicas(DEPLOYMENT).items():
            cluster, pool = replica["spec"]["clusterName"], replica["spec"]["pool"]
            (wanted,) = (one for one in machine.of("InferenceCluster") if one["metadata"]["name"] == cluster)
            (labels,) = (one["nodeSelector"] for one in wanted["spec"]["nodePools"] if one["name"] == pool)
            pods = self.view.pods(cluster, name)
            assert pods, f"{name} has no pods on {cluster}"
            for pod in pods:
                assert labels.items() <= self.view.node(cluster, pod).items(), (labels, pod["spec"].get("nodeName"))
                devices = self.view.devices(cluster, pod)
                assert len(devices) == 1, devices
                self.say(f"  {cluster}: {pod['metadata']['name']} on {pod['spec']['nodeName']} has {devices}")

    def routed(self) -> None:
        """One endpoint per replica, and one route over both."""
        self._until(lambda: len(self.view.endpoints(DEPLOYMENT)) == 2, "two endpoints")
        self._until(lambda: self.view.routed(SERVICE) == self.view.endpoints(DEPLOYMENT), "a route over both")
        self._until(lambda: self._is_true("ModelService", SERVICE, "Ready"), "the service ready", show=self._why)
        self.say(f"  url: {self.view.one('ModelService', SERVICE)['status'].get('url')}")
        # What the last step finds gone must be seen now, or finding nothing would prove nothing.
        there = inventory.kinds(self.view.left())
        for cluster in self.machine.planes:
            self.say(f"  {cluster} has new: {', '.join(there[cluster])}")
            assert (BROUGHT_FLEET if cluster == machine.FLEET else BROUGHT_WORKLOAD) <= set(there[cluster]), there

    def steady(self) -> None:
        """While nobody changes anything, nothing changes; what that costs is counted."""
        time.sleep(HOLD_SECONDS)
        before = steady.versions(self.view)
        steady.measure(self.machine, STEADY_SECONDS, self.say)
        after = steady.versions(self.view)
        changed = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
        assert not changed, f"changed by nobody: {changed}"

    def scale(self) -> None:
        """Up to four and down to two: the first two stay what they were."""
        before = set(self.view.replicas(DEPLOYMENT))
        self._scale(4)
        self._serve(4)
        assert before < set(self.view.replicas(DEPLOYMENT))
        self._scale(2)
        self._until(lambda: len(self.view.replicas(DEPLOYMENT)) == 2, "two replicas again")
        assert set(self.view.replicas(DEPLOYMENT)) == before, "scaling down did not return to the same set"
        self._until(lambda: len(self.view.routed(SERVICE)) == 2, "two backends in the route")

    def calm(self) -> None:
        """No watch of Crossplane took what happened so far for a loop: its circuit breaker is closed everywhere."""
        open_ = [
            f"{kind} {one['metadata']['name']}"
            for kind in catalogue.kinds()
            for one in self.view.ours(kind)
            if kubeapi.condition(one, "Responsive").get("status") == "False"
        ]
        assert not open_, f"the circuit breaker is open for {open_}"

    def drain(self) -> None:
        """A NoExecute taint moves a replica, and its successor serves before it goes."""
        drained = "gke-us"
        self._taint(drained, [{"key": "drain", "value": "true", "effect": "NoExecute"}])
        end = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < end:
            serving = self.view.serving(DEPLOYMENT)
            assert len(serving) >= 2, f"fewer than two replicas serve during the drain: {serving}"
            backends = self.view.routed(SERVICE)
            assert len(backends) >= 2, f"fewer than two backends during the drain: {backends}"
            if all(one["spec"]["clusterName"] != drained for one in self.view.replicas(DEPLOYMENT).values()):
                break
            time.sleep(0.5)
        else:
            raise TimeoutError(f"{drained} is not drained; {self._why()}")
        self._until(lambda: not self.view.pods(drained), f"no pods on {drained}")
        self._taint(drained, [])
        self.say(f"  serving: {self.view.serving(DEPLOYMENT)}")

    def typo(self) -> None:
        """A mistyped selector removes nothing and says where the mistake is."""
        good = self.view.one("ModelDeployment", DEPLOYMENT)["spec"]["nodeSelector"]["cel"]
        self._change_deployment({"nodeSelector": {"cel": 'device.capacity["gpu.nvidia.com"].memory.compareTo('}})
        self._until(
            lambda: "InvalidNodeSelector" in self.view.says("ModelDeployment", DEPLOYMENT, "ReplicasScheduled"),
            "the typo to be reported",
            show=self._why,
        )
        self.say(f"  {self.view.says('ModelDeployment', DEPLOYMENT, 'ReplicasScheduled')}")
        self._hold()
        self._change_deployment({"nodeSelector": {"cel": good}})
        self._until(lambda: self._is_true("ModelDeployment", DEPLOYMENT, "ReplicasScheduled"), "the typo mended")

    def class_deleted(self) -> None:
        """A class that is deleted under running replicas removes nothing."""
        for document in machine.of("InferenceClass"):
            self.api.delete(document)
        self._until(lambda: not self.view.ours("InferenceClass"), "no classes")
        self._hold()
        for document in machine.of("InferenceClass"):
            self.api.apply(document, owner="ml-team")
        for name in self.machine.workloads:
            self._until(partial(self._is_true, "InferenceCluster", name, "CapacityKnown"), f"{name} counted")
        self._hold()

    def nodes(self) -> None:
        """A model over two nodes: LeaderWorkerSet makes its group, each pod has a node and GPUs of its own."""
        before = self.view.running()
        model, api = self._over_two_nodes("two-nodes"), self.machine.planes[LAST].api
        self.api.apply(model, owner="ml-team")
        self._until(lambda: self.view.serving("two-nodes"), "the group to serve", show=self._why)
        (replica,) = self.view.serving("two-nodes")
        pods = self.view.pods(LAST, replica)
        places = {pod["metadata"]["name"]: self.view.devices(LAST, pod) for pod in pods}
        for pod in pods:
            self.say(f"  {pod['metadata']['name']} on {pod['spec']['nodeName']} has {places[pod['metadata']['name']]}")
        assert len(pods) == len({pod["spec"]["nodeName"] for pod in pods}) == 2, places
        assert all(len(devices) == 4 for devices in places.values()), places
        assert len({one for devices in places.values() for one in devices}) == 8, places
        (group,) = api.all_of(*GROUP, NAMESPACE)
        assert group["metadata"]["name"].startswith(replica), group["metadata"]
        self.api.delete(model)

        def left() -> list[str]:
            there = [*self.view.pods(LAST, replica), *api.all_of(*GROUP, NAMESPACE), *api.all_of(*CLAIM, NAMESPACE)]
            return [one["metadata"]["name"] for one in there if one["metadata"]["name"].startswith(replica)]

        self._until(lambda: not left(), "the group and its claims to be gone", show=lambda: str(left()))
        assert self.view.running() == before, "the deployment beside it did not stay what it was"

    def workload_down(self) -> None:
        """A workload cluster whose API server stops loses nothing, and is taken up again when it is back."""
        plane = self.machine.planes["eks-eu"]
        plane.apiserver.stop()
        self._hold()
        unreachable = partial(self.view.says, "InferenceCluster", "eks-eu", "ClusterReady")
        self._until(lambda: "False/Unreachable" in unreachable(), "the cluster's status to say so", show=self._why)
        self.say(f"  eks-eu: {unreachable()[:160]}")
        (cause, *_) = self._modelplane("explain", "ic/eks-eu", "-o", "json", code=1)["causes"]
        assert (cause["condition"], cause["reason"]) == ("ClusterReady", "Unreachable"), cause
        assert cause["since"], "the API server's clock says since when"
        (worst, *_) = self._modelplane("status", "-o", "json", code=1)["complaints"]
        assert (worst["severity"], worst["name"], worst["explain"]) == ("Outage", "eks-eu", "ic/eks-eu"), worst
        there = [name for name, one in self.view.replicas(DEPLOYMENT).items() if one["spec"]["clusterName"] == "eks-eu"]
        stale = [partial(self.view.says, "ModelReplica", name, "StatusStale") for name in there]
        self._until(lambda: all("True/" in ask() for ask in stale), "its replicas' status to say so", show=self._why)
        self.say(f"  {there[0]}: {stale[0]()[:160]}")
        self._hold()
        plane.apiserver.start()
        plane.await_ready()
        self._until(lambda: "True/" in unreachable(), "the cluster's status to say that it is back", show=self._why)
        # Ready comes before the definitions' storage is: lists are answered with 429 for some seconds more.
        self._until(self.view.running, "the cluster's lists")
        self._serve(2)
        self._hold()

    def restarts(self) -> None:
        """The function server and Crossplane restart; nothing is lost, and a change made meanwhile is carried out."""
        fleet = self.machine.fleet
        self._scale(4)
        time.sleep(GLANCE_SECONDS)  # they are at work on it now
        for name in (machine.FUNCTION, "crossplane"):
            fleet.others[name].stop(signal.SIGKILL)
        self._scale(3)
        self._hold()
        for name in (machine.FUNCTION, "crossplane"):
            fleet.others[name].start()
        self._serve(3)
        self._scale(2)
        self._until(lambda: len(self.view.replicas(DEPLOYMENT)) == 2, "two replicas again")


Step = Callable[[Story], None]
STEPS: tuple[Step, ...] = (
    Story.apply,
    Story.admitted,
    Story.running,
    Story.routed,
    Story.command,
    Story.figures,
    Story.page,
    Story.described,
    Story.steady,
    Story.scale,
    Story.slow,
    Story.calm,
    Story.drain,
    Story.typo,
    Story.class_deleted,
    Story.race,
    Story.nodes,
    Story.workload_down,
    Story.restarts,
    Story.protected,
    Story.leftovers,
    Story.delete,
)


def names() -> list[str]:
    """Return the names of the steps in order."""
    return [step.__name__ for step in STEPS]
