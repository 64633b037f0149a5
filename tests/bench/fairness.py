"""Prints how long a short call of one tenant takes while other tenants keep the function server busy.

Each row is measured in rounds, in each of which the same calls are timed alone and then beside the others, so that
other work on the machine falls on both. `alone`, `beside` and `p99` are milliseconds of all calls. `CPU` is the
processor time of the server between a request and its answer, which other work on the machine does not change: alone,
beside, and the median of the ratios of the rounds. The exit code is 1 when that ratio is above the bound of its row.
"""

from __future__ import annotations

import contextlib
import itertools
import multiprocessing
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import grpc

from tests.bench import arguments
from tests.support import functionserver, hostile, requests

Json = Any
ROUNDS = 9
SHORT_CALLS = 40
UNDER_WAY = 100
WARM_CALLS = 20
TIMEOUT_SECONDS = 300
BEGIN_SECONDS = 2.0
END_SECONDS = 0.5
METHOD = "/apiextensions.fn.proto.v1.FunctionRunnerService/RunFunction"


@dataclass(frozen=True, slots=True)
class Row:
    """Calls of other tenants, and how many times its median alone a short call may take beside them."""

    name: str
    others: Callable[[int], list[Json]]
    """The calls of a round; no two rounds have one in common."""
    bound: float


def main(given: Sequence[str] | None = None) -> int:
    """Print the table; return 1 when a ratio is above its bound."""
    made = arguments.parser("fairness", __doc__, example="--rounds 3")
    made.add_argument("--rounds", type=arguments.positive, default=ROUNDS, help=f"of each row ({ROUNDS})")
    options = made.parse_args(given)
    with functionserver.running(["--insecure"]) as server, grpc.insecure_channel(server.target) as channel:
        fair = [_is_fair(server, channel, row, options.rounds) for row in _headed()]
    return 0 if all(fair) else 1


def dear_calls(round_: int) -> list[Json]:
    """Return requests of one tenant whose selectors are as dear as is allowed, each with selectors of its own."""
    return [
        _deployment("greedy", nodeSelector={"cel": hostile.dear_selector(round_ * UNDER_WAY + number + 1, width=9)})
        for number in range(UNDER_WAY)
    ]


def _headed() -> Iterator[Row]:
    names = ("alone", "beside", "p99", "CPU", "beside")
    print(f"{'a short call beside':<52}", *(f"{one:>8}" for one in names), f"{'ratio':>6} {'bound':>6}", flush=True)
    yield Row(f"{UNDER_WAY} of the dearest calls of one other", dear_calls, 2)
    yield Row(f"{UNDER_WAY} deployments of 1,000 replicas of one other", _many_replicas, 2)
    yield Row(f"{UNDER_WAY} short calls of one other", lambda _round: [_deployment("greedy")] * UNDER_WAY, 3)
    for count, word in ((3, "three"), (8, "eight")):
        yield Row(f"{UNDER_WAY} of the dearest calls of {word} others each", partial(_of_others, count), 2)


def _is_fair(server: functionserver.Server, channel: grpc.Channel, row: Row, rounds: int) -> bool:
    alone, beside, ratios = [], [], []
    _timed(server, channel, WARM_CALLS)
    for number in range(rounds):
        quiet = _timed(server, channel, SHORT_CALLS)
        with _busy(server.target, row.others(number)):
            loud = _timed(server, channel, SHORT_CALLS)
        alone += quiet
        beside += loud
        ratios.append(_medians(loud)[1] / _medians(quiet)[1])
    high, ratio = sorted(beside)[len(beside) * 99 // 100][0], statistics.median(ratios)
    (took_alone, cpu_alone), (took_beside, cpu_beside) = _medians(alone), _medians(beside)
    figures = (took_alone, took_beside, high, cpu_alone, cpu_beside)
    print(f"{row.name:<52}", *(f"{one:>8.1f}" for one in figures), f"{ratio:>6.1f} {row.bound:>6.1f}", flush=True)
    return ratio <= row.bound


def _medians(calls: list[tuple[float, float]]) -> tuple[float, float]:
    took, cpu = zip(*calls, strict=True)
    return statistics.median(took), statistics.median(cpu)


def _timed(server: functionserver.Server, channel: grpc.Channel, count: int) -> list[tuple[float, float]]:
    """Return the milliseconds of short calls, one after the other, and those of the server's processor time."""
    message, calls = _deployment("modest"), []
    for _ in range(count):
        started, used = time.perf_counter(), server.cpu_clock()
        requests.call(channel, message)
        calls.append(((time.perf_counter() - started) * 1000, (server.cpu_clock() - used) * 1000))
    return calls


@contextlib.contextmanager
def _busy(target: str, messages: list[Json]) -> Iterator[None]:
    """Keep calls under way from a process of its own, so that only the server is shared."""
    written = [message.SerializeToString() for message in messages]
    other = multiprocessing.get_context("spawn").Process(target=_keep_under_way, args=(target, written), daemon=True)
    other.start()
    time.sleep(BEGIN_SECONDS)
    try:
        yield
    finally:
        other.kill()  # the server sees every call cancelled
        other.join()
        time.sleep(END_SECONDS)


def _keep_under_way(target: str, messages: list[bytes]) -> None:
    """Send each call, and one more for each that is answered, without end."""
    left = itertools.cycle(messages)
    with grpc.insecure_channel(target) as channel:
        call = channel.unary_unary(METHOD, _as_it_is, _as_it_is)

        def send(_answered: Json = None) -> None:
            call.future(next(left), timeout=TIMEOUT_SECONDS).add_done_callback(send)

        for _ in messages:
            send()
        while True:
            time.sleep(TIMEOUT_SECONDS)


def _as_it_is(message: bytes) -> bytes:
    return message


def _many_replicas(round_: int) -> list[Json]:
    return [_deployment("greedy", replicas=1000, priority=round_) for _ in range(UNDER_WAY)]


def _of_others(count: int, round_: int) -> list[Json]:
    found = []
    for tenant in range(count):
        for message in dear_calls(1000 * count + round_ * count + tenant):
            message.observed.composite.resource["metadata"]["namespace"] = f"greedy-{tenant}"
            found.append(message)
    return found


def _deployment(namespace: str, **spec: Json) -> Json:
    message = hostile.last_request(hostile.world(), "ModelDeployment")
    composite = message.observed.composite.resource
    composite["metadata"]["namespace"] = namespace
    if spec:
        composite["spec"].update(spec)
    return message


if __name__ == "__main__":
    raise SystemExit(main())
