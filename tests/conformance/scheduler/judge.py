"""Cases put before kube-scheduler in batches, and what became of every pod."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from modelplane.placement.diagnosis.shortage import SOME_ARRANGEMENTS
from modelplane_cli.planning import decision, explanation
from modelplane_cli.planning.replicas import Deployment
from modelplane_cli.simulator.offline import World
from modelplane_cli.simulator.store import Store
from tests.conformance.scheduler import fleets, hardware, refusals
from tests.support import controlplane, installation, kubeapi, rendered

Document = dict[str, Any]

OURS = "modelplane.ai/v1alpha1"
BOUND_SECONDS = 240
THREADS = 8
REPLICA = "conformance.modelplane.ai/replica"


@dataclass(frozen=True)
class Trial:
    """A replica that we refused, as it would stand on one pool."""

    name: str
    place: tuple[str, str]
    manifests: list[Document]


@dataclass(frozen=True)
class Round:
    """What goes from the clusters of a case, and then what comes. `bound` says of each pod whether it has a node."""

    gone: list[Document]
    come: list[Document]
    bound: dict[str, bool] = field(default_factory=dict)


@dataclass
class Case:
    """One fleet: its documents, what was rendered for it, and what the scheduler made of that.

    `running` is what deployments that came earlier were given; its pods stand before anything of the others is there.
    A case may be in `rounds` instead; `promised` is the number of pods then, and `waited` names those without a node.
    `machines` are its Nodes and what stands with them, where its classes do not say so.
    """

    seed: int
    documents: list[Document]
    replicas: list[Document] = field(default_factory=list)
    running: list[Document] = field(default_factory=list)
    placed: list[Document] = field(default_factory=list)
    refused: list[Trial] = field(default_factory=list)
    pods: dict[str, Document] = field(default_factory=dict)
    rounds: list[Round] = field(default_factory=list)
    promised: int = 0
    waited: set[str] = field(default_factory=set)
    machines: list[Document] | None = None

    @property
    def namespace(self) -> str:
        """Return the namespace of the case's deployments."""
        return f"s{self.seed}"

    def of(self, kind: str) -> dict[str, Document]:
        """Return the case's documents of one kind by name."""
        return {one["metadata"]["name"]: one for one in self.documents if one["kind"] == kind}

    def hardware(self) -> Iterator[Document]:
        """Yield the Nodes of the case's clusters, and what their drivers publish."""
        if self.machines is not None:
            yield from self.machines
            return
        classes = self.of("InferenceClass")
        for name, cluster in self.of("InferenceCluster").items():
            yield from hardware.nodes(cluster, classes, where(self.seed, name))

    def pods_of(self, replica: str) -> list[Document]:
        """Return what became of a replica's pods."""
        return [pod for pod in self.pods.values() if pod["metadata"]["labels"][REPLICA] == replica]


def case(seed: int, documents: list[Document] | None = None) -> Case:
    """Return a case with what we place and what we refuse.

    The first half of several deployments (one of two, one of three) came earlier: the fleet is settled with them alone,
    and then once more with all. Cost: a tenth of a second.
    """
    made = Case(seed, fleets.documents(seed) if documents is None else documents)
    later = list(made.of("ModelDeployment"))
    later = later[len(later) // 2 :]
    before = _settled([one for one in made.documents if one["metadata"]["name"] not in later])
    settled = _settled([*before.objects(), *(one for one in made.documents if one["metadata"]["name"] in later)])
    made.running = list(_on_clusters(seed, before))
    placed = list(_on_clusters(seed, settled))
    assert all(one in placed for one in made.running), "what ran was changed by those who came later"
    made.placed = [one for one in placed if one not in made.running]
    for document in settled.objects():
        if document["kind"] == "ModelReplica" and kubeapi.condition(document, "Admitted").get("status") == "True":
            made.replicas.append(document)
        elif document["kind"] == "ModelDeployment" and document["status"].get("unscheduledReplicas"):
            made.refused.extend(_refused(made, document, _unsure(settled.store, document)))
    return made


def play(made: Case, changes: Sequence[Callable[[list[Document]], list[Document]]]) -> None:
    """Settle the documents of a case after each of the changes in turn, and note what goes and comes by it."""
    found, stood = made.documents, list[Document]()
    for change in changes:
        settled = _settled(change(found))
        found, stands = settled.objects(), list(_on_clusters(made.seed, settled))
        made.rounds.append(
            Round([one for one in stood if one not in stands], [one for one in stands if one not in stood])
        )
        stood = stands


def _settled(documents: Sequence[Document]) -> World:
    settled = rendered.world(documents)
    assert not settled.settled.record.bugs, settled.settled.record.bugs
    return settled


def _on_clusters(seed: int, settled: World) -> Iterator[Document]:
    for place, document in rendered.placed(settled):
        if place != rendered.CONTROL_PLANE:
            yield {**document, "where": where(seed, place)}


def where(seed: int, cluster: str) -> str:
    """Return the name of a cluster that no other case uses."""
    return f"s{seed}-{cluster}"


def _unsure(store: Store, deployment: Document) -> set[tuple[str, str]]:
    """Return the pools, by cluster and name, whose room depends on where pods happen to stand.

    We promise nothing there, and the scheduler may be lucky.
    """
    meta = deployment["metadata"]
    decided = decision.of(store, Deployment(meta["namespace"], meta["name"]))
    verdicts = explanation.deployment(decided).verdicts
    return {(one.cluster, pool.pool) for one in verdicts for pool in one.pools if SOME_ARRANGEMENTS in pool.detail}


def _refused(made: Case, deployment: Document, unsure: set[tuple[str, str]]) -> Iterator[Trial]:
    classes = made.of("InferenceClass")
    for name, cluster in sorted(made.of("InferenceCluster").items()):
        for pool in cluster["spec"]["nodePools"]:
            place = (name, pool["name"])
            manifests = None
            if place not in unsure:
                manifests = refusals.forced(deployment, cluster, pool, classes[pool["className"]])
            if manifests is not None:
                (called,) = (one["metadata"]["name"] for one in manifests if one["kind"] == "LLMInferenceService")
                yield Trial(called, place, [{**one, "where": where(made.seed, name)} for one in manifests])


def judge(plane: controlplane.Plane, cases: Sequence[Case]) -> None:
    """Create everything of the cases in turn and fill in what the scheduler decided.

    What ran earlier first, then the rest of what we place, then what we refuse: each replica alone on its pool, since
    two of several pods that both stand by half would keep each other from standing whole.
    """
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(lambda one: _prepare(plane, one), cases))
        list(pool.map(lambda one: _create(plane, one.running), cases))
        _await(plane, cases, "what ran earlier to be bound")
        list(pool.map(lambda one: _create(plane, one.placed), cases))
        _await(plane, cases, "what we place to be bound")
        for turn in _turns(cases):
            list(pool.map(lambda trial: _create(plane, trial.manifests), turn))
            _await(plane, cases, "the scheduler's word on what we refuse")
            _take_away(plane, {trial.name for trial in turn}, cases)
        list(pool.map(lambda one: _clean(plane, one), cases))


def judge_rounds(plane: controlplane.Plane, cases: Sequence[Case]) -> None:
    """Play the rounds of the cases, all at once round by round, and fill in which promised pods found no node."""
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(lambda one: _prepare(plane, one), cases))
        for turn in itertools.zip_longest(*(one.rounds for one in cases)):
            pairs = [(one, now) for one, now in zip(cases, turn, strict=True) if now is not None]
            _take_away(plane, {name for _, now in pairs for name in _services(now.gone)}, cases)
            list(pool.map(lambda pair: _discard(plane, pair[1].gone), pairs))
            for one, _ in pairs:
                one.pods.clear()
            list(pool.map(lambda pair: _create(plane, pair[1].come), pairs))
            _await(plane, cases, "a round to be bound")
            for one, now in pairs:
                come = [pod for name in _services(now.come) for pod in one.pods_of(name)]
                now.bound.update({pod["metadata"]["name"]: bool(pod["spec"].get("nodeName")) for pod in come})
                one.promised += len(come)
                one.waited |= {name for name, pod in one.pods.items() if not pod["spec"].get("nodeName")}
        list(pool.map(lambda one: _clean(plane, one), cases))


def _services(manifests: Sequence[Document]) -> set[str]:
    return {one["metadata"]["name"] for one in manifests if one["kind"] == "LLMInferenceService"}


def _discard(plane: controlplane.Plane, manifests: Sequence[Document]) -> None:
    for manifest in manifests:
        if manifest["kind"] == "ResourceClaimTemplate":
            plane.api.delete(manifest)


def _turns(cases: Sequence[Case]) -> Iterator[list[Trial]]:
    """Yield the trials of all cases such that no turn has two on one pool; different pools have different nodes."""
    waiting: dict[tuple[int, tuple[str, str]], list[Trial]] = {}
    for one in cases:
        for trial in one.refused:
            waiting.setdefault((one.seed, trial.place), []).append(trial)
    for turn in itertools.zip_longest(*waiting.values()):
        yield [trial for trial in turn if trial is not None]


def _take_away(plane: controlplane.Plane, replicas: set[str], cases: Sequence[Case]) -> None:
    """Delete the pods of these replicas, and return when they and their claims, which hold devices, are gone."""
    namespaces = {one.namespace for one in cases}

    def theirs() -> list[Document]:
        found = [pod for pod in plane.api.all_of("v1", "Pod") if pod["metadata"]["namespace"] in namespaces]
        return [pod for pod in found if pod["metadata"]["labels"][REPLICA] in replicas]

    pods = theirs()
    for pod in pods:
        plane.api.delete(pod, seconds=0)
    owners = {pod["metadata"]["uid"] for pod in pods}

    def left() -> list[str]:
        claims = plane.api.all_of("resource.k8s.io/v1", "ResourceClaim")
        held = [
            one for one in claims if any(ref["uid"] in owners for ref in one["metadata"].get("ownerReferences", []))
        ]
        return [one["metadata"]["name"] for one in (*theirs(), *held)]

    kubeapi.until(left, seconds=BOUND_SECONDS, what="refused pods to be gone", enough=lambda found: not found)


def _prepare(plane: controlplane.Plane, one: Case) -> None:
    for document in one.hardware():
        plane.api.create(document)
    installation.namespace(plane, one.namespace)
    # Pods name it, and its controller is as busy as everybody else.
    at = {"name": "default", "namespace": one.namespace}
    plane.api.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": at})


def _create(plane: controlplane.Plane, manifests: Sequence[Document]) -> None:
    """Create what is rendered; the pods of all workloads come in an order drawn by chance."""
    pods: list[Document] = []
    for manifest in manifests:
        document = {key: value for key, value in manifest.items() if key != "where"}
        if document["kind"] == "ResourceClaimTemplate":
            plane.api.create(document)
        elif document["kind"] == "LLMInferenceService":
            pods += hardware.pods(document, manifest["where"])
    random.Random(len(pods)).shuffle(pods)  # noqa: S311  chance, not secrecy
    for pod in pods:
        plane.api.create(pod)


def _await(plane: controlplane.Plane, cases: Sequence[Case], what: str) -> None:
    wanted = {one.namespace: one for one in cases}

    def undecided() -> list[str]:
        found = [pod for pod in plane.api.all_of("v1", "Pod") if pod["metadata"]["namespace"] in wanted]
        for pod in found:
            wanted[pod["metadata"]["namespace"]].pods[pod["metadata"]["name"]] = pod
        return [f"{pod['metadata']['namespace']}/{pod['metadata']['name']}" for pod in found if not _is_decided(pod)]

    kubeapi.until(undecided, seconds=BOUND_SECONDS, what=what, every=1, enough=lambda waiting: not waiting)


def _is_decided(pod: Document) -> bool:
    if pod["spec"].get("nodeName"):
        return True
    said = kubeapi.condition(pod, "PodScheduled")
    # A claim that its controller has not made yet is a matter of time, not a verdict.
    return said.get("status") == "False" and "waiting for" not in said.get("message", "")


def _clean(plane: controlplane.Plane, one: Case) -> None:
    """Delete the nodes of a case, so that the next batch is not scheduled among them."""
    for pod in plane.api.all_of("v1", "Pod", one.namespace):
        plane.api.delete(pod, seconds=0)
    for document in one.hardware():
        plane.api.delete(document)
