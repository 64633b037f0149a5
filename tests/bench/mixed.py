"""Use at the first refusal on fleets of nodes of four and eight: placement against online best fit, as a table.

Run: `python -m tests.bench.mixed [FLEETS]`. Replicas of one pod come one after the other, each of a deployment of its
own; devices in use when the first finds no place, in percent of all. Online best fit puts each pod on the node that it
leaves the fewest devices of, whichever cluster it is of, and moves nothing.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from dataclasses import replace

from modelplane import placement
from modelplane.placement.snapshot import Cluster, Current, Fleet, Intent
from tests.support import placements as given

SIZES = {"powers of two": (1, 2, 4, 8), "small and whole": (1, 1, 2, 8), "any": (1, 2, 3, 4, 5, 6, 8)}


def fleet(chance: random.Random, *, prices: bool, memory: bool) -> Fleet:
    """Return two to four clusters with a pool of eights, one of fours, or both, 4 to 12 nodes each."""
    cost = {4: "4", 8: "8"} if prices else {4: None, 8: None}
    sizes = {
        count: given.node_class(
            given.gpu(count, "81559Mi" if memory and count == 4 else "143771Mi"),
            name=f"x{count}",
            **({"cost_per_node_hour": cost[count], "currency": "USD"} if prices else {}),
        )
        for count in (4, 8)
    }
    clusters = []
    for number in range(chance.randint(2, 4)):
        kinds = chance.choice([(4,), (8,), (4, 8)]) if number > 1 else (4, 8)[number : number + 1]
        pools = tuple(given.pool(chance.randint(4, 12), sizes[kind], name=f"p{kind}") for kind in kinds)
        clusters.append(Cluster(f"c{number}", pools))
    return Fleet(tuple(clusters))


def ours(fleet: Fleet, arrivals: Sequence[int]) -> int:
    """Return the devices in use when placement refuses the first."""
    used, now = 0, fleet
    for number, size in enumerate(arrivals):
        intent = Intent("ns", f"d{number}", 1)
        plan = placement.schedule(now, given.demand(given.role(size)), intent, Current())
        if not plan.composed:
            return used
        one = plan.composed[0]
        held = given.holdings(one)[0]
        now = Fleet(
            tuple(
                cluster
                if cluster.name != one.cluster
                else replace(
                    cluster,
                    pools=tuple(
                        pool
                        if pool.name != held.pool
                        else replace(pool, allocations=(*pool.allocations, given.used(1, size)))
                        for pool in cluster.pools
                    ),
                )
                for cluster in now.clusters
            )
        )
        used += size
    return used


def best_fit(fleet: Fleet, arrivals: Sequence[int]) -> int:
    """Return the devices in use when online best fit refuses the first."""
    free = [
        pool.node_class.devices[0].count
        for cluster in fleet.clusters
        for pool in cluster.pools
        if pool.node_class is not None
        for _ in range(pool.nodes.usable)
    ]
    used = 0
    for size in arrivals:
        fitting = [node for node, left in enumerate(free) if left >= size]
        if not fitting:
            return used
        best = min(fitting, key=lambda node: free[node])
        free[best] -= size
        used += size
    return used


def total(fleet: Fleet) -> int:
    """Return the devices of a fleet."""
    return sum(p.nodes.usable * p.node_class.devices[0].count for c in fleet.clusters for p in c.pools if p.node_class)


def main(fleets: int) -> None:
    """Print the table."""
    print("| sizes | prices | devices of fours | placement % | online best fit % | difference |")
    print("|---|---|---|---:|---:|---:|")
    for name, sizes in SIZES.items():
        for prices, memory in ((False, False), (False, True), (True, False)):
            chance = random.Random(7)  # noqa: S311 - no secret
            shares: list[tuple[float, float]] = []
            for _ in range(fleets):
                of = fleet(chance, prices=prices, memory=memory)
                arrivals = [chance.choice(sizes) for _ in range(total(of))]
                shares.append((ours(of, arrivals) / total(of), best_fit(of, arrivals) / total(of)))
            mine, theirs = (100 * sum(column) / len(shares) for column in zip(*shares, strict=True))
            kind = "smaller" if memory else "equal"
            cells = (name, "yes" if prices else "no", kind, f"{mine:.1f}", f"{theirs:.1f}", f"{mine - theirs:+.1f}")
            print(f"| {' | '.join(cells)} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
