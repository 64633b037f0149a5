"""Counterfactuals: the changes with which a cluster would take one more replica.

Changes are found one by one, and the matcher confirms each result.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import replace

from modelplane.devices import nearness
from modelplane.devices.matching import MissKind
from modelplane.devices.model import Request
from modelplane.labels import LabelOperator
from modelplane.placement.decision import Change, Closest, ClusterVerdict, Reason, World
from modelplane.placement.diagnosis import changes, misses
from modelplane.placement.diagnosis.misses import Nearness
from modelplane.placement.diagnosis.verdicts import Diagnosis
from modelplane.placement.scheduling import filters
from modelplane.placement.scheduling.board import Board
from modelplane.placement.snapshot import Effect

CHANGES_MAX = 8
"""Limit of the changes that are tried on one cluster."""
CLUSTERS_PER_REASON = 3
NODES_MAX = 4096
_OF_POOLS = frozenset(
    {
        Reason.SELECTOR_ERROR,
        Reason.NO_MATCHING_DEVICE,
        Reason.INSUFFICIENT_NODES,
        Reason.INSUFFICIENT_DEVICES,
        Reason.INSUFFICIENT_NODE_RESOURCES,
    }
)


def rank(verdict: ClusterVerdict) -> int:
    """Return the distance of a cluster from a fit; a smaller one is nearer."""
    return -1 if verdict.reason is None else verdict.reason.distance


def closest(board: Board, diagnosis: Diagnosis, verdicts: tuple[ClusterVerdict, ...], near: Nearness) -> Closest | None:
    """Return the cluster that needs the fewest changes to take one more replica, with the changes, all confirmed."""
    members: dict[Reason, list[ClusterVerdict]] = {}
    for verdict in verdicts:
        if verdict.reason is not None:
            members.setdefault(verdict.reason, []).append(verdict)
    found = []
    for reason in sorted(members, key=lambda reason: reason.distance):
        for verdict in heapq.nsmallest(CLUSTERS_PER_REASON, members[reason], key=near.place):
            answer = repaired(board, diagnosis, verdict)
            if answer is not None:
                weight = (len(answer.changes), reason.distance, _amount(answer), answer.cluster)
                found.append((weight, answer))
    return min(found, key=lambda item: item[0])[1] if found else None


def repaired(board: Board, diagnosis: Diagnosis, verdict: ClusterVerdict) -> Closest | None:
    """Return the changes that make the cluster fit, None when none were found. The last step confirms the fit."""
    world = World(board.clusters[verdict.cluster], board.table.demand, board.intent)
    made: list[Change] = []
    misses: list[str] = []
    current = verdict
    view = board
    while not current.fits:
        if len(misses) == CHANGES_MAX:
            return None
        step = _step(view, current, diagnosis, board)
        if step is None or (step in made and not isinstance(step, changes.MoreNodes)):
            return None
        _make(made, step)
        misses.append(f"{current.reason}: {current.detail}")
        world = step.apply(world)
        view = changes.board_of(world, board)
        current = Diagnosis(view, diagnosis.countable).cluster(verdict.cluster)
    text = " and ".join(_described(board, change) for change in made)
    pool = next((change.pool for change in made if isinstance(change, changes.PoolChange)), "")
    return Closest(verdict.cluster, pool, tuple(misses), text, tuple(made))


def _described(board: Board, change: Change) -> str:
    """Return the change in words, with a class that has the devices where one is known."""
    roles = board.table.demand.roles
    text = change.describe(roles=len(roles))
    if not isinstance(change, changes.OtherHardware):
        return text
    known = {
        pool.class_name: pool.node_class
        for cluster in board.clusters.values()
        for pool in cluster.pools
        if pool.node_class is not None
    }
    index = next(number for number, role in enumerate(roles) if role.role is change.role)
    for name in sorted(known):
        if board.table.matches(board.table.number(known[name]))[index].options:
            return f"{text}, such as {name}"
    return text


def _make(made: list[Change], step: Change) -> None:
    """Add a change to those made; nodes of a pool are told as one number."""
    if isinstance(step, changes.MoreNodes):
        for index, change in enumerate(made):
            if isinstance(change, changes.MoreNodes) and step.pool == change.pool:
                made[index] = replace(change, count=change.count + step.count)
                return
    made.append(step)


def _amount(answer: Closest) -> int:
    return sum(change.count for change in answer.changes if isinstance(change, changes.MoreNodes))


def _step(board: Board, verdict: ClusterVerdict, diagnosis: Diagnosis, fleet: Board) -> Change | None:
    """Return one change that takes away the verdict's reason, None when no change is known that would.

    `fleet` is the board as it is, with all clusters.
    """
    if verdict.reason in _OF_POOLS:
        return _devices(_unlimited(board, verdict.cluster), verdict, fleet)
    if verdict.reason is Reason.SPREAD_CONSTRAINT:
        return _spread(board, verdict.cluster, diagnosis)
    step = None if verdict.reason is None else STEPS.get(verdict.reason)
    return None if step is None else step(board, verdict.cluster)


def _unlimited(board: Board, name: str) -> Board:
    """Return the board of a cluster without quotas: what is asked of devices and nodes is not asked of quotas."""
    if not board.spending.is_limited:
        return board
    intent = replace(board.intent, budgets=())
    return changes.board_of(World(board.clusters[name], board.table.demand, intent), board)


def _taint(board: Board, name: str) -> Change | None:
    cluster, effects = board.clusters[name], (Effect.NO_SCHEDULE, Effect.NO_EXECUTE)
    taint = filters.untolerated(cluster.taints, board.intent.tolerations, effects)
    return None if taint is None else changes.Tolerated(taint)


def _ready(board: Board, name: str) -> Change | None:
    cluster = board.clusters[name]
    return changes.Ready() if cluster.capacity_known and not cluster.ambiguous else None


def _backend(board: Board, name: str) -> Change | None:
    intent, cluster = board.intent, board.clusters[name]
    # A cluster that offers the backend already has no devices that it can claim.
    missing = intent.backends and filters.backend(cluster, intent) is None
    known = missing and filters.scheduler_refusal(cluster, intent) is None
    return changes.OffersBackend(intent.backends[0]) if known else None


def _install(board: Board, name: str) -> Change | None:
    lacking = [need for need in board.intent.needs if need[0] in board.clusters[name].missing]
    return changes.Installs(tuple(need[0] for need in lacking), tuple(need[1] for need in lacking))


def _cache(board: Board, _name: str) -> Change | None:
    cache = board.intent.cache
    return None if cache is None else changes.HasCache(cache.name)


def _label(board: Board, name: str) -> Change | None:
    cluster, selector = board.clusters[name], board.intent.selector
    for key, want in selector.match_labels:
        if filters.label(cluster, key) != want:
            return changes.HasLabel(key, want)
    for expression in selector.match_expressions:
        if expression.matches(filters.label(cluster, expression.key)):
            continue
        if expression.operator is LabelOperator.IN:
            return changes.HasLabel(expression.key, min(expression.values, default=""))
        if expression.operator is LabelOperator.EXISTS:
            return changes.HasLabel(expression.key, "true")
        return changes.NoLabel(expression.key)
    return None


def _spread(board: Board, name: str, diagnosis: Diagnosis) -> Change | None:
    domain = board.tally.domain(name)
    if domain is None:
        keys = (one.topology_key for one in board.intent.spread if one.topology_key not in board.clusters[name].labels)
        # A value of its own: where nothing is yet, one more is never too many.
        return next((changes.HasLabel(key, name) for key in keys), None)
    rows = zip(board.intent.spread, board.tally.replicas_in, domain, diagnosis.countable, strict=True)
    for constraint, counter, value, values in rows:
        least = min((counter[other] for other in values), default=0)
        if counter[value] + 1 - least > constraint.max_skew:
            return changes.MaxSkew(constraint.topology_key, counter[value] + 1 - least)
    return None


def _devices(board: Board, verdict: ClusterVerdict, fleet: Board) -> Change | None:
    """Return the smallest change about devices or nodes that takes the cluster, or one of its roles, further."""
    selector = _selector(board, verdict, fleet)
    if selector is not None:
        return selector
    for attempt in (_pod_resources, _nodes, _topology, _node_size):
        change = attempt(board, verdict)
        if change is not None:
            return change
    return None


def _failing(board: Board, verdict: ClusterVerdict) -> int | None:
    """Return the first role that no pool takes by itself."""
    for index, role in enumerate(board.table.demand.roles):
        if not any(pool.fits for pool in verdict.pools if pool.role is role.role):
            return index
    return None


def _selector(board: Board, verdict: ClusterVerdict, fleet: Board) -> Change | None:
    if verdict.reason is not Reason.NO_MATCHING_DEVICE:
        return None
    index = _failing(board, verdict)
    if index is None:
        return None
    role = board.table.demand.roles[index]
    found = []
    for pool in board.clusters[verdict.cluster].pools:
        if pool.node_class is None:
            continue
        number = board.table.number(pool.node_class)
        miss = board.table.matches(number)[index].miss
        unmatched = miss is not None and miss.kind is not MissKind.KEPT_AWAY
        request = next((r for r in role.requests if miss is not None and unmatched and r.name == miss.request), None)
        near = misses.near_device(board, number, request) if request is not None else None
        if request is not None and near is not None:
            found.append((near[1].distance, pool.name, request, near))
    if not found:
        return None
    _, pool_name, request, (device, gap) = min(found, key=lambda item: (item[0], item[1]))
    if gap.selectors is not None and not _deserts(fleet, request, gap.selectors):
        return changes.OtherSelectors(pool_name, role.role, request.name, gap.selectors)
    wants = ", ".join(f"{one.name} {one.wants}" for one in gap.gaps)
    return changes.OtherDevice(pool_name, role.role, device, request.name, wants)


def _deserts(board: Board, request: Request, selectors: tuple[str, ...]) -> bool:
    """Return whether replicas that are placed may stand on devices that the other selectors no longer accept."""
    if not any(board.tally.objects_on.values()):
        return False
    devices = {
        device
        for cluster in board.clusters.values()
        if board.tally.objects_on[cluster.name]
        for pool in cluster.pools
        if pool.node_class is not None
        for device in pool.node_class.devices
    }
    return any(
        nearness.misses(selectors, device) and not nearness.misses(request.selectors, device) for device in devices
    )


def _pod_resources(board: Board, verdict: ClusterVerdict) -> Change | None:
    """Return a lower cpu or memory request where one pod asks for more than a node has."""
    index = _failing(board, verdict)
    if verdict.reason is not Reason.INSUFFICIENT_NODE_RESOURCES or index is None:
        return None
    role = board.table.demand.roles[index]
    for pool in sorted(board.clusters[verdict.cluster].pools, key=lambda pool: pool.name):
        node = pool.node_class
        if node is None or not board.table.matches(board.table.number(node))[index].options:
            continue
        if node.cpu_millis is not None and role.cpu_millis > node.cpu_millis:
            return changes.LowerCpu(pool.name, role.role, node.cpu_millis)
        if node.memory_bytes is not None and role.memory_bytes > node.memory_bytes:
            return changes.LowerMemory(pool.name, role.role, node.memory_bytes)
    return None


def _nodes(board: Board, verdict: ClusterVerdict) -> Change | None:
    """Return the fewest further nodes in one pool that make the replica fit, or else the role that no pool takes."""
    cluster = board.clusters[verdict.cluster]
    role = _failing(board, verdict)
    found = []
    for pool, _ in board.serving(cluster.name):
        enough = _fewest(board, cluster.name, pool.name, None)
        if enough is not None:
            found.append((0, enough, pool.name))
        elif role is not None:
            alone = _fewest(board, cluster.name, pool.name, role)
            if alone is not None:
                found.append((1, alone, pool.name))
    if not found:
        return None
    _, more, name = min(found)
    return changes.MoreNodes(name, more)


def _fewest(board: Board, name: str, pool: str, role: int | None) -> int | None:
    """Return the fewest further nodes of a pool with which the replica, or one role of it, fits."""
    low, high = 0, 1
    while not _fits_with(board, name, pool, high, role):
        low, high = high, high * 2
        if high > NODES_MAX:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        if _fits_with(board, name, pool, middle, role):
            high = middle
        else:
            low = middle
    return high


def _fits_with(board: Board, name: str, pool: str, more: int, role: int | None) -> bool:
    world = changes.MoreNodes(pool, more).apply(World(board.clusters[name], board.table.demand, board.intent))
    view = changes.board_of(world, board)
    if role is None:
        return view.solve(name) is not None
    alone = replace(world, demand=replace(world.demand, roles=(world.demand.roles[role],)))
    return changes.board_of(alone, board).solve(name) is not None


def _topology(board: Board, verdict: ClusterVerdict) -> Change | None:
    """Return a topology over more nodes where one pod wants more devices than any node of the fleet has.

    The first with which the replica fits as things stand; where none does, the widest that nodes of some pool hold.
    """
    index = _failing(board, verdict)
    if index is None or verdict.reason is not Reason.INSUFFICIENT_DEVICES:
        return None
    cluster, role = board.clusters[verdict.cluster], board.table.demand.roles[index]
    widest: Change | None = None
    for topology in role.splits:
        change = changes.OtherTopology("", role.role, topology)
        view = changes.board_of(change.apply(World(cluster, board.table.demand, board.intent)), board)
        serving = view.serving(cluster.name)
        holding = [pool.name for pool, number in serving if view.table.matches(number)[index].options]
        solved = view.solve(cluster.name) if holding else None
        if solved is not None:
            return replace(change, pool=serving[solved.roles[index].pool][0].name)
        if holding and widest is None:
            widest = replace(change, pool=min(holding))
    return widest


def _node_size(board: Board, verdict: ClusterVerdict) -> Change | None:
    """Return a larger count of one device per node where one pod wants more than a node has."""
    index = _failing(board, verdict)
    if index is None or verdict.reason is not Reason.INSUFFICIENT_DEVICES:
        return None
    role = board.table.demand.roles[index]
    for pool in sorted(board.clusters[verdict.cluster].pools, key=lambda pool: pool.name):
        if pool.node_class is None:
            continue
        miss = board.table.matches(board.table.number(pool.node_class))[index].miss
        request = next((r for r in role.requests if miss is not None and r.name == miss.request), None)
        if miss is None or miss.kind is not MissKind.TOO_FEW or request is None or request.alternatives:
            continue
        for device in pool.node_class.devices:
            # Of parts of physical devices nobody writes how many there are.
            if device.draws or nearness.misses(request.selectors, device):
                continue
            if device.count < request.count:
                return changes.MorePerNode(pool.name, role.role, device.name, request.count)
    return None


def _budget(board: Board, name: str) -> Change | None:
    excess = board.spending.excess_on.get(name)
    if excess is None or excess.needed <= excess.limit.most:
        return None
    return changes.MoreQuota(excess.quota, excess.limit, excess.needed)


STEPS: dict[Reason, Callable[[Board, str], Change | None]] = {
    Reason.LABEL_MISMATCH: _label,
    Reason.NAMESPACE_NOT_ALLOWED: lambda board, _name: changes.AllowsNamespace(board.intent.namespace),
    Reason.UNTOLERATED_TAINT: _taint,
    Reason.CLUSTER_NOT_READY: _ready,
    Reason.NO_GATEWAY_ADDRESS: lambda _board, _name: changes.HasAddress(),
    Reason.BACKEND_UNAVAILABLE: _backend,
    Reason.BACKEND_NOT_INSTALLED: _install,
    Reason.CACHE_NOT_READY: _cache,
    Reason.REFUSED_BY_CLUSTER: lambda _board, _name: changes.Pardoned(),
    Reason.QUOTA_EXCEEDED: _budget,
    Reason.REPLICA_LIMIT: lambda board, name: changes.ReplicaLimit(board.tally.objects_on[name] + 1),
}
"""The change that removes a reason from a cluster, for the reasons that concern the whole cluster."""
