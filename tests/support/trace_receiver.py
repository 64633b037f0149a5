"""A receiver of traces that speaks OTLP over gRPC with the stubs of the protocol, and keeps what it is sent."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent import futures
from contextlib import contextmanager
from typing import Any

import grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc

SECONDS = 20


class Receiver(trace_service_pb2_grpc.TraceServiceServicer):
    """The spans that came, with the resource and the metadata of each request."""

    def __init__(self) -> None:
        self.port = 0
        self.resources: list[dict[str, Any]] = []
        self.metadata: list[dict[str, str]] = []
        self._spans: list[Any] = []
        self._came = threading.Condition()

    @property
    def endpoint(self) -> str:
        """Return the URL to send to."""
        return f"http://127.0.0.1:{self.port}"

    def Export(self, request: Any, context: Any) -> Any:  # noqa: N802 - the name of the RPC
        """Keep the spans of a request."""
        with self._came:
            self.metadata.append(dict(context.invocation_metadata()))
            for resource in request.resource_spans:
                self.resources.append(attributes(resource.resource.attributes))
                self._spans += [span for scope in resource.scope_spans for span in scope.spans]
            self._came.notify_all()
        return trace_service_pb2.ExportTraceServiceResponse()

    def spans(self, count: int) -> list[Any]:
        """Return the spans once there are at least so many, by their beginning. Raises: TimeoutError."""
        until = time.monotonic() + SECONDS
        with self._came:
            while len(self._spans) < count:
                if not self._came.wait(until - time.monotonic()):
                    raise TimeoutError(f"{len(self._spans)} of {count} spans came: {self._spans}")
            return sorted(self._spans, key=lambda span: span.start_time_unix_nano)


def attributes(found: Any) -> dict[str, Any]:
    """Return attributes as plain values."""
    return {one.key: _value(one.value) for one in found}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    return [_value(one) for one in value.array_value.values] if kind == "array_value" else getattr(value, kind)


@contextmanager
def running() -> Iterator[Receiver]:
    """Yield a receiver on a free port of this machine."""
    receiver = Receiver()
    server = grpc.server(futures.ThreadPoolExecutor(2))
    trace_service_pb2_grpc.add_TraceServiceServicer_to_server(receiver, server)  # type: ignore[no-untyped-call]  # generated
    receiver.port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield receiver
    finally:
        server.stop(None)
