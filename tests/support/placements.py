"""Builders for placement tests: fleets, demands and replicas in a line each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from modelplane import placement
from modelplane.devices.model import Attribute, AttributeKind, Claim, Device, NodeClass, Request
from modelplane.placement.decision import PlacedReplica, Plan
from modelplane.placement.snapshot import (
    Allocation,
    Cluster,
    Current,
    CurrentReplica,
    Demand,
    Effect,
    Fleet,
    Holding,
    Intent,
    NodeCounts,
    PodShape,
    Pool,
    RefusalNote,
    RoleDemand,
    Taint,
)
from modelplane.workload.model import Role

DRAIN = Taint("drain", Effect.NO_EXECUTE, "true")
CORDON = Taint("cordon", Effect.NO_SCHEDULE)
NAMESPACE, DEPLOYMENT = "ml-team", "llama"
NOTHING = Current()
GPU = "gpu.nvidia.com"
WANTS_140 = f'device.capacity["{GPU}"].memory.compareTo(quantity("140Gi")) >= 0'


def gpu(count: int = 8, memory: str = "143771Mi", name: str = "gpu", **attributes: str) -> Device:
    return Device(
        name=name,
        driver=GPU,
        count=count,
        device_class=GPU,
        attributes=tuple(sorted((key, Attribute(AttributeKind.STRING, value)) for key, value in attributes.items())),
        capacity=(("memory", memory),),
    )


def nic(count: int = 8) -> Device:
    return Device(name="nic", driver="dra.net", count=count, device_class="rdma.dra.net")


def synthetic(name: str = "fabric", count: int = 1) -> Device:
    return Device(name=name, driver="modelplane.ai", count=count, claim=Claim.SYNTHETIC)


def node_class(*devices: Device, name: str = "h200-8x", **more: Any) -> NodeClass:
    return NodeClass(name=name, devices=devices or (gpu(),), **more)


H200 = node_class()
L4 = node_class(gpu(8, "23034Mi"), name="l4-8x")


def pool(
    nodes: int | NodeCounts = 4,
    of: NodeClass | None = H200,
    used: Iterable[Allocation] = (),
    name: str = "main",
) -> Pool:
    counts = nodes if isinstance(nodes, NodeCounts) else NodeCounts(nodes)
    return Pool(name, of.name if of else "missing", of, counts, tuple(used))


def used(pods: int, devices: int = 8, span: int = 1, device: str = "gpu") -> Allocation:
    return Allocation(PodShape(((device, devices),)), pods, span)


def cluster(name: str, *pools: Pool, **more: Any) -> Cluster:
    return Cluster(name, pools or (pool(),), **more)


def fleet(*clusters: Cluster, received: bool = True) -> Fleet:
    return Fleet(clusters, received)


def role(
    devices: int = 8,
    pods: int = 1,
    span: int = 1,
    selectors: tuple[str, ...] = (),
    kind: Role = Role.DECODE,
    **more: Any,
) -> RoleDemand:
    return RoleDemand(kind, pods, span, (Request("gpu", devices, selectors),), **more)


def demand(*roles: RoleDemand) -> Demand:
    return Demand(roles or (role(),))


def intent(replicas: int = 1, **more: Any) -> Intent:
    return Intent(NAMESPACE, DEPLOYMENT, replicas, **more)


def replica(number: int, on: str, *holdings: Holding, **more: Any) -> CurrentReplica:
    held = holdings or (Holding(Role.DECODE, "main", 1, PodShape((("gpu", 8),))),)
    fields: dict[str, Any] = {"created": f"2026-01-01T00:00:{number:02d}Z", "ready": True, **more}
    return CurrentReplica(fields.pop("name", f"{DEPLOYMENT}-{number}"), on, "KServe", held, **fields)


def holding(of: Demand, pool: str) -> tuple[Holding, ...]:
    """What a replica holds whose roles ask for one device kind `gpu` each and all stand on one pool."""
    return tuple(
        Holding(one.role, pool, one.pods, PodShape((("gpu", one.requests[0].count),)), one.nodes_per_worker)
        for one in of.roles
    )


def current(*replicas: CurrentReplica, taken: Iterable[str] = ()) -> Current:
    return Current(replicas, frozenset(taken))


def as_current(plan: Plan, before: Current = NOTHING, *, ready: bool = False, outdated: bool = False) -> Current:
    """What the next reconcile observes once the plan has been applied; new replicas come up `ready` or not."""
    old = {one.name: one for one in before.replicas}
    return Current(
        tuple(_observed(placed, old.get(placed.name), ready=ready, outdated=outdated) for placed in plan.composed)
    )


def _observed(placed: PlacedReplica, old: CurrentReplica | None, *, ready: bool, outdated: bool) -> CurrentReplica:
    if old is not None and not placed.rewrite:
        return old
    return CurrentReplica(
        name=placed.name,
        cluster=placed.cluster,
        backend=placed.backend,
        holdings=holdings(placed),
        created=old.created if old is not None else "2026-02-01T00:00:00Z",
        ready=ready,
        bound=old is not None and old.bound,
        outdated=outdated and not placed.rewrite,
        replaces=placed.replaces,
        makes_room=placed.makes_room,
        asks=placed.asks,
    )


def holdings(placed: PlacedReplica) -> tuple[Holding, ...]:
    return tuple(Holding(r.role, r.pool, r.pods, r.shape, r.nodes_per_worker) for r in placed.roles)


def where(plan: Plan) -> Mapping[str, str]:
    """The composed replicas that hold a place, by name."""
    return {one.name: one.cluster for one in plan.composed if one.holds_place}


def note(message: str = "no room") -> RefusalNote:
    return RefusalNote("InsufficientDevices", message)


def plan(of: Fleet, wants: Any = None, what: Any = None, have: Current = NOTHING) -> Plan:
    return placement.schedule(of, what or demand(), wants or intent(), have)


def on(result: Plan) -> list[str]:
    return [one.cluster for one in result.composed if one.holds_place]
