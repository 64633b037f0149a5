"""Hostile and careless callers: calls that nobody waits for, one tenant's load beside another's, stopping at once.

Ratios and bounds here are loose by a factor of ten of what is measured, since the machine may be busy with other tests;
`python -m tests.bench.soak` prints the measurements.
"""

from __future__ import annotations

import contextlib
import signal
import socket
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import grpc
import pytest
from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from crossplane.function.proto.v1 import run_function_pb2_grpc as grpcv1

from modelplane_functions import runner
from tests.contract.conftest import PROBES
from tests.support import functionserver, hostile, requests, slowhttp2
from tests.support.functionserver import Server

FOREVER = 600


def composite(kind: str, namespace: str = "ns", **spec: Any) -> dict[str, Any]:
    metadata = {"name": "x", "namespace": namespace}
    return {"apiVersion": "modelplane.ai/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec}


@pytest.fixture
def alone() -> Iterator[Server]:
    """Yield a server with the probe composers that no other test calls."""
    with functionserver.running(["--insecure"], command=PROBES) as server:
        yield server


@pytest.fixture
def channel(alone: Server) -> Iterator[grpc.Channel]:
    with grpc.insecure_channel(alone.target) as channel:
        yield channel


def begin(channel: grpc.Channel, message: Any, timeout_seconds: float | None = None) -> Any:
    """Return a call under way."""
    stub = grpcv1.FunctionRunnerServiceStub(channel)  # type: ignore[no-untyped-call]  # generated
    return stub.RunFunction.future(message, timeout=timeout_seconds)


def wait_for(what: Callable[[], bool], seconds: float = 20) -> None:
    until = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < until, "it did not come to pass"
        time.sleep(0.05)


def idles(server: Server) -> bool:
    before = server.cpu_seconds()
    time.sleep(0.5)
    return server.cpu_seconds() - before < 0.1


def answered(server: Server, namespace: str) -> int:
    return sum(event["msg"] == "answered" and event["namespace"] == namespace for event in server.events())


def given_up(server: Server) -> int:
    return sum(str(event["msg"]).startswith("aborted") for event in server.events())


def test_a_cancelled_call_stops_computing(alone: Server, channel: grpc.Channel) -> None:
    call = begin(channel, requests.request(composite("Long", seconds=FOREVER)))
    wait_for(lambda: not idles(alone))
    call.cancel()
    wait_for(lambda: given_up(alone) == 1)
    wait_for(lambda: idles(alone))


def test_a_call_past_its_deadline_stops_computing(alone: Server, channel: grpc.Channel) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        requests.call(channel, requests.request(composite("Long", seconds=FOREVER)), timeout_seconds=1)
    assert caught.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED
    wait_for(lambda: given_up(alone) == 1)
    wait_for(lambda: idles(alone))


def test_calls_that_wait_past_their_deadline_are_never_computed(alone: Server, channel: grpc.Channel) -> None:
    calls = [begin(channel, requests.request(composite("Long", seconds=FOREVER)), 1) for _ in range(50)]
    assert {call.code() for call in calls} == {grpc.StatusCode.DEADLINE_EXCEEDED}
    wait_for(lambda: idles(alone))
    assert given_up(alone) < len(calls) / 2
    requests.call(channel, requests.request(composite("Echo")))


def test_a_real_computation_stops_at_its_deadline() -> None:
    """The dearest selectors that are allowed, on a class whose kinds make them just so dear; no probe is asked."""
    objects = hostile.world(nodeSelector={"cel": hostile.dear_selector(1, width=9)})
    message = hostile.last_request(objects, "ModelDeployment")
    with functionserver.running(["--insecure"]) as server, grpc.insecure_channel(server.target) as channel:
        with pytest.raises(grpc.RpcError) as caught:
            requests.call(channel, message, timeout_seconds=0.1)
        assert caught.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED
        wait_for(lambda: given_up(server) == 1 or idles(server))
        assert requests.call(channel, message).desired.resources, "what was given up is begun anew"


def light_ms(channel: grpc.Channel, count: int = 40) -> float:
    """Return the median milliseconds of a short call of a tenant of its own."""
    message, took = requests.request(composite("Echo", "modest")), []
    for _ in range(count):
        started = time.perf_counter()
        requests.call(channel, message)
        took.append((time.perf_counter() - started) * 1000)
    return statistics.median(took)


def test_a_tenant_with_long_calls_does_not_hold_up_another(alone: Server, channel: grpc.Channel) -> None:
    quiet = light_ms(channel)
    calls = [begin(channel, requests.request(composite("Long", "greedy", seconds=FOREVER))) for _ in range(100)]
    wait_for(lambda: not idles(alone))
    loaded = light_ms(channel)
    for call in calls:
        call.cancel()
    assert loaded < 10 * quiet + 20, f"{loaded:.1f} ms beside the other's load, {quiet:.1f} ms alone"


def test_long_calls_of_one_tenant_leave_room_for_those_of_another(channel: grpc.Channel) -> None:
    calls = [begin(channel, requests.request(composite("Long", "greedy", seconds=FOREVER))) for _ in range(100)]
    requests.call(channel, requests.request(composite("Long", "modest", seconds=1)), timeout_seconds=20)
    for call in calls:
        call.cancel()


def test_500_calls_at_once_are_answered(alone: Server, channel: grpc.Channel) -> None:
    requests.call(channel, requests.request(composite("Echo")))
    before = alone.resident_mb()
    calls = [begin(channel, requests.request(composite("Echo", f"ns{n % 7}", n=n)), 60) for n in range(500)]
    assert all(call.result().desired.composite.ready == fnv1.READY_TRUE for call in calls)
    assert alone.resident_mb() - before < 60


def test_memory_does_not_grow_with_calls_that_are_given_up(alone: Server, channel: grpc.Channel) -> None:
    def rounds(count: int) -> float:
        for _ in range(count):
            message = requests.request(composite("Long", seconds=FOREVER, t="x" * 100_000))
            calls = [begin(channel, message) for _ in range(20)]
            time.sleep(0.02)
            for call in calls:
                call.cancel()
        wait_for(lambda: idles(alone))
        return alone.resident_mb()

    first = rounds(10)
    assert rounds(20) - first < 20


def test_connections_that_say_nothing_hold_up_nobody(alone: Server, channel: grpc.Channel) -> None:
    silent = [socket.create_connection(("localhost", alone.port)) for _ in range(200)]
    for each in silent[::2]:
        each.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
    requests.call(channel, requests.request(composite("Echo")), timeout_seconds=10)
    for each in silent:
        each.close()


def test_clients_that_send_or_read_byte_by_byte_hold_up_nobody(alone: Server, channel: grpc.Channel) -> None:
    """Fourfold the workers of a server: some never finish sending, and the answers to others never arrive."""
    message = requests.request(composite("Echo", "slow")).SerializeToString()
    with contextlib.ExitStack() as stack:
        senders, readers = (
            [stack.enter_context(slowhttp2.Client(alone.port, message, window=window)) for _ in range(32)]
            for window in (65_535, 0)
        )
        for one in readers:
            one.send(len(message) + slowhttp2.PREFIX)
        wait_for(lambda: answered(alone, "slow") == len(readers))
        for _ in range(3):
            for one in senders:
                one.send(1)
            for one in readers:
                one.take(1)
            for tenant in ("ns", "slow"):
                requests.call(channel, requests.request(composite("Echo", tenant)), timeout_seconds=20)
        assert answered(alone, "slow") == len(readers) + 3
        for one in senders:
            one.send(len(message) + slowhttp2.PREFIX)
        wait_for(lambda: answered(alone, "slow") == len(readers) + 3 + len(senders))


@pytest.mark.parametrize("kind", ["Long", "Busy"], ids=["with checkpoints", "without any"])
@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT])
def test_the_process_ends_within_seconds_whatever_is_computed(kind: str, signum: int) -> None:
    with (
        functionserver.running(["--insecure"], command=PROBES) as server,
        grpc.insecure_channel(server.target) as channel,
    ):
        calls = [begin(channel, requests.request(composite(kind, f"ns{n}", seconds=FOREVER))) for n in range(12)]
        wait_for(lambda: not idles(server))
        asked = time.monotonic()
        server.process.send_signal(signum)
        assert server.process.wait(timeout=30) == 0
        took = time.monotonic() - asked
        codes = {call.code() for call in calls}
    assert took < runner.SHUTDOWN_GRACE_SECONDS + runner.STOPPING_SECONDS + 5
    assert codes <= {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED, grpc.StatusCode.UNKNOWN}
