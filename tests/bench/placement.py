"""How long a placement takes, as a table: `python -m tests.bench.placement [CLUSTERS ...]`.

Times are of the processor, best of three, without building the fleet (a reconcile decodes it, which is measured
elsewhere). `cold` starts with every memory of the process empty, also of what selectors say; `warm` keeps what they
said, as a running server does, and starts with empty ledgers. Nothing is asserted: targets stand beside.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from modelplane.devices import matching
from modelplane.placement import ledger, scheduler
from modelplane.placement.model import Cluster, Current, Fleet, Intent, NodeCounts, Pool, SpreadConstraint
from modelplane.placement.plan import Plan
from tests.bench import fleets
from tests.support.placements import as_current

REPLICAS = (1, 100, 1000)
TARGETS_MS = {1_000: (10, 60, 400), 10_000: (100, 300, 1500)}
ROUNDS = 3
MATCHER = (matching.answer, matching.match)
LEDGERS = (ledger._packed, ledger.dimensions)


def main(arguments: list[str]) -> None:
    """Print the table."""
    sizes = [int(text) for text in arguments] or [100, 1_000, 10_000]
    row("clusters", "replicas", "what", "cold ms", "warm ms", "target ms", "placed")
    for size in sizes:
        fleet = fleets.fleet(size)
        for position, count in enumerate(REPLICAS):
            target = TARGETS_MS.get(size, ("", "", ""))[position]
            Case("fill", fleet, intent(count), target).report()
        placed = scheduler.schedule(fleet, fleets.demand(), intent(100), Current())
        Case("retain", fleet, intent(100), have=as_current(placed, ready=True)).report()
        spread = intent(100, spread=(SpreadConstraint("modelplane.ai/region"),))
        Case("fill, spread", fleet, spread).report()
        Case("no room", full(fleet), intent(100)).report()


@dataclass(frozen=True, slots=True)
class Case:
    """One line of the table."""

    what: str
    fleet: Fleet
    wants: Intent
    target: object = ""
    have: Current = field(default_factory=Current)

    def report(self) -> None:
        """Measure it and print the line."""

        def run() -> Plan:
            return scheduler.schedule(self.fleet, fleets.demand(), self.wants, self.have)

        plan, cold = timed(run, MATCHER + LEDGERS)
        plan, warm = timed(run, LEDGERS)
        times = (f"{cold * 1000:.1f}", f"{warm * 1000:.1f}")
        row(len(self.fleet.clusters), self.wants.replicas, self.what, *times, self.target, plan.placed)


def timed(run: Callable[[], Plan], memories: tuple[Any, ...]) -> tuple[Plan, float]:
    """Return the result and the shortest processor time, some memories of the process emptied before each round."""
    best, result = float("inf"), run()
    for _ in range(ROUNDS):
        for memory in memories:
            memory.cache_clear()
        gc.collect()
        start = time.process_time()
        result = run()
        best = min(best, time.process_time() - start)
    return result, best


def intent(count: int, **more: object) -> Intent:
    """Return an intent that every cluster satisfies."""
    return Intent("bench", "bench", count, **more)  # type: ignore[arg-type]


def full(fleet: Fleet) -> Fleet:
    """Return the fleet with one node left in every pool: everything matches and nothing fits."""
    return Fleet(tuple(_full(cluster) for cluster in fleet.clusters))


def _full(cluster: Cluster) -> Cluster:
    pools = tuple(Pool(p.name, p.class_name, p.node_class, NodeCounts(1, 1), p.allocations) for p in cluster.pools)
    return Cluster(cluster.name, pools, labels=cluster.labels)


def row(*cells: object) -> None:
    """Print one line."""
    print(" ".join(f"{cell!s:>14}" for cell in cells))


if __name__ == "__main__":
    main(sys.argv[1:])
