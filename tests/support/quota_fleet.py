"""The control loops of `interleaving` with quotas: several namespaces, and every cache as old as it likes.

A quota and a cluster read each kind from a cache of its own, so that no order of two objects is taken for granted.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from modelplane import names
from modelplane.api import admissions
from modelplane.api.fields import Field
from modelplane_functions.compose import inference_quota, model_deployment
from modelplane_functions.exchange import Outcome
from tests.support import exchange, fleet
from tests.support.interleaving import Fleet

Json = Any
NAMESPACES = ("ml-team", "other")
PRICE = 40
"""The price of a node of eight devices."""
_BY_KIND = ("InferenceQuota", "Namespace", "InferenceCluster")


def quota(name: str, *, limits: Json, **spec: Json) -> Json:
    """Return a quota of both namespaces, unless `spec` says otherwise."""
    return {
        "apiVersion": names.API_VERSION,
        "kind": "InferenceQuota",
        "metadata": {"name": name, "uid": f"uid-quota-{name}"},
        "spec": {"namespaces": {"names": list(NAMESPACES)}, "limits": limits, **spec},
    }


def namespace(name: str, **labels: str) -> Json:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def priced() -> Json:
    """Return the class of the fleet with a price."""
    found = fleet.inference_class()
    return {**found, "spec": {**found["spec"], "cost": {"perNodeHour": str(PRICE), "currency": "USD"}}}


@dataclass
class QuotaFleet(Fleet):
    """A fleet whose namespaces have quotas."""

    quotas: dict[str, Json] = field(default_factory=dict)
    namespaces: dict[str, Json] = field(default_factory=lambda: {name: namespace(name) for name in NAMESPACES})
    seen_of: dict[tuple[str, str], int] = field(default_factory=dict)
    checked: bool = True
    """Every outcome of a deployment is held to that of one that asks for all at once, which takes as long again."""

    def remember(self) -> None:
        """Keep what readers may see, quotas and namespaces included."""
        super().remember()
        quotas = {f"q/{key}": one for key, one in self.quotas.items()}
        self.history[-1] |= quotas | {f"n/{key}": one for key, one in self.namespaces.items()}

    def snapshot(self, reader: str, *, fresh: bool) -> list[Json]:
        """Return what the reader's caches hold; a cluster and a quota have one for each kind."""
        found = super().snapshot(reader, fresh=fresh)
        if reader[0] not in "cq" or fresh:
            for kind in _BY_KIND:
                self.seen_of[reader, kind] = len(self.history) - 1 if fresh else self.seen_of.get((reader, kind), 0)
            return found
        for kind in _BY_KIND:
            newest = len(self.history) - 1
            chosen = self.rng.randint(min(self.seen_of.get((reader, kind), 0), newest), newest)
            self.seen_of[reader, kind] = chosen
            found = [one for one in found if one["kind"] != kind]
            found += [one for one in self.history[chosen].values() if one["kind"] == kind]
        return found

    def _placed(self, composite: Json, children: dict[str, Json], store: list[Json]) -> Outcome:
        if self.checked:
            return super()._placed(composite, children, store)
        return self._settled(exchange.in_free_names(model_deployment.compose), composite, children, store)

    def reconcile_quota(self, name: str, *, fresh: bool = False) -> None:
        """Run the quota's function: the one writer of its grants."""
        composite = self.quotas.get(name)
        if composite is None:
            return
        outcome = self._settled(inference_quota.compose, composite, {}, self.snapshot(f"q/{name}", fresh=fresh))
        self.quotas[name] = {**composite, "status": copy.deepcopy(dict(outcome.status))}
        self.remember()

    # --- what counts ----------------------------------------------------------------------------------------------

    def holders(self) -> Iterator[tuple[str, str, int]]:
        """Yield (namespace, uid, devices) of everything that runs, may run, or is admitted, one or several times."""
        for name, _, devices in self.rendered():
            metadata = self.replicas[name]["metadata"]
            yield metadata["namespace"], admissions.uid_digest(metadata["uid"]), devices
        for one in self.left:
            metadata = one.document["metadata"]
            uid = metadata["ownerReferences"][0]["uid"]
            yield metadata["namespace"], admissions.uid_digest(uid), one.devices
        for cluster in self.clusters.values():
            for key, record in admissions.decode(Field(cluster.get("status", {}))).items():
                devices = sum(one.pods * count for one in record.held for _, count in one.shape.devices)
                yield key.partition("/")[0], record.uid, devices

    # --- schedules ------------------------------------------------------------------------------------------------

    def state(self) -> str:
        """Return everything that is compared to tell that nothing moves any more."""
        return super().state() + repr((self.quotas, self.namespaces))

    def step(self) -> str:
        """Take one random action, of a quota in some of them."""
        if self.quotas and self.rng.random() < 0.25:
            name = self.rng.choice(sorted(self.quotas))
            self.clock += 1
            self.reconcile_quota(name)
            return f"quota {name}"
        return super().step()

    def settle(self, most: int = 60) -> int:
        """Return the rounds after which nothing moves any more, every loop reading what is newest."""
        for round_ in range(1, most + 1):
            before = self.state()
            for name in sorted(self.quotas):
                self.reconcile_quota(name, fresh=True)
            self.round()
            if self.state() == before:
                return round_
        raise AssertionError(f"still moving after {most} rounds")

    def round(self) -> None:
        """Let every loop but those of quotas run once on what is newest."""
        self.clock += 1
        loops: list[tuple[Json, Callable[..., None]]] = [
            (self.deployments, partial(self.reconcile_deployment, fresh=True)),
            (self.clusters, partial(self.reconcile_cluster, fresh=True)),
            (self.replicas, self._whole_replica),
        ]
        for objects, loop in loops:
            for name in sorted(objects):
                loop(name)
        while self.left:
            self.collect()

    def _whole_replica(self, name: str) -> None:
        self.reconcile_replica(name, fresh=True)
        self.bring_up(name)
        self.finish_deletion(name)


def contended(rng: random.Random) -> tuple[dict[str, Json], dict[str, Json]]:
    """Return deployments of two namespaces, and clusters with room for most of what they want."""
    clusters = {name: fleet.inference_cluster(name, nodes=rng.choice([1, 2])) for name in ("a", "b", "c")}
    wanted = {}
    for name, where in (("x", "ml-team"), ("y", "ml-team"), ("z", "other")):
        found = fleet.model_deployment(name, replicas=rng.randint(1, 3))
        found["metadata"]["namespace"] = where
        found["spec"]["workers"]["topology"]["tensor"] = rng.choice([1, 2, 4, 8])
        found["spec"]["priority"] = rng.choice([0, 0, 10])
        wanted[name] = found
    return wanted, clusters
