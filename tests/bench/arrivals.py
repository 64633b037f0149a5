"""How much of a pool is promised, and how often what was promised waits, as a table.

Pods of sizes drawn by chance are promised one after the other until the first refusal: `use` is what they then take
of the pool, `best fit` what a scheduler takes that puts each on the fullest node at once. Then all of them come in an
order drawn by chance, and each goes where kube-scheduler's default scores send it: `orders` leave a pod waiting.
`churn` is the share of the promised that wait when three of ten steps remove a pod.
"""

# Seeded chance needs no cryptography.
# ruff: noqa: S311

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from modelplane.placement.packing import arrival, fit
from modelplane.placement.packing.load import Answer, Item
from tests.bench import arguments
from tests.support.arrivals import Nodes, Pod

CHURN_STEPS = 150
REMOVES = 0.3
WIDTHS = (18, 6, 6, 8, 9, 9, 8)


class Pool(NamedTuple):
    """Equal nodes of so many devices, and the sizes of pods that are asked for."""

    devices: int
    nodes: int
    sizes: tuple[int, ...]


POOLS = (
    Pool(8, 16, (1, 2, 4, 8)),
    Pool(4, 16, (1, 2, 4)),
    Pool(8, 16, (2, 3)),
    Pool(8, 16, (1, 2, 3)),
    Pool(8, 16, (1, 2, 3, 5, 6, 8)),
    Pool(8, 3, (2, 3)),
    Pool(8, 3, (1, 2, 3, 5, 6, 8)),
)


def main(given: Sequence[str] | None = None) -> None:
    """Print the table, called with `given` or as it is."""
    made = arguments.parser("arrivals", __doc__, example="60")
    made.add_argument("fleets", metavar="FLEETS", nargs="?", type=arguments.positive, default=60, help="per row (60)")
    fleets = made.parse_args(given).fleets
    row("sizes", "of", "nodes", "use", "best fit", "orders", "churn")
    for pool in POOLS:
        full = [filled(pool, random.Random(seed)) for seed in range(fleets)]
        best = [best_fit(pool, random.Random(seed)) for seed in range(fleets)]
        waits = sum(leaves_one(pool, sizes, random.Random(seed)) for seed, sizes in enumerate(full))
        counts = [churned(pool, random.Random(seed)) for seed in range(max(1, fleets // 10))]
        share = sum(waiting for waiting, _ in counts) / max(1, sum(promised for _, promised in counts))
        use = sum(sum(sizes) for sizes in full) / (fleets * pool.devices * pool.nodes)
        cells = (f"{use:.1%}", f"{sum(best) / fleets:.1%}", f"{waits}/{fleets}", f"{share:.1%}")
        row(" ".join(map(str, pool.sizes)), pool.devices, pool.nodes, *cells)


def promised(pool: Pool, sizes: Sequence[int]) -> bool:
    """Return whether the ledger promises so many pods their places."""
    items = [Item((size,), pods, pods) for size, pods in Counter(sizes).items()]
    packed = fit.pack((pool.devices,), pool.nodes, items)
    return packed.fits and arrival.in_any_order((pool.devices,), pool.nodes, items) is Answer.FITS


def filled(pool: Pool, dice: random.Random) -> list[int]:
    """Return the sizes that are promised before the first refusal."""
    have: list[int] = []
    while promised(pool, [*have, more := dice.choice(pool.sizes)]):
        have.append(more)
    return have


def best_fit(pool: Pool, dice: random.Random) -> float:
    """Return the use of a pool at the first refusal when each pod goes to the fullest node with room."""
    free = [pool.devices] * pool.nodes
    size = dice.choice(pool.sizes)
    while able := [left for left in free if left >= size]:
        free.remove(min(able))
        free.append(min(able) - size)
        size = dice.choice(pool.sizes)
    return 1 - sum(free) / (pool.devices * pool.nodes)


def leaves_one(pool: Pool, sizes: Sequence[int], dice: random.Random) -> bool:
    """Return whether a pod waits when they come in an order drawn by chance."""
    nodes = Nodes((pool.devices,), pool.nodes)
    return any(put(nodes, size, dice) is None for size in dice.sample(sizes, len(sizes)))


def churned(pool: Pool, dice: random.Random) -> tuple[int, int]:
    """Return how many pods waited when they came, and how many were promised."""
    nodes, have, waited, asked = Nodes((pool.devices,), pool.nodes), list[tuple[int, int | None]](), 0, 0
    for _ in range(CHURN_STEPS):
        if have and dice.random() < REMOVES:
            size, where = have.pop(dice.randrange(len(have)))
            if where is not None:
                nodes.pods[where].remove(Pod((size,)))
            have = [(size, put(nodes, size, dice) if where is None else where) for size, where in have]
            continue
        more = dice.choice(pool.sizes)
        if promised(pool, [*(size for size, _ in have), more]):
            have.append((more, put(nodes, more, dice)))
            asked += 1
            waited += have[-1][1] is None
    return waited, asked


def put(nodes: Nodes, size: int, dice: random.Random) -> int | None:
    """Put a pod where the default scores send it, and return the node, None where there is none."""
    pod = Pod((size,))
    node = nodes.by_score(pod, dice)
    if node is not None:
        nodes.pods[node].append(pod)
    return node


def row(*cells: object) -> None:
    """Print one line."""
    print(" ".join(f"{cell!s:>{width}}" for cell, width in zip(cells, WIDTHS, strict=True)))


if __name__ == "__main__":
    main()
