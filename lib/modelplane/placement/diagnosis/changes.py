"""Counterfactual changes made for real: the same snapshot with one thing different, for the matcher to judge."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from modelplane.devices import nearness
from modelplane.devices.model import Device, NodeClass
from modelplane.placement.decision import Change, ChangeKind
from modelplane.placement.diagnosis import shortage
from modelplane.placement.scheduling.board import Board
from modelplane.placement.snapshot import (
    Cluster,
    Demand,
    Effect,
    Intent,
    Pool,
    RoleDemand,
    Toleration,
    TolerationOperator,
)


@dataclass(frozen=True, slots=True)
class World:
    """One cluster, the demand and the intent: what a change may touch. `pardoned`.

    The cluster's refusal is set aside.
    """

    cluster: Cluster
    demand: Demand
    intent: Intent
    pardoned: bool = False

    def board(self, board: Board) -> Board:
        """Return the board of this world's cluster, with everything that `board` has put down there."""
        return board.varied(self.cluster, self.demand, self.intent, pardoned=self.pardoned)


def applied(world: World, changes: tuple[Change, ...]) -> World:
    """Return the world with the changes made, in order."""
    for change in changes:
        world = _applied(world, change)
    return world


def described(change: Change, *, role: str = "") -> str:
    """Return the change as the end of "it would fit if ..."; `role` where a request's name alone does not say whose."""
    amount = int(change.value) if change.kind in (ChangeKind.CPU, ChangeKind.MEMORY, ChangeKind.NODES) else 0
    of_role = f" of {role}" if role else ""
    texts = {
        ChangeKind.LABEL: f"it had the label {change.subject}={change.value}",
        ChangeKind.NO_LABEL: f"it had no label {change.subject}",
        ChangeKind.TAINT: f"the taint {_taint(change)} were tolerated or removed",
        ChangeKind.READY: "it were ready",
        ChangeKind.ADDRESS: "its gateway had an address",
        ChangeKind.BACKEND: f"it offered the backend {change.subject}",
        ChangeKind.CACHE: f"ModelCache {change.subject} were ready there",
        ChangeKind.REFUSAL: "it no longer refused",
        ChangeKind.REPLICA_LIMIT: f"maxReplicasPerCluster were {change.value}",
        ChangeKind.SPREAD: f"maxSkew of {change.subject} were {change.value}",
        ChangeKind.NODES: f"pool {change.pool} had {amount} more free node{'s' if amount != 1 else ''}",
        ChangeKind.DEVICE: f"pool {change.pool} had nodes of another class, whose {change.subject} has {change.value}",
        ChangeKind.SELECTOR: f'request "{change.subject}"{of_role} asked for {_selectors(change.value)}',
        ChangeKind.CPU: f"a pod of {change.subject} asked for at most cpu {shortage.cpu(amount)}",
        ChangeKind.MEMORY: f"a pod of {change.subject} asked for at most memory {shortage.amount(amount)}",
    }
    return texts[change.kind]


def joined(selectors: tuple[str, ...]) -> str:
    """Return several selectors as one text; a single one stays as it is."""
    return selectors[0] if len(selectors) == 1 else json.dumps(selectors)


def _taint(change: Change) -> str:
    value, _, effect = change.value.rpartition(":")
    return f"{change.subject}={value}:{effect}" if value else f"{change.subject}:{effect}"


def _selectors(text: str) -> str:
    """Return what `joined` made one text of, for people."""
    try:
        found = json.loads(text)
    except ValueError:
        return text
    return " and ".join(found) if isinstance(found, list) and all(isinstance(one, str) for one in found) else text


def _split(text: str, count: int) -> tuple[str, ...]:
    return (text,) if count == 1 else tuple(str(part) for part in json.loads(text))


def _applied(world: World, change: Change) -> World:
    if change.kind in (ChangeKind.NODES, ChangeKind.DEVICE):
        return replace(world, cluster=_with_pool(world, change))
    if change.kind in (ChangeKind.SELECTOR, ChangeKind.CPU, ChangeKind.MEMORY):
        roles = tuple(_with_role(role, change) for role in world.demand.roles)
        return replace(world, demand=replace(world.demand, roles=roles))
    if change.kind is ChangeKind.REFUSAL:
        return replace(world, pardoned=True)
    if change.kind in (ChangeKind.TAINT, ChangeKind.REPLICA_LIMIT, ChangeKind.SPREAD):
        return replace(world, intent=_with_intent(world.intent, change))
    if change.kind is ChangeKind.CACHE and world.intent.cache is not None:
        cache = replace(world.intent.cache, ready_clusters=world.intent.cache.ready_clusters | {world.cluster.name})
        return replace(world, intent=replace(world.intent, cache=cache))
    return replace(world, cluster=_with_cluster(world.cluster, change))


def _with_cluster(cluster: Cluster, change: Change) -> Cluster:
    labels = {key: value for key, value in cluster.labels.items() if key != change.subject}
    match change.kind:
        case ChangeKind.LABEL:
            return replace(cluster, labels={**labels, change.subject: change.value})
        case ChangeKind.NO_LABEL:
            return replace(cluster, labels=labels)
        case ChangeKind.READY:
            return replace(cluster, ready=True)
        case ChangeKind.ADDRESS:
            return replace(cluster, address_known=True)
        case ChangeKind.BACKEND:
            return replace(cluster, backends=(*cluster.backends, change.subject))
        case _:
            return cluster


def _with_intent(intent: Intent, change: Change) -> Intent:
    if change.kind is ChangeKind.TAINT:
        value, _, effect = change.value.rpartition(":")
        toleration = Toleration(change.subject, TolerationOperator.EQUAL, value, Effect(effect))
        return replace(intent, tolerations=(*intent.tolerations, toleration))
    if change.kind is ChangeKind.REPLICA_LIMIT:
        return replace(intent, max_replicas_per_cluster=int(change.value))
    spread = tuple(
        replace(constraint, max_skew=int(change.value)) if constraint.topology_key == change.subject else constraint
        for constraint in intent.spread
    )
    return replace(intent, spread=spread)


def _with_pool(world: World, change: Change) -> Cluster:
    pools = tuple(
        _changed_pool(world, pool, change) if pool.name == change.pool else pool for pool in world.cluster.pools
    )
    return replace(world.cluster, pools=pools)


def _changed_pool(world: World, pool: Pool, change: Change) -> Pool:
    if change.kind is ChangeKind.NODES:
        usable = pool.nodes.usable + int(change.value)
        return replace(pool, nodes=replace(pool.nodes, declared=usable, observed=usable, maximum=None))
    if pool.node_class is None:
        return pool
    devices = tuple(
        _changed_device(world, device, change) if device.name == change.subject else device
        for device in pool.node_class.devices
    )
    return replace(pool, node_class=_with_devices(pool.node_class, devices))


def _with_devices(node_class: NodeClass, devices: tuple[Device, ...]) -> NodeClass:
    return replace(node_class, devices=devices)


def _changed_device(world: World, device: Device, change: Change) -> Device:
    """Return the device with a larger count, or as the nearest device that the role's requests accept."""
    count = change.value.removeprefix("count ")
    if count != change.value:
        return replace(device, count=int(count))
    for role in world.demand.roles:
        if role.role is change.role:
            for request in role.requests:
                if change.request not in ("", request.name):
                    continue
                near = nearness.nearest(request.selectors, device)
                if near is not None:
                    return near.device
    return device


def _with_role(role: RoleDemand, change: Change) -> RoleDemand:
    if role.role is not change.role:
        return role
    if change.kind is ChangeKind.CPU:
        return replace(role, cpu_millis=int(change.value))
    if change.kind is ChangeKind.MEMORY:
        return replace(role, memory_bytes=int(change.value))
    requests = tuple(
        replace(request, selectors=_split(change.value, len(request.selectors)))
        if request.name == change.subject
        else request
        for request in role.requests
    )
    return replace(role, requests=requests)
