"""A plan: the placement of every replica of a settled world, the use and cost of pools, and the changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

from modelplane import names
from modelplane.errors import ModelplaneError
from modelplane.placement import decision as placement
from modelplane_cli.planning import amendments, capacity, changes, decision, price, routes
from modelplane_cli.planning.amendments import Documents
from modelplane_cli.planning.capacity import PoolUse
from modelplane_cli.planning.changes import Change
from modelplane_cli.planning.decision import Decision
from modelplane_cli.planning.lineage import Lineage
from modelplane_cli.planning.rehearsal import Act
from modelplane_cli.planning.replicas import DEPLOYMENT, Deployment, ObservedReplica
from modelplane_cli.planning.routes import Route, RouteRow
from modelplane_cli.simulator import conditions, verdict
from modelplane_cli.simulator.offline import World
from modelplane_cli.simulator.store import Store

Json: TypeAlias = Any

RETAINED, NEW, MOVED = "retained", "new", "moved"


@dataclass(frozen=True, slots=True)
class ReplicaRow:
    """A replica. `state` compares it with the beginning. `nodes` are in the order of its roles."""

    observed: ObservedReplica
    state: str
    nodes: tuple[int, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Unschedulable:
    """Desired replicas without a placement, as the deployment's status describes them."""

    count: int
    message: str
    reasons: tuple[Mapping[str, Json], ...] = ()
    closest: Mapping[str, Json] | None = None


@dataclass(frozen=True, slots=True)
class DeploymentRow:
    """A deployment. `blocked` holds a message for each replica that must move but cannot."""

    id: Deployment
    wanted: int
    placed: int
    backend: str
    replicas: tuple[ReplicaRow, ...]
    unschedulable: Unschedulable | None
    blocked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """The content of a plan. `pools_before` are the pools as published at the beginning.

    `refused` are deletions that the webhook of the control plane refuses while replicas stand on a cluster.
    """

    deployments: tuple[DeploymentRow, ...]
    pools: tuple[PoolUse, ...]
    pools_before: tuple[PoolUse, ...]
    changes: tuple[Change, ...]
    routes: tuple[RouteRow, ...] = ()
    refused: tuple[str, ...] = ()

    @property
    def missing(self) -> int:
        """Return the number of replicas that have no place, or that must move but cannot."""
        return sum(
            (row.unschedulable.count if row.unschedulable is not None else 0) + len(row.blocked)
            for row in self.deployments
        )

    @property
    def fits(self) -> bool:
        """Return whether all replicas hold a valid placement, all services have endpoints, and none was interrupted."""
        return not self.disrupts and not self.lacks

    @property
    def disrupts(self) -> bool:
        """Return whether a replica is interrupted or lost, or a service loses endpoints that it still wants."""
        return any(change.disrupts for change in self.changes) or any(row.disrupts for row in self.routes)

    @property
    def lacks(self) -> bool:
        """Return whether a replica has no valid placement, or a group of a service has no endpoint and had none."""
        placed = all(row.unschedulable is None and not row.blocked for row in self.deployments)
        return not placed or any(not row.fits and not row.disrupts for row in self.routes)

    @property
    def is_settled(self) -> bool:
        """Return whether all desired replicas hold a valid placement, and requests reach all services."""
        settled = all(row.unschedulable is None and not row.blocked for row in self.deployments)
        return settled and all(row.fits for row in self.routes)


def of(
    act: Act,
    pools_before: Sequence[PoolUse],
    lost: frozenset[str] = frozenset(),
    documents: Documents | None = None,
    routes_before: Sequence[Route] = (),
) -> Plan:
    """Return the plan that an act leads to.

    `pools_before` and `routes_before` are those of the beginning. `documents` are what people wrote, in which a change
    would make replicas fit; without them it is what now stands.
    """
    lineage = Lineage(act.moments)
    store = act.world.store
    written = amendments.authored(store) if documents is None else documents
    return Plan(
        deployments=tuple(rows(act.world, lineage, deployments(store), written)),
        pools=capacity.pools(store),
        pools_before=tuple(pools_before),
        changes=changes.between(lineage, act.world, lost),
        routes=routes.between(routes_before, routes.of(store)),
    )


def refusals(deleted: Iterable[str], standing: Iterable[ObservedReplica]) -> tuple[str, ...]:
    """Return a message for each deleted cluster on which replicas stand: its ClusterUsage protects it."""
    counts = Counter(replica.cluster for replica in standing)
    return tuple(
        f"InferenceCluster {name}: the webhook will refuse its deletion while {_count(counts[name])} on it; first move "
        "them away with a taint of effect NoExecute in spec.taints, and delete the cluster when they are gone"
        for name in sorted(deleted)
        if counts[name]
    )


def _count(number: int) -> str:
    return "1 replica is" if number == 1 else f"{number} replicas are"


def deployments(store: Store) -> list[Deployment]:
    """Return the deployments of a store, sorted by namespace and name."""
    return [Deployment(key.namespace, key.name) for key in store.of_kind(names.GROUP, DEPLOYMENT)]


def rows(
    world: World, lineage: Lineage, about: Iterable[Deployment], documents: Documents | None
) -> Iterator[DeploymentRow]:
    """Yield one row for each deployment. Without `documents` no change is searched for missing replicas."""
    replicas: dict[Deployment, list[ObservedReplica]] = {}
    for replica in lineage.after.values():
        replicas.setdefault(replica.deployment, []).append(replica)
    for id_ in about:
        yield _row(world, lineage, id_, replicas.get(id_, []), documents)


def _row(
    world: World, lineage: Lineage, id_: Deployment, replicas: Sequence[ObservedReplica], documents: Documents | None
) -> DeploymentRow:
    resource = world.store.get(id_.key) or {}
    status = resource.get("status") or {}
    unwell = _unwell(world, id_)
    found, amended = None, None
    if unwell is not None:
        found = unwell.plan()
    if unwell is not None and found is not None and documents is not None:
        amended = _amended(world, unwell, found, documents)
    notes, blocked = _notes(found)
    nodes = {
        (str(placement.get("replica")), str(role.get("role"))): int(role.get("nodes") or 0)
        for placement in status.get("placements") or ()
        for role in placement.get("roles") or ()
    }
    wanted = int((resource.get("spec") or {}).get("replicas", 1))
    return DeploymentRow(
        id=id_,
        wanted=wanted,
        placed=int(status.get("replicas", len(replicas))),
        backend=str(status.get("backend") or ""),
        replicas=tuple(
            ReplicaRow(
                replica,
                _state(lineage, replica),
                tuple(nodes.get((replica.name, role.role), role.pods) for role in replica.roles),
                notes.get(replica.name, ""),
            )
            for replica in replicas
        ),
        unschedulable=_unschedulable(world, id_, status, wanted - len(replicas), amended),
        blocked=blocked,
    )


def _state(lineage: Lineage, replica: ObservedReplica) -> str:
    origin = lineage.origin(replica.id)
    if origin is None:
        return NEW
    return RETAINED if origin.id == replica.id else MOVED


def _unwell(world: World, id_: Deployment) -> Decision | None:
    """Return the decision of a deployment that is not ready, None for one that is ready or cannot be read."""
    ready = conditions.find(world.store.get(id_.key) or {}, "Ready")
    if ready is not None and ready.get("status") == "True":
        return None
    try:
        return decision.of(world.store, id_)
    except ModelplaneError:
        return None


def _amended(world: World, decided: Decision, found: placement.Plan, documents: Documents) -> Mapping[str, Json] | None:
    """Return the closest miss with the operations on the documents, None without one."""
    if found.shortfall is not None and found.shortfall.closest is None:
        # Perhaps one of the clusters whose labels do not match, which the function does not see.
        decided = decision.widened(world.store, decided)
        found = decided.plan()
    closest = None if found.shortfall is None else found.shortfall.closest
    return None if closest is None else amendments.encode_closest(closest, decided.facts, documents)


def _notes(found: placement.Plan | None) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the scheduler's notes on replicas and moves that are blocked."""
    if found is None:
        return {}, ()
    notes = {placed.name: placed.note for placed in found.composed if placed.note}
    return notes, tuple(f"{one.replica} must move ({one.cause}) but cannot: {one.message}" for one in found.blocked)


def _unschedulable(
    world: World,
    id_: Deployment,
    status: Mapping[str, Json],
    missing: int,
    amended: Mapping[str, Json] | None,
) -> Unschedulable | None:
    failures = [
        failure
        for failure in verdict.of(world, id_.key)
        if failure.condition not in ("ReplicasReady", "BackendSelected")
    ]
    if "unscheduledReplicas" not in status:
        # It was never decided: its function refused it, and everything that ran is held.
        return Unschedulable(max(0, missing), _told(failures)) if failures or missing > 0 else None
    count = int(status["unscheduledReplicas"])
    synced = [failure for failure in failures if failure.condition == "Synced"]
    if not count:
        return Unschedulable(0, _told(failures)) if synced else None
    said = status.get("unschedulable") or {}
    reasons = tuple(_reason(entry) for entry in said.get("reasons") or ())
    return Unschedulable(count, str(said.get("message") or _told(failures)), reasons, amended)


def _told(failures: Sequence[verdict.Failure]) -> str:
    """Return the failures in words. Crossplane's repetition of a function's refusal is left out."""
    said = [one.message for one in failures if one.condition != "Synced" and one.message]
    return "; ".join(
        f"{one.reason}: {one.message}" if one.message else one.reason
        for one in failures
        if one.condition != "Synced" or not any(message in one.message for message in said)
    )


def _reason(entry: Mapping[str, Json]) -> dict[str, Json]:
    return {
        "reason": entry.get("reason"),
        "clusters": entry.get("count"),
        "examples": list(entry.get("clusters") or ()),
        "detail": entry.get("detail") or "",
    }


# --- as JSON ----------------------------------------------------------------------------------------------------------


def encode(plan: Plan) -> dict[str, Json]:
    """Return the plan as JSON. Its keys are a promise: some may be added, none changed."""
    before = {use.key: use for use in plan.pools_before}
    return {
        "deployments": [_encode_deployment(row) for row in plan.deployments],
        "pools": [_encode_pool(use, before.get(use.key)) for use in plan.pools],
        "changes": [encode_change(change) for change in plan.changes],
        "cost": price.encode(plan.pools, plan.pools_before),
        "refused": list(plan.refused),
        "routes": [routes.encode(row) for row in plan.routes],
        "summary": {**asdict(changes.tally(plan.changes)), "notPlaced": plan.missing},
    }


def encode_change(change: Change) -> dict[str, Json]:
    """Return one change as JSON."""
    return {
        "change": str(change.action),
        "namespace": change.replica.id.namespace,
        "deployment": change.replica.deployment.name,
        "replica": change.replica.name,
        "successor": change.target.name if change.source is not None and change.target is not None else None,
        "from": encode_place(change.source),
        "to": encode_place(change.target),
        "interrupted": change.interrupted,
        "why": change.why,
    }


def encode_place(replica: ObservedReplica | None) -> dict[str, Json] | None:
    """Return cluster and pools of a replica, None for no replica."""
    return (
        None
        if replica is None
        else {"cluster": replica.cluster, "pools": sorted({role.pool for role in replica.roles})}
    )


def _encode_deployment(row: DeploymentRow) -> dict[str, Json]:
    missing = row.unschedulable
    return {
        "namespace": row.id.namespace,
        "name": row.id.name,
        "wanted": row.wanted,
        "placed": row.placed,
        "backend": row.backend or None,
        "replicas": [_encode_replica(replica) for replica in row.replicas],
        "unschedulable": None
        if missing is None
        else {
            "count": missing.count,
            "message": missing.message,
            "reasons": [dict(reason) for reason in missing.reasons],
            "closest": None if missing.closest is None else dict(missing.closest),
        },
        "blocked": list(row.blocked),
    }


def _encode_replica(row: ReplicaRow) -> dict[str, Json]:
    replica = row.observed
    return {
        "name": replica.name,
        "cluster": replica.cluster,
        "admitted": replica.admitted,
        "serves": replica.serves,
        "state": row.state,
        "note": row.note,
        "roles": [
            {
                "role": role.role,
                "pool": role.pool,
                "nodes": nodes,
                "pods": role.pods,
                "devicesPerPod": dict(role.devices_per_pod),
            }
            for role, nodes in zip(replica.roles, row.nodes, strict=True)
        ],
    }


def _encode_pool(use: PoolUse, before: PoolUse | None) -> dict[str, Json]:
    devices = {
        name: {
            "total": device.total,
            "used": device.used,
            "free": device.free,
            "usedBefore": before.devices[name].used if before is not None and name in before.devices else 0,
        }
        for name, device in use.devices.items()
    }
    return {
        "cluster": use.cluster,
        "pool": use.pool,
        "class": use.class_name,
        "nodes": use.nodes,
        "nodesUsed": use.nodes_used,
        "nodesGrowable": use.growable,
        "devices": devices,
    }
