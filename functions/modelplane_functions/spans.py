"""The spans of calls, by OpenTelemetry. `tracing` imports this module where an endpoint for them is set.

A caller's `traceparent` is continued. OpenTelemetry's own variables set the rest: OTEL_SERVICE_NAME,
OTEL_RESOURCE_ATTRIBUTES, OTEL_TRACES_SAMPLER, OTEL_EXPORTER_OTLP_HEADERS and so on. Where the endpoint does not answer,
calls are answered as before, and spans are dropped.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import threading
from collections.abc import Container, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import grpc
from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from opentelemetry import context as contexts
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from modelplane_functions import tracing, wire

SERVICE: Final = "function-modelplane"
METHOD: Final = "apiextensions.fn.proto.v1.FunctionRunnerService/RunFunction"
OTHER: Final = "other"
"""The kind in the name of a span about a kind that no composer serves: who calls must not choose the names."""
WAITING_MAX: Final = 4096
"""The spans that wait to be sent; further ones are dropped."""


@dataclass(slots=True)
class _Traced(tracing.Call):
    """One call with a span."""

    tracer: trace.Tracer
    span: trace.Span
    within: contexts.Context

    @contextmanager
    def computing(self) -> Iterator[None]:
        # A call that becomes long is computed anew later, so there may be several.
        with self.tracer.start_as_current_span("compute", context=self.within, record_exception=False):
            yield

    def answered(self, request: fnv1.RunFunctionRequest, response: fnv1.RunFunctionResponse) -> None:
        fatal = [one.reason for one in response.results if one.severity == fnv1.SEVERITY_FATAL]
        self.span.set_attributes(
            {
                "modelplane.seen": wire.size(request),
                "modelplane.children": len(response.desired.resources),
                "modelplane.requirements": len(response.requirements.resources),
                "modelplane.fatal": fatal,
            }
        )


class Traced(tracing.Untraced):
    """The tracing of calls into a provider of OpenTelemetry."""

    def __init__(self, provider: TracerProvider, kinds: Container[str]) -> None:
        """Trace with the provider. A span of a kind that is not in `kinds` is named as another one."""
        self._provider = provider
        self._kinds = kinds
        self._tracer = provider.get_tracer("modelplane", importlib.metadata.version("modelplane"))

    @contextmanager
    def call(self, about: wire.Subject, grpc_context: Any) -> Iterator[tracing.Call]:
        """Trace a call until its answer is there. A call that is cancelled or turned away has the status of gRPC."""
        carrier = {key: value for key, value in grpc_context.invocation_metadata() or () if isinstance(value, str)}
        kind = about.kind if about.kind in self._kinds else OTHER
        span = self._tracer.start_span(
            f"RunFunction {kind}",
            context=TraceContextTextMapPropagator().extract(carrier),
            kind=trace.SpanKind.SERVER,
            attributes={
                "rpc.system.name": "grpc",
                "rpc.method": METHOD,
                "modelplane.tag": about.tag,
                "modelplane.kind": about.kind,
                "modelplane.namespace": about.namespace,
                "modelplane.name": about.name,
            },
        )
        status = "OK"
        try:
            yield _Traced(self._tracer, span, trace.set_span_in_context(span))
        except BaseException as error:
            code = grpc_context.code()
            is_said = isinstance(code, grpc.StatusCode) and code is not grpc.StatusCode.OK
            status = "CANCELLED" if isinstance(error, asyncio.CancelledError) else code.name if is_said else "UNKNOWN"
            span.set_status(trace.StatusCode.ERROR, status)
            raise
        finally:
            span.set_attribute("rpc.response.status_code", status)
            span.end()

    def close(self, seconds: float) -> None:
        """Send what is not sent yet, for at most so long. An endpoint that does not answer holds up nobody."""
        ending = threading.Thread(target=self._provider.shutdown, daemon=True)
        ending.start()
        ending.join(seconds)


def provider(endpoint: str) -> TracerProvider:
    """Return the provider that sends spans to the endpoint, in a thread of its own."""
    said = Resource.create()  # with what OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES say
    own = {} if "service.version" in said.attributes else {"service.version": importlib.metadata.version("modelplane")}
    if str(said.attributes.get("service.name")).startswith("unknown_service"):
        own["service.name"] = SERVICE
    made = TracerProvider(resource=said.merge(Resource(own)), shutdown_on_exit=False)
    made.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint), max_queue_size=WAITING_MAX))
    return made
