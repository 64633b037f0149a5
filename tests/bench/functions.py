"""Prints what one call costs on a large fleet: a deployment that sees every cluster, a cluster with many replicas.

Run: python -m tests.bench.functions. The whole answer is measured, decoding and encoding included, without the network;
wall-clock medians.
"""

from __future__ import annotations

import copy
import resource
import statistics
import time
from typing import Any

from modelplane_functions import servicer
from modelplane_functions.compose import model_deployment
from modelplane_functions.exchange import Observed
from tests.support import fleet, requests

CALLS = 7
Json = Any


def main() -> int:
    """Print the table; return 0."""
    print(f"{'one RunFunction':<52} {'ms':>7} {'target':>7} {'request kB':>11}")
    for count in (100, 1_000):
        clusters = [fleet.inference_cluster(f"c{number:04}") for number in range(count)]
        store = [*clusters, fleet.inference_class()]
        target = 300 if count == 1_000 else ""
        print(
            _row(f"ModelDeployment, 10 replicas, {count} clusters", fleet.model_deployment(replicas=10), store, target)
        )
    for count in (50, 500):
        cluster = fleet.inference_cluster("a", nodes=count // 5)
        store = [*_replicas(cluster, count), fleet.inference_class()]
        target = 100 if count == 500 else ""
        print(_row(f"InferenceCluster, {count} replicas", cluster, store, target))
    print(f"peak resident memory of this process, MB: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}")
    return 0


def _row(name: str, composite: Json, store: list[Json], target: object) -> str:
    last: list[Any] = []

    def run(message: Any) -> Any:
        last[:] = [message]
        return servicer.answer(message)

    requests.settle(run, requests.request(composite), store)
    times = []
    for _ in range(CALLS):
        started = time.perf_counter()
        servicer.answer(last[0])
        times.append((time.perf_counter() - started) * 1000)
    return f"{name:<52} {statistics.median(times):>7.0f} {target:>7} {last[0].ByteSize() / 1024:>11.0f}"


def _replicas(cluster: Json, count: int) -> list[Json]:
    """Return the ModelReplicas that a deployment proposes when `cluster` is all there is."""
    required = {
        model_deployment.CLUSTERS: (cluster,),
        model_deployment.CLASSES: (fleet.inference_class(),),
        model_deployment.NAMESAKES: (),
    }
    outcome = model_deployment.compose(Observed(fleet.model_deployment(replicas=count), {}, required))
    return [copy.deepcopy(dict(child.resource)) for child in outcome.children.values()]


if __name__ == "__main__":
    raise SystemExit(main())
