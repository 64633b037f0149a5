"""The events of a simulation: a drain, a loss, a scaling, an addition."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from modelplane import names
from modelplane.api import inference_cluster
from modelplane.errors import InvalidInput
from modelplane_cli.planning import capacity
from modelplane_cli.planning.rehearsal import Rehearsal
from modelplane_cli.planning.replicas import DEPLOYMENT, Deployment
from modelplane_cli.simulator.store import Key, controller_of

Json: TypeAlias = Any

DRAIN = {"key": "drain", "value": "true", "effect": "NoExecute"}


class Happening(Protocol):
    """An event from outside the fleet."""

    @property
    def words(self) -> str:
        """Return the event in words."""

    @property
    def is_loss(self) -> bool:
        """Return whether the event itself removes replicas, without any decision."""

    def strike(self, rehearsal: Rehearsal) -> None:
        """Apply the event. Raises: InvalidInput when its subject does not exist."""


@dataclass(frozen=True, slots=True)
class Drain:
    """A drain: a cluster gets a NoExecute taint."""

    cluster: str
    is_loss = False

    @property
    def words(self) -> str:
        """Return the event in words."""
        return f"drain {self.cluster}"

    def strike(self, rehearsal: Rehearsal) -> None:
        """Taint the cluster."""
        key = cluster_key(rehearsal, self.cluster)
        resource = rehearsal.store.get(key) or {}
        spec = resource.get("spec") or {}
        others = [
            taint
            for taint in spec.get("taints") or ()
            if (taint["key"], taint["effect"]) != (DRAIN["key"], DRAIN["effect"])
        ]
        rehearsal.store.put({**resource, "spec": {**spec, "taints": [*others, dict(DRAIN)]}})


@dataclass(frozen=True, slots=True)
class Loss:
    """The permanent loss of clusters at once: nothing on them responds, and their InferenceClusters are deleted."""

    clusters: tuple[str, ...]
    label: tuple[str, str] | None = None
    is_loss = True

    @property
    def words(self) -> str:
        """Return the event in words."""
        if self.label is None:
            return f"lose {' and '.join(self.clusters)}"
        return f"lose all with {self.label[0]}={self.label[1]}"

    def strike(self, rehearsal: Rehearsal) -> None:
        """Remove the clusters."""
        found = tuple(self._labelled(rehearsal)) if self.label is not None else self.clusters
        for name in found:
            cluster_key(rehearsal, name)
        rehearsal.lose(found)

    def _labelled(self, rehearsal: Rehearsal) -> Iterable[str]:
        key, value = self.label or ("", "")
        found = rehearsal.store.select((names.GROUP, inference_cluster.KIND), None, {key: value})
        if not found:
            raise InvalidInput(f"no InferenceCluster has the label {key}={value}; {_values(rehearsal, key)}")
        return [cluster.name for cluster in found]


@dataclass(frozen=True, slots=True)
class NodeLoss:
    """Nodes of a pool that take nothing new, as they are observed when they are cordoned or broken.

    What stands on the pool stays. The cluster is taken for one that is observed.
    """

    cluster: str
    pool: str
    count: int
    is_loss = False

    @property
    def words(self) -> str:
        """Return the event in words."""
        return f"{self.count} node{'s' * (self.count != 1)} of {self.cluster}/{self.pool} take nothing new"

    def strike(self, rehearsal: Rehearsal) -> None:
        """Publish the numbers that the observer of the cluster would lead to."""
        key = cluster_key(rehearsal, self.cluster)
        resource = dict(rehearsal.store.get(key) or {})
        found = capacity.of(rehearsal.store, self.cluster)
        uses = {} if found is None else {use.pool: use for use in found[1]}
        if self.pool not in uses:
            raise InvalidInput(
                f"no pool {self.pool} of InferenceCluster {self.cluster}; {_did_you_mean(self.pool, [*uses])}"
            )
        present = uses[self.pool].nodes
        if self.count > present:
            raise InvalidInput(
                f"pool {self.pool} of InferenceCluster {self.cluster} has {present} nodes, not {self.count}"
            )
        status = dict(resource.get("status") or {})
        status["pools"] = [
            {**entry, "nodes": self._less(entry.get("nodes") or {}, present)}
            if entry.get("name") == self.pool
            else entry
            for entry in status.get("pools") or ()
        ]
        spec = dict(resource.get("spec") or {})
        spec.setdefault("observe", {})
        rehearsal.store.put({**resource, "spec": spec, "status": status})

    def _less(self, nodes: Mapping[str, Json], present: int) -> Mapping[str, Json]:
        """Return the published nodes of the pool with fewer that take something, `present` of them now."""
        is_looked_at = "allocatable" in nodes
        observed = nodes.get("observed", present) if is_looked_at else present
        ready = nodes.get("ready", observed) if is_looked_at else present
        counts = {"observed": observed, "ready": max(0, ready - self.count), "allocatable": present - self.count}
        return {**nodes, "cordoned": nodes.get("cordoned", 0), **counts}


@dataclass(frozen=True, slots=True)
class Silence:
    """A cluster does not answer for a while. What runs on it is held, and nothing new is placed on it."""

    cluster: str
    is_loss = False

    @property
    def words(self) -> str:
        """Return the event in words."""
        return f"{self.cluster} does not answer"

    def strike(self, rehearsal: Rehearsal) -> None:
        """Cut the cluster off."""
        cluster_key(rehearsal, self.cluster)
        rehearsal.silence((self.cluster,))


@dataclass(frozen=True, slots=True)
class Scaling:
    """A scaling: a deployment wants another number of replicas."""

    deployment: Deployment
    replicas: int
    is_loss = False

    @property
    def words(self) -> str:
        """Return the event in words."""
        return f"scale {self.deployment} to {self.replicas}"

    def strike(self, rehearsal: Rehearsal) -> None:
        """Write the number of replicas, as the scale subresource does."""
        key = self.deployment.key
        resource = rehearsal.store.get(key)
        if resource is None:
            known = [
                names.qualified(one.namespace, one.name) for one in rehearsal.store.of_kind(names.GROUP, DEPLOYMENT)
            ]
            raise InvalidInput(f"no ModelDeployment {self.deployment}; {_did_you_mean(str(self.deployment), known)}")
        owner = controller_of(resource)
        if owner is not None:
            raise InvalidInput(
                f"ModelDeployment {self.deployment} is composed by {owner.get('kind')} {owner.get('name')}, which "
                "writes its replicas; change that object with --add"
            )
        rehearsal.store.put({**resource, "spec": {**(resource.get("spec") or {}), "replicas": self.replicas}})


@dataclass(frozen=True, slots=True)
class Addition:
    """An addition: documents are applied to the existing state."""

    path: str
    objects: Mapping[Key, Mapping[str, Json]]
    is_loss = False

    @property
    def words(self) -> str:
        """Return the event in words."""
        return f"add {self.path}"

    def strike(self, rehearsal: Rehearsal) -> None:
        """Apply the documents."""
        for key in sorted(self.objects):
            rehearsal.apply(self.objects[key], key)


def cluster_key(rehearsal: Rehearsal, name: str) -> Key:
    """Return the identity of a cluster that exists. Raises: InvalidInput when it does not."""
    key = Key(names.GROUP, inference_cluster.KIND, "", name)
    if rehearsal.store.get(key) is None:
        known = [one.name for one in rehearsal.store.of_kind(names.GROUP, inference_cluster.KIND)]
        raise InvalidInput(f"no InferenceCluster {name}; {_did_you_mean(name, known)}")
    return key


def _did_you_mean(word: str, known: list[str]) -> str:
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    if close:
        return f"did you mean {close[0]}?"
    return f"there are {', '.join(known[:10])}{', ...' if len(known) > 10 else ''}" if known else "there is none"


def _values(rehearsal: Rehearsal, key: str) -> str:
    """Return the values that a label of clusters has, or the labels that clusters have where none has that one."""
    values = sorted({str(labels[key]) for labels in _labels(rehearsal) if key in labels})
    return f"{key} is {', '.join(values[:10])}" if values else f"none has {key}; {label_keys(rehearsal)}"


def label_keys(rehearsal: Rehearsal) -> str:
    """Return the keys of the labels that clusters have, in words."""
    keys = sorted({name for labels in _labels(rehearsal) for name in labels if not name.startswith("crossplane.io/")})
    return f"their labels are {', '.join(keys)}" if keys else "they have no labels"


def _labels(rehearsal: Rehearsal) -> list[Mapping[str, Json]]:
    resources = [rehearsal.store.get(one) or {} for one in rehearsal.store.of_kind(names.GROUP, inference_cluster.KIND)]
    return [resource["metadata"].get("labels") or {} for resource in resources]
