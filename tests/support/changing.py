"""A cluster whose replicas change in place, with its pods: acts on it, and what its ledger must count."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

from modelplane import names
from modelplane.api import admissions
from modelplane.api import replica as replicas
from modelplane.api.fields import Field
from modelplane.render import claims, pod_collection
from tests.support import cluster_world, fleet
from tests.support.cluster_world import Running

Json = Any
SIZES = (1, 2, 4, 8)


def of_size(running: Running, *, tensor: int = 1, count: int = 1) -> None:
    """Let the deployment say this, and let it write its replicas anew where they are."""
    workers = running.deployment["spec"]["workers"]
    workers |= {"count": count, "topology": {**workers["topology"], "tensor": tensor}}
    proposed = cluster_world.replicas_of(running.deployment, fleet.inference_cluster("a", nodes=99))
    by_name = {one["metadata"]["name"]: one for one in proposed}
    for replica in running.replicas:
        replica["spec"] = by_name[replica["metadata"]["name"]]["spec"]


def pods_of(replica: Json, number: int = 1, first: int = 0) -> list[Json]:
    """Return pods of the replica as it is now."""
    found, name = replicas.decode(replica), replica["metadata"]["name"]
    (bound,) = found.roles
    devices = claims.of(found, bound, {})
    made = []
    for position in range(number):
        pod = cluster_world.pod(name, first + position)
        pod["metadata"]["labels"] |= {names.LABEL_ROLE: "decode"}
        pod["spec"] = {
            "resourceClaims": devices.pod_claims,
            "containers": [{"name": "main", "resources": {"limits": {"cpu": "8", **devices.limits}}}],
        }
        made.append(pod)
    return made


def applied(running: Running, *, seen: int = 2, digest: str = "", only: str = "") -> None:
    """Let the Objects of the workloads be rendered from what was admitted last, and be applied; of `only` one."""
    records = admissions.decode(Field(running.cluster["status"]))
    for replica in running.replicas:
        name = replica["metadata"]["name"]
        key = f"ml-team/{name}"
        if key not in records or (only and name != only):
            continue
        note = {names.ANNOTATION_RENDERED_FROM: digest or records[key].digest}
        workload = fleet.workload_of(replica, annotations=note, generation=2)
        workload["status"] = {"conditions": [{"type": "Synced", "status": "True", "observedGeneration": seen}]}
        running.others = [one for one in running.others if one["metadata"]["name"] != workload["metadata"]["name"]]
        running.others.append(workload)


def lists(running: Running, found: list[Json]) -> None:
    """Let the provider list these pods beside the Objects that are there."""
    kept = [one for one in running.others if not one["metadata"].get("labels")]
    running.lists(*found)
    running.others = [*kept, *(one for one in running.others if one["metadata"].get("labels"))]


class Changing:
    """The cluster, and the pods that run there: of each replica those of its workload, and those that are ending."""

    def __init__(self, replicas: int, nodes: int) -> None:
        self.running = Running(replicas=replicas, nodes=nodes)
        self.running.kinds = {pod_collection.KIND}
        self.pods: dict[str, list[tuple[int, Json]]] = {}
        """The devices and the pod, by replica."""
        self.wanted: dict[str, tuple[int, list[Json]]] = {}
        """What the cluster's controllers have been told: the devices of a pod, and the pods."""
        self.number = 0
        for replica in self.running.replicas:
            self.render(replica["metadata"]["name"])
            self.roll(replica["metadata"]["name"])

    def acts(self) -> tuple[Callable[[random.Random], None], ...]:
        """Return the things that may happen, each for a replica that is drawn."""
        return (
            lambda draw: of_size(self.running, tensor=draw.choice(SIZES), count=draw.choice((1, 1, 2))),
            lambda draw: self.render(draw.choice(self.names())),
            lambda draw: self.roll(draw.choice(self.names())),
            lambda draw: self.end(draw.choice(self.names())),
            lambda draw: self.end(draw.choice(self.names())),
            lambda _: self.list(),
        )

    def look(self, _draw: random.Random | None = None) -> None:
        """Let the function of the cluster decide."""
        self.running.step()

    def names(self) -> list[str]:
        """Return the names of the replicas that exist."""
        return [one["metadata"]["name"] for one in self.running.replicas]

    def render(self, name: str) -> None:
        """Let the workload of a replica be rendered and applied, if it is admitted as it is."""
        replica = next(one for one in self.running.replicas if one["metadata"]["name"] == name)
        found = replicas.decode(replica)
        record = admissions.decode(Field(self.running.cluster["status"])).get(f"ml-team/{name}")
        if record is None or record.digest != replicas.fingerprint(found):
            return
        (holding,) = record.holdings
        (bound,) = found.roles
        applied(self.running, only=name)
        devices = holding.shape.devices[0][1]
        had, wanted = self.wanted.get(name, (0, []))
        there = [pod for size, pod in self.pods.get(name, ()) if size == devices and pod not in wanted]
        stay = [*(wanted if had == devices else []), *there][: bound.spec.pods]
        new = pods_of(replica, bound.spec.pods - len(stay), self.number)
        self.number += len(new)
        self.wanted[name] = devices, [*stay, *new]

    def roll(self, name: str) -> None:
        """Let a controller begin the pods that it wants of a replica; those from before end later."""
        devices, made = self.wanted.get(name, (0, []))
        there = self.pods.setdefault(name, [])
        known = {pod["metadata"]["name"] for _, pod in there}
        there += [(devices, pod) for pod in made if pod["metadata"]["name"] not in known]

    def end(self, name: str) -> None:
        """Let a pod of a replica end that its controller does not want any more."""
        wanted = {pod["metadata"]["name"] for pod in self.wanted.get(name, (0, []))[1]}
        old = [one for one in self.pods.get(name, ()) if one[1]["metadata"]["name"] not in wanted]
        if old:
            self.pods[name].remove(old[0])

    def list(self) -> None:
        """Let the provider list the pods."""
        lists(self.running, [pod for found in self.pods.values() for _, pod in found])

    def settle(self) -> None:
        """Let everything happen that is still to come."""
        for _ in range(8):
            for name in self.names():
                self.render(name)
                self.roll(name)
            for name in list(self.pods):
                for _ in range(20):
                    self.end(name)
            self.list()
            self.look()

    def counted(self) -> Counter[str]:
        """Return the devices that the ledger counts, by replica."""
        found = Counter[str]()
        for key, record in admissions.decode(Field(self.running.cluster["status"])).items():
            found[key.partition("/")[2]] = sum(one.pods * one.shape.devices[0][1] for one in record.held)
        return found

    def asked(self) -> Counter[str]:
        """Return the devices of the replicas as they are."""
        found = Counter[str]()
        for replica in self.running.replicas:
            for bound in replicas.decode(replica).roles:
                found[replica["metadata"]["name"]] += bound.spec.pods * sum(one.count for one in bound.devices)
        return found

    def assert_counted(self) -> None:
        """Assert that each replica counts for at least what its pods of any one spec hold.

        Where there is room, pods of several specs run for a moment; the ledger counts what they hold on a full node.
        """
        counted = self.counted()
        for name, found in self.pods.items():
            held = Counter[str]()
            for devices, pod in found:
                held[pod["spec"]["resourceClaims"][0]["resourceClaimTemplateName"]] += devices
            assert counted[name] >= max(held.values(), default=0), (name, counted, held)
