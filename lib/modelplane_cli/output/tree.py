"""A settled world as a tree: what was asked for, what became of it, and where it stands.

Shape: one tree per namespace with what people wrote in it, then the fleet. Objects of workload clusters are shown as
what they are on their cluster, not as the wrapper that carries them there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from modelplane import names
from modelplane.topology.shape import Topology
from modelplane_cli.output import table
from modelplane_cli.output.outline import Mood, Node
from modelplane_cli.simulator import assumption, conditions, verdict
from modelplane_cli.simulator.offline import World
from modelplane_cli.simulator.store import Key

Json: TypeAlias = Any
Resource: TypeAlias = Mapping[str, Json]

# As a reader asks: the front door and its model first, what it stands on last.
_KIND_ORDER = (
    "LLMInference",
    "ModelService",
    "ModelDeployment",
    "ModelReplica",
    "ModelEndpoint",
    "InferenceGateway",
    "InferenceCluster",
    "InferenceClass",
)


def trees(world: World) -> list[Node]:
    """Return one tree per namespace, then the fleet, then what was deleted on the way."""
    by_namespace: dict[str, list[Key]] = {}
    for key in world.wanted():
        by_namespace.setdefault(key.namespace, []).append(key)
    fleet = by_namespace.pop("", [])
    found = [_group(world, namespace, keys) for namespace, keys in sorted(by_namespace.items())]
    if fleet:
        found.append(_group(world, "fleet", fleet))
    return [*found, *_deleted(world)]


def _group(world: World, label: str, keys: Sequence[Key]) -> Node:
    return Node(label, inside=[_composite(world, key) for key in sorted(keys, key=_order)])


def _order(key: Key) -> tuple[int, str, tuple[str, int]]:
    position = _KIND_ORDER.index(key.kind) if key.kind in _KIND_ORDER else len(_KIND_ORDER)
    return (position, key.kind, table.by_number(key.name))


def _composite(world: World, key: Key) -> Node:
    resource = world.store.get(key) or {}
    failures = verdict.of(world, key)
    state, mood = _state(resource, failures)
    describe = _DETAILS.get(key.kind)
    return Node(
        label=f"{key.kind} {key.name}",
        state=state,
        detail=describe(resource) if describe else "",
        mood=mood,
        remarks=[_remark(failure) for failure in failures],
        inside=[*_pools(resource), *_children(world, key)],
    )


def _state(resource: Resource, failures: Sequence[verdict.Failure]) -> tuple[str, Mood]:
    phase = (resource.get("status") or {}).get("phase")
    synced, ready = conditions.find(resource, "Synced") or {}, conditions.find(resource, "Ready") or {}
    if synced.get("status") != "True":
        return "Refused", Mood.BAD
    if phase:
        return str(phase), Mood.GOOD if ready.get("status") == "True" else Mood.WAITING
    if ready.get("status") == "True":
        return "Ready", Mood.GOOD
    return "Not ready", Mood.BAD if failures else Mood.WAITING


def _remark(failure: verdict.Failure) -> str:
    said = f": {failure.message}" if failure.message else ""
    return f"{failure.condition} is {failure.status}, {failure.reason}{said}"


# --- what belongs to a composite --------------------------------------------------------------------------------------


def _children(world: World, key: Key) -> Iterator[Node]:
    composites: list[Key] = []
    plain: list[Key] = []
    remote: dict[str, list[Key]] = {}
    for child in world.children(key):
        if world.definitions.find(child.group, child.kind):
            composites.append(child)
        elif (child.group, child.kind) == (assumption.KUBERNETES, "Object"):
            cluster = assumption.cluster_of(world.store.get(child) or {"metadata": {}}, world.store)
            remote.setdefault(cluster, []).append(child)
        else:
            plain.append(child)
    for child in sorted(composites, key=_order):
        yield _composite(world, child)
    for cluster, children in sorted(remote.items()):
        yield Node(f"on {cluster}", inside=sorted((_remote(world, child) for child in children), key=_remote_order))
    for child in plain:
        yield _plain(world, child)


def _remote(world: World, key: Key) -> Node:
    """Return the line of an object on a workload cluster."""
    resource = world.store.get(key) or {}
    spec = resource.get("spec") or {}
    manifest = spec.get("forProvider", {}).get("manifest") or {}
    metadata = manifest.get("metadata") or {}
    name = metadata.get("name") or key.name
    where = f"{metadata['namespace']}/" if metadata.get("namespace") else ""
    observed = " (observed only)" if spec.get("managementPolicies") == ["Observe"] else ""
    state, mood = _condition_state(resource, "Ready")
    return Node(f"{manifest.get('kind', 'Object')} {where}{name}{observed}", state, mood=mood)


# The workload first, then what it needs; what everything shares last. A label starts with its kind.
_REMOTE_ORDER = ("LLMInferenceService ", "ResourceClaimTemplate ", "HTTPRoute ")
_REMOTE_LAST = ("Namespace ",)


def _remote_order(node: Node) -> tuple[int, str]:
    for position, kind in enumerate(_REMOTE_ORDER):
        if node.label.startswith(kind):
            return position, node.label
    return len(_REMOTE_ORDER) + int(node.label.startswith(_REMOTE_LAST)), node.label


def _plain(world: World, key: Key) -> Node:
    resource = world.store.get(key) or {}
    state, mood = _condition_state(resource, *_UP.get(key.kind, ("Ready",)))
    where = f"{key.namespace}/" if key.namespace == names.SYSTEM_NAMESPACE else ""
    return Node(f"{key.kind} {where}{key.name}", state, mood=mood)


_UP: Mapping[str, tuple[str, ...]] = {
    "Gateway": ("Programmed",),
    "GatewayClass": ("Accepted",),
    "Backend": ("Accepted",),
    "HTTPRoute": ("Accepted", "ResolvedRefs"),
    "BackendTrafficPolicy": ("Accepted",),
    "ClientTrafficPolicy": ("Accepted",),
    "SecurityPolicy": ("Accepted",),
}


def _condition_state(resource: Resource, *kinds: str) -> tuple[str, Mood]:
    """Return the state of an object by its conditions, wherever its kind keeps them; nothing for kinds without."""
    status = resource.get("status") or {}
    said = [*(status.get("conditions") or [])]
    for holder in [*(status.get("parents") or []), *(status.get("ancestors") or [])]:
        said += holder.get("conditions") or []
    relevant = [entry for entry in said if entry.get("type") in kinds]
    if not relevant:
        return "", Mood.PLAIN
    wrong = [str(entry.get("reason") or entry.get("type")) for entry in relevant if entry.get("status") != "True"]
    return (", ".join(wrong), Mood.BAD) if wrong else (kinds[0], Mood.GOOD)


def _deleted(world: World) -> Iterator[Node]:
    deletions = world.settled.record.deletions
    if not deletions:
        return
    lines = []
    for deletion in deletions:
        inside = [Node(f"-- {key}", mood=Mood.BAD) for key in deletion.with_it]
        why = f"no longer wanted by {deletion.owner}"
        lines.append(Node(f"-- {deletion.key}", "Deleted", why, Mood.BAD, inside=inside))
    yield Node("deleted", inside=lines)


# --- details by kind --------------------------------------------------------------------------------------------------


def _deployment(resource: Resource) -> str:
    status, spec = resource.get("status") or {}, resource.get("spec") or {}
    wanted = spec.get("replicas", 1)
    counts = f"{status.get('replicas', 0)} of {wanted} placed, {status.get('readyReplicas', 0)} ready"
    return ", ".join(part for part in (counts, str(status.get("backend") or "")) if part)


def _replica(resource: Resource) -> str:
    spec = resource.get("spec") or {}
    roles = [_role("", spec)]
    if spec.get("prefill"):
        roles = [_role("decode ", spec), _role("prefill ", spec["prefill"])]
    return f"{spec.get('clusterName', '?')}: {'; '.join(roles)}"


def _role(label: str, role: Resource) -> str:
    workers = role.get("workers") or {}
    shape = workers.get("topology") or {}
    topology = Topology(
        tensor=shape.get("tensor", 1),
        pipeline=shape.get("pipeline", 1),
        data=shape.get("data", 1),
        data_local=shape.get("dataLocal", 1),
    )
    pods = workers.get("count", 1) * topology.nodes
    requests = [request for request in role.get("devices") or [] if request.get("claim") != "Synthetic"]
    devices = [f"{request.get('count', 1)} {request.get('device') or request.get('name')}" for request in requests]
    each = f" x {' + '.join(devices)}" if devices else ""
    return f"{label}{role.get('pool', '?')}, {pods} {'pod' if pods == 1 else 'pods'}{each}"


def _endpoint(resource: Resource) -> str:
    return str((resource.get("spec") or {}).get("url") or "")


def _service(resource: Resource) -> str:
    status = resource.get("status") or {}
    counts = status.get("endpoints") or {}
    answering = f"{counts.get('ready', 0)} of {counts.get('matched', 0)} endpoints ready"
    return "  ".join(part for part in (str(status.get("url") or ""), answering) if part)


def _gateway(resource: Resource) -> str:
    status = resource.get("status") or {}
    where = status.get("hostname") or status.get("address") or ""
    return f"{status.get('scheme', 'http')}://{where}" if where else ""


def _cluster(resource: Resource) -> str:
    status = resource.get("status") or {}
    admitted = len(status.get("admitted") or [])
    gateway = (status.get("gateway") or {}).get("address")
    parts = [f"{admitted} {'replica' if admitted == 1 else 'replicas'}", f"gateway {gateway}" if gateway else ""]
    return ", ".join(part for part in parts if part)


def _class(resource: Resource) -> str:
    devices = (resource.get("spec") or {}).get("devices") or []
    return ", ".join(_device(device) for device in devices)


def _device(device: Resource) -> str:
    memory = ((device.get("capacity") or {}).get("memory") or {}).get("value")
    size = f" {memory}" if memory else ""
    return f"{device.get('count', 1)} x {device.get('name')}{size}"


def _llm(resource: Resource) -> str:
    spec, status = resource.get("spec") or {}, resource.get("status") or {}
    return "  ".join(part for part in (str(spec.get("model") or ""), str(status.get("url") or "")) if part)


_DETAILS: Mapping[str, Callable[[Resource], str]] = {
    "ModelDeployment": _deployment,
    "ModelReplica": _replica,
    "ModelEndpoint": _endpoint,
    "ModelService": _service,
    "InferenceGateway": _gateway,
    "InferenceCluster": _cluster,
    "InferenceClass": _class,
    "LLMInference": _llm,
}


def _pools(resource: Resource) -> Iterator[Node]:
    """Yield a line per pool of a cluster, from the ledger it publishes."""
    if resource.get("kind") != "InferenceCluster":
        return
    for pool in (resource.get("status") or {}).get("pools") or []:
        used: dict[str, int] = {}
        for allocation in pool.get("allocations") or []:
            for device, count in (allocation.get("devices") or {}).items():
                used[device] = used.get(device, 0) + count * allocation.get("pods", 0)
        free = pool.get("free") or {}
        counts = [f"{free[device]} of {free[device] + used.get(device, 0)} {device} free" for device in sorted(free)]
        nodes = (pool.get("nodes") or {}).get("declared", 0)
        size = f"{nodes} {'node' if nodes == 1 else 'nodes'} {pool.get('className', '')}"
        yield Node(f"pool {pool.get('name')}", detail=", ".join([size, *counts]))
