"""The gRPC servicer. It computes one response for each request, outside the event loop.

A log line names the object and the duration, never the object's content.
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

from kubecel import interruption
from modelplane.errors import Unsupported
from modelplane_functions import registry, responder, tracing, turns, wire

# More threads than cores do not compute faster; more keep short calls of one namespace moving beside long ones of
# others, of which each may have a quarter.
_MINUTE = 60
DEFAULT_WORKERS = (os.cpu_count() or 1) + 6

T = TypeVar("T")


class FunctionRunner(grpcv1.FunctionRunnerServiceServicer):
    """The servicer of RunFunction for every kind that `find` knows."""

    def __init__(
        self,
        *,
        find: responder.Registry = registry.composer,
        workers: int = DEFAULT_WORKERS,
        traces: tracing.Untraced | None = None,
    ) -> None:
        """Serve with at most `workers` composers at the same time. Further requests are queued by namespace."""
        self._find = find
        self._traces = traces or tracing.Untraced()
        self._turns = turns.Turns(workers)

    async def RunFunction(  # noqa: N802 - the name of the RPC
        self, request: fnv1.RunFunctionRequest, context: Any
    ) -> fnv1.RunFunctionResponse:
        """Answer one request without blocking the event loop.

        gRPC ends a call that was cancelled or whose deadline has passed. The computation of the call ends with it.
        """
        about = wire.subject(request)
        with self._traces.call(about, context) as call:
            try:
                response = await self._computed(about.namespace, partial(self._traced_answer, request, about, call))
                call.answered(request, response)
                return response
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
        finally:
            # After the answer is sent, which the same step of the event loop does.
            asyncio.get_running_loop().call_soon(self._turns.answered, call)

    async def prepare(self) -> None:
        """Load every composer in the background, so that no first call has to wait for it."""
        await self._computed("", _prepare)

    def load(self) -> tuple[int, int]:
        """Return how many calls are queued, and how many compute or pause for others."""
        return self._turns.load()

    def close(self, seconds: float = 0) -> bool:
        """Stop the running computations. Return whether all have ended after `seconds`."""
        return self._turns.close(seconds)

    def end_traces(self, seconds: float) -> None:
        """Send the spans that are not sent yet, for at most so long."""
        self._traces.close(seconds)

    def _traced_answer(
        self, request: fnv1.RunFunctionRequest, about: wire.Subject, call: tracing.Call
    ) -> fnv1.RunFunctionResponse:
        with call.computing():
            return self._logged_answer(request, about)

    def _logged_answer(self, request: fnv1.RunFunctionRequest, about: wire.Subject) -> fnv1.RunFunctionResponse:
        log = logging.get_logger().bind(
            tag=about.tag, kind=about.kind, namespace=about.namespace, name=about.name, seen=wire.size(request)
        )
        started = time.perf_counter()
        try:
            response = responder.answer(request, find=self._find, minute=int(time.time() // _MINUTE))
        except turns.Postponed:
            raise  # it is computed later, and logged then
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


def _trace(error: Exception) -> list[str]:
    """Return the stack of the error, innermost last. The SDK's traceback would print local variables and secrets."""
    frames = traceback.extract_tb(error.__traceback__)
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]


def _milliseconds_since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 1)
