"""A plan as tables for people. After a change, what changed comes first, and the rest is shown only on request."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from modelplane_cli.output import folding, route_text, table
from modelplane_cli.output.screen import PIPE, Mood, Screen
from modelplane_cli.planning import changes as changes_of
from modelplane_cli.planning import price
from modelplane_cli.planning.capacity import PoolUse
from modelplane_cli.planning.changes import Change
from modelplane_cli.planning.plan import RETAINED, DeploymentRow, Plan, ReplicaRow
from modelplane_cli.planning.replicas import ObservedReplica

_POOLS_SHOWN = 40
"""Pools that fit on a screen; of more, those that hold nothing are left out."""
NOT_PLACED = "NOT PLACED"
DEPLOYMENT_HEADINGS = ("DEPLOYMENT", "REPLICA", "STATE", "CLUSTER", "POOL", "PODS", "NODES", "PER POD", "PHASE")
POOL_HEADINGS = ("CLUSTER", "POOL", "CLASS", "NODES", "DEVICE", "TOTAL", "BEFORE", "USED", "FREE", "NODES IN USE")
CHANGE_HEADINGS = ("CHANGE", "DEPLOYMENT", "REPLICA", "FROM", "TO", "WHY")


def text(plan: Plan, screen: Screen = PIPE, *, is_change: bool, all_rows: bool = False) -> str:
    """Return the plan: a summary and what changes where there was something before, and all of it otherwise."""
    if not is_change:
        return joined(whole(plan, screen, all_rows=all_rows))
    changed = [] if all_rows else [row for row in plan.routes if row.change != "retained" or not row.fits]
    refused = [
        screen.painted(line, Mood.BAD)
        for said in plan.refused
        for line in folding.paragraph(said, screen.width, start="! ", indent="  ")
    ]
    parts = [summary(plan, screen), refused, changes(plan.changes, screen), route_text.lines(changed, screen)]
    return joined([*parts, *(whole(plan, screen, all_rows=True) if all_rows else rest(plan, screen))])


def joined(parts: Sequence[Sequence[str]]) -> str:
    """Return the parts with an empty line between them."""
    return "\n".join("".join(f"{line}\n" for line in part) for part in parts if part)


def whole(plan: Plan, screen: Screen, *, all_rows: bool) -> list[list[str]]:
    """Return every placement and pool, and the cost. Without `all_rows` many empty pools are left out."""
    routes = route_text.lines(plan.routes, screen)
    return [_placements(plan, screen), routes, _pools(plan, screen, all_rows=all_rows), list(_cost(plan))]


# --- the change -------------------------------------------------------------------------------------------------------


def summary(plan: Plan, screen: Screen) -> list[str]:
    """Return one line with the number of changes by kind, what has no place, and the cost before and after."""
    counts = [screen.painted(words, mood) for words, mood in counted(plan)]
    return [f"{', '.join(counts)}{''.join(f'; {one}' for one in prices(plan))}"]


def counted(plan: Plan) -> Iterator[tuple[str, Mood]]:
    """Yield the number of changes by kind, each with its mood. The words come from nobody's documents."""
    found = changes_of.tally(plan.changes)
    for number, words in ((found.created, "created"), (found.moved, "moved")):
        yield f"{number} {words}", Mood.PLAIN
    for number, words in ((found.rewritten, "rewritten"), (found.removed, "removed")):
        if number:
            yield f"{number} {words}", Mood.PLAIN
    for number, words in ((found.interrupted, "interrupted"), (found.lost, "lost")):
        yield f"{number} {words}", Mood.BAD if number else Mood.PLAIN
    yield from _unmet(plan)


def _unmet(plan: Plan) -> Iterator[tuple[str, Mood]]:
    if plan.missing:
        yield f"{plan.missing} {NOT_PLACED}", Mood.BAD
    changed = sum(row.change != "retained" for row in plan.routes)
    if changed:
        yield f"{changed} {'route changed' if changed == 1 else 'routes changed'}", Mood.PLAIN
    cut = sum(not row.fits for row in plan.routes)
    if cut:
        yield f"{cut} {'route' if cut == 1 else 'routes'} NOT READY", Mood.BAD


def prices(plan: Plan) -> Iterator[str]:
    """Yield the cost per hour of the nodes in use, before and after, for each currency."""
    now, before = price.of(plan.pools), price.of(plan.pools_before)
    for currency in sorted(now.keys() | before.keys()):
        was, used = (found[currency][0] if currency in found else 0 for found in (before, now))
        yield f"{was} {currency} per hour" if was == used else f"{was} -> {used} {currency} per hour"


def rest(plan: Plan, screen: Screen, said: Collection[str] = ()) -> list[list[str]]:
    """Return the troubles, the pools whose use changes, and a note on the rows that are left out.

    Troubles that have been `said` before are not repeated.
    """
    troubles = [line for row in plan.deployments for line in _troubles(row, screen, said)]
    before = {use.key: use for use in plan.pools_before}
    moved = changed_pools(plan)
    retained = sum(replica.state == RETAINED for row in plan.deployments for replica in row.replicas)
    left_out = [
        f"{number} {word if number == 1 else f'{word}s'}"
        for number, word in (
            (retained, "replica"),
            (sum(row.change == "retained" and row.fits for row in plan.routes), "route"),
            (len(plan.pools) - len(moved), "pool"),
        )
        if number
    ]
    note = [f"not shown: {_listed(left_out)} without a change; --all shows them"] if left_out else []
    return [troubles, _pool_table(moved, before, screen), [*_priceless(moved), *note]]


def changed_pools(plan: Plan) -> list[PoolUse]:
    """Return the pools that differ between the beginning and the end."""
    before = {use.key: use for use in plan.pools_before}
    return [use for use in plan.pools if use != before.get(use.key)]


def _listed(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def changes(found: Sequence[Change], screen: Screen = PIPE, indent: str = "") -> list[str]:
    """Return the changes as a table, or a line that there are none."""
    if not found:
        return [f"{indent}no replica changes"]
    rows = [change_cells(change) for change in ordered(found)]
    return table.lines(CHANGE_HEADINGS, rows, indent=indent, screen=screen, alarms=("lost",))


def ordered(found: Iterable[Change]) -> list[Change]:
    """Return the changes by deployment and the number of their replica."""
    return sorted(found, key=lambda change: (str(change.replica.deployment), table.by_number(change.replica.name)))


def change_cells(change: Change) -> Sequence[str]:
    """Return the cells of a change, in the order of `CHANGE_HEADINGS`."""
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


# --- the whole --------------------------------------------------------------------------------------------------------


def _placements(plan: Plan, screen: Screen) -> list[str]:
    if not plan.deployments:
        return ["no ModelDeployment"]
    rows = [cells for row in plan.deployments for cells in placement_cells(row)]
    lines = table.lines(DEPLOYMENT_HEADINGS, rows, screen=screen, alarms=(NOT_PLACED,))
    for row in plan.deployments:
        lines += _troubles(row, screen)
    return lines


def placement_cells(row: DeploymentRow) -> Iterator[Sequence[str]]:
    """Yield the cells of each role of a deployment's replicas, in the order of `DEPLOYMENT_HEADINGS`."""
    name, nothing = str(row.id), ("",) * 4
    for replica in sorted(row.replicas, key=lambda one: table.by_number(one.observed.name)):
        yield from _replica(name, replica)
    missing = row.wanted - row.placed
    if missing > 0:
        yield (name, f"{missing} of {row.wanted}", NOT_PLACED, "", *nothing, "")
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


def _troubles(row: DeploymentRow, screen: Screen, said: Collection[str] = ()) -> Iterator[str]:
    for words in trouble(row):
        if words not in said:
            for line in folding.paragraph(words, screen.width, start="! ", indent="  "):
                yield screen.painted(line, Mood.BAD)


def trouble(row: DeploymentRow) -> Iterator[str]:
    """Yield a message for each reason that a deployment is not as wanted."""
    found = row.unschedulable
    if found is not None:
        yield f"{row.id}: {found.message}"
        if found.closest:
            yield f"{row.id}: closest is {found.closest['cluster']}: would fit if {found.closest['wouldFitIf']}"
    for blocked in row.blocked:
        yield f"{row.id}: {blocked}"
    for replica in row.replicas:
        if replica.note and not any(blocked.startswith(f"{replica.observed.name} ") for blocked in row.blocked):
            yield f"{row.id}: {replica.observed.name}: {replica.note}"


def _pools(plan: Plan, screen: Screen, *, all_rows: bool) -> list[str]:
    before = {use.key: use for use in plan.pools_before}
    shown = plan.pools
    if len(shown) > _POOLS_SHOWN and not all_rows:
        shown = tuple(use for use in plan.pools if _is_used(use) or _is_used(before.get(use.key)))
    lines = _pool_table(shown, before, screen)
    if len(shown) < len(plan.pools):
        hidden = len(plan.pools) - len(shown)
        lines.append(
            f"{hidden} pools that hold nothing are left out; --all shows them, and `modelplane free` what is free"
        )
    return lines


def _pool_table(shown: Sequence[PoolUse], before: dict[tuple[str, str], PoolUse], screen: Screen) -> list[str]:
    rows = [cells for use in shown for cells in pool_cells(use, before.get(use.key))]
    return table.lines(POOL_HEADINGS, rows, screen=screen) if rows else []


def _is_used(use: PoolUse | None) -> bool:
    return use is not None and any(device.used for device in use.devices.values())


def pool_cells(use: PoolUse, before: PoolUse | None) -> Iterator[Sequence[str]]:
    """Yield the cells of each device of a pool, in the order of `POOL_HEADINGS`."""
    nodes = f"{use.nodes} (+{use.growable})" if use.growable else str(use.nodes)
    start = (use.cluster, use.pool, use.class_name, nodes)
    if not use.devices:
        yield (*start, "class unknown" if use.class_name else "-", "", "", "", "", "")
    for position, (name, device) in enumerate(use.devices.items()):
        was = before.devices[name].used if before is not None and name in before.devices else 0
        counts = (str(device.total), str(was), str(device.used), str(device.free))
        yield (*(start if position == 0 else ("", "", "", "")), name, *counts, str(use.nodes_used))


def _cost(plan: Plan) -> Iterator[str]:
    before = price.of(plan.pools_before)
    for currency, (used, present) in price.of(plan.pools).items():
        was = before[currency][0] if currency in before else 0
        yield f"cost of the nodes in use: {used} {currency} per hour (before: {was}; all nodes: {present})"
    yield from _priceless(plan.pools)


def _priceless(uses: Sequence[PoolUse]) -> Iterator[str]:
    found = sorted({use.class_name for use in uses if use.cost_per_node_hour is None})
    if found:
        yield f"no price is known for {', '.join(found)}"
