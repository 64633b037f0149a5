"""Chaos: programs die or freeze, people edit and delete, and what nobody asked to stop goes on running.

A run is rounds. In each, a few deployments are touched and the others only watched, while programs of the control plane
and of the clusters are killed and frozen. A round ends with everything running again and nobody asking for anything:
then each deployment has what it wants, every ledger says what runs, and the next round begins. At the end all is
deleted, and nothing of any kind is left on any cluster.

Laws, looked at between all actions:

- A pod that runs stays, with its identity, until its deployment is edited, scaled or deleted, or a cluster is drained.
- No ledger gives more than there is.

Not played: watch events in another order, and packets that are lost, because nothing stands between the programs here.
"""

from __future__ import annotations

import copy
import http.client
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

from tests.e2e import machine
from tests.e2e.disturbance import Disturbance
from tests.e2e.ending import Ending
from tests.e2e.machine import Machine, Say
from tests.e2e.stage import DEPLOYMENT, LAST, SERVICE, Document
from tests.e2e.view import NAMESPACE, OURS
from tests.support import installation, kubeapi

PAIR, GROUP = "pair", "two-nodes"
# All of these fit at the same time, wherever drains have sent those that may go to both clusters, and in whatever order
# their pods come: with the most others on one node, each node has two devices for a pod of the group.
MOST = {DEPLOYMENT: 2, PAIR: 2, GROUP: 1}
POOL_DEVICES = {"gke-us": 4, LAST: 16}
ROUND_ACTIONS = (6, 14)
PAUSE_SECONDS = (0.0, 5.0)
LOOK_SECONDS = 1
ENOUGH_LINES = 60
_UNANSWERED = (OSError, kubeapi.Refused, http.client.HTTPException)
_QUOTA: Document = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "chaos", "namespace": NAMESPACE},
    "spec": {"hard": {"pods": "0"}},
}


@dataclass(frozen=True, slots=True)
class _Pod:
    """A pod that runs: where, of which replica, and who it is."""

    cluster: str
    replica: str
    name: str
    uid: str

    @property
    def deployment(self) -> str:
        """Return the deployment, which the names of its replicas begin with."""
        return self.replica.rpartition("-")[0]


@dataclass
class _Round:
    """What was asked in a round: deployments that somebody touched, and whether a cluster was drained."""

    touchable: tuple[str, ...]
    may_drain: bool
    asked: set[str] = field(default_factory=set)


class Chaos(Ending):
    """One run over a machine; the same seed draws the same actions, though not at the same moments."""

    def __init__(self, found: Machine, say: Say, seed: int) -> None:
        super().__init__(found, say)
        # A schedule needs to be drawn again, and no secret.
        self._rng = random.Random(seed)  # noqa: S311
        self._disturbance = Disturbance(found, self._rng)
        self._wanted = dict.fromkeys(MOST, 1) | {DEPLOYMENT: 2}
        self._models = {
            DEPLOYMENT: machine.of("ModelDeployment")[0],
            PAIR: self._other_model(PAIR, {"tensor": 2}),
            GROUP: self._other_model(GROUP, {"tensor": 2, "pipeline": 2}),
        }
        self._ran: dict[str, frozenset[_Pod]] = {name: frozenset() for name in found.workloads}
        self._round = _Round((), may_drain=False)
        self._log: list[str] = []
        self._counts: Counter[str] = Counter()

    def run(self, minutes: float, seed: int) -> None:
        """Run for so long, and delete everything.

        Raises: AssertionError with the seed and the last actions when a law is broken, or when something does not come.
        """
        try:
            self._begin()
            end = time.monotonic() + 60 * minutes
            number = 0
            while time.monotonic() < end:
                number += 1
                self._play(number, end)
            self._finish()
        except (AssertionError, TimeoutError) as error:
            lines = "\n  ".join(self._log[-ENOUGH_LINES:])
            raise AssertionError(f"seed {seed}: {error}\nafter:\n  {lines}\n{self._told()}") from error
        done = ", ".join(f"{what} {count}" for what, count in sorted(self._counts.items()))
        self.say(f"{number} rounds, nothing lost, nothing promised twice, nothing left: {done}")

    # --- a run --------------------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        installation.namespace(self.machine.fleet, NAMESPACE)
        for plane in self.machine.workloads.values():
            installation.namespace(plane, NAMESPACE)
        mine = [one for one in machine.documents() if one["metadata"].get("namespace") == NAMESPACE]
        for document in machine.documents():
            if document not in mine:
                self.api.apply(document, owner="platform")
        for name in self.machine.workloads:
            self._until(partial(self._is_true, "InferenceCluster", name, "Ready"), f"{name} ready", show=self._why)
        for document in (*mine, self._models[PAIR], self._models[GROUP]):
            self.api.apply(document, owner="ml-team")
        self._settle()

    def _play(self, number: int, end: float) -> None:
        names = sorted(MOST)
        touchable = tuple(self._rng.sample(names, self._rng.randint(0, len(names) - 1)))
        self._round = _Round(touchable, may_drain=self._rng.random() < 0.3)
        self._do(f"round {number}: {', '.join(touchable) or 'nobody'} may be touched")
        for _ in range(self._rng.randint(*ROUND_ACTIONS)):
            if time.monotonic() >= end:
                break
            self._act()
            self._watch(self._rng.uniform(*PAUSE_SECONDS))
        self._settle()

    def _act(self) -> None:
        # What is asked of an API server that does not answer is refused or lost, and its client waits for a minute.
        answers = self._disturbance.answers(self.machine.fleet)
        if (self._rng.random() < 0.5 or not answers) and not self._disturbance.is_most:
            self._do(self._disturbance.begin())
            self._counts["programs interrupted"] += 1
            return
        if not answers:
            return
        asks: list[Callable[[], str]] = [
            self._break_spec,
            self._delete_classes,
            self._delete_composed,
            self._fill_quota,
        ]
        asks += [self._scale_one, self._edit, self._delete_replica, self._recreate] if self._round.touchable else []
        asks += [self._drain_one] * 3 if self._round.may_drain else []
        ask = self._rng.choice(asks)
        try:
            self._do(ask())
            self._counts["people's changes"] += 1
        except _UNANSWERED as error:
            # Whoever types this tries again later, as a person would; it may have been done all the same.
            self._do(f"{ask.__name__.strip('_')}: no answer ({type(error).__name__})")
            self._counts["changes without an answer"] += 1

    def _settle(self) -> None:
        """Let everything run and nobody ask for anything; return when each deployment has what it wants."""
        self._disturbance.end()
        self._until(self._is_mended, "what people did to be taken back")
        self._look()
        self._until(self._is_settled, "every deployment to have what it wants", show=self._told)
        self._look()
        self._round = _Round((), may_drain=False)
        self._look()
        self._do(f"settled: {sum(map(len, self._ran.values()))} pods run")

    def _finish(self) -> None:
        for document in self._models.values():
            self._round.asked.add(document["metadata"]["name"])
            self.api.delete(document)
        for document in self._models.values():
            self._until(partial(self._gone, document), f"{document['metadata']['name']} gone", show=self._left)
        self.delete()

    # --- what people ask ----------------------------------------------------------------------------------------------

    def _scale_one(self) -> str:
        name = self._touched()
        count = self._rng.randint(0, MOST[name])
        self._wanted[name] = count
        self.api.merge(self._of(name), {"spec": {"replicas": count}}, subresource="scale")
        return f"{name} is scaled to {count}"

    def _edit(self) -> str:
        name = self._touched()
        image = f"vllm/vllm-openai:v0.{self._rng.randint(20, 29)}.0"
        workers = copy.deepcopy(self._models[name]["spec"]["workers"])
        workers["template"]["spec"]["containers"][0]["image"] = image
        self.api.merge(self._of(name), {"spec": {"workers": workers}})
        self._models[name]["spec"]["workers"] = workers
        return f"{name} gets {image}"

    def _recreate(self) -> str:
        name = self._touched()
        self.api.delete(self._models[name])
        return f"{name} is deleted, and applied again"

    def _delete_replica(self) -> str:
        name = self._touched()
        there = sorted(self.view.replicas(name))
        if not there:
            return f"{name} has no replica to delete"
        replica = self._rng.choice(there)
        self.api.delete({"apiVersion": OURS, "kind": "ModelReplica", "metadata": self._named(replica)})
        return f"{replica} is deleted"

    def _drain_one(self) -> str:
        cluster = self._rng.choice(sorted(self.machine.workloads))
        self._round.asked.update(MOST)
        taints = self._rng.choice(([], [{"key": "drain", "value": "true", "effect": "NoExecute"}]))
        self._taint(cluster, taints)
        return f"{cluster} is {'drained' if taints else 'given back'}"

    def _break_spec(self) -> str:
        """Nobody's pods may go for this: a spec that is refused holds what runs."""
        name = self._rng.choice(sorted(MOST))
        self.api.merge(self._of(name), {"spec": {"nodeSelector": {"cel": "device.capacity[.compareTo("}}})
        return f"{name} gets a selector that does not compile"

    def _delete_classes(self) -> str:
        for document in machine.of("InferenceClass"):
            self.api.delete(document)
        return "the classes are deleted"

    def _delete_composed(self) -> str:
        """Delete what is composed beside the replicas; it comes back, and no pod goes for it."""
        kind = self._rng.choice(("ModelEndpoint", "HTTPRoute"))
        if kind == "HTTPRoute":
            self.api.delete(
                {"apiVersion": "gateway.networking.k8s.io/v1", "kind": kind, "metadata": self._named(SERVICE)}
            )
            return f"the route of {SERVICE} is deleted"
        there = sorted(one["metadata"]["name"] for one in self.view.ours(kind))
        if not there:
            return "there is no endpoint to delete"
        name = self._rng.choice(there)
        self.api.delete({"apiVersion": OURS, "kind": kind, "metadata": self._named(name)})
        return f"the endpoint {name} is deleted"

    def _fill_quota(self) -> str:
        answering = sorted(name for name, one in self.machine.workloads.items() if self._disturbance.answers(one))
        if not answering:
            return "no cluster answers"
        cluster = self._rng.choice(answering)
        self.machine.planes[cluster].api.apply(_QUOTA)
        return f"{cluster} lets nobody have more pods"

    def _is_mended(self) -> bool:
        """Take back what people did, and return that it is taken back."""
        for document in machine.of("InferenceClass"):
            self.api.apply(document, owner="platform")
        for cluster, plane in self.machine.workloads.items():
            self._taint(cluster, [])
            plane.api.delete(_QUOTA)
        for name, document in self._models.items():
            there = self.api.get(OURS, "ModelDeployment", name, NAMESPACE)
            if there is not None and "deletionTimestamp" in there["metadata"]:
                return False
            wanted = {**document, "spec": {**document["spec"], "replicas": self._wanted[name]}}
            self.api.apply(wanted, owner="ml-team")
        return True

    # --- what is looked at --------------------------------------------------------------------------------------------

    def _watch(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while True:
            for line in self._disturbance.pass_time():
                self._do(line)
            self._look()
            if time.monotonic() >= end:
                return
            time.sleep(min(LOOK_SECONDS, max(0.0, end - time.monotonic())))

    def _look(self) -> None:
        """Look at everything that answers. Raises: AssertionError at the first law that is broken."""
        for cluster, plane in self.machine.workloads.items():
            if not self._disturbance.answers(plane):
                continue
            try:
                now = frozenset(self._pods(cluster))
            except _UNANSWERED:
                continue
            lost = sorted(f"{one.cluster}/{one.name}" for one in self._ran[cluster] - now if not self._is_asked(one))
            assert not lost, f"pods that nobody asked to go have gone: {', '.join(lost)}"
            self._ran[cluster] = now
        if self._disturbance.answers(self.machine.fleet):
            self._look_at_ledgers()

    def _look_at_ledgers(self) -> None:
        try:
            clusters = self.view.ours("InferenceCluster")
        except _UNANSWERED:
            return
        for one in clusters:
            for pool in one.get("status", {}).get("pools", ()):
                free = pool.get("free", {}).get("gpu", 0)
                assert free >= 0, f"{one['metadata']['name']} gives more than it has: {pool}"

    def _pods(self, cluster: str) -> Iterator[_Pod]:
        for pod in self.view.pods(cluster):
            metadata = pod["metadata"]
            if "deletionTimestamp" not in metadata and pod["status"].get("phase") == "Running":
                replica = metadata["labels"]["modelplane.ai/replica"]
                yield _Pod(cluster, replica, metadata["name"], metadata["uid"])

    def _is_asked(self, pod: _Pod) -> bool:
        return pod.deployment in self._round.asked

    def _is_settled(self) -> bool:
        """Return whether each deployment has as many serving replicas as it wants, and the ledgers say what runs."""
        self._look()
        self._disturbance.pass_time()
        if not all(self._is_served(name, count) for name, count in self._wanted.items()):
            return False
        present = {replica for name in self._wanted for replica in self.view.replicas(name)}
        pods = {cluster: self.view.pods(cluster) for cluster in self.machine.workloads}
        everywhere = [pod for found in pods.values() for pod in found]
        if {pod["metadata"]["labels"]["modelplane.ai/replica"] for pod in everywhere} != present:
            return False
        if not all(map(self._is_as_written, everywhere)):
            return False
        return self._is_routed() and all(self._is_counted(one, pods[one]) for one in pods)

    def _is_served(self, name: str, count: int) -> bool:
        """Return whether a deployment has so many replicas that all serve, and none of a deleted one of its name."""
        replicas = self.view.replicas(name)
        uid = self.view.one("ModelDeployment", name).get("metadata", {}).get("uid")
        owners = [one["metadata"].get("ownerReferences", ()) for one in replicas.values()]
        is_own = all(any(owner["uid"] == uid for owner in found) for found in owners)
        return is_own and len(replicas) == count and replicas.keys() == self.view.serving(name).keys()

    def _is_routed(self) -> bool:
        """Return whether the route leads to the endpoints there are; with none left it stays as it was."""
        endpoints = self.view.endpoints(DEPLOYMENT)
        return not endpoints or self.view.routed(SERVICE) == endpoints

    def _is_as_written(self, pod: Document) -> bool:
        """Return whether a pod is of its deployment's newest text, which is known by its image."""
        name = pod["metadata"]["labels"]["modelplane.ai/replica"].rpartition("-")[0]
        wanted = self._models[name]["spec"]["workers"]["template"]["spec"]["containers"][0]["image"]
        return wanted in (one["image"] for one in pod["spec"]["containers"])

    def _is_counted(self, cluster: str, pods: list[Document]) -> bool:
        """Return whether what a ledger has left is what the devices of its pods leave; every device has one pod."""
        held = [device for pod in pods for device in self.view.devices(cluster, pod)]
        assert len(held) == len(set(held)), f"{cluster}: a device is given twice: {Counter(held).most_common(1)}"
        pools = self.view.one("InferenceCluster", cluster).get("status", {}).get("pools", ())
        free = sum(pool.get("free", {}).get("gpu", 0) for pool in pools)
        return bool(free == POOL_DEVICES[cluster] - len(held))

    # --- words --------------------------------------------------------------------------------------------------------

    def _touched(self) -> str:
        """Return a deployment that may be touched in this round, which it is from now on."""
        name = self._rng.choice(self._round.touchable)
        self._round.asked.add(name)
        return name

    def _of(self, name: str) -> Document:
        return {"apiVersion": OURS, "kind": "ModelDeployment", "metadata": self._named(name)}

    def _named(self, name: str) -> Mapping[str, str]:
        return {"name": name, "namespace": NAMESPACE}

    def _do(self, line: str) -> None:
        self._log.append(line)
        self.say(f"  {line}")

    def _told(self) -> str:
        try:
            return f"wanted {self._wanted}; {self._why()}"
        except _UNANSWERED as error:
            return f"wanted {self._wanted}; the control plane does not answer ({type(error).__name__})"


def run(minutes: float, seed: int, say: Say) -> None:
    """Run on a machine of its own, which is taken down afterwards; its logs stay.

    Raises: AssertionError with the seed and the last actions when a law is broken.
    """
    say(f"chaos with seed {seed} for {minutes:g} minutes")
    try:
        Chaos(machine.up(say), say, seed).run(minutes, seed)
    finally:
        machine.down(say)
