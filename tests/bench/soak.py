"""Prints how one function server fares over very many calls that all differ: `python -m tests.bench.soak`.

Every call shows objects that were never shown before (each carries the number of the call, and in one of fifty calls
of a deployment so does a selector), so every memory of the server is filled and turned over. A control plane asks most
about settled objects whose spec is as it was, and so does this; of twenty calls, eleven are about endpoints (`ROUND`).
One call of twenty is cancelled under way, 500 are sent at once after each tenth of the run, and connections that send
half a greeting and then nothing stay open all the time. At the end a tenant has its dearest calls computed without
end, and short calls of another are timed beside them. Ends early, with its tables, on Ctrl-C or after `--minutes`.

The run fails when a call failed that nobody cancelled. Of 100,000 calls or more it also fails when the memory at the
end is more than a tenth above that halfway, or a tenth needed more than twice the processor time of the middle one.
Seconds are printed and do not fail: they are the machine's.
"""

from __future__ import annotations

import contextlib
import itertools
import socket
import statistics
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import grpc
from crossplane.function.proto.v1 import run_function_pb2_grpc as grpcv1

from modelplane_functions import responder
from tests.bench import arguments, fairness
from tests.support import functionserver, hostile, rendering, requests

Json = Any
COMPOSITION_KEY = "crossplane.io/composition-resource-name"
METHOD = "/apiextensions.fn.proto.v1.FunctionRunnerService/RunFunction"
# So often each kind is asked about in one round: most of what a fleet has is endpoints.
ROUND = {
    "ModelEndpoint": 11,
    "ModelService": 3,
    "InferenceClass": 2,
    "InferenceGateway": 1,
    "ModelReplica": 1,
    "InferenceCluster": 1,
    "ModelDeployment": 1,
}
ROWS = 10
AT_ONCE = 4
BURST = 500
CANCELLED_OF = 20
SELECTORS_OF = 50
SILENT_CONNECTIONS = 20
MEMORY_GROWTH_MAX = 1.1
CALLS_TELL = 100_000
"""Half of fewer calls has not filled the memories yet, and a tenth of them is over too soon to be compared."""
SHORT_CALLS = 200
TIMEOUT_SECONDS = 120
# Of one width, so that one number takes the place of another in a message that is written already.
_CALL, _SELECTOR = b"call-000000000000", b"text-000000000000"


@dataclass
class Tally:
    """What the calls of one row came to: seconds of each that was answered, by kind, and how many were not."""

    by_kind: dict[str, list[float]] = field(default_factory=lambda: {kind: [] for kind in ROUND})
    cancelled: int = 0
    failed: list[str] = field(default_factory=list)

    @property
    def seconds(self) -> list[float]:
        """Return the seconds of all kinds."""
        return list(itertools.chain.from_iterable(self.by_kind.values()))


@dataclass
class Run:
    """A row for each tenth that was done: the median seconds, processor time for each call, and memory after it."""

    done: int = 0
    medians: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    resident: list[float] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    everything: Tally = field(default_factory=Tally)

    def add(self, tally: Tally, *, cpu: float, resident: float) -> None:
        """Add a row."""
        self.medians.append(statistics.median(tally.seconds))
        self.cpu.append(cpu)
        self.resident.append(resident)
        self.failed += tally.failed
        for kind, seconds in tally.by_kind.items():
            self.everything.by_kind[kind] += seconds

    def wrong(self) -> list[str]:
        """Return what is not as it has to be."""
        halfway, found = self.resident[len(self.resident) // 2], []
        if self.done < CALLS_TELL:
            return self.failed
        if self.resident[-1] > halfway * MEMORY_GROWTH_MAX:
            found.append(f"memory grew from {halfway:.1f} MB halfway to {self.resident[-1]:.1f} MB at the end")
        if max(self.cpu) > 2 * statistics.median(self.cpu):
            found.append(f"a tenth needed {max(self.cpu):.2f} ms a call, the middle {statistics.median(self.cpu):.2f}")
        return [*self.failed, *found]


def main(given: Sequence[str] | None = None) -> int:
    """Print the tables; return 1 when something is not as it has to be. A slow machine is no failure."""
    made = arguments.parser("soak", __doc__, example="--calls 10000")
    made.add_argument("--calls", type=arguments.positive, default=50_000, help="50,000")
    made.add_argument("--minutes", type=float, default=float("inf"), help="end after the row in which they are over")
    options = made.parse_args(given)
    run = Run()
    with functionserver.running(["--insecure"]) as server, grpc.insecure_channel(server.target) as channel:
        with _silent_connections(server.port), contextlib.suppress(KeyboardInterrupt):
            _soak(server, channel, run, calls=options.calls, minutes=options.minutes)
        if run.done:
            _sums(run)
        _beside_the_dearest(channel)
    wrong = run.wrong() if run.done else ["not one row was done"]
    for line in wrong[:10]:
        print(line)
    return 1 if wrong else 0


# --- many calls -------------------------------------------------------------------------------------------------------


def _soak(server: functionserver.Server, channel: grpc.Channel, run: Run, *, calls: int, minutes: float) -> None:
    """Print a row for each tenth of the calls."""
    end = time.monotonic() + minutes * 60
    messages = _messages(_templates())
    print(
        f"{'calls':>9} {'calls/s':>8} {'p50 ms':>8} {'p99 ms':>8} {'CPU ms/call':>12} {'resident MB':>12}", flush=True
    )
    _row(0, Tally(), seconds=1, cpu=0, resident=server.resident_mb())
    for row in range(1, ROWS + 1):
        more = calls * row // ROWS - run.done
        cpu, clock = server.cpu_seconds(), time.monotonic()
        tally = _send(channel, messages, more)
        cpu, passed = (server.cpu_seconds() - cpu) * 1000 / max(1, more), time.monotonic() - clock
        tally.failed += _burst(channel, messages)
        run.done += more
        run.add(tally, cpu=cpu, resident=server.resident_mb())
        _row(run.done, tally, seconds=passed, cpu=cpu, resident=run.resident[-1])
        if time.monotonic() > end:
            break


def _row(done: int, tally: Tally, *, seconds: float, cpu: float, resident: float) -> None:
    count = len(tally.seconds) + tally.cancelled
    middle, high = _middle_and_high(tally.seconds)
    print(f"{done:>9} {count / seconds:>8.0f} {middle:>8.1f} {high:>8.1f} {cpu:>12.2f} {resident:>12.1f}", flush=True)


def _middle_and_high(seconds: list[float]) -> tuple[float, float]:
    """Return the median and the 99th of a hundred, in milliseconds."""
    taken = sorted(seconds) or [0.0]
    return taken[len(taken) // 2] * 1000, taken[len(taken) * 99 // 100] * 1000


def _sums(run: Run) -> None:
    print()
    print(f"{'kind':<20}{'calls':>9} {'p50 ms':>8} {'p99 ms':>8}")
    for kind, seconds in run.everything.by_kind.items():
        middle, high = _middle_and_high(seconds)
        print(f"{kind:<20}{len(seconds):>9} {middle:>8.1f} {high:>8.1f}")
    whole = statistics.median(run.everything.seconds)
    bursts = len(run.resident)
    print()
    for what, *figures in (
        ("resident MB after the first row, halfway, at the end", *_first_half_last(run.resident)),
        ("CPU ms of a call in the first row, halfway, at the end", *_first_half_last(run.cpu)),
        ("the highest median of a row, and that of the last, by that of the run", max(run.medians) / whole),
        ("", run.medians[-1] / whole),
        (f"calls in rows, in {bursts} bursts of {BURST}, failed", run.done, bursts * BURST, len(run.failed)),
    ):
        print(f"{what:<72}", *(f"{one:>9.2f}" if isinstance(one, float) else f"{one:>9}" for one in figures))


def _first_half_last(row: list[float]) -> tuple[float, float, float]:
    return row[0], row[len(row) // 2], row[-1]


def _templates() -> dict[str, list[bytes]]:
    """Return the settled requests of the quickstart by kind, written, with a number on every object they show."""
    store = rendering.world(rendering.example("quickstart")).store
    objects = [dict(found) for key in store if (found := store.get(key)) is not None]
    return {
        kind: [_settled(one, objects) for one in objects if one["kind"] == kind and "spec" in one] for kind in ROUND
    }


def _settled(composite: Json, objects: list[Json]) -> bytes:
    children = {
        one["metadata"]["annotations"][COMPOSITION_KEY]: one
        for one in objects
        if any(owner["uid"] == composite["metadata"]["uid"] for owner in one["metadata"].get("ownerReferences", ()))
    }
    sent: list[Json] = []

    def run(message: Json) -> Json:
        sent.append(message)
        return responder.answer(message)

    requests.settle(run, requests.request(composite, children=children), objects)
    message = sent[-1]
    _numbered(message.observed.composite.resource, has_selector=composite["kind"] == "ModelDeployment")
    for child in message.observed.resources.values():
        _numbered(child.resource)
    for found in message.required_resources.values():
        for item in found.items:
            _numbered(item.resource)
    written: bytes = message.SerializeToString()
    return written


def _numbered(resource: Json, *, has_selector: bool = False) -> None:
    annotations = resource.fields["metadata"].struct_value.fields["annotations"].struct_value
    annotations.fields["bench/call"].string_value = _CALL.decode()
    if has_selector:
        cel = resource.fields["spec"].struct_value.fields["nodeSelector"].struct_value.fields["cel"]
        cel.string_value = f'({cel.string_value}) && "{_SELECTOR.decode()}" != ""'


def _messages(templates: dict[str, list[bytes]]) -> Iterator[tuple[str, bytes]]:
    """Yield requests without end, no two alike, each with its kind."""
    shapes = [
        (kind, shape)
        for kind, count in ROUND.items()
        for shape in itertools.islice(itertools.cycle(templates[kind]), count)
    ]
    for number in itertools.count(1):
        kind, text = shapes[number % len(shapes)]
        text = text.replace(_CALL, b"call-%012d" % number)
        yield kind, text.replace(_SELECTOR, b"text-%012d" % (number // len(shapes) // SELECTORS_OF))


def _send(channel: grpc.Channel, messages: Iterator[tuple[str, bytes]], count: int) -> Tally:
    """Send so many calls, a few at once, and wait for all of them."""
    tally, places = Tally(), threading.Semaphore(AT_ONCE)
    for number in range(count):
        places.acquire()
        kind, message = next(messages)
        began = time.perf_counter()
        call = _raw(channel, message)
        call.add_done_callback(_told(tally, places, kind, began))
        if number % CANCELLED_OF == CANCELLED_OF - 1:
            call.cancel()
    for _ in range(AT_ONCE):
        places.acquire()
    return tally


def _told(tally: Tally, places: threading.Semaphore, kind: str, began: float) -> Any:
    def done(call: Any) -> None:
        if call.cancelled():
            tally.cancelled += 1
        elif call.code() is not grpc.StatusCode.OK:
            tally.failed.append(f"{call.code()}: {call.details()}")
        else:
            tally.by_kind[kind].append(time.perf_counter() - began)
        places.release()

    return done


def _burst(channel: grpc.Channel, messages: Iterator[tuple[str, bytes]]) -> list[str]:
    """Send many calls at once and return what failed."""
    calls = [_raw(channel, next(messages)[1]) for _ in range(BURST)]
    return [f"{call.code()}: {call.details()}" for call in calls if call.code() is not grpc.StatusCode.OK]


def _raw(channel: grpc.Channel, message: bytes) -> Any:
    return channel.unary_unary(METHOD, _as_it_is, _as_it_is).future(message, timeout=TIMEOUT_SECONDS)


def _as_it_is(message: bytes) -> bytes:
    return message


@contextlib.contextmanager
def _silent_connections(port: int) -> Iterator[None]:
    """Hold connections that have sent half of what opens HTTP/2."""
    with contextlib.ExitStack() as stack:
        for _ in range(SILENT_CONNECTIONS):
            connection = stack.enter_context(socket.create_connection(("localhost", port)))
            connection.sendall(b"PRI * HTTP/2.0\r\n")
        yield


# --- short calls beside long ones -------------------------------------------------------------------------------------


def _beside_the_dearest(channel: grpc.Channel) -> None:
    print()
    print(f"{'a short call of one tenant, median and p99 ms':<68}{_short(channel)}")
    stub = grpcv1.FunctionRunnerServiceStub(channel)  # type: ignore[no-untyped-call]  # generated
    dear = [stub.RunFunction.future(message, timeout=TIMEOUT_SECONDS) for message in fairness.dear_calls(0)]
    print(f"{f'the same beside {len(dear)} of the dearest calls of another':<68}{_short(channel)}")
    for call in dear:
        call.cancel()


def _short(channel: grpc.Channel) -> str:
    message = hostile.last_request(hostile.world(), "ModelDeployment")
    took = []
    for _ in range(SHORT_CALLS):
        started = time.perf_counter()
        requests.call(channel, message)
        took.append(time.perf_counter() - started)
    return "".join(f"{one:>8.1f}" for one in _middle_and_high(took))


if __name__ == "__main__":
    raise SystemExit(main())
