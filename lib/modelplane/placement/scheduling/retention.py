"""Retention of existing replicas: those that stay, move or are shed. It is decided before anything new is placed."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from modelplane import names
from modelplane.devices import locality
from modelplane.placement.decision import Admission
from modelplane.placement.scheduling import filters
from modelplane.placement.scheduling.board import Board
from modelplane.placement.snapshot import CurrentReplica, Fleet, Strategy


class Cause(StrEnum):
    """The cause why a replica should not stay as it is, the most urgent first."""

    DRAINED = "drained"
    POOL_GONE = "pool gone"
    OTHER_BACKEND = "other backend"
    OUTDATED = "outdated"
    DOUBTED = "doubted"
    RECOVERS = "kept down"
    MAKES_ROOM = "makes room"


@dataclass(frozen=True, slots=True)
class Migration:
    """A replica that should move or be rewritten, with the cause."""

    replica: CurrentReplica
    cause: Cause
    detail: str


@dataclass(slots=True)
class RetentionPlan:
    """The fate of each existing replica. Every replica is in exactly one of the first five fields.

    `keepers` stay. `migrations` stay until they move. `lost` replicas are on clusters that no longer exist. `refused`
    replicas hold no place. `shed` replicas are deleted now, with the reason. `successors` maps the name of a migration
    to the replica that succeeds it.
    """

    keepers: dict[str, CurrentReplica] = field(default_factory=dict)
    migrations: dict[str, Migration] = field(default_factory=dict)
    lost: dict[str, CurrentReplica] = field(default_factory=dict)
    refused: dict[str, CurrentReplica] = field(default_factory=dict)
    shed: dict[str, tuple[CurrentReplica, str]] = field(default_factory=dict)
    successors: dict[str, str] = field(default_factory=dict)

    def staying(self) -> tuple[CurrentReplica, ...]:
        """Return keepers and migrations, by name."""
        everyone = {**self.keepers, **{name: migration.replica for name, migration in self.migrations.items()}}
        return tuple(everyone[name] for name in sorted(everyone))

    @property
    def places(self) -> int:
        """Return the number of places held; a migration and its successor count once."""
        return len(self.keepers) + len(self.migrations) - len(self.successors)

    def drop(self, name: str, reason: str) -> None:
        """Shed a keeper, a migration or a refused replica."""
        if name in self.migrations:
            replica = self.migrations.pop(name).replica
        else:
            replica = self.keepers.pop(name) if name in self.keepers else self.refused.pop(name)
        self.shed[name] = (replica, reason)
        self.successors = {old: new for old, new in self.successors.items() if name not in (old, new)}


def settle(fleet: Fleet, board: Board, replicas: Iterable[CurrentReplica]) -> RetentionPlan:
    """Return the retention plan, with finished moves completed and the surplus shed."""
    retained = _classified(fleet, board, replicas)
    _pair(retained)
    _complete_moves(retained)
    for replica in retained.staying():
        # A move counts by its successor and not by the one that goes; a refused replica counts nowhere until it is
        # decided that it waits where it is.
        if replica.name not in retained.successors:
            board.tally.add(replica.cluster, 1)
    _shed_surplus(retained, board)
    return retained


def held_lost(retained: RetentionPlan, wanted: int) -> int:
    """Return the number of replicas of lost clusters to hold: those that ready replicas do not replace yet."""
    ready = sum(replica.ready for replica in retained.staying())
    return min(len(retained.lost), max(0, wanted - ready))


def newest_last(replicas: Iterable[CurrentReplica]) -> list[CurrentReplica]:
    """Return the replicas by age: creation time, then number and name."""
    return sorted(replicas, key=age)


def age(replica: CurrentReplica) -> tuple[str, int, str]:
    """Return the sort key of replicas from oldest to newest: creation time, then the number in the name."""
    number = replica.name.rpartition("-")[2]
    return (replica.created, int(number) if number.isdecimal() else 0, replica.name)


def _distinct(replicas: Iterable[CurrentReplica]) -> list[CurrentReplica]:
    """Return the replicas by name; of several of one name the oldest."""
    ordered = sorted(replicas, key=lambda replica: replica.name)
    if len({replica.name for replica in ordered}) < len(ordered):
        ordered.sort(key=lambda replica: (replica.name, replica.created, repr(replica)), reverse=True)
        ordered = list({replica.name: replica for replica in ordered}.values())[::-1]
    return ordered


def _classified(fleet: Fleet, board: Board, replicas: Iterable[CurrentReplica]) -> RetentionPlan:
    retained = RetentionPlan()
    distinct = _distinct(replicas)
    leaving = {replica.replaces for replica in distinct if replica.makes_room}
    succeeded = {replica.replaces for replica in distinct}
    for replica in distinct:
        admission = board.admission(replica)
        if replica.cluster not in board.clusters:
            (retained.lost if fleet.received else retained.keepers)[replica.name] = replica
        elif board.clusters[replica.cluster].ambiguous:
            retained.keepers[replica.name] = replica
        elif admission is Admission.REFUSED or (replica.asks and admission is Admission.PENDING and not replica.bound):
            retained.refused[replica.name] = replica
            note = board.clusters[replica.cluster].refused.get(f"{board.intent.namespace}/{replica.name}")
            if note is None:
                board.refusals.add(replica, "it asks for room")
            else:
                board.refusals.add(replica, note.message or note.reason, note.reason)
        else:
            if admission is Admission.PENDING:
                board.occupy(replica.cluster, replica.holdings)
                if board.spending.is_limited:
                    key = names.qualified(board.intent.namespace, replica.name)
                    board.spending.add_proposed(board.clusters[replica.cluster], key, replica.holdings)
            migration = _migration(board, replica, succeeded) or _for_room(board, replica, leaving)
            if migration is None:
                retained.keepers[replica.name] = replica
            else:
                retained.migrations[replica.name] = migration
    return retained


def _migration(board: Board, replica: CurrentReplica, succeeded: set[str | None]) -> Migration | None:
    cluster = board.clusters[replica.cluster]
    taint = filters.is_drained(cluster, board.intent)
    if taint is not None:
        return Migration(replica, Cause.DRAINED, f"cluster {cluster.name} has the taint {taint}:NoExecute")
    pools = {pool.name for pool in cluster.pools}
    gone = sorted({holding.pool for holding in replica.holdings} - pools)
    if gone:
        return Migration(replica, Cause.POOL_GONE, f"cluster {cluster.name} no longer has pool {', '.join(gone)}")
    evicted = _evicted(board, replica)
    if evicted is not None:
        return Migration(replica, Cause.DRAINED, evicted)
    # The objects of another technology could meet those that run, so they get a replica of another name.
    if replica.backend and replica.backend not in board.intent.backends:
        wanted = ", ".join(board.intent.backends) or "none"
        return Migration(replica, Cause.OTHER_BACKEND, f"it runs with {replica.backend}, the deployment needs {wanted}")
    if replica.outdated:
        return Migration(replica, Cause.OUTDATED, "it runs an earlier version of the deployment")
    if replica.doubted and replica.name in succeeded:
        told = f"cluster {cluster.name} does not tell what it admitted"
        return Migration(replica, Cause.DOUBTED, f"its move has begun, and {told}")
    if not replica.ready and not replica.doubted:
        return _kept_down(replica, is_reached=cluster.ready, has_begun=replica.name in succeeded)
    return None


def _kept_down(replica: CurrentReplica, *, is_reached: bool, has_begun: bool) -> Migration | None:
    """Return the migration of a replica that its cluster keeps down.

    Of a cluster that is not reached nobody knows what is down, so that no move begins. One that has begun is not undone
    before the replica is seen to serve: by a cluster that blinks, or by a clock that was set back.
    """
    if has_begun and replica.down:
        return Migration(replica, Cause.RECOVERS, replica.failing or "it does not serve")
    if replica.failing and is_reached:
        return Migration(replica, Cause.RECOVERS, replica.failing)
    return None


def _for_room(board: Board, replica: CurrentReplica, leaving: set[str | None]) -> Migration | None:
    """Return the migration of a replica that its cluster asks to leave, or that has begun to; None where it stays."""
    key = names.qualified(board.intent.namespace, replica.name)
    is_asked = replica.ready and key in board.clusters[replica.cluster].asked
    if not board.intent.rebalance or not (is_asked or replica.name in leaving):
        return None
    return Migration(replica, Cause.MAKES_ROOM, f"cluster {replica.cluster} asks it to leave, so that another fits")


def _evicted(board: Board, replica: CurrentReplica) -> str | None:
    """Return the taint of its devices that ends the replica's pods, None where none does."""
    tainted = {
        pool.name: pool.node_class
        for pool in board.clusters[replica.cluster].pools
        if pool.node_class is not None and any(device.taints for device in pool.node_class.devices)
    }
    if not tainted:
        return None
    requests = {role.role: role.requests for role in board.table.demand.roles}
    for holding in replica.holdings:
        node_class = tainted.get(holding.pool)
        if node_class is None:
            continue
        held = (name for name, _ in holding.shape.devices)
        found = locality.evicting(node_class, held, requests.get(holding.role, ()))
        if found is not None:
            return f"device {found[0]} of pool {holding.pool} has the taint {found[1]}"
    return None


def _pair(retained: RetentionPlan) -> None:
    """Find the successor of each migration; of two, the ready one and then the older one counts."""
    staying = retained.staying()
    for replica in sorted(staying, key=lambda r: (not r.ready, age(r))):
        old = replica.replaces
        if old not in retained.migrations or old in retained.successors or old == replica.name:
            continue
        # Names come again: what is older than the one of that name succeeded another before it.
        if replica.created >= retained.migrations[old].replica.created:
            retained.successors[old] = replica.name


def _complete_moves(retained: RetentionPlan) -> None:
    """Let go of migrations whose successor is ready, and of successors that became unwanted before they were."""
    for old, new in sorted(retained.successors.items()):
        if retained.successors.get(old) != new:
            continue
        successor = retained.keepers.get(new) or retained.migrations[new].replica
        if retained.migrations[old].cause is Cause.DOUBTED:
            continue
        if successor.ready:
            retained.drop(old, f"its successor {new} is ready")
        elif new in retained.migrations:
            retained.drop(new, f"{retained.migrations[new].detail}; it was not ready yet to succeed {old}")


def _wanted(count: int) -> str:
    return "1 replica is wanted" if count == 1 else f"{count} replicas are wanted"


def _shed_surplus(retained: RetentionPlan, board: Board) -> None:
    wanted = board.intent.replicas
    waiting = len(retained.refused) - max(0, wanted - retained.places)
    for replica in reversed(newest_last(retained.refused.values())[-waiting:] if waiting > 0 else []):
        retained.drop(replica.name, f"{_wanted(wanted)}; its cluster refused this one")
    if retained.places <= wanted:
        return
    queue = [(_shed_key(retained, board, replica), replica.name) for replica in retained.staying()]
    heapq.heapify(queue)
    while retained.places > wanted:
        entry, name = heapq.heappop(queue)
        replica = retained.keepers.get(name) or retained.migrations[name].replica
        now = _shed_key(retained, board, replica)
        if now != entry:
            # Loads only fall while shedding, so a key only grows: the fresh one waits for its turn.
            heapq.heappush(queue, (now, name))
            continue
        before = dict(retained.successors)
        retained.drop(name, _wanted(wanted))
        if name not in before:
            board.tally.add(replica.cluster, -1)
        for old in sorted(before.keys() - retained.successors.keys() - {name}):
            board.tally.add(retained.migrations[old].replica.cluster, 1)


def _shed_key(retained: RetentionPlan, board: Board, replica: CurrentReplica) -> tuple[object, ...]:
    """Return what is shed first: not ready, never rendered, in trouble, outdated, then by load, then the newest.

    Each strategy undoes its own filling: Spread sheds where there is most, Pack, which fills cluster after cluster, the
    newest.
    """
    domain = board.tally.domain(replica.cluster)
    groups = tuple(-counter[value] for counter, value in zip(board.tally.replicas_in, domain or (), strict=False))
    load = board.tally.replicas_on[replica.cluster] if board.intent.strategy is Strategy.SPREAD else 0
    return (
        replica.ready,
        replica.bound,
        not board.is_troubled(replica),
        replica.name not in retained.migrations,
        groups,
        -load,
        _Newest(age(replica)),
    )


@dataclass(frozen=True, slots=True)
class _Newest:
    """An age that sorts the other way round."""

    age: tuple[str, int, str]

    def __lt__(self, other: _Newest) -> bool:
        return self.age > other.age
