"""A plan as tables for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from modelplane_cli.output import table
from modelplane_cli.planning import plan as plan_module
from modelplane_cli.planning.capacity import PoolUse
from modelplane_cli.planning.changes import Change
from modelplane_cli.planning.plan import DeploymentRow, Plan, ReplicaRow
from modelplane_cli.planning.replicas import ObservedReplica

_POOLS_SHOWN = 40
"""Pools that fit on a screen; of more, those that hold nothing are left out."""


def text(plan: Plan, *, with_changes: bool) -> str:
    """Return the plan; its changes only where there was something before."""
    parts = [_placements(plan), _pools(plan), list(_cost(plan))]
    if with_changes:
        parts.append(changes(plan.changes))
    return "\n".join("".join(f"{line}\n" for line in part) for part in parts if part)


def _placements(plan: Plan) -> list[str]:
    if not plan.deployments:
        return ["no ModelDeployment"]
    rows = [cells for row in plan.deployments for cells in _deployment(row)]
    headings = ("DEPLOYMENT", "REPLICA", "STATE", "CLUSTER", "POOL", "PODS", "NODES", "PER POD", "PHASE")
    lines = table.lines(headings, rows)
    for row in plan.deployments:
        lines += _troubles(row)
    return lines


def _deployment(row: DeploymentRow) -> Iterator[Sequence[str]]:
    name, nothing = str(row.id), ("",) * 4
    for replica in sorted(row.replicas, key=lambda one: table.by_number(one.observed.name)):
        yield from _replica(name, replica)
    missing = row.wanted - row.placed
    if missing > 0:
        yield (name, f"{missing} of {row.wanted}", "NOT PLACED", "", *nothing, "")
    elif not row.replicas:
        yield (name, f"{row.wanted} wanted", "", "", *nothing, "")


def _replica(name: str, row: ReplicaRow) -> Iterator[Sequence[str]]:
    replica = row.observed
    phase = "lost" if replica.lost else replica.phase if replica.admitted else f"{replica.phase} (not admitted)"
    for position, (role, nodes) in enumerate(zip(replica.roles, row.nodes, strict=True)):
        pool = f"{role.pool} ({role.role})" if len(replica.roles) > 1 else role.pool
        devices = " + ".join(f"{count} {request}" for request, count in role.devices_per_pod) or "-"
        first = (name, replica.name, row.state, replica.cluster) if position == 0 else ("", "", "", "")
        yield (*first, pool, str(role.pods), str(nodes), devices, phase if position == 0 else "")


def _troubles(row: DeploymentRow) -> Iterator[str]:
    found = row.unschedulable
    if found is not None:
        yield f"! {row.id}: {found.message}"
        if found.closest:
            yield f"! {row.id}: closest is {found.closest['cluster']}: would fit if {found.closest['wouldFitIf']}"
    for blocked in row.blocked:
        yield f"! {row.id}: {blocked}"
    for replica in row.replicas:
        if replica.note and not any(blocked.startswith(f"{replica.observed.name} ") for blocked in row.blocked):
            yield f"! {row.id}: {replica.observed.name}: {replica.note}"


def _pools(plan: Plan) -> list[str]:
    before = {use.key: use for use in plan.pools_before}
    shown = plan.pools
    if len(shown) > _POOLS_SHOWN:
        shown = tuple(use for use in plan.pools if _is_used(use) or _is_used(before.get(use.key)))
    rows = [cells for use in shown for cells in _pool(use, before.get(use.key))]
    headings = ("CLUSTER", "POOL", "CLASS", "NODES", "DEVICE", "TOTAL", "BEFORE", "USED", "FREE", "NODES IN USE")
    lines = table.lines(headings, rows) if rows else []
    if len(shown) < len(plan.pools):
        lines.append(f"{len(plan.pools) - len(shown)} pools that hold nothing are left out; -o json has them all")
    return lines


def _is_used(use: PoolUse | None) -> bool:
    return use is not None and any(device.used for device in use.devices.values())


def _pool(use: PoolUse, before: PoolUse | None) -> Iterator[Sequence[str]]:
    nodes = f"{use.nodes} (+{use.growable})" if use.growable else str(use.nodes)
    start = (use.cluster, use.pool, use.class_name, nodes)
    if not use.devices:
        yield (*start, "class unknown" if use.class_name else "-", "", "", "", "", "")
    for position, (name, device) in enumerate(use.devices.items()):
        was = before.devices[name].used if before is not None and name in before.devices else 0
        counts = (str(device.total), str(was), str(device.used), str(device.free))
        yield (*(start if position == 0 else ("", "", "", "")), name, *counts, str(use.nodes_used))


def _cost(plan: Plan) -> Iterator[str]:
    before = plan_module.cost(plan.pools_before)
    for currency, (used, present) in plan_module.cost(plan.pools).items():
        was = before[currency][0] if currency in before else 0
        yield f"cost of the nodes in use: {used} {currency} per hour (before: {was}; all nodes: {present})"
    priceless = sorted({use.class_name for use in plan.pools if use.cost_per_node_hour is None})
    if priceless:
        yield f"no price is known for {', '.join(priceless)}"


def changes(found: Sequence[Change]) -> list[str]:
    """Return the changes as a table, or a line that there are none."""
    if not found:
        return ["no replica changes"]
    headings = ("CHANGE", "DEPLOYMENT", "REPLICA", "FROM", "TO", "WHY")
    ordered = sorted(found, key=lambda change: (str(change.replica.deployment), table.by_number(change.replica.name)))
    return table.lines(headings, [_change(change) for change in ordered])


def _change(change: Change) -> Sequence[str]:
    replica, target = change.replica, change.target
    to = "" if target is None else _place(target)
    if change.source is not None and target is not None and target.name != replica.name:
        to = f"{to} as {target.name}"
    why = f"{change.why}; it is interrupted" if change.interrupted and change.source is not None else change.why
    start = "" if change.source is None else _place(change.source)
    return (str(change.action), str(replica.deployment), replica.name, start, to, why)


def _place(replica: ObservedReplica) -> str:
    pools = "+".join(dict.fromkeys(role.pool for role in replica.roles))
    return f"{replica.cluster}/{pools}" if pools else replica.cluster
