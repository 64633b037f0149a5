"""Admission of replicas by the cluster that they name.

The caller is the only writer of the cluster's ledger, so this is the only place where two deployments that propose at
the same moment compete.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from modelplane.devices.model import Claim
from modelplane.placement import snapshot
from modelplane.placement.capacity import dimensions, ledger, succession
from modelplane.placement.capacity.ledger import Ledger, Trial
from modelplane.placement.capacity.occupancy import UNKNOWN, Key, Occupancy
from modelplane.placement.decision import (
    Admission,
    AdmissionVerdict,
    ClusterAccount,
    PoolAccount,
    Reason,
)
from modelplane.placement.diagnosis import shortage
from modelplane.placement.packing.load import Answer
from modelplane.placement.packing.nodes import Places
from modelplane.placement.queue_room import QueueRoom
from modelplane.placement.snapshot import Accounting, Holding, Pool, ReplicaClaim

LEAVERS_MAX = 3
"""Replicas of one deployment that leave for one that waits."""
WAITING_MAX = 8
OFFERED_MAX = 8
"""Refused replicas, and offered ones of a deployment, that are looked at."""
SETS_MAX = 256
"""Sets of leavers that are tried for one refused replica, the smallest first: all of two deployments."""


def admit(
    pools: tuple[Pool, ...],
    accounting: Accounting,
    claims: Iterable[ReplicaClaim],
    asked: frozenset[str] = frozenset(),
    queue: QueueRoom | None = None,
) -> ClusterAccount:
    """Return a verdict per claim and the ledger per pool.

    Claims are judged in a fixed order: first those that hold a place, then by priority (higher first), creation time
    and key. A claim is admitted if it fits beside all that were admitted before it. A claim that does not fit does not
    block smaller ones after it. A claim that holds a place and wants another is judged among the new ones, and keeps
    its place if the other does not fit. A gated claim is judged in its turn and takes nothing. `Pool.allocations` is
    not read; the claims are the source of truth. Pods that are admitted keep the nodes they are counted on, since a
    cluster does not move them: see `Occupancy`. No claim is admitted past the limit of `queue`, whose `held` is not
    read.
    """
    book = _Book(pools, accounting, queue)
    ordered = sorted({claim.key: claim for claim in sorted(claims, key=_order)}.values(), key=_order)
    book.keep([claim for claim in ordered if claim.holds])
    for claim in sorted(ordered, key=_turn):
        if not claim.holds:
            book.judge(claim)
        elif claim.wants is not None:
            book.change(claim, claim.wants)
    return book.account(book.asked(ordered, asked))


def _order(claim: ReplicaClaim) -> tuple[bool, int, str, str]:
    return (not claim.holds, *_turn(claim))


def _turn(claim: ReplicaClaim) -> tuple[int, str, str]:
    return (-claim.priority, claim.created, claim.key)


def _gated(claim: ReplicaClaim) -> AdmissionVerdict:
    return AdmissionVerdict(claim.key, Admission.PENDING, fits=True)


class _Book:
    """The ledgers of one cluster while its claims are judged."""

    def __init__(self, pools: tuple[Pool, ...], accounting: Accounting, queue: QueueRoom | None = None) -> None:
        self._queue = queue
        self._devices = 0
        """The devices that admitted claims hold."""
        self._pools: Mapping[str, Pool] = {pool.name: pool for pool in pools}
        self._accounting = accounting
        self._ledgers: dict[str, Ledger] = {
            pool.name: ledger.of(replace(pool, allocations=()), dimensions.of(pool.node_class, accounting))
            for pool in pools
            if pool.node_class is not None
        }
        self._holdings: dict[str, list[Holding]] = {pool.name: [] for pool in pools}
        self._occupancies: dict[str, Occupancy] = {}
        self._recorded: dict[str, tuple[Places, ...]] = {}
        self._admitted: dict[str, tuple[Holding, ...]] = {}
        self._verdicts: list[AdmissionVerdict] = []
        self._changes: list[AdmissionVerdict] = []
        self._counted: dict[str, tuple[Holding, ...]] = {}

    def keep(self, claims: Sequence[ReplicaClaim]) -> None:
        """Admit the claims that hold a place, whether they fit or not, on the nodes that were recorded for them."""
        held: dict[str, dict[Key, tuple[Holding, Places]]] = {name: {} for name in self._ledgers}
        for claim in claims:
            self._verdicts.append(AdmissionVerdict(claim.key, Admission.ADMITTED))
            self._take(claim.key, claim.holdings)
            nodes = claim.nodes if len(claim.nodes) == len(claim.holdings) else (UNKNOWN,) * len(claim.holdings)
            self._recorded[claim.key] = nodes
            for index, (holding, places) in enumerate(zip(claim.holdings, nodes, strict=True)):
                if holding.pool in held:
                    held[holding.pool][claim.key, index] = (holding, places)
        for name, state in self._ledgers.items():
            # A node that takes nothing for a while keeps its pods, and is no reason to forget where the others stand.
            absent = self._pools[name].nodes.absent
            self._occupancies[name] = Occupancy(state.dimensions, state.nodes, held[name], absent)

    def judge(self, claim: ReplicaClaim) -> None:
        """Admit the claim, refuse it, or leave it pending when its class is not there to judge it by."""
        occupancies = self._occupancies
        verdict = self._verdict(claim.key, claim.holdings)
        if claim.gated and verdict.admission is Admission.ADMITTED:
            self._occupancies, verdict = occupancies, _gated(claim)
        self._verdicts.append(verdict)
        if verdict.admission is Admission.ADMITTED:
            self._take(claim.key, claim.holdings)

    def change(self, claim: ReplicaClaim, wanted: tuple[Holding, ...]) -> None:
        """Let a claim take what it wants for what it holds; less is never refused, though the pool has shrunk.

        What it held counts on while pods of it may run.
        """
        devices, ledgers = self._devices, dict(self._ledgers)
        holdings = {name: list(found) for name, found in self._holdings.items()}
        occupancies = {name: found.copy() for name, found in self._occupancies.items()}
        held = tuple(zip(claim.holdings, self._nodes(claim.key), strict=True))
        stood = {(one.role, one.pool): nodes for one, nodes in reversed(held)}
        before = [stood.get((one.role, one.pool), UNKNOWN) for one in wanted]
        self._release(claim.key, claim.holdings)
        if snapshot.within(wanted, claim.holdings):
            verdict = AdmissionVerdict(claim.key, Admission.ADMITTED)
            for index, holding in enumerate(wanted):
                if holding.pool in self._occupancies:
                    self._occupancies[holding.pool].stay((claim.key, index), holding, before[index])
        else:
            verdict = self._verdict(claim.key, wanted, before, had=snapshot.devices_of(claim.holdings))
            if claim.gated and verdict.admission is Admission.ADMITTED:
                verdict = _gated(claim)
        self._changes.append(verdict)
        if verdict.admission is not Admission.ADMITTED:
            self._ledgers, self._holdings, self._occupancies, self._devices = ledgers, holdings, occupancies, devices
        else:
            self._take(claim.key, self._beside(claim.key, held, wanted) if claim.lingers else wanted)

    def _beside(self, key: str, held: Sequence[succession.Placed], wanted: tuple[Holding, ...]) -> tuple[Holding, ...]:
        """Return what counts of an admitted change until the pods from before have ended, and put it on the nodes."""
        after = [(one, self._places(key, index, one)) for index, one in enumerate(wanted)]
        counted: list[succession.Placed] = []
        for pool in dict.fromkeys(one.pool for one in wanted):
            there = self._occupancies.get(pool)
            had = [one for one in held if one[0].pool == pool]
            has = [one for one in after if one[0].pool == pool]
            counted += succession.counted(had, has, None if there is None else there.charge)
        roles = [one.role for one in wanted]
        counted.sort(key=lambda one: roles.index(one[0].role))
        found = tuple(one for one, _ in counted)
        if found == wanted:
            return wanted
        for index, one in enumerate(wanted):
            if one.pool in self._occupancies:
                self._occupancies[one.pool].remove((key, index))
        for index, (one, places) in enumerate(counted):
            if one.pool in self._occupancies:
                self._occupancies[one.pool].stay((key, index), one, places)
        self._counted[key] = found
        return found

    def _take(self, key: str, holdings: tuple[Holding, ...]) -> None:
        self._admitted[key] = holdings
        self._devices += snapshot.devices_of(holdings)
        for holding in holdings:
            if holding.pool in self._holdings:
                self._holdings[holding.pool].append(holding)
            if holding.pool in self._ledgers:
                self._ledgers[holding.pool] = ledger.with_holding(self._ledgers[holding.pool], holding)

    def _release(self, key: str, holdings: Sequence[Holding]) -> None:
        self._devices -= snapshot.devices_of(holdings)
        for index, holding in enumerate(holdings):
            if holding.pool in self._holdings:
                self._holdings[holding.pool].remove(holding)
            if holding.pool in self._ledgers:
                self._ledgers[holding.pool] = ledger.released(self._ledgers[holding.pool], [holding])
                self._occupancies[holding.pool].remove((key, index))

    def _nodes(self, key: str) -> tuple[Places, ...]:
        """Return the nodes of an admitted claim. In a pool whose class is missing they are those that were recorded."""
        return tuple(self._places(key, index, holding) for index, holding in enumerate(self._admitted[key]))

    def _places(self, key: str, index: int, holding: Holding) -> Places:
        recorded = self._recorded.get(key, ())
        if holding.pool in self._occupancies:
            return self._occupancies[holding.pool].places((key, index))
        return recorded[index] if index < len(recorded) else UNKNOWN

    def _over_quota(self, holdings: Iterable[Holding], had: int) -> str:
        """Return why the quota of the queue does not hold the claim beside the admitted ones, empty if it does.

        A claim that had as many devices takes nothing of it.
        """
        wanted = snapshot.devices_of(holdings)
        if self._queue is None or wanted <= had:
            return ""
        return replace(self._queue, held=self._devices).excess(wanted)

    def _verdict(
        self, key: str, holdings: Sequence[Holding], before: Sequence[Places] = (), *, had: int = 0
    ) -> AdmissionVerdict:
        """Return the verdict on a claim, which `had` so many devices before.

        An admitted one stands on nodes then, `before` where these have room.
        """
        excess = self._over_quota(holdings, had)
        if excess:
            return AdmissionVerdict(key, Admission.REFUSED, Reason.QUEUE_QUOTA, excess)
        states, occupancies = dict(self._ledgers), dict(self._occupancies)
        for index, holding in enumerate(holdings):
            pool = self._pools.get(holding.pool)
            if pool is None:
                message = f"this cluster has no pool {holding.pool}"
                return AdmissionVerdict(key, Admission.REFUSED, Reason.NO_MATCHING_DEVICE, message)
            if pool.node_class is None:
                message = (
                    f"InferenceClass {pool.class_name} of pool {pool.name} does not exist; the replica waits for it"
                )
                return AdmissionVerdict(key, Admission.PENDING, None, message)
            refusal = self._refusal(pool, states[pool.name], holding)
            if refusal is not None:
                return AdmissionVerdict(key, Admission.REFUSED, *refusal)
            states[pool.name] = ledger.with_holding(states[pool.name], holding)
            occupancies[pool.name] = there = occupancies[pool.name].copy()
            if not there.add((key, index), holding, before[index] if before else UNKNOWN):
                found = shortage.scattered(holding, holding.shape, there.room(holding))
                return AdmissionVerdict(key, Admission.REFUSED, found.reason, f"{pool.name}: {found.detail}")
        self._occupancies = occupancies
        return AdmissionVerdict(key, Admission.ADMITTED)

    def _refusal(self, pool: Pool, state: Ledger, holding: Holding) -> tuple[Reason, str] | None:
        """Return the reason and message why the holding does not fit the pool, None when it does."""
        named = (*holding.shape.devices, *holding.shape.consumed)
        unknown = [name for name, _ in named if name not in state.dimensions.names]
        if unknown:
            known = ", ".join(state.dimensions.devices) or "none"
            message = f"{pool.name}: class {pool.class_name} has no device {', '.join(unknown)} (it has {known})"
            return (Reason.NO_MATCHING_DEVICE, message)
        if not state.dimensions.carries(holding.shape):
            message = f"{pool.name}: one pod asks for more than a node of class {pool.class_name} has"
            return (Reason.INSUFFICIENT_DEVICES, message)
        after = ledger.with_holding(state, holding)
        if ledger.fits(after) is Answer.FITS:
            return None
        found = shortage.short(Trial(state, holding.shape, after), holding)
        return (found.reason, f"{pool.name}: {found.detail}")

    def asked(self, ordered: list[ReplicaClaim], before: frozenset[str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Return the replica that is asked to leave so that a refused one has room: one at a time.

        It belongs to the smallest set of replicas of one deployment that are offered and make room for the first that
        waits; one that was asked before is asked again while it helps. Cost: at most `WAITING_MAX` x `SETS_MAX`
        verdicts, each on a copy of the pools that are left, whatever number of deployments offer.
        """
        offered = [claim for claim in ordered if claim.leaves and claim.holds]
        if not offered:
            return ()
        refused = {verdict.key for verdict in self._verdicts if verdict.admission is Admission.REFUSED}
        offered.sort(key=lambda claim: (claim.created, claim.key), reverse=True)
        offered.sort(key=lambda claim: (claim.key not in before, claim.priority))
        waiting = (claim for claim in sorted(ordered, key=_turn) if claim.key in refused)
        for claim in itertools.islice(waiting, WAITING_MAX):
            for leaving in itertools.islice(self._leavers(offered), SETS_MAX):
                if self._has_room(claim, leaving):
                    return ((leaving[0].key, tuple(sorted({holding.pool for holding in claim.holdings}))),)
        return ()

    def _leavers(self, offered: list[ReplicaClaim]) -> Iterator[tuple[ReplicaClaim, ...]]:
        for size in range(1, LEAVERS_MAX + 1):
            for deployment in dict.fromkeys(claim.leaves for claim in offered):
                mine = [claim for claim in offered if claim.leaves == deployment]
                yield from itertools.combinations(mine[:OFFERED_MAX], size)

    def _has_room(self, claim: ReplicaClaim, leaving: tuple[ReplicaClaim, ...]) -> bool:
        """Return whether the claim fits once some that hold a place have left."""
        ledgers, occupancies, devices = self._ledgers, self._occupancies, self._devices
        touched = {holding.pool for one in leaving for holding in self._admitted[one.key]} & occupancies.keys()
        self._ledgers = dict(ledgers)
        self._occupancies = {**occupancies, **{name: occupancies[name].copy() for name in touched}}
        for one in leaving:
            self._devices -= snapshot.devices_of(self._admitted[one.key])
            for index, holding in enumerate(self._admitted[one.key]):
                if holding.pool in touched:
                    self._ledgers[holding.pool] = ledger.released(self._ledgers[holding.pool], [holding])
                    self._occupancies[holding.pool].remove((one.key, index))
        fits = self._verdict(claim.key, claim.holdings).admission is Admission.ADMITTED
        self._ledgers, self._occupancies, self._devices = ledgers, occupancies, devices
        return fits

    def account(self, asked: tuple[tuple[str, tuple[str, ...]], ...]) -> ClusterAccount:
        """Return the verdicts and the ledgers of all pools."""
        return ClusterAccount(
            verdicts=tuple(sorted(self._verdicts, key=lambda verdict: verdict.key)),
            pools=tuple(self._pool_account(pool) for pool in self._pools.values()),
            changes=tuple(sorted(self._changes, key=lambda verdict: verdict.key)),
            asked=asked,
            nodes={key: self._nodes(key) for key in sorted(self._admitted)},
            counted=self._counted,
        )

    def _pool_account(self, pool: Pool) -> PoolAccount:
        allocations = ledger.allocations(self._holdings[pool.name])
        state = self._ledgers.get(pool.name)
        if state is None or pool.node_class is None:
            problem = f"InferenceClass {pool.class_name} does not exist, so free capacity is unknown"
            return PoolAccount(pool.name, allocations, (), 0, over_committed=False, problems=(problem,))
        return PoolAccount(
            name=pool.name,
            allocations=allocations,
            free=self._free(pool, state),
            nodes_used=state.opened,
            over_committed=state.over_committed,
            problems=ledger.problems(replace(pool, allocations=allocations), pool.node_class),
        )

    def _free(self, pool: Pool, state: Ledger) -> tuple[tuple[str, int], ...]:
        """Return what nothing holds on the nodes that are present.

        Whole nodes only where pods are charged whole nodes.
        """
        if pool.node_class is None:
            return ()
        absent = pool.nodes.usable - pool.nodes.present
        counted = (device.name for device in pool.node_class.devices if device.claim is not Claim.SYNTHETIC)
        return tuple(sorted((name, state.free(name, absent)) for name in counted))
