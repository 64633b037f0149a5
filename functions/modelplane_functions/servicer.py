"""The gRPC servicer: one request in, one response out, CPU work off the event loop.

What may never happen here: an answer that makes Crossplane apply or delete something because an input was not fetched
yet, was wrong, or because the answer is too large to arrive. Log lines say which object and how long, never what is
in it.
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
    """Serves RunFunction for every kind of `find`."""

    def __init__(self, *, find: Registry = registry.composer, workers: int = DEFAULT_WORKERS) -> None:
        """Serve with at most `workers` composers at once; further requests wait their turn, by namespace."""
        self._find = find
        self._turns = turns.Turns(workers)

    async def RunFunction(  # noqa: N802 - the name of the RPC
        self, request: fnv1.RunFunctionRequest, context: Any
    ) -> fnv1.RunFunctionResponse:
        """Answer one request; the event loop stays free for others meanwhile.

        A call that was cancelled or whose deadline has passed is ended here by gRPC, and its computation with it.
        """
        about = wire.subject(request)
        try:
            return await self._computed(about.namespace, partial(self._logged_answer, request, about))
        except turns.BusyError as error:
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, str(error))
        except interruption.Interrupted:
            await context.abort(grpc.StatusCode.UNAVAILABLE, "the server is stopping; ask again")
        raise AssertionError("abort does not return")

    async def _computed(self, tenant: str, compute: Callable[[], T]) -> T:
        """Return what `compute` returns, once its turn came; stop it when nobody waits any more."""
        call = self._turns.submit(tenant, compute)
        try:
            return await asyncio.wrap_future(call.result)
        except asyncio.CancelledError:
            self._turns.drop(call)
            raise

    async def prepare(self) -> None:
        """Load every composer beside the calls that come in, so that nobody's first call waits for that."""
        await self._computed("", _prepare)

    def close(self, seconds: float = 0) -> bool:
        """Stop what is still computed and wait so long for it; return whether all of it has ended."""
        return self._turns.close(seconds)

    def _logged_answer(self, request: fnv1.RunFunctionRequest, about: wire.Subject) -> fnv1.RunFunctionResponse:
        log = logging.get_logger().bind(
            tag=about.tag, kind=about.kind, namespace=about.namespace, name=about.name, seen=wire.size(request)
        )
        started = time.perf_counter()
        try:
            response = answer(request, find=self._find)
        except interruption.Interrupted:
            log.info("given up: nobody waits for the answer", durationMs=_milliseconds_since(started))
            raise
        except Exception as error:
            log.error(
                "a bug: nothing is applied",
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
    """Load every composer; one that cannot be loaded stops no other, and who asks for its kind is told so again."""
    for kind, composer in sorted(registry.composers().items()):
        try:
            composer.prepare()
        except Unsupported:
            continue  # this build has none
        except Exception as error:
            logging.get_logger().error(
                "a bug: no object of this kind can be composed",
                kind=kind,
                error=type(error).__name__,
                trace=_trace(error),
            )


def answer(
    request: fnv1.RunFunctionRequest, *, find: Registry = registry.composer, decode: Decode = wire.decode
) -> fnv1.RunFunctionResponse:
    """Return the response to one request: the whole function, without a server.

    `decode` is for a caller that has read some of the resources before.
    Raises: whatever a bug raises; the author's mistakes are conditions and a fatal result.
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
    """Return what a composer decides about a composite whose spec its definition takes.

    Raises: InvalidInput or Unsupported for what its author must change.
    """
    admissible.check(observed)
    return ownership.checked(observed, composer.load()(observed))


def _check_size(request: fnv1.RunFunctionRequest) -> None:
    """Refuse a request that shows more objects than a fleet has. Its bytes are bounded where they are received."""
    count = wire.size(request)
    if count > OBJECTS_MAX:
        raise OverBudget(
            f"{count} objects are to be looked at for it, {OBJECTS_MAX} is the limit; "
            "let its selectors match fewer, or remove what is not used any more"
        )


def refused(about: wire.Subject, condition: str, error: InvalidInput | Unsupported) -> Outcome:
    """Return the outcome that keeps everything as it is and tells the author what to change."""
    said = error.line_of_text if isinstance(error, InvalidSelector) else str(error)
    return Outcome(
        conditions=(Condition(condition, Truth.FALSE, error.reason, said),),
        fatal=f"{about}: {said}; what runs is kept as it is",
    )


def _settled(request: fnv1.RunFunctionRequest, observed: Observed, outcome: Outcome) -> Outcome:
    """Return `outcome` once all it asked for was fetched, else only its requirements.

    Crossplane calls again with the answers and applies nothing in between. A caller that says it cannot fetch would
    apply what we return, and delete the rest: it gets a refusal.
    """
    missing = sorted(key for key in outcome.requirements if key not in observed.required)
    if not missing:
        return outcome
    if wire.lacks_required_resources(request):
        raise Unsupported(
            f"needs other objects ({', '.join(missing)}) and this Crossplane does not fetch them; "
            "use Crossplane v2.4 or later",
            reason="CrossplaneTooOld",
        )
    return Outcome(requirements=outcome.requirements, ttl_seconds=outcome.ttl_seconds)


def _within_limit(
    request: fnv1.RunFunctionRequest, about: wire.Subject, condition: str, response: fnv1.RunFunctionResponse
) -> fnv1.RunFunctionResponse:
    """Return `response`, or in place of one that cannot arrive a refusal that can."""
    size = response.ByteSize()
    if size <= RESPONSE_MAX_BYTES:
        return response
    largest = ", ".join(f"{key} {count} bytes" for key, count in wire.largest_children(response, count=3))
    count = len(response.desired.resources)
    error = Unsupported(
        f"the answer has {size} bytes in {count} resources (largest: {largest}) and Crossplane receives at most "
        f"{RESPONSE_MAX_BYTES}; ask for fewer children or shorten the template, or split this object in two",
        reason="ResponseTooLarge",
    )
    return wire.encode(request, refused(about, condition, error))


def _trace(error: Exception) -> list[str]:
    """Return where it happened, innermost last; the SDK's own traceback prints local variables, secrets too."""
    frames = traceback.extract_tb(error.__traceback__)
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]


def _milliseconds_since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 1)
