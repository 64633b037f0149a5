"""The one object of a replica from which the operator of a backend makes all pods.

Such an operator does not apply every change to an object that is there. So key and name follow from what has to stay:
a change of that is another object.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane import names, seen
from modelplane.render.backend import Problem
from modelplane.render.manifest import Manifest, Purpose, Readiness
from modelplane.workload.model import Replica

Json: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class Identity:
    """The key of the object in its composite, and its place on the cluster."""

    key: str
    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class Kind:
    """The kind of the object, and the CEL query over `object` that is true when all its workers are ready.

    `outlives_pods` is False for a controller that deletes its own objects in the background, or that makes what is
    missing even while the object is being deleted. Such an object cannot be deleted in the foreground.
    """

    api_version: str
    name: str
    is_ready: str
    outlives_pods: bool = True

    def identity(self, replica: Replica, contents: Json, *, digits: int) -> Identity:
        """Return the identity of the object; `contents` are what has to stay, as plain data."""
        digest = names.digest(json.dumps(contents, sort_keys=True), digits=digits)
        return Identity(f"{self.name.lower()}-{digest}", replica.namespace, f"{replica.name}-{digest}")

    def manifest(
        self, identity: Identity, labels: Mapping[str, str], annotations: Mapping[str, str], spec: Mapping[str, Json]
    ) -> Manifest:
        """Return the manifest of the object."""
        return Manifest(
            key=identity.key,
            resource={
                "apiVersion": self.api_version,
                "kind": self.name,
                "metadata": {
                    "name": identity.name,
                    "namespace": identity.namespace,
                    "labels": dict(labels),
                    "annotations": dict(annotations),
                },
                "spec": dict(spec),
            },
            purpose=Purpose.WORKLOAD,
            readiness=Readiness(self.is_ready),
            outlives_pods=self.outlives_pods,
        )


def stale(observed: seen.Object, kind: str, controller: str) -> Iterator[Problem]:
    """Yield a problem where the controller has not processed the object as it stands."""
    generation = seen.count(seen.at(observed, "metadata", "generation"))
    looked_at = seen.count(seen.at(observed, "status", "observedGeneration"))
    if generation is not None and looked_at != generation:
        message = f"{controller} has processed generation {looked_at or 0} of {generation}; check that it is running"
        yield Problem("NotProcessed", f"{kind}: {message}")
