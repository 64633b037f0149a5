"""A settled world as a tree: what was asked for, what became of it, and where it stands.

Shape: one tree per namespace with what people wrote in it, then the fleet. Objects of workload clusters are shown as
what they are on their cluster, not as the wrapper that carries them there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from modelplane import names
from modelplane.api import kinds
from modelplane.render import objects
from modelplane.render.manifest import Purpose
from modelplane_cli.output import table
from modelplane_cli.output.outline import Node
from modelplane_cli.output.screen import Mood
from modelplane_cli.simulator import conditions, remote, verdict
from modelplane_cli.simulator.offline import World
from modelplane_cli.simulator.store import Key

Json: TypeAlias = Any
Resource: TypeAlias = Mapping[str, Json]


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
    position = list(kinds.KINDS).index(key.kind) if key.kind in kinds.KINDS else len(kinds.KINDS)
    return (position, key.kind, table.by_number(key.name))


def _composite(world: World, key: Key) -> Node:
    resource = world.store.get(key) or {}
    failures = verdict.of(world, key)
    state, mood = _state(resource, failures)
    kind = kinds.KINDS.get(key.kind)
    parts = (Node(part.label, detail=part.detail) for part in kind.parts(resource)) if kind else ()
    return Node(
        label=f"{key.kind} {key.name}",
        state=state,
        detail=kind.describe(resource) if kind else "",
        mood=mood,
        remarks=[_remark(failure) for failure in failures],
        inside=[*parts, *_children(world, key)],
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
    on_clusters: dict[str, list[Key]] = {}
    for child in world.children(key):
        if world.definitions.find(child.group, child.kind):
            composites.append(child)
        elif (child.group, child.kind) == (remote.KUBERNETES, "Object"):
            cluster = remote.cluster_of(world.store.get(child) or {"metadata": {}}, world.store)
            on_clusters.setdefault(cluster, []).append(child)
        else:
            plain.append(child)
    for child in sorted(composites, key=_order):
        yield _composite(world, child)
    for cluster, children in sorted(on_clusters.items()):
        ordered = sorted(children, key=lambda child: _remote_order(world, child))
        yield Node(f"on {cluster}", inside=[_remote(world, child) for child in ordered])
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


# The workload first, then what it needs; what everything shares last.
_REMOTE_ORDER = (Purpose.WORKLOAD, Purpose.POD_INPUT, Purpose.ROUTE, Purpose.SUPPORT, Purpose.SHARED)


def _remote_order(world: World, key: Key) -> tuple[int, str]:
    resource = world.store.get(key) or {}
    purpose = objects.purpose(resource) or Purpose.SUPPORT
    return _REMOTE_ORDER.index(purpose), _remote(world, key).label


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
    "AIGatewayRoute": ("Accepted", "NotAccepted"),
    "AIServiceBackend": ("Accepted", "NotAccepted"),
    "BackendSecurityPolicy": ("Accepted", "NotAccepted"),
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
