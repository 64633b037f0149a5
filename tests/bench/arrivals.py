"""How much of a pool is promised, and how often what was promised waits, as a table.

Pods of sizes drawn by chance are promised one after the other until the first refusal: `use` is what they then take
of the pool, `best fit` what a scheduler takes that puts each on the fullest node at once. Then all of them come in an
order drawn by chance, and each goes where kube-scheduler's default scores send it: `orders` leave a pod waiting.
`churn` is the share of the promised that wait when three of ten steps remove a pod; `by sums` where admission does not
record nodes and counts as if what stays could be packed anew; `in use` is what is taken then, in the second half.
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
from modelplane.placement.packing.nodes import Nodes as Recorded
from tests.bench import arguments
from tests.support.arrivals import Nodes, Pod

CHURN_STEPS = 150
REMOVES = 0.3
WIDTHS = (18, 6, 6, 8, 9, 9, 8, 8, 8, 8)


class Pool(NamedTuple):
    """Equal nodes of so many devices, and the sizes of pods that are asked for."""

    devices: int
    nodes: int
    sizes: tuple[int, ...]


class Held(NamedTuple):
    """A promised pod: its node, None while it waits, and where the admission recorded it."""

    size: int
    node: int | None
    places: tuple[int, ...]


class Churn(NamedTuple):
    """How many pods waited when they came, how many were promised, and the devices in use on average."""

    waited: int
    promised: int
    in_use: float


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
    row("sizes", "of", "nodes", "use", "best fit", "orders", "churn", "in use", "by sums", "in use")
    for pool in POOLS:
        full = [filled(pool, random.Random(seed)) for seed in range(fleets)]
        best = [best_fit(pool, random.Random(seed)) for seed in range(fleets)]
        waits = sum(leaves_one(pool, sizes, random.Random(seed)) for seed, sizes in enumerate(full))
        use = sum(sum(sizes) for sizes in full) / (fleets * pool.devices * pool.nodes)
        cells = [f"{use:.1%}", f"{sum(best) / fleets:.1%}", f"{waits}/{fleets}"]
        for recording in (True, False):
            cells += shares(
                pool, [churned(pool, random.Random(seed), recording) for seed in range(max(1, fleets // 10))]
            )
        row(" ".join(map(str, pool.sizes)), pool.devices, pool.nodes, *cells)


def shares(pool: Pool, churns: Sequence[Churn]) -> tuple[str, str]:
    """Return the share of promised pods that waited, and the share of the devices in use."""
    waited, asked = sum(one.waited for one in churns), sum(one.promised for one in churns)
    in_use = sum(one.in_use for one in churns) / len(churns) / pool.devices / pool.nodes
    return f"{waited / max(1, asked):.1%}", f"{in_use:.1%}"


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


def churned(pool: Pool, dice: random.Random, recording: bool) -> Churn:  # noqa: FBT001  a column of the table
    """Return what became of the pods that were promised one by one while others went."""
    nodes, have, waited, asked, in_use = Nodes((pool.devices,), pool.nodes), list[Held](), 0, 0, 0
    recorded = Recorded((pool.devices,), pool.nodes)
    for step in range(CHURN_STEPS):
        if have and dice.random() < REMOVES:
            gone = have.pop(dice.randrange(len(have)))
            recorded.take_away((gone.size,), gone.places)
            if gone.node is not None:
                nodes.pods[gone.node].remove(Pod((gone.size,)))
            have = [one._replace(node=put(nodes, one.size, dice)) if one.node is None else one for one in have]
        else:
            size = dice.choice(pool.sizes)
            places = recorded.choose(Item((size,), 1, 1), (1,)) if recording else ()
            if places is not None and promised(pool, [*(one.size for one in have), size]):
                recorded.put((size,), places)
                have.append(Held(size, put(nodes, size, dice), places))
                asked += 1
                waited += have[-1].node is None
        if step >= CHURN_STEPS // 2:
            in_use += sum(one.size for one in have if one.node is not None)
    return Churn(waited, asked, in_use / (CHURN_STEPS - CHURN_STEPS // 2))


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
