"""Prints the memory of one function server while it answers calls whose inputs change, and how long short calls take.

Every call is about a deployment of another name, every hundredth about other selectors and every tenth sees a cluster
that changed; a quarter of the calls are cancelled under way. Then a tenant has its long calls computed without end, and
short calls of another are timed beside it. A million calls take some hours: `python -m tests.bench.soak 1000000`.
"""

from __future__ import annotations

import copy
import statistics
import time
from collections.abc import Iterator, Sequence
from typing import Any

import grpc
from crossplane.function.proto.v1 import run_function_pb2_grpc as grpcv1

from tests.bench import arguments
from tests.support import functionserver, hostile, requests

Json = Any
ROWS = 10
AT_ONCE = 16
SHORT_CALLS = 200
TIMEOUT_SECONDS = 60


def main(given: Sequence[str] | None = None) -> int:
    """Print the tables; return 0, since a slow machine is no failure."""
    made = arguments.parser("soak", __doc__, example="10000")
    made.add_argument("calls", metavar="CALLS", nargs="?", type=arguments.positive, default=50_000, help="50,000")
    calls = made.parse_args(given).calls
    with functionserver.running(["--insecure"]) as server, grpc.insecure_channel(server.target) as channel:
        print(f"{'calls':>9} {'resident MB':>12} {'CPU ms per call':>16} {'calls per s':>12}")
        messages = _messages()
        done, cpu, clock = 0, server.cpu_seconds(), time.perf_counter()
        for row in range(1, ROWS + 1):
            more = calls * row // ROWS - done
            _send(channel, messages, more)
            done += more
            now, passed = server.cpu_seconds(), time.perf_counter()
            each, rate = (now - cpu) * 1000 / more, more / (passed - clock)
            print(f"{done:>9} {server.resident_mb():>12.0f} {each:>16.2f} {rate:>12.0f}", flush=True)
            cpu, clock = now, passed
        print()
        print(f"{'a short call of one tenant, median ms':<64} {_short_ms(channel):>8.1f}")
        calls_ = [_begin(channel, message) for message in _dear()]
        print(f"{f'the same beside {len(calls_)} of the dearest calls of another':<64} {_short_ms(channel):>8.1f}")
        for call in calls_:
            call.cancel()
    return 0


def _messages() -> Iterator[Json]:
    """Yield requests without end, no two alike."""
    settled = hostile.last_request(hostile.world(), "ModelDeployment")
    number = 0
    while True:
        number += 1
        message = copy.deepcopy(settled)
        composite = message.observed.composite.resource
        composite.fields["metadata"].struct_value.fields["name"].string_value = f"m{number}"
        composite.fields["metadata"].struct_value.fields["namespace"].string_value = f"t{number % 20}"
        if number % 100 == 0:
            selector = composite.fields["spec"].struct_value.fields["nodeSelector"].struct_value
            selector.fields["cel"].string_value = f'device.driver == "{hostile.GPU}" && {number} > 0'
        if number % 10 == 0:
            (cluster,) = message.required_resources["clusters"].items
            labels = cluster.resource.fields["metadata"].struct_value.fields["labels"].struct_value
            labels.fields["turn"].string_value = str(number)
        yield message


def _dear() -> Iterator[Json]:
    """Yield requests of one tenant whose selectors are as dear as is allowed, each with selectors of its own."""
    for number in range(100):
        selector = {"cel": hostile.dear_selector(number + 1, width=9)}
        message = hostile.last_request(hostile.world(), "ModelDeployment")
        composite = message.observed.composite.resource
        composite["metadata"]["namespace"] = "greedy"
        composite["spec"].update({"nodeSelector": selector})
        yield message


def _send(channel: grpc.Channel, messages: Iterator[Json], count: int) -> None:
    """Send so many calls, some at once, and wait for all that are not cancelled."""
    for first in range(0, count, AT_ONCE):
        under_way = [_begin(channel, next(messages)) for _ in range(min(AT_ONCE, count - first))]
        for number, call in enumerate(under_way):
            if number % 4 == 3:
                call.cancel()
            else:
                call.result()


def _begin(channel: grpc.Channel, message: Json) -> Json:
    stub = grpcv1.FunctionRunnerServiceStub(channel)  # type: ignore[no-untyped-call]  # generated
    return stub.RunFunction.future(message, timeout=TIMEOUT_SECONDS)


def _short_ms(channel: grpc.Channel) -> float:
    message = hostile.last_request(hostile.world(), "ModelDeployment")
    took = []
    for _ in range(SHORT_CALLS):
        started = time.perf_counter()
        requests.call(channel, message)
        took.append((time.perf_counter() - started) * 1000)
    return statistics.median(took)


if __name__ == "__main__":
    raise SystemExit(main())
