"""The gRPC servicer. It computes one response for each request, outside the event loop.

It must never return an answer that makes Crossplane apply or delete something because an input was not fetched yet or
was wrong, or because the answer is too large to be received. A log line names the object and the duration, never the
object's content.
"""

from __future__ import annotations

import asyncio
import os
import time
import traceback
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import grpc
from crossplane.function import logging
from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from crossplane.function.proto.v1 import run_function_pb2_grpc as grpcv1

from modelplane import interruption
from modelplane.errors import InvalidInput, InvalidSelector, OverBudget, Unsupported
from modelplane_functions import admissible, ownership, registry, turns, wire
from modelplane_functions.exchange import Condition, Observed, Outcome, Truth

# Crossplane's client receives at most this much (the default of grpc-go, which it does not change), whatever we may
# send.
RESPONSE_MAX_BYTES = 4 * 1024 * 1024

# A hundred times what any composite of a fleet of a thousand clusters sees.
OBJECTS_MAX = 100_000

# More threads than cores do not compute faster; more keep short calls of one namespace moving beside long ones of
# others, of which each may have a quarter.
DEFAULT_WORKERS = (os.cpu_count() or 1) + 6

T = TypeVar("T")

Registry = Callable[[str, str], registry.Composer]
Decode = Callable[[fnv1.RunFunctionRequest], Observed]


class FunctionRunner(grpcv1.FunctionRunnerServiceServicer):
    """The servicer of RunFunction for every kind that `find` knows."""

    def __init__(self, *, find: Registry = registry.composer, workers: int = DEFAULT_WORKERS) -> None:
        """Serve with at most `workers` composers at the same time. Further requests are queued by namespace."""
        self._find = find
        self._turns = turns.Turns(workers)

    async def RunFunction(  # noqa: N802 - the name of the RPC
        self, request: fnv1.RunFunctionRequest, context: Any
    ) -> fnv1.RunFunctionResponse:
        """Answer one request without blocking the event loop.

        gRPC ends a call that was cancelled or whose deadline has passed. The computation of the call ends with it.
        """
        about = wire.subject(request)
        try:
            return await self._computed(about.namespace, partial(self._logged_answer, request, about))
        except turns.BusyError as error:
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, str(error))
        except interruption.Interrupted:
            await context.abort(grpc.StatusCode.UNAVAILABLE, "the server is stopping; retry the request")
        raise AssertionError("abort does not return")

    async def _computed(self, tenant: str, compute: Callable[[], T]) -> T:
        """Return the result of `compute` after its turn has come. A cancelled call stops the computation."""
        call = self._turns.submit(tenant, compute)
        try:
            return await asyncio.wrap_future(call.result)
        except asyncio.CancelledError:
            self._turns.drop(call)
            raise

    async def prepare(self) -> None:
        """Load every composer in the background, so that no first call has to wait for it."""
        await self._computed("", _prepare)

    def close(self, seconds: float = 0) -> bool:
        """Stop the running computations. Return whether all have ended after `seconds`."""
        return self._turns.close(seconds)

    def _logged_answer(self, request: fnv1.RunFunctionRequest, about: wire.Subject) -> fnv1.RunFunctionResponse:
        log = logging.get_logger().bind(
            tag=about.tag, kind=about.kind, namespace=about.namespace, name=about.name, seen=wire.size(request)
        )
        started = time.perf_counter()
        try:
            response = answer(request, find=self._find)
        except interruption.Interrupted:
            log.info("aborted: the caller no longer waits", durationMs=_milliseconds_since(started))
            raise
        except Exception as error:
            log.error(
                "internal error: nothing is applied",
                durationMs=_milliseconds_since(started),
                error=type(error).__name__,
                trace=_trace(error),
            )
            raise
        log.info(
            "answered",
            durationMs=_milliseconds_since(started),
            responseBytes=response.ByteSize(),
            children=len(response.desired.resources),
            requirements=len(response.requirements.resources),
            fatal=[result.reason for result in response.results if result.severity == fnv1.SEVERITY_FATAL],
        )
        return response


def _prepare() -> None:
    """Load every composer. One that fails to load affects no other, and requests for its kind report it again."""
    for kind, composer in sorted(registry.composers().items()):
        try:
            composer.prepare()
        except Unsupported:
            continue  # this build has none
        except Exception as error:
            logging.get_logger().error(
                "internal error: objects of this kind cannot be composed",
                kind=kind,
                error=type(error).__name__,
                trace=_trace(error),
            )


def answer(
    request: fnv1.RunFunctionRequest, *, find: Registry = registry.composer, decode: Decode = wire.decode
) -> fnv1.RunFunctionResponse:
    """Return the response to one request. This is the whole function, without a server.

    `decode` lets a caller reuse resources that it has decoded before.
    Raises: only the errors of a bug. A mistake of the author becomes a condition and a fatal result.
    """
    about = wire.subject(request)
    condition = "Accepted"
    try:
        composer = find(about.api_version, about.kind)
        condition = composer.condition
        if not about.name:
            raise InvalidInput("is required", path=("metadata", "name"))
        _check_size(request)
        observed = decode(request)
        outcome = _settled(request, observed, composed(composer, observed))
    except (InvalidInput, Unsupported) as error:
        outcome = refused(about, condition, error)
    return _within_limit(request, about, condition, wire.encode(request, outcome))


def composed(composer: registry.Composer, observed: Observed) -> Outcome:
    """Return the composer's decision about a composite, after validation of its spec.

    Raises: InvalidInput or Unsupported when the author must change something.
    """
    admissible.check(observed)
    return ownership.checked(observed, composer.load()(observed))


def _check_size(request: fnv1.RunFunctionRequest) -> None:
    """Refuse a request with too many objects. The server bounds its bytes when it receives it."""
    count = wire.size(request)
    if count > OBJECTS_MAX:
        raise OverBudget(
            f"{count} objects have to be read for it, and the limit is {OBJECTS_MAX}; "
            "narrow its selectors, or delete objects that are no longer used"
        )


def refused(about: wire.Subject, condition: str, error: InvalidInput | Unsupported) -> Outcome:
    """Return the outcome that holds everything and reports what the author must change."""
    said = error.line_of_text if isinstance(error, InvalidSelector) else str(error)
    return Outcome(
        conditions=(Condition(condition, Truth.FALSE, error.reason, said),),
        fatal=f"{about}: {said}; what runs is kept as it is",
    )


def _settled(request: fnv1.RunFunctionRequest, observed: Observed, outcome: Outcome) -> Outcome:
    """Return `outcome` when all its requirements were fetched, otherwise only its requirements.

    Crossplane fetches them and calls again, and it applies nothing in between. A caller that cannot fetch objects would
    apply the answer and delete everything else. It gets a refusal.
    """
    missing = sorted(key for key in outcome.requirements if key not in observed.required)
    if not missing:
        return outcome
    if wire.lacks_required_resources(request):
        raise Unsupported(
            f"other objects are required ({', '.join(missing)}), and this version of Crossplane cannot fetch them; "
            "upgrade to Crossplane v2.4 or later",
            reason="CrossplaneTooOld",
        )
    return Outcome(requirements=outcome.requirements, ttl_seconds=outcome.ttl_seconds)


def _within_limit(
    request: fnv1.RunFunctionRequest, about: wire.Subject, condition: str, response: fnv1.RunFunctionResponse
) -> fnv1.RunFunctionResponse:
    """Return `response`, or a refusal when `response` is too large for Crossplane to receive."""
    size = response.ByteSize()
    if size <= RESPONSE_MAX_BYTES:
        return response
    largest = ", ".join(f"{key} {count} bytes" for key, count in wire.largest_children(response, count=3))
    count = len(response.desired.resources)
    error = Unsupported(
        f"the response has {size} bytes in {count} resources (largest: {largest}), and Crossplane receives at most "
        f"{RESPONSE_MAX_BYTES} bytes; reduce the number of children, shorten the template, or split the object",
        reason="ResponseTooLarge",
    )
    return wire.encode(request, refused(about, condition, error))


def _trace(error: Exception) -> list[str]:
    """Return the stack of the error, innermost last. The SDK's traceback would print local variables and secrets."""
    frames = traceback.extract_tb(error.__traceback__)
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]


def _milliseconds_since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 1)
