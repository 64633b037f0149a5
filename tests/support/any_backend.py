"""Random replicas that a backend takes, whichever it is: nothing here knows one.

A replica begins as the first simple one that the backend's check accepts. Features are drawn and added one after
another; one that the check refuses is left out. So a backend that is added to the registry is asked too.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Any

from hypothesis import strategies as st

from modelplane.api import admissions, catalogue
from modelplane.api import replica as replicas
from modelplane.devices.model import Claim
from modelplane.errors import InvalidInput, Unsupported
from modelplane.placement.snapshot import Holding, PodShape
from modelplane.render import objects
from modelplane.render.backends import selection
from modelplane.topology.shape import Topology
from modelplane.workload.model import (
    BoundRole,
    EndpointPicker,
    EngineType,
    Model,
    Replica,
    ResolvedRequest,
    Role,
    Workload,
)
from modelplane_cli.simulator.store import Key, key_of
from tests.support import kserve, situations
from tests.support import replicas as build
from tests.support.situations import Situation

Json = Any
Feature = Callable[[Replica], Replica]

NAMES = tuple(sorted(selection.BACKENDS))
IMAGES = (
    (EngineType.VLLM, "vllm/vllm-openai:v0.23.0"),
    (EngineType.VLLM, "lmcache/vllm-openai:v0.3.13"),
    (EngineType.VLLM, "rayproject/ray-llm:2.60.0-py312-cu129"),
    (EngineType.VLLM, "nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.6.1"),
    (EngineType.SGLANG, "lmsysorg/sglang:v0.5.9"),
    (EngineType.SGLANG, "nvcr.io/nvidia/ai-dynamo/sglang-runtime:1.6.1"),
    (EngineType.TRTLLM, "nvcr.io/nvidia/tensorrt-llm/release:1.2.0"),
    (EngineType.TRTLLM, "nvcr.io/nvidia/ai-dynamo/tensorrtllm-runtime:1.6.1"),
    (EngineType.LLAMACPP, "ghcr.io/ggml-org/llama.cpp:server-cuda"),
    (EngineType.CUSTOM, "registry.example.com/team/engine:1"),
)
_COMMANDS = ((), ("/engine",), ("/engine", "--port=5000"))
_SINCE = "2026-01-01T00:00:00Z"
_GATEWAY = {"address": "gateway.example.com", "port": 80, "scheme": "http"}
# As long as the definition allows, and as Modelplane cuts them.
_LONG_REPLICA = "a" * 33 + "-12"
_LONG, _LONG_MODEL = "b" * 63, "m" * 253


def workload(replica: Replica) -> Workload:
    """Return the workload that the replica is one of."""
    return Workload(
        namespace=replica.namespace,
        deployment=replica.deployment,
        model=replica.model,
        engine=replica.engine,
        roles=tuple(bound.spec for bound in replica.roles),
        model_cache=replica.model_cache,
        endpoint_picker=replica.endpoint_picker,
    )


def is_taken(replica: Replica) -> bool:
    """Return whether the definition holds the replica, and its backend takes it."""
    claims = selection.claims(replica.backend)
    if any(device.claim not in claims for bound in replica.roles for device in bound.devices):
        return False  # placement gives it no such device
    try:
        selection.backend(replica.backend).check(workload(replica))
    except (InvalidInput, Unsupported):
        return False
    try:
        selection.backend(replica.backend).render(replica, kserve.FACTS)
    except Unsupported:
        return False  # only the pool of a placed replica tells
    document = replicas.encode(replica)
    return not catalogue.structural_kind("ModelReplica").problems(document)


@functools.cache
def plain(backend: str) -> tuple[Replica, ...]:
    """Return the simple replicas that the backend takes, at most one for each image."""
    found = [one for image in IMAGES if (one := _plain(backend, *image)) is not None]
    assert found, f"none of the images here is for {backend}: add one that is"
    return tuple(found)


def _plain(backend: str, engine: EngineType, image: str) -> Replica | None:
    claim = Claim.DRA if Claim.DRA in selection.claims(backend) else Claim.DEVICE_PLUGIN
    for command in _COMMANDS:
        fields = {"command": list(command)} if command else {}
        bound = build.role(devices=(build.device(claim=claim),), pod_template=build.template(image, engine=fields))
        made = build.replica(bound, engine=engine, backend=backend)
        if is_taken(made):
            return made
    return None


# --- features ---------------------------------------------------------------------------------------------------------


def _in_pods(change: Callable[[dict[str, Json], dict[str, Json]], None]) -> Feature:
    """Return a feature of all templates: `change` gets the template and its engine."""

    def changed(replica: Replica) -> Replica:
        roles = []
        for bound in replica.roles:
            template = copy.deepcopy(dict(bound.spec.template))
            engine = next(one for one in template["spec"]["containers"] if one["name"] == "engine")
            change(template, engine)
            roles.append(replace(bound, spec=replace(bound.spec, template=template)))
        return replace(replica, roles=tuple(roles))

    return changed


def _engine(**fields: Json) -> Feature:
    return _in_pods(lambda _, engine: engine.update(copy.deepcopy(fields)))


def _appended(key: str, *entries: Json) -> Feature:
    return _in_pods(lambda _, engine: engine.setdefault(key, []).extend(copy.deepcopy(entries)))


def _pod(**fields: Json) -> Feature:
    return _in_pods(lambda template, _: template["spec"].update(copy.deepcopy(fields)))


def _sidecar(template: dict[str, Json], _: dict[str, Json]) -> None:
    template["spec"]["containers"].append({"name": "log", "image": "busybox:1.37"})


def _memory(template: dict[str, Json], engine: dict[str, Json]) -> None:
    engine.setdefault("volumeMounts", []).append({"name": "shm", "mountPath": "/dev/shm"})
    memory = {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "16384Mi"}}
    template["spec"].setdefault("volumes", []).append(memory)


def _metadata(template: dict[str, Json], _: dict[str, Json]) -> None:
    labels = {f"{'l' * 63}": "v" * 63, "team": "a"}
    template["metadata"] = {"labels": labels, "annotations": {"example.com/note": "{{ .Name }} $(HOSTNAME)"}}


def _shape(topology: Topology) -> Feature:
    def changed(replica: Replica) -> Replica:
        roles = []
        for bound in replica.roles:
            first, *others = bound.devices
            devices = (replace(first, count=topology.devices_per_node), *others)
            roles.append(_with_devices(replace(bound, spec=replace(bound.spec, topology=topology)), devices))
        return replace(replica, roles=tuple(roles))

    return changed


def _with_devices(bound: BoundRole, devices: tuple[ResolvedRequest, ...]) -> BoundRole:
    made = build.role(devices=devices)
    return replace(bound, devices=devices, spec=replace(bound.spec, requests=made.spec.requests))


def claimed(claim: Claim) -> Feature:
    """Return a feature that changes how the first device of each role is claimed."""

    def changed(replica: Replica) -> Replica:
        return replace(
            replica,
            roles=tuple(
                _with_devices(bound, (build.device(count=bound.devices[0].count, claim=claim), *bound.devices[1:]))
                for bound in replica.roles
            ),
        )

    return changed


def _with_nic(replica: Replica) -> Replica:
    nic = build.device("n" * 63, 8, driver="dra.net", device_class="dra.net", memory_bytes=None)
    roles = tuple(_with_devices(bound, (*bound.devices, nic)) for bound in replica.roles)
    return replace(replica, roles=roles)


def _workers(count: int) -> Feature:
    def changed(replica: Replica) -> Replica:
        return replace(
            replica, roles=tuple(replace(one, spec=replace(one.spec, workers=count)) for one in replica.roles)
        )

    return changed


def apart(replica: Replica) -> Replica:
    (decode, *others) = replica.roles
    if others:
        return replica
    return replace(replica, roles=(decode, replace(decode, spec=replace(decode.spec, role=Role.PREFILL))))


def _model(name: str, uri: str | None) -> Feature:
    return lambda replica: replace(replica, model=Model(name, uri))


_SECRET = {"secretKeyRef": {"name": "hf", "key": "token"}}
FEATURES: Mapping[str, Feature] = {
    "plain variables": _appended("env", {"name": "A", "value": "{{ .B }}"}, {"name": "B"}),
    "a token": _appended("env", {"name": "HF_TOKEN", "valueFrom": _SECRET}),
    "a variable of the pod": _appended("env", {"name": "P", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}),
    "variables of a Secret": _engine(envFrom=[{"secretRef": {"name": "s" * 253}}]),
    "amounts": _engine(resources={"requests": {"cpu": "1500m", "memory": "8192Mi"}}),
    "odd amounts": _engine(resources={"requests": {"cpu": "0.5", "memory": "1.5Gi"}, "limits": {"memory": "3e9"}}),
    "flags": _appended("args", "--seed", "1", "--max-model-len=16384"),
    "switches": _appended("args", "--no-enable-prefix-caching"),
    "probes": _engine(readinessProbe={"periodSeconds": 3}, startupProbe={"failureThreshold": 900}),
    "a hook": _engine(lifecycle={"preStop": {"exec": {"command": ["sleep", "20"]}}}),
    "rights": _engine(securityContext={"runAsUser": 1000, "runAsNonRoot": True}),
    "a port": _appended("ports", {"containerPort": 8000}),
    "another port": _appended("ports", {"containerPort": 9100, "name": "metrics"}),
    "pull policy": _engine(imagePullPolicy="Always"),
    "shared memory": _in_pods(_memory),
    "a sidecar": _in_pods(_sidecar),
    "labels": _in_pods(_metadata),
    "a pull secret": _pod(imagePullSecrets=[{"name": "registry"}]),
    "an account": _pod(serviceAccountName="runner", terminationGracePeriodSeconds=300),
    "rights of the pod": _pod(securityContext={"fsGroup": 1000}),
    "several workers": _workers(3),
    "many workers": _workers(40),
    "tensor": _shape(Topology(tensor=8)),
    "pipeline": _shape(Topology(tensor=2, pipeline=3)),
    "data over nodes": _shape(Topology(data=8, data_local=2, expert=True)),
    "data on one node": _shape(Topology(data=4, data_local=4)),
    "both": _shape(Topology(pipeline=2, data=2)),
    "prefill": apart,
    "a device plugin": claimed(Claim.DEVICE_PLUGIN),
    "nothing claimed": claimed(Claim.SYNTHETIC),
    "a second device": _with_nic,
    "no model": lambda replica: replace(replica, model=None),
    "a long model": _model(_LONG_MODEL, "hf://" + "o" * 90 + "/" + "r" * 90),
    "a revision": _model("llama", "hf://a/b@main"),
    "weights on a volume": _model("llama", "pvc://weights/llama"),
    "weights in a bucket": _model("llama", "s3://bucket/llama"),
    "weights in an image": _model("llama", "oci://registry.example.com/llama:1"),
    "a picker": lambda replica: replace(replica, endpoint_picker=EndpointPicker(picker="random-picker")),
}


@st.composite
def drawn(draw: st.DrawFn, backend: str) -> Replica:
    """Return a replica that the backend takes, with long names as often as short ones."""
    found = draw(st.sampled_from(plain(backend)))
    short = st.from_regex(r"[a-z]([-a-z0-9]{0,20}[a-z0-9])?", fullmatch=True)
    found = replace(
        found,
        name=draw(st.just(_LONG_REPLICA) | st.just("a" * 36) | short),
        namespace=draw(st.just(_LONG) | short),
        deployment=draw(st.just(_LONG) | short),
        cluster=draw(st.just(_LONG) | short),
    )
    pool = draw(st.just(_LONG) | short)
    found = replace(found, roles=tuple(replace(bound, pool=pool) for bound in found.roles))
    for name in draw(st.lists(st.sampled_from(sorted(FEATURES)), max_size=8, unique=True)):
        more = FEATURES[name](found)
        if is_taken(more):
            found = more
    return found


def cluster(replica: Replica, **pool: Json) -> dict[str, Json]:
    """Return the InferenceCluster of the replica, which has admitted it; `pool` are fields of every pool."""
    names = sorted({bound.pool for bound in replica.roles})
    return {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "InferenceCluster",
        "metadata": {"name": replica.cluster, "uid": "uid-cluster"},
        "spec": {
            "cluster": {
                "source": "Existing",
                "existing": {"secretRef": {"namespace": "modelplane-system", "name": "c", "key": "kubeconfig"}},
            },
            "backends": [replica.backend],
            "nodePools": [{"name": name, "className": "class", "nodeCount": 2, **pool} for name in names],
        },
        "status": {
            "gateway": dict(_GATEWAY),
            "providerConfigRef": {"kind": "ClusterProviderConfig", "name": "c"},
            "admitted": [f"{replica.namespace}/{replica.name}"],
            "refused": [],
            "conditions": [
                {"type": "ClusterReady", "status": "True", "reason": "Reachable", "lastTransitionTime": _SINCE},
                {"type": "CapacityKnown", "status": "True", "reason": "Counted", "lastTransitionTime": _SINCE},
            ],
        },
    }


class State(StrEnum):
    """What a replica has behind it."""

    BY_NAME = "admitted by name"
    """It runs, on a cluster of a version that kept no records of what it admitted."""
    BY_RECORD = "admitted by record"
    """It runs, and its cluster recorded the uid and the digest that it admitted."""
    NEW = "admitted, not rendered"
    """Its cluster has just admitted it, and nothing is on the cluster yet."""


def situation(replica: Replica, state: State = State.BY_NAME) -> Situation:
    """Return the replica as it runs: its objects are on its cluster and report what is assumed of them."""
    document = replicas.encode(replica)
    document["metadata"]["uid"] = "uid-replica"
    there = cluster(replica)
    told = {**there, "status": {**there["status"], "conditions": [], "admitted": []}}
    if state is State.BY_RECORD:
        there["status"]["admissions"] = _records(replica, document)
    made = Situation(replica.backend, situations.received(document), {}, (situations.received(there),), state=state)
    made = replace(made, is_waiting=state is State.NEW)
    versions: dict[Key, list[Json]] = {key_of(there): [{**there, "status": {}}, told]}
    for _ in range(0 if state is State.NEW else 4):
        _remember(versions, made)
        outcome = situations.decided(made)
        assert outcome is not None
        made = situations.after(made, outcome)
        _remember(versions, made)
        known = {identity(child) for child in made.children.values()}
        children = {key: situations.received(_observed(child, known)) for key, child in made.children.items()}
        made = replace(made, children=children)
    return replace(made, earlier=versions)


def _records(replica: Replica, document: Json) -> list[dict[str, Json]]:
    """Return the admission records of the replica's cluster, as the cluster's composer writes them."""
    holdings = tuple(
        Holding(
            bound.spec.role,
            bound.pool,
            bound.spec.workers * bound.spec.topology.nodes,
            PodShape(tuple(sorted((device.device, device.count) for device in bound.devices))),
            bound.spec.topology.nodes,
        )
        for bound in replica.roles
    )
    record = admissions.Record(admissions.uid_of(document), replicas.fingerprint(replica), holdings)
    return admissions.encode({f"{replica.namespace}/{replica.name}": record})


def _remember(versions: dict[Key, list[Json]], now: Situation) -> None:
    for one in (now.composite, *now.children.values()):
        versions.setdefault(key_of(one), []).append(copy.deepcopy(dict(one)))


def identity(child: Json) -> tuple[str, str, str, str]:
    """Return group, kind, namespace and name of what an Object carries."""
    bare = objects.unwrap(child)
    metadata = bare.get("metadata") or {}
    group = str(bare.get("apiVersion")).rpartition("/")[0]
    return group, str(bare.get("kind")), str(metadata.get("namespace") or ""), str(metadata.get("name"))


def _observed(child: Json, there: set[tuple[str, str, str, str]]) -> Json:
    """Return the Object with the state on its cluster that the backend assumes."""
    found = copy.deepcopy(dict(child))
    bare = copy.deepcopy(dict(objects.unwrap(found)))
    group, kind, _, _ = identity(child)
    bare["metadata"] = {**bare["metadata"], "generation": 1}
    backend = next((one for one in selection.BACKENDS.values() if (group, kind) in one.KINDS), None)
    if backend is not None:
        bare["status"] = backend.assume(bare, str(_GATEWAY["address"]), lambda *identity: identity in there)
    elif kind == "HTTPRoute":
        accepted = [{"type": one, "status": "True", "reason": one} for one in ("Accepted", "ResolvedRefs")]
        bare["status"] = {"parents": [{"conditions": accepted}]}
    told = [{"type": one, "status": "True", "reason": "Available"} for one in ("Ready", "Synced")]
    found["status"] = {"atProvider": {"manifest": bare}, "conditions": told}
    return found
