"""Replicas handed to the operator of one backend, on a control plane made into a workload cluster."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest

from modelplane.render import progress
from modelplane.render.backend import Backend
from modelplane.render.manifest import Purpose
from modelplane.render.progress import Phase
from modelplane.workload.model import Replica
from modelplane.workload.site import ClusterFacts
from tests.e2e import workload
from tests.support import controlplane, examples, installation, kubeapi, live

Document = dict[str, Any]

NAMESPACE = "ml-team"
SECONDS = 120


def running(factory: pytest.TempPathFactory, backend: str, name: str) -> Iterator[controlplane.Plane]:
    """Yield the workload cluster that the backend's example describes."""
    live.needs("operators", "go")
    documents = list(installation.documents(examples.EXAMPLES / "backends" / backend / "fleet.yaml"))
    (cluster,) = (one for one in documents if one["kind"] == "InferenceCluster")
    with controlplane.running(factory.mktemp(name), name) as plane:
        workload.install(plane, cluster, [one for one in documents if one["kind"] == "InferenceClass"])
        installation.namespace(plane, NAMESPACE)
        yield plane


def plain(resource: Mapping[str, Any]) -> Document:
    """Return a copy that may be edited."""
    return copy.deepcopy(dict(resource))


def workers(replica: Replica, count: int) -> Replica:
    """Return the replica with another number of workers."""
    (bound,) = replica.roles
    return replace(replica, roles=(replace(bound, spec=replace(bound.spec, workers=count)),))


@dataclass(frozen=True)
class To:
    """One backend on a cluster of these facts; `key` is that of the object that its operator reads."""

    backend: Backend
    facts: ClusterFacts
    key: Callable[[Replica], str]

    def apply(self, plane: controlplane.Plane, replica: Replica) -> Document:
        """Apply what the replica is rendered to, and return the object that the operator reads."""
        manifests = self.backend.render(replica, self.facts)
        for manifest in manifests:
            plane.api.apply(plain(manifest.resource))
        (found,) = (one.resource for one in manifests if one.purpose is Purpose.WORKLOAD)
        return plain(found)

    def seen(self, plane: controlplane.Plane, document: Document) -> Document:
        """Return the object as it is now, empty if it is gone."""
        name = document["metadata"]["name"]
        return dict(plane.api.get(document["apiVersion"], document["kind"], name, NAMESPACE) or {})

    def judged(self, plane: controlplane.Plane, replica: Replica, document: Document) -> progress.Progress:
        """Return what our own reading makes of the object as it is, with a route that is taken."""
        accepted = [{"type": kind, "status": "True"} for kind in ("Accepted", "ResolvedRefs")]
        route = {"status": {"parents": [{"conditions": accepted}]}}
        observation = self.backend.observe(replica, {self.key(replica): self.seen(plane, document), "route": route})
        return progress.judge(replica, observation, before={}, has_address=True)

    def until(self, plane: controlplane.Plane, replica: Replica, document: Document, phase: Phase) -> progress.Progress:
        """Wait until the replica is in a phase."""
        return kubeapi.until(
            lambda: self.judged(plane, replica, document),
            seconds=SECONDS, what=f"{document['metadata']['name']} as {phase}", enough=lambda one: one.phase is phase,
        )  # fmt: skip
