"""Prints what one call costs on a large fleet: a deployment that sees every cluster, a cluster with many replicas.

Each composite asks a function server of its own, in a process of its own, over gRPC with client certificates. `first`
is all calls of a fresh server until the composite has seen everything that it asks for, `steady` the mean of the next
calls with the last request. Times are of the server's processor, everything it does included, and the least that three
servers took, since a shared processor is now and then half as fast; `wall` is the median that a client waits. Resident
memory is the most that a server held when it was idle after the calls; at its `peak` it also held a request as protobuf
reads it, which takes some seven times its bytes.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc

from modelplane_functions.compose import inference_cluster
from tests.bench import arguments, documents, fleets
from tests.support import certificates, cluster_world, exchange, fleet, functionserver, requests

SERVERS, CALLS = 3, 9
SENT_MAX_MIB = 2047
TIMEOUT_SECONDS = 120
IDLE_SECONDS = 0.5
MEMORY_TARGET_MB = 300
Json = Any


@dataclass(frozen=True, slots=True)
class Cost:
    """What the calls about one composite cost. Units: milliseconds, kilobytes, megabytes."""

    first: float
    steady: float
    wall: float
    children: int
    request_kb: float
    resident_mb: float
    peak_mb: float


def main(given: Sequence[str] | None = None) -> int:
    """Print the table, called with `given` or as it is; return 0."""
    made = arguments.parser("functions", __doc__, example="1000")
    arguments.add_sizes(made, default=[1_000, 10_000])
    sizes = made.parse_args(given).sizes
    head = (
        "first ms",
        "steady ms",
        "target ms",
        "wall ms",
        "children",
        "request kB",
        "server MB",
        "target MB",
        "peak MB",
    )
    print(f"{'one RunFunction over gRPC with mTLS':<46}" + "".join(f"{cell:>11}" for cell in head))
    with tempfile.TemporaryDirectory() as folder:
        authority = certificates.authority()
        theirs = authority.issue(Path(folder, "server"), "function-modelplane")
        ours = authority.issue(Path(folder, "client"), "crossplane")
        for count in sizes:
            store, target = documents.of(fleets.fleet(count)), 300 if count == 1_000 else ""
            for replicas in (10, 100):
                name = f"ModelDeployment, {replicas} replicas, {count} clusters"
                _row(name, documents.deployment(replicas), store, target, (theirs, ours))
        for count in (50, 500):
            cluster = fleet.inference_cluster("a", nodes=count // 5)
            store = _store(cluster, count)
            _row(f"InferenceCluster, {count} new replicas", cluster, store, "", (theirs, ours))
            settled = {**cluster, "status": exchange.settle(inference_cluster.compose, cluster, store=store).status}
            target = 100 if count == 500 else ""
            _row(f"InferenceCluster, {count} replicas", settled, store, target, (theirs, ours))
    return 0


def _row(name: str, composite: Json, store: list[Json], target: object, identities: tuple[Path, Path]) -> None:
    try:
        costs = [_measure(composite, store, *identities) for _ in range(SERVERS)]
    except grpc.RpcError as error:
        print(f"{name:<46}  refused: {error.code().name}: {error.details()}")
        return
    cost = costs[-1]
    first, steady, wall = (
        min(column) for column in zip(*((one.first, one.steady, one.wall) for one in costs), strict=True)
    )
    times = (f"{first:.0f}", f"{steady:.0f}", target, f"{wall:.0f}")
    sizes = (
        cost.children,
        f"{cost.request_kb:.0f}",
        f"{max(one.resident_mb for one in costs):.0f}",
        MEMORY_TARGET_MB,
        f"{max(one.peak_mb for one in costs):.0f}",
    )
    print(f"{name:<46}" + "".join(f"{cell:>11}" for cell in (*times, *sizes)))


def _measure(composite: Json, store: list[Json], theirs: Path, ours: Path) -> Cost:
    """Return the cost on a server that has served nobody before, and is asked as Crossplane asks it."""
    last: list[Any] = []
    with functionserver.running(["--tls-server-certs-dir", str(theirs)]) as server:
        # The client has no limit of its own, so that it is the server's that is seen.
        options = {
            "grpc.max_send_message_length": SENT_MAX_MIB << 20,
            "grpc.max_receive_message_length": SENT_MAX_MIB << 20,
        }
        with functionserver.secure_channel(server.target, ours, **options) as channel:

            def run(message: Any) -> Any:
                response, _ = _timed(channel, message)
                last[:] = [message, response]
                return response

            _await_idle(server)
            before = server.cpu_seconds()
            requests.settle(run, requests.request(composite), store)
            first = (server.cpu_seconds() - before) * 1000
            message, response = last
            before = server.cpu_seconds()
            wall = statistics.median(_timed(channel, message)[1] for _ in range(CALLS))
            steady = (server.cpu_seconds() - before) * 1000 / CALLS
            _await_idle(server)
            children = len(response.desired.resources)
            return Cost(
                first, steady, wall, children, message.ByteSize() / 1024, server.resident_mb(), _peak_mb(server)
            )


def _peak_mb(server: functionserver.Server) -> float:
    """Return the most memory that the server ever had in use: while it held a request as it came."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM:"))


def _await_idle(server: functionserver.Server) -> None:
    """Return once the server does nothing: what it loads beside the first calls is loaded, the last request let go."""
    before = -1.0
    while server.cpu_seconds() > before:
        before = server.cpu_seconds()
        time.sleep(IDLE_SECONDS)


def _timed(channel: grpc.Channel, message: Any) -> tuple[Any, float]:
    started = time.perf_counter()
    response = requests.call(channel, message, timeout_seconds=TIMEOUT_SECONDS)
    return response, (time.perf_counter() - started) * 1000


def _store(cluster: Json, count: int) -> list[Json]:
    """Return a deployment with the ModelReplicas that it proposes when `cluster` is all there is, and their class."""
    deployment = fleet.model_deployment(replicas=count)
    replicas = cluster_world.replicas_of(deployment, cluster)
    if len(replicas) != count:
        raise AssertionError(f"{len(replicas)} replicas stand for {count}")  # a row of nothing would look cheap
    return [*replicas, fleet.inference_class(), fleet.referring(deployment, replicas)]


if __name__ == "__main__":
    raise SystemExit(main())
