"""Control loops in any order: each reads what its cache holds, which may be old and never goes backwards.

A small fleet without a server: deployments, replicas and clusters are reconciled by the real composers, one at a time,
on snapshots that are as old as the schedule wants. What real controllers add is one action each: pods that come up,
deletions that are finished.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from modelplane import names
from modelplane.errors import InvalidInput
from modelplane.render.backends import kserve
from modelplane_cli.simulator import assumed_routing
from modelplane_functions import cluster_gateway
from modelplane_functions.compose import inference_cluster, model_deployment, model_replica
from modelplane_functions.exchange import Observed, Outcome, Requirement
from tests.support import exchange, fleet, two_steps

Json = Any
Compose = Callable[[Observed], Outcome]
NAMESPACE = "ml-team"
DEVICES_PER_NODE = 8


@dataclass(frozen=True)
class Left:
    """A workload without its replica, which still runs on its cluster."""

    document: Json
    cluster: str
    devices: int


@dataclass
class Fleet:
    """Everything that exists, every state it was in, and how far each reader's cache has come."""

    rng: random.Random
    deployments: dict[str, Json]
    clusters: dict[str, Json]
    replicas: dict[str, Json] = field(default_factory=dict)
    children: dict[str, dict[str, Json]] = field(default_factory=dict)
    """Objects of each replica by key, and endpoints of each deployment under `endpoints/<name>`."""
    stood: dict[str, Json] = field(default_factory=dict)
    """The spec of each replica as it was when its workload was last rendered; what is written since is no pod."""
    left: list[Left] = field(default_factory=list)
    """Workloads whose replica is gone already: it was deleted in the background."""
    history: list[dict[str, Json]] = field(default_factory=list)
    read_up_to: dict[str, int] = field(default_factory=dict)
    classes: list[Json] = field(default_factory=lambda: [fleet.inference_class()])
    clock: int = 0
    asked: dict[str, Mapping[str, Requirement]] = field(default_factory=dict)
    """The requirements of each composite's last reconcile."""

    def __post_init__(self) -> None:
        """Remember the first state."""
        self.remember()

    # --- reading --------------------------------------------------------------------------------------------------

    def remember(self) -> None:
        """Keep what readers may see from now on; objects are replaced and never changed, so references are enough."""
        clusters = {f"c/{key}": one for key, one in self.clusters.items()}
        deployments = {f"d/{key}": one for key, one in self.deployments.items()}
        left = {f"l/{number}": one.document for number, one in enumerate(self.left)}
        self.history.append({**clusters, **deployments, **self._live_replicas(), **left})

    def _live_replicas(self) -> dict[str, Json]:
        replicas = {f"r/{key}": one for key, one in self.replicas.items()}
        workloads = {
            f"w/{key}": fleet.workload_of(one)
            for key, one in self.replicas.items()
            if "workload" in self.children.get(key, {})
        }
        return {**replicas, **workloads}

    def snapshot(self, reader: str, *, fresh: bool) -> list[Json]:
        """Return what the reader's cache holds: any state since what it read last."""
        newest = len(self.history) - 1
        oldest = min(self.read_up_to.get(reader, 0), newest)
        chosen = newest if fresh else self.rng.randint(oldest, newest)
        self.read_up_to[reader] = chosen
        return [*self.history[chosen].values(), *self.classes]

    def _settled(self, compose: Compose, composite: Json, children: dict[str, Json], store: list[Json]) -> Outcome:
        """Return the outcome of one reconcile, which begins with what the last one of the composite asked for."""
        about = f"{composite['kind']}/{composite['metadata']['name']}"
        made = exchange.calls(compose, composite, children=children, store=store, before=self.asked.get(about))
        self.asked[about] = made[-1].outcome.requirements
        return made[-1].outcome

    def _placed(self, composite: Json, children: dict[str, Json], store: list[Json]) -> Outcome:
        """Return the outcome of a deployment's reconcile, which is that of a deployment that asks for all at once."""
        outcome = self._settled(exchange.in_free_names(model_deployment.compose), composite, children, store)
        two_steps.check(outcome, composite, children, store)
        return outcome

    # --- one reconcile each ---------------------------------------------------------------------------------------

    def reconcile_deployment(self, name: str, *, fresh: bool = False) -> None:
        """Run the deployment's function; replicas are its cache's newest, clusters as old as may be.

        Children and the replicas it asks for come from one informer. A child that it dropped is forgotten at once,
        though its object is there until its finalizers are done.
        """
        composite = self.deployments[name]
        machinery = composite["spec"].get("crossplane", {})
        referred = {one["name"] for one in machinery.get("resourceRefs", ()) if one["kind"] == "ModelReplica"}
        seen = {
            f"replica-{key}": one
            for key, one in self.replicas.items()
            if key in referred and not one["metadata"].get("deletionTimestamp")
        }
        endpoints = self.children.setdefault(f"endpoints/{name}", {})
        old = self.snapshot(f"d/{name}", fresh=fresh)
        store = [*(one for one in old if one["kind"] != "ModelReplica"), *self.replicas.values()]
        try:
            outcome = self._placed(composite, {**seen, **endpoints}, store)
        except InvalidInput:
            return  # a fatal result: nothing is applied
        # Crossplane notes what it composes before it makes it.
        self.deployments[name] = composite = _referring(composite, outcome)
        self.remember()
        for key in sorted(seen.keys() - outcome.children.keys()):
            self._delete(key.removeprefix("replica-"))
        for key in sorted(endpoints.keys() - outcome.children.keys()):
            del endpoints[key]
        for key, child in outcome.children.items():
            resource = copy.deepcopy(dict(child.resource))
            if key.startswith("replica-"):
                self._apply_replica(key.removeprefix("replica-"), fleet.controlled(resource, composite))
            else:
                endpoints[key] = {**resource, "status": endpoints.get(key, {}).get("status", {})}
        self.deployments[name] = {**composite, "status": {**outcome.status, "conditions": _conditions(outcome)}}
        self.remember()

    def _apply_replica(self, name: str, resource: Json) -> None:
        there = self.replicas.get(name)
        assert there is None or not there["metadata"].get("deletionTimestamp"), f"{name} is written while it is going"
        metadata = {**resource["metadata"], "uid": f"uid-{name}-{len(self.history)}", "generation": 1}
        if there is None:
            # Servers count in seconds, so several of them are born at the same time.
            metadata["creationTimestamp"] = f"2026-01-01T00:{self.clock // 4 // 60:02d}:{self.clock // 4 % 60:02d}Z"
        else:
            metadata |= {key: there["metadata"][key] for key in ("creationTimestamp", "uid")}
            if "crossplane" in there["spec"]:
                resource["spec"]["crossplane"] = there["spec"]["crossplane"]
            same = there["spec"] == resource["spec"]
            metadata["generation"] = there["metadata"]["generation"] + (0 if same else 1)
            before, after = there["spec"]["clusterName"], resource["spec"]["clusterName"]
            assert before == after, f"{name} would be moved from {before} to {after}; the API server refuses that"
        status = {"status": there["status"]} if there is not None and "status" in there else {}
        self.replicas[name] = {**resource, "metadata": metadata, **status}

    def _delete(self, name: str) -> None:
        there = self.replicas[name]
        if not there["metadata"].get("deletionTimestamp"):
            metadata = {**there["metadata"], "deletionTimestamp": "2026-01-02T00:00:00Z"}
            self.replicas[name] = {**there, "metadata": metadata}

    def reconcile_cluster(self, name: str, *, fresh: bool = False) -> None:
        """Run the cluster's function: the one writer of its ledger. Its own status is never old to itself."""
        composite = self.clusters[name]
        store = self.snapshot(f"c/{name}", fresh=fresh)
        outcome = self._settled(inference_cluster.compose, composite, {cluster_gateway.KEY: _gateway(name)}, store)
        self.clusters[name] = {**composite, "status": {**outcome.status, "conditions": _conditions(outcome)}}
        self.remember()

    def reconcile_replica(self, name: str, *, fresh: bool = False) -> None:
        """Run the replica's function; one that is being deleted has none."""
        composite = self.replicas[name]
        if composite["metadata"].get("deletionTimestamp"):
            return
        children = self.children.setdefault(name, {})
        store = self.snapshot(f"r/{name}", fresh=fresh)
        try:
            outcome = self._settled(model_replica.compose, composite, children, store)
        except InvalidInput:
            return  # a fatal result: nothing is applied
        # Crossplane notes what it composes before it makes it.
        self.replicas[name] = composite = _referring(composite, outcome)
        self.remember()
        for key in sorted(children.keys() - outcome.children.keys()):
            del children[key]
        before, after = children.get("workload"), outcome.children.get("workload")
        if after is not None and (before is None or before["spec"] != after.resource["spec"]):
            self.stood[name] = composite["spec"]
        for key, child in outcome.children.items():
            status = children.get(key, {}).get("status")
            children[key] = {**copy.deepcopy(dict(child.resource)), **({"status": status} if status else {})}
        self.replicas[name] = {**composite, "status": {**outcome.status, "conditions": _conditions(outcome)}}
        self.remember()

    # --- what other controllers do --------------------------------------------------------------------------------

    def bring_up(self, name: str) -> None:
        """Let the pods and routes of a rendered replica come up, and endpoints answer."""
        for child in self.children.get(name, {}).values():
            child["status"] = _object_status(child, names.internal_host(NAMESPACE, name))
        for key, endpoints in self.children.items():
            if key.startswith("endpoints/"):
                for endpoint in endpoints.values():
                    draining = bool(endpoint["spec"].get("drain"))
                    ready = {"type": "Ready", "status": "True", "reason": "Available"}
                    endpoint["status"] = {"ready": not draining, "conditions": [ready]}

    def finish_deletion(self, name: str) -> None:
        """Let what was deleted be gone; its workload may be there a while longer."""
        replica = self.replicas[name]
        if replica["metadata"].get("deletionTimestamp"):
            if "workload" in self.children.get(name, {}):
                devices = {one: count for one, _, count in self.rendered()}[name]
                self.left.append(Left(fleet.workload_of(replica), replica["spec"]["clusterName"], devices))
            del self.replicas[name]
            self.children.pop(name, None)
            self.stood.pop(name, None)
            self.read_up_to.pop(f"r/{name}", None)
            self.remember()

    def collect(self) -> None:
        """Let the oldest workload without a replica be gone from its cluster too."""
        del self.left[:1]
        self.remember()

    # --- what stands ----------------------------------------------------------------------------------------------

    def rendered(self) -> Iterator[tuple[str, str, int]]:
        """Yield (replica, cluster, devices) of every replica whose pods may exist on its cluster."""
        for name, replica in sorted(self.replicas.items()):
            if self.children.get(name):
                spec = self.stood.get(name, replica["spec"]) if "workload" in self.children[name] else replica["spec"]
                pods = spec["workers"].get("count", 1) * spec["workers"]["topology"].get("pipeline", 1)
                yield name, spec["clusterName"], pods * sum(request["count"] for request in spec["devices"])

    def used(self, cluster: str) -> int:
        """Return the devices that rendered replicas take on a cluster, and those that are left of replicas gone."""
        left = sum(one.devices for one in self.left if one.cluster == cluster)
        return left + sum(devices for _, place, devices in self.rendered() if place == cluster)

    def capacity(self, cluster: str) -> int:
        """Return the devices of a cluster: one pool of equal nodes."""
        return int(self.clusters[cluster]["spec"]["nodePools"][0]["nodeCount"]) * DEVICES_PER_NODE

    def state(self) -> str:
        """Return everything that is compared to tell that nothing moves any more."""
        return repr((self.deployments, self.clusters, sorted(self.replicas.items()), sorted(self.children.items())))

    # --- schedules ------------------------------------------------------------------------------------------------

    def step(self) -> str:
        """Take one random action on what caches hold, and return its name."""
        self.clock += 1
        actions: list[tuple[str, Callable[[], None]]] = []
        for name in sorted(self.deployments):
            actions.append((f"deployment {name}", partial(self.reconcile_deployment, name)))
        for name in sorted(self.clusters):
            actions.append((f"cluster {name}", partial(self.reconcile_cluster, name)))
        for name in sorted(self.replicas):
            actions.append((f"replica {name}", partial(self.reconcile_replica, name)))
            actions.append((f"bring up {name}", partial(self.bring_up, name)))
            actions.append((f"finish {name}", partial(self.finish_deletion, name)))
        if self.left:
            actions.append(("collect", self.collect))
        word, act = self.rng.choice(actions)
        act()
        return word

    def settle(self, most: int = 60) -> int:
        """Return the rounds after which nothing moves any more, every loop reading what is newest."""
        for round_ in range(1, most + 1):
            before = self.state()
            self.clock += 1
            for name in sorted(self.deployments):
                self.reconcile_deployment(name, fresh=True)
            for name in sorted(self.clusters):
                self.reconcile_cluster(name, fresh=True)
            for name in sorted(self.replicas):
                self.reconcile_replica(name, fresh=True)
                self.bring_up(name)
                self.finish_deletion(name)
            while self.left:
                self.collect()
            if self.state() == before:
                return round_
        raise AssertionError(f"still moving after {most} rounds")


def _referring(composite: Json, outcome: Outcome) -> Json:
    composed = [child.resource for child in outcome.children.values()]
    references = [{"kind": one["kind"], "name": one["metadata"]["name"]} for one in composed]
    return {**composite, "spec": {**composite["spec"], "crossplane": {"resourceRefs": references}}}


def _conditions(outcome: Outcome) -> list[Json]:
    said = [
        {"type": one.type, "status": one.status.value, "reason": one.reason, "message": one.message}
        for one in outcome.conditions
    ]
    ready = {"type": "Ready", "status": outcome.ready.value if outcome.ready else "False", "reason": "Test"}
    return [*said, ready]


def _gateway(cluster: str) -> Json:
    """Return the Object that observes a cluster's own Gateway, which has an address."""
    listener = {"name": "http", "port": 80, "protocol": "HTTP"}
    manifest = {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "Gateway",
        "metadata": {"name": "modelplane", "namespace": names.SYSTEM_NAMESPACE},
        "spec": {"listeners": [listener]},
        "status": {"addresses": [{"value": f"gateway.{cluster}.example.com"}]},
    }
    return {
        "apiVersion": "kubernetes.m.crossplane.io/v1alpha1",
        "kind": "Object",
        "metadata": {"name": f"{cluster}-gateway", "namespace": names.SYSTEM_NAMESPACE},
        "spec": {"forProvider": {"manifest": {}}},
        "status": {"atProvider": {"manifest": manifest}, "conditions": [{"type": "Synced", "status": "True"}]},
    }


def _object_status(wrapped: Json, host: str) -> Json:
    """Return what provider-kubernetes reports of an object that came up on its cluster."""
    manifest = wrapped["spec"]["forProvider"]["manifest"]
    status: Json = None
    if manifest["kind"] == "LLMInferenceService":
        status = kserve.assume(manifest, host, lambda *_identity: True)
    elif manifest["kind"] == "HTTPRoute":
        status = assumed_routing.http_route(manifest, lambda *_identity: True)
    seen = {**manifest, "metadata": {**manifest["metadata"], "generation": 1}}
    return {
        "atProvider": {"manifest": seen if status is None else {**seen, "status": status}},
        "conditions": [{"type": "Ready", "status": "True"}, {"type": "Synced", "status": "True"}],
    }
