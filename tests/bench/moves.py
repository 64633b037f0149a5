"""Processor time of the search for moves that make room, as a table.

Run: `python -m tests.bench.moves [CLUSTERS ...]`. Clusters of two nodes with eight devices run three replicas each, all
of deployments of their own, and a replica of eight devices is missing. In `one move` they take four devices, so that
one of them can go beside those of another cluster. In `none` they take four, four and five, so that nothing helps
and the whole search is made, up to its limit.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from modelplane import placement
from modelplane.placement import Party, Scene
from modelplane.placement.snapshot import Cluster, Current, CurrentReplica, Fleet, Holding, Intent, PodShape
from modelplane.workload.model import Role
from tests.support import placements as given

SIZES = {"one move": (4, 4, 4), "none": (4, 4, 5)}
EIGHT = given.node_class(given.gpu(8), name="eight")


def scene(clusters: int, sizes: Sequence[int]) -> Scene:
    """Return the clusters with their replicas, and the deployment `ns/big` that misses one."""
    parties = [Party(given.demand(given.role(8)), Intent("ns", "big", 1), Current())]
    for number in range(clusters):
        for place, size in enumerate(sizes):
            name = f"d{number}-{place}"
            held = (Holding(Role.DECODE, "p", 1, PodShape((("gpu", size),))),)
            one = CurrentReplica(f"{name}-0", f"c{number}", "KServe", held, ready=True, bound=True)
            parties.append(Party(given.demand(given.role(size)), Intent("ns", name, 1), Current((one,))))
    fleet = Fleet(tuple(Cluster(f"c{number}", (given.pool(2, EIGHT, name="p"),)) for number in range(clusters)))
    return Scene.of(fleet, parties)


def main(counts: Sequence[int]) -> None:
    """Print the table."""
    print("| clusters | case | moves | decided | s |")
    print("|---:|---|---:|---|---:|")
    for count in counts:
        for name, sizes in SIZES.items():
            world = scene(count, sizes)
            began = time.process_time()
            found = placement.smallest_moves(world, "ns/big")
            seconds = time.process_time() - began
            print(f"| {count} | {name} | {len(found.moves)} | {'yes' if found.decided else 'no'} | {seconds:.2f} |")


if __name__ == "__main__":
    main([int(text) for text in sys.argv[1:]] or [2, 5, 20, 100])
