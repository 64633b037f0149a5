"""Replicas of every shape that LLMD serves, and what is rendered for them."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

import pytest

from modelplane.devices.model import Claim
from modelplane.render.backends import llmd
from modelplane.render.manifest import Manifest
from modelplane.topology.shape import Topology
from modelplane.workload.model import EngineType, Model, Replica, Role
from modelplane.workload.site import ClusterFacts, Tracing
from tests.support import kserve, manifests, replicas

Json = Any

_ANY_ENGINE = replicas.template("registry.example.com/engine:1", engine={"command": ["/start"]})


def _apart(decode: Topology | None = None, prefill: Topology | None = None, **fields: Any) -> Replica:
    pod_template = fields.pop("pod_template", None)
    roles = (
        replicas.role(workers=2, topology=decode, pod_template=pod_template),
        replicas.role(Role.PREFILL, workers=3, topology=prefill, pool="l40s", pod_template=pod_template),
    )
    return replicas.replica(*roles, backend="LLMD", **fields)


SHAPES = {
    "one worker": replicas.replica(replicas.role(topology=Topology(tensor=8)), backend="LLMD"),
    "several workers": replicas.replica(replicas.role(workers=3, topology=Topology(tensor=2)), backend="LLMD"),
    "device plugin": replicas.replica(
        replicas.role(workers=2, devices=(replicas.device(claim=Claim.DEVICE_PLUGIN),)), backend="LLMD"
    ),
    "no device": replicas.replica(
        replicas.role(workers=2, devices=(replicas.device(claim=Claim.SYNTHETIC),)),
        backend="LLMD", engine=EngineType.LLAMACPP,
    ),
    "one gang": replicas.replica(replicas.role(topology=kserve.GANG), backend="LLMD"),
    "gangs": replicas.replica(replicas.role(workers=2, topology=kserve.GANG), backend="LLMD"),
    "data": replicas.replica(replicas.role(workers=2, topology=kserve.DATA), backend="LLMD"),
    "both": replicas.replica(replicas.role(topology=Topology(tensor=8, pipeline=2, data=2)), backend="LLMD"),
    "apart": _apart(Topology(tensor=4)),
    "gangs apart": _apart(kserve.GANG, kserve.DATA),
    "SGLang apart": _apart(engine=EngineType.SGLANG, pod_template=replicas.template("lmsysorg/sglang:v0.5.9")),
    "SGLang gangs apart": _apart(
        kserve.DATA, Topology(tensor=8),
        engine=EngineType.SGLANG, pod_template=replicas.template("lmsysorg/sglang:v0.5.9"),
    ),
    "custom apart": _apart(kserve.GANG, engine=EngineType.CUSTOM, model=None, pod_template=_ANY_ENGINE),
    "weights on a volume": _apart(model=Model("llama", "pvc://weights/llama/8b")),
}  # fmt: skip
every_shape = pytest.mark.parametrize("replica", [pytest.param(value, id=key) for key, value in SHAPES.items()])

WATCHED = dataclasses.replace(
    kserve.FACTS,
    gateway_implementation="Istio",
    has_pod_monitors=True,
    tracing=Tracing("http://otel-collector.monitoring:4317", 5),
)
"""A cluster that has everything a replica can be observed by."""


def rendered(replica: Replica, facts: ClusterFacts = kserve.FACTS) -> dict[str, Manifest]:
    """Return the manifests of a replica by key."""
    return manifests.by_key(llmd, replica, facts)


def workload(replica: Replica, role: Role, facts: ClusterFacts = kserve.FACTS) -> Mapping[str, Json]:
    """Return the object that runs the workers of a role."""
    found = rendered(replica, facts)
    (key,) = {f"deployment-{role}", f"leaderworkerset-{role}"} & found.keys()
    return found[key].resource


def templates(replica: Replica, role: Role, facts: ClusterFacts = kserve.FACTS) -> tuple[Mapping[str, Json], ...]:
    """Return the templates of the pods of a role: of the only one, or of leader and worker."""
    spec = workload(replica, role, facts)["spec"]
    gang = spec.get("leaderWorkerTemplate")
    return (spec["template"],) if gang is None else (gang["leaderTemplate"], gang["workerTemplate"])


def configuration(replica: Replica) -> dict[str, Json]:
    """Return the configuration of the picker, as it reads it."""
    text = rendered(replica)["picker-config"].resource["data"]["config.yaml"]
    found: dict[str, Json] = json.loads(text)
    return found
