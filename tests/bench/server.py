"""Prints how fast the function server is: ready after its start, memory when idle, and one warm call of each kind.

The calls go over real gRPC to a process of their own, on loopback without TLS; the composites are those of
examples/quickstart in their settled state. Times are wall-clock medians, so run it on a quiet machine.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from typing import Any

import grpc

from tests.bench import arguments
from tests.support import functionserver, rendering, requests

COMPOSITION_KEY = "crossplane.io/composition-resource-name"
CALLS = 30


def main(given: Sequence[str] | None = None) -> int:
    """Print the tables; return 0, since a slow machine is no failure."""
    arguments.parser("server", __doc__, example="").parse_args(given)
    store = rendering.world(rendering.example("quickstart")).store
    objects = [dict(found) for key in store if (found := store.get(key)) is not None]
    started = time.perf_counter()
    with functionserver.running(["--insecure"]) as server:
        ready_seconds = time.perf_counter() - started
        print(f"{'server':<34} {'measured':>10} {'target':>10}")
        print(f"{'ready after start, s':<34} {ready_seconds:>10.2f} {2.0:>10.1f}")
        print(f"{'resident memory when idle, MB':<34} {server.resident_mb():>10.0f} {120:>10}")
        with grpc.insecure_channel(server.target) as channel:
            rows = [(kind, *_measure(channel, kind, objects)) for kind in _kinds(objects)]
        print(f"{'resident memory after the calls, MB':<34} {server.resident_mb():>10.0f} {'':>10}")
    print()
    print(f"{'one warm RunFunction (median)':<34} {'ms':>10} {'target':>10} {'request kB':>11} {'children':>9}")
    for kind, milliseconds, kilobytes, children in rows:
        print(f"{kind:<34} {milliseconds:>10.1f} {20:>10} {kilobytes:>11.1f} {children:>9}")
    return 0


def _kinds(objects: list[dict[str, Any]]) -> list[str]:
    return sorted({item["kind"] for item in objects if item["apiVersion"].startswith("modelplane.ai/")})


def _measure(channel: grpc.Channel, kind: str, objects: list[dict[str, Any]]) -> tuple[float, float, int]:
    """Return the median milliseconds of a settled call, the size of its request and the children it answers."""
    composite = next(item for item in objects if item["kind"] == kind)
    children = {
        item["metadata"]["annotations"][COMPOSITION_KEY]: item
        for item in objects
        if any(
            owner.get("uid") == composite["metadata"]["uid"] for owner in item["metadata"].get("ownerReferences", ())
        )
    }
    last: list[Any] = []

    def run(message: Any) -> Any:
        last[:] = [message]
        return requests.call(channel, message)

    response, _ = requests.settle(run, requests.request(composite, children=children), objects)
    settled = last[0]
    times = []
    for _ in range(CALLS):
        started = time.perf_counter()
        requests.call(channel, settled)
        times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times), settled.ByteSize() / 1024, len(response.desired.resources)


if __name__ == "__main__":
    raise SystemExit(main())
