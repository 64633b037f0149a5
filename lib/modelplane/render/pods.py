"""Pods of one role: the parts that every serving technology needs.

The author's fields take precedence over defaults. User text is data: it is copied and never interpreted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane import names
from modelplane.render.claims import PodDevices
from modelplane.render.engines import CommandLine, Member
from modelplane.render.schedulers import selection as schedulers
from modelplane.topology.shape import Topology
from modelplane.workload import engines as images
from modelplane.workload import shared_memory, start_budget
from modelplane.workload.model import BoundRole, Replica, Role, RoleSpec
from modelplane.workload.site import ClusterFacts

Json: TypeAlias = Any

ENGINE = "engine"

_NODE = "kubernetes.io/hostname"
_ACCELERATOR_TAINTS = ("nvidia.com/gpu", "amd.com/gpu")
_HANDLERS = frozenset({"httpGet", "tcpSocket", "exec", "grpc"})

_UNKNOWN_DEVICE_BYTES = 80 * 1024**3
_PROBE_PERIOD_SECONDS = 10

CACHE_VOLUME = "model-cache"
OF_THE_CACHE = frozenset({"HF_HOME", "HF_HUB_CACHE"})
"""The variables that say where an engine keeps the weights that it fetches."""
_CACHE_PATH = "/models"
# A gateway that has not heard yet that the pod goes still sends it requests.
DRAIN_SECONDS = 15
"""The time that a pod which takes requests stays after it is asked to go."""


@dataclass(frozen=True, slots=True)
class Gang:
    """The variables that give a pod its place in a gang, which the kubelet or the gang's controller expands.

    They are empty if the gang's controller tells its pods none of them, and then the pods get no such variables.
    `label` is the label that the gang's controller sets on its pods; its value distinguishes the gangs of a role.
    """

    leader_address: str
    rank: str
    world_size: str
    label: str


@dataclass(frozen=True, slots=True)
class EnginePod:
    """The parts of one pod of a role that vary: its member, command line, port and devices.

    `container_name` is the name of the engine in the serving technology. `gang` is None if the worker is one pod.
    """

    member: Member
    command: CommandLine
    port: int
    devices: PodDevices
    container_name: str
    gang: Gang | None = None
    extra_env: Sequence[Mapping[str, Json]] = ()


LEADER_WORKER_SET = Gang(
    leader_address="$(LWS_LEADER_ADDRESS)",
    rank="$(LWS_WORKER_INDEX)",
    world_size="$(LWS_GROUP_SIZE)",
    label="leaderworkerset.sigs.k8s.io/group-index",
)
"""The gang of LeaderWorkerSet (v0.8.0), whose webhook adds these variables before all others of every container."""


def base_labels(replica: Replica) -> dict[str, str]:
    """Return the labels of all objects of the replica."""
    return {
        names.LABEL_DEPLOYMENT: replica.deployment,
        names.LABEL_REPLICA: replica.name,
        names.LABEL_NAMESPACE: replica.namespace,
        names.LABEL_CLUSTER: replica.cluster,
    }


def role_labels(replica: Replica, bound: BoundRole) -> dict[str, str]:
    """Return the labels of all objects of one role of the replica."""
    return {**base_labels(replica), names.LABEL_POOL: bound.pool, names.LABEL_ROLE: str(bound.spec.role)}


def pod_labels(replica: Replica, bound: BoundRole, facts: ClusterFacts) -> dict[str, str]:
    """Return the labels of the role's pods: those of the author, of the cluster scheduler, and of Modelplane."""
    return {
        **_authors_labels(bound),
        **schedulers.marks(replica, bound, facts).labels,
        **role_labels(replica, bound),
    }


def own_labels(replica: Replica, bound: BoundRole) -> dict[str, str]:
    """Return the labels of the role's pods that follow from the replica alone."""
    return {**_authors_labels(bound), **role_labels(replica, bound)}


def _authors_labels(bound: BoundRole) -> dict[str, str]:
    given = (bound.spec.template.get("metadata") or {}).get("labels") or {}
    return {key: str(value) for key, value in sorted(given.items())}


def object_labels(replica: Replica, bound: BoundRole, facts: ClusterFacts) -> dict[str, str]:
    """Return the labels by which the cluster scheduler recognizes the object that runs the role's pods."""
    return dict(schedulers.marks(replica, bound, facts).object_labels)


def object_annotations(replica: Replica, bound: BoundRole, facts: ClusterFacts) -> dict[str, str]:
    """Return the annotations by which the cluster scheduler recognizes the object that runs the role's pods."""
    return dict(schedulers.marks(replica, bound, facts).object_annotations)


def pod_annotations(replica: Replica, bound: BoundRole, facts: ClusterFacts) -> dict[str, str]:
    """Return the annotations of the role's pods: those of the author and of the cluster scheduler."""
    given = (bound.spec.template.get("metadata") or {}).get("annotations") or {}
    return {
        **{key: str(value) for key, value in sorted(given.items())},
        **schedulers.marks(replica, bound, facts).annotations,
    }


def engine_container(role: RoleSpec) -> tuple[int, Mapping[str, Json]]:
    """Return the index and the fields of the engine container in the template."""
    containers = role.template["spec"]["containers"]
    return next((i, container) for i, container in enumerate(containers) if container["name"] == ENGINE)


def pod_spec(replica: Replica, bound: BoundRole, facts: ClusterFacts, pod: EnginePod) -> dict[str, Json]:
    """Return the PodSpec of one pod of the role."""
    spec = dict(bound.spec.template["spec"])
    containers = [
        _engine(bound, container, pod) if container["name"] == ENGINE else dict(container)
        for container in spec["containers"]
    ]
    volumes = list(spec.get("volumes") or ())
    if not any(volume["name"] == shared_memory.VOLUME for volume in volumes):
        size = shared_memory.size(accelerators(bound))
        volumes.append({"name": shared_memory.VOLUME, "emptyDir": {"medium": "Memory", "sizeLimit": size}})
    spec.update(
        containers=containers,
        volumes=volumes,
        nodeSelector=node_selector(bound, facts),
        tolerations=tolerations(facts.pool_taints.get(bound.pool, ())),
        affinity=_affinity(bound, pod.gang),
    )
    spec.setdefault("terminationGracePeriodSeconds", 60)
    marks = schedulers.marks(replica, bound, facts)
    scheduler_name = marks.scheduler_name
    if scheduler_name:
        spec["schedulerName"] = scheduler_name
    if marks.priority_class:
        spec.setdefault("priorityClassName", marks.priority_class)
    if pod.devices.pod_claims:
        spec["resourceClaims"] = pod.devices.pod_claims
    return spec


def complete(spec: dict[str, Json], container_name: str, member: Member) -> None:
    """Add the fields that a pod needs without a preset: a volume for weights, restricted rights, and time to drain."""
    engine = next(container for container in spec["containers"] if container["name"] == container_name)
    env = engine.setdefault("env", [])
    if not OF_THE_CACHE & {variable["name"] for variable in env}:
        env.append({"name": "HF_HOME", "value": _CACHE_PATH})
    if all(mount["mountPath"].rstrip("/") != _CACHE_PATH for mount in engine["volumeMounts"]):
        engine["volumeMounts"].append({"name": CACHE_VOLUME, "mountPath": _CACHE_PATH})
        if all(volume["name"] != CACHE_VOLUME for volume in spec["volumes"]):
            spec["volumes"].append({"name": CACHE_VOLUME, "emptyDir": {}})
    security = engine.setdefault("securityContext", {})
    security.setdefault("allowPrivilegeEscalation", False)
    security.setdefault("seccompProfile", {"type": "RuntimeDefault"})
    if member is not Member.WORKER:
        drain = {"preStop": {"sleep": {"seconds": DRAIN_SECONDS}}}
        engine["lifecycle"] = {**drain, **(engine.get("lifecycle") or {})}


def accelerators(bound: BoundRole) -> int:
    """Return the number of engine devices of one pod: those of the first request, at least those of the topology."""
    first = bound.spec.requests[0].name if bound.spec.requests else ""
    given = sum(device.count for device in bound.devices if device.name == first)
    return max(given, bound.spec.topology.devices_per_node)


def start_budget_seconds(bound: BoundRole) -> int:
    """Return the time that one pod may take until its engine answers: weights never exceed the devices' memory."""
    first = bound.devices[0].memory_bytes if bound.devices else None
    device_bytes = _UNKNOWN_DEVICE_BYTES if first is None else first
    return start_budget.seconds(accelerators(bound) * device_bytes)


def _engine(bound: BoundRole, container: Mapping[str, Json], pod: EnginePod) -> dict[str, Json]:
    built = dict(container)
    built["name"] = pod.container_name
    if pod.command.command:
        built["command"] = list(pod.command.command)
    if pod.command.args or container.get("args"):
        built["args"] = list(pod.command.args)
    built["env"] = _env(container, pod)
    if not built["env"]:
        del built["env"]
    resources = _resources(container.get("resources") or {}, pod.devices)
    if resources:
        built["resources"] = resources
    built["volumeMounts"] = _mounts(container.get("volumeMounts") or ())
    built["securityContext"] = _security(container, bound.spec.template["spec"].get("securityContext") or {})
    _serve(built, container, bound, pod)
    return built


def _serve(built: dict[str, Json], container: Mapping[str, Json], bound: BoundRole, pod: EnginePod) -> None:
    """Put ports and probes where the pod serves HTTP, and take them away where it does not."""
    if pod.member is Member.WORKER:
        for key in ("ports", "startupProbe", "livenessProbe", "readinessProbe"):
            built.pop(key, None)
        return
    built["ports"] = _ports(container.get("ports") or (), pod.port)
    tries = -(-start_budget_seconds(bound) // _PROBE_PERIOD_SECONDS)
    defaults: tuple[tuple[str, dict[str, Json]], ...] = (
        ("startupProbe", {"periodSeconds": _PROBE_PERIOD_SECONDS, "timeoutSeconds": 5, "failureThreshold": tries}),
        ("livenessProbe", {"periodSeconds": 30, "timeoutSeconds": 10, "failureThreshold": 5}),
        ("readinessProbe", {"periodSeconds": 10, "timeoutSeconds": 5, "failureThreshold": 3}),
    )
    for key, default in defaults:
        built[key] = _probe(container.get(key) or {}, default, pod.port)


def _probe(given: Mapping[str, Json], default: Mapping[str, Json], port: int) -> dict[str, Json]:
    if _HANDLERS & given.keys():
        return {**default, **given}
    return {"httpGet": {"path": "/health", "port": port, "scheme": "HTTP"}, **default, **given}


def _ports(given: Sequence[Mapping[str, Json]], port: int) -> list[Json]:
    ports = [dict(entry) for entry in given]
    if any(entry["containerPort"] == port for entry in ports):
        return ports
    entry: dict[str, Json] = {"containerPort": port, "protocol": "TCP"}
    if all(other.get("name") != "http" for other in ports):
        entry["name"] = "http"
    return [entry, *ports]


def _env(container: Mapping[str, Json], pod: EnginePod) -> list[Json]:
    """Return ours first, so that the author's values and arguments may refer to them."""
    ours: list[Json] = []
    if pod.gang is not None and pod.gang.world_size:
        ours += [
            {"name": names.ENV_LEADER_ADDRESS, "value": pod.gang.leader_address},
            {"name": names.ENV_RANK, "value": pod.gang.rank},
            {"name": names.ENV_WORLD_SIZE, "value": pod.gang.world_size},
            {"name": names.ENV_POD_IP, "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        ]
    given = list(container.get("env") or ())
    known = {entry["name"] for entry in given}
    return [*ours, *(dict(entry) for entry in pod.extra_env if entry["name"] not in known), *given]


def _resources(given: Mapping[str, Json], devices: PodDevices) -> dict[str, Json]:
    resources = dict(given)
    if devices.limits:
        resources["limits"] = {**(given.get("limits") or {}), **devices.limits}
    if devices.container_claims:
        resources["claims"] = devices.container_claims
    return resources


def _mounts(given: Sequence[Mapping[str, Json]]) -> list[Json]:
    mounts = [dict(mount) for mount in given]
    if any(mount["mountPath"].rstrip("/") == shared_memory.PATH for mount in mounts):
        return mounts
    return [*mounts, {"name": shared_memory.VOLUME, "mountPath": shared_memory.PATH}]


def _security(container: Mapping[str, Json], pod: Mapping[str, Json]) -> dict[str, Json]:
    """Return the security context: root is allowed where the image needs it and the author did not choose."""
    security = dict(container.get("securityContext") or {})
    chosen = any("runAsNonRoot" in given or given.get("runAsUser") for given in (security, pod))
    if not chosen and not images.allows_non_root(container["image"]):
        security["runAsNonRoot"] = False
    # The hook that injects devices by CDI writes into the root file system, which presets may mount read-only.
    security.setdefault("readOnlyRootFilesystem", False)
    return security


def node_selector(bound: BoundRole, facts: ClusterFacts) -> dict[str, str]:
    """Return the labels of the nodes of the role's pool."""
    return dict(facts.pool_node_selector.get(bound.pool) or {names.LABEL_POOL: bound.pool})


def tolerations(taints: Sequence[tuple[str, str, str]]) -> list[Json]:
    """Return the tolerations of a pool's taints and of those that vendors of accelerators give to nodes."""
    found: list[Json] = [{"key": key, "operator": "Exists", "effect": "NoSchedule"} for key in _ACCELERATOR_TAINTS]
    for key, value, effect in taints:
        entry = {"key": key, "operator": "Equal", "value": value} if value else {"key": key, "operator": "Exists"}
        if effect:
            entry["effect"] = effect
        if entry not in found:
            found.append(entry)
    return found


def _affinity(bound: BoundRole, gang: Gang | None) -> dict[str, Json]:
    """Return where the pod stands beside others, so that the nodes are used as the ledger counts them.

    It prefers nodes of the pool that are in use already, whoever uses them, so that whole nodes stay whole. Pods of
    one gang stand on different nodes: a worker spans as many nodes as its topology says.
    """
    in_use = {
        "labelSelector": {"matchLabels": {names.LABEL_POOL: bound.pool}},
        "namespaceSelector": {},
        "topologyKey": _NODE,
    }
    affinity: dict[str, Json] = {
        "podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "podAffinityTerm": in_use}]}
    }
    if gang is not None:
        same_gang = {
            "labelSelector": {"matchLabels": {names.LABEL_ROLE: str(bound.spec.role)}},
            "matchLabelKeys": [names.LABEL_REPLICA, gang.label],
            "topologyKey": _NODE,
        }
        affinity["podAntiAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": [same_gang]}
    return affinity


def outside_of_pools(facts: ClusterFacts) -> dict[str, Json]:
    """Return the preference for nodes outside the pools, whose CPU and memory are counted without the pod."""
    values: dict[str, set[str]] = {}
    for selector in facts.pool_node_selector.values():
        for key, value in selector.items():
            values.setdefault(key, set()).add(value)
    if not values:
        return {}
    elsewhere = [{"key": key, "operator": "NotIn", "values": sorted(found)} for key, found in sorted(values.items())]
    term = {"weight": 100, "preference": {"matchExpressions": elsewhere}}
    return {"preferredDuringSchedulingIgnoredDuringExecution": [term]}


def members(topology: Topology) -> tuple[Member, ...]:
    """Return the kinds of pod in a worker."""
    return (Member.LEADER, Member.WORKER) if topology.is_gang else (Member.ALONE,)


def path_to_engine(role: Role, index: int) -> tuple[str | int, ...]:
    """Return the path of the engine container, from the start of `Role.path`."""
    return (*role.path, "workers", "template", "spec", "containers", index)
