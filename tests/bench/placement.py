"""How long a placement takes, as a table.

Times are of the processor, best of three, without building the fleet (a reconcile decodes it, which is measured
elsewhere). `cold` starts with every memory of the process empty, also of what selectors say; `warm` keeps what they
said, as a running server does, and starts with empty ledgers. `of fill` is how often the warm time of placing as many
replicas goes into it. In `one node` and `full` nothing fits anywhere: every cluster's reason is found, the closest
change checked. `explain` is what the command of that name asks. Nothing is asserted: targets stand beside.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from kubecel.caches import CACHES
from modelplane import placement
from modelplane.placement.decision import Plan
from modelplane.placement.snapshot import Current, Demand, Fleet, Intent, SpreadConstraint
from tests.bench import arguments, fleets
from tests.support.placements import as_current

REPLICAS = (1, 100, 1000)
TARGETS_MS = {1_000: (10, 60, 400), 10_000: (100, 300, 1500)}
ROUNDS = 3
WIDTHS = (9, 9, 20, 9, 9, 10, 8, 7)
MATCHER = tuple(CACHES[f"modelplane.devices.{name}"] for name in ("outcomes.answer", "matching.match"))
LEDGERS = tuple(CACHES[f"modelplane.placement.capacity.{name}"] for name in ("ledger._packed", "dimensions.of"))


def main(given: Sequence[str] | None = None) -> None:
    """Print the table, called with `given` or as it is."""
    made = arguments.parser("placement", __doc__, example="1000")
    arguments.add_sizes(made, default=[100, 1_000, 10_000])
    sizes = made.parse_args(given).sizes
    row("clusters", "replicas", "what", "cold ms", "warm ms", "target ms", "of fill", "placed")
    for size in sizes:
        for name, fleet in (("", fleets.fleet(size)), ("mixed ", fleets.mixed(size))):
            targets = TARGETS_MS.get(size, ("", "", "")) if not name else ("", "", "")
            fills = {
                count: Case(f"{name}fill", fleet, intent(count), target).report()
                for count, target in zip(REPLICAS, targets, strict=True)
            }
            for count in REPLICAS[:2]:
                for what, of in (("one node", fleets.shrunk(fleet)), ("full", fleets.full(fleet))):
                    Case(f"{name}{what}", of, intent(count)).report(fills[count])
            Case(f"{name}full, explain", fleets.full(fleet), intent(1), run=explanation).report(fills[1])
            placed = placement.schedule(fleet, fleets.demand(), intent(100), Current())
            Case(f"{name}retain", fleet, intent(100), have=as_current(placed, ready=True)).report()
            spread = intent(100, spread=(SpreadConstraint("modelplane.ai/region"),))
            Case(f"{name}fill, spread", fleet, spread).report()


@dataclass(frozen=True, slots=True)
class Case:
    """One line of the table."""

    what: str
    fleet: Fleet
    wants: Intent
    target: object = ""
    have: Current = field(default_factory=Current)
    run: Callable[[Fleet, Demand, Intent, Current], Plan] = placement.schedule

    def report(self, fill: float | None = None) -> float:
        """Measure it and print the line; return the warm seconds."""

        def run() -> Plan:
            return self.run(self.fleet, fleets.demand(), self.wants, self.have)

        plan, cold = timed(run, MATCHER + LEDGERS)
        plan, warm = timed(run, LEDGERS)
        times = (f"{cold * 1000:.1f}", f"{warm * 1000:.1f}")
        ratio = "" if fill is None else f"{warm / fill:.1f}"
        row(len(self.fleet.clusters), self.wants.replicas, self.what, *times, self.target, ratio, plan.placed)
        return warm


def explanation(fleet: Fleet, demand: Demand, wants: Intent, have: Current) -> Plan:
    """Return the plan, after every cluster was asked about one more replica."""
    return placement.explain(fleet, demand, wants, have).plan


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


def intent(count: int, **more: Any) -> Intent:
    """Return an intent that every cluster satisfies."""
    return Intent("bench", "bench", count, **more)


def row(*cells: object) -> None:
    """Print one line."""
    print(" ".join(f"{cell!s:>{width}}" for cell, width in zip(cells, WIDTHS, strict=True)))


if __name__ == "__main__":
    main()
