"""Components of a graph: the frontend, which answers requests and takes no device, and the workers of each role.

The operator merges what stands here over its defaults, container by container, by name.

Source: internal/dynamo/component_{frontend,worker}.go, internal/dynamo/graph.go of the operator 1.6.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane.errors import Unsupported
from modelplane.render import claims, pods, volume
from modelplane.render.backends.dynamo import capability, launching, naming
from modelplane.render.engines import Member
from modelplane.workload.model import BoundRole, EngineType, Replica, Role
from modelplane.workload.site import ClusterFacts

Json: TypeAlias = Any

GANG = pods.Gang(
    leader_address=pods.LEADER_WORKER_SET.leader_address,
    rank=pods.LEADER_WORKER_SET.rank,
    world_size=pods.LEADER_WORKER_SET.world_size,
    # Operators before 1.4 make a LeaderWorkerSet of each worker, and the index of its only group is always 0.
    label="leaderworkerset.sigs.k8s.io/group-key",
)

# A new generation of workers stands beside the old one while it replaces it, and there are no devices beside those.
_ROLLOUT = {
    "nvidia.com/deployment-rolling-update-max-surge": "0",
    "nvidia.com/deployment-rolling-update-max-unavailable": "1",
}
_FRONTEND_CPU, _FRONTEND_MEMORY = "2", "4Gi"
_FRONTEND_GRACE_SECONDS = 60
_OF_THE_FRONTEND = ("imagePullSecrets", "securityContext")


def of(replica: Replica, facts: ClusterFacts, devices: Mapping[Role, claims.PodDevices]) -> list[Json]:
    """Return the value of components."""
    workers = [_worker(replica, bound, facts, devices[bound.spec.role]) for bound in replica.roles]
    return [_frontend(replica, facts), *workers]


def _frontend(replica: Replica, facts: ClusterFacts) -> dict[str, Json]:
    """Return the frontend. It runs in the image of the workers, so that both are of one version.

    The author's variables are there too: it reads the model's configuration and its tokenizer, into a volume of its
    own, because the volumes of the workers are not there.
    """
    decode = next(bound for bound in replica.roles if bound.spec.role is Role.DECODE)
    given = decode.spec.template["spec"]
    _, engine = pods.engine_container(decode.spec)
    container: dict[str, Json] = {
        "name": pods.ENGINE,
        "image": engine["image"],
        "resources": {"requests": {"cpu": _FRONTEND_CPU, "memory": _FRONTEND_MEMORY}},
        "env": [variable for variable in engine.get("env") or () if variable["name"] not in pods.OF_THE_CACHE],
        "volumeMounts": [],
    }
    for key in ("imagePullPolicy", "envFrom"):
        if key in engine:
            container[key] = engine[key]
    spec: dict[str, Json] = {key: given[key] for key in _OF_THE_FRONTEND if key in given}
    spec |= {"containers": [container], "volumes": [], "terminationGracePeriodSeconds": _FRONTEND_GRACE_SECONDS}
    claim = volume.of(replica.model)
    if claim is not None:
        volume.mount(spec, claim)
    pods.complete(spec, pods.ENGINE, Member.ALONE)
    affinity = pods.outside_of_pools(facts)
    if affinity:
        spec["affinity"] = {"nodeAffinity": affinity}
    return {
        "name": naming.FRONTEND,
        "type": "frontend",
        "replicas": 1,
        **_version(decode),
        "podTemplate": {"metadata": {"labels": pods.base_labels(replica)}, "spec": _named(spec)},
    }


def _worker(replica: Replica, bound: BoundRole, facts: ClusterFacts, devices: claims.PodDevices) -> dict[str, Json]:
    role, topology = bound.spec, bound.spec.topology
    if replica.engine is EngineType.VLLM and topology.is_gang:
        _check_countable(bound, devices)
    annotations = pods.pod_annotations(replica, bound, facts)
    if not topology.is_gang:
        annotations = {**annotations, **_ROLLOUT}
    metadata: dict[str, Json] = {"labels": pods.pod_labels(replica, bound, facts)}
    if annotations:
        metadata["annotations"] = annotations
    name = naming.component(replica, role.role)
    component: dict[str, Json] = {"name": name, "type": name, "replicas": role.workers, **_version(bound)}
    if topology.is_gang:
        component["multinode"] = {"nodeCount": topology.nodes}
    # Ours is mounted, with the author's size or one by the devices.
    component["sharedMemorySize"] = "0"
    component["podTemplate"] = {"metadata": metadata, "spec": _named(_pod(replica, bound, facts, devices))}
    return component


def _check_countable(bound: BoundRole, devices: claims.PodDevices) -> None:
    """Refuse a worker over nodes whose devices neither a claim nor a limit says: the operator would not wire it."""
    if devices.template is None and not devices.limits:
        raise Unsupported(
            f"Dynamo counts the devices of a worker of vllm over several nodes, and pool {bound.pool} claims none; set "
            "claim of its InferenceClass to DRA or DevicePlugin, or use another backend there",
            reason="BackendUnavailable",
        )


def _pod(replica: Replica, bound: BoundRole, facts: ClusterFacts, devices: claims.PodDevices) -> dict[str, Json]:
    """Return the PodSpec of a role's pods, leader and workers alike: the operator tells them apart."""
    engine = launching.Engine(replica.engine, replica.model, replica.is_disaggregated)
    is_gang = bound.spec.topology.is_gang
    pod = pods.EnginePod(
        member=Member.WORKER,
        command=launching.line(engine, bound.spec),
        port=launching.SYSTEM_PORT,
        devices=devices,
        container_name=pods.ENGINE,
        gang=GANG if is_gang else None,
        extra_env=() if is_gang else _nixl(engine),
    )
    spec = pods.pod_spec(replica, bound, facts, pod)
    claim = volume.of(replica.model)
    if claim is not None:
        volume.mount(spec, claim)
    pods.complete(spec, pods.ENGINE, Member.WORKER)
    container = _engine(spec)
    given = pods.engine_container(bound.spec)[1]
    container["startupProbe"] = launching.start_probe(given, pods.start_budget_seconds(bound))
    return spec


def _nixl(engine: launching.Engine) -> tuple[Mapping[str, Json], ...]:
    """Return the address on which vLLM offers its KV cache; over nodes the operator writes it."""
    if not engine.is_disaggregated or engine.type is not EngineType.VLLM:
        return ()
    return ({"name": "VLLM_NIXL_SIDE_CHANNEL_HOST", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},)


def _version(bound: BoundRole) -> dict[str, str]:
    declared = capability.version_of(bound.spec)
    return {} if declared is None else {"runtimeVersionOverride": declared}


def _engine(spec: Mapping[str, Json]) -> dict[str, Json]:
    found: dict[str, Json] = next(one for one in spec["containers"] if one["name"] == pods.ENGINE)
    return found


def _named(spec: dict[str, Json]) -> dict[str, Json]:
    """Return the spec with the engine's container under Dynamo's name for it, first, and without empty lists."""
    engine = _engine(spec)
    others = [one for one in spec["containers"] if one is not engine]
    spec["containers"] = [
        {**{key: value for key, value in engine.items() if value != []}, "name": capability.MAIN},
        *others,
    ]
    return {key: value for key, value in spec.items() if value != []}
