"""Traces of the function server: one span for each call, with one below it for each time that it is computed.

They are sent by OTLP over gRPC to the endpoint of `--traces-endpoint`, with the tag of the request, which the line of
the log about the call has, too. A span names the object and says how many objects were seen and made, never what is in
them.

Without an endpoint nothing of OpenTelemetry is imported, and calls are as before. `spans` has the rest.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib import parse

from crossplane.function.proto.v1 import run_function_pb2 as fnv1

from modelplane.errors import InvalidInput
from modelplane_functions import wire


class Call:
    """One call that nobody traces."""

    @contextmanager
    def computing(self) -> Iterator[None]:
        """Trace one computation of the call, in the thread that computes it."""
        yield

    def answered(self, request: fnv1.RunFunctionRequest, response: fnv1.RunFunctionResponse) -> None:
        """Note what the answer is."""


class Untraced:
    """The tracing of calls where no endpoint is set."""

    @contextmanager
    def call(self, about: wire.Subject, grpc_context: Any) -> Iterator[Call]:
        """Trace a call until its answer is there, in the event loop."""
        del about, grpc_context
        yield _UNTRACED

    def close(self, seconds: float) -> None:
        """Send what is not sent yet, for at most so long."""


_UNTRACED = Call()


def check(endpoint: str) -> None:
    """Raise InvalidInput for an endpoint that is no URL, and where OpenTelemetry is not installed."""
    try:
        url = parse.urlsplit(endpoint)
        is_usable = url.scheme in ("http", "https") and bool(url.hostname) and (url.port or 1) > 0
    except ValueError:
        is_usable = False
    if not is_usable:
        raise InvalidInput(
            f"--traces-endpoint is {endpoint!r}; write the URL of an OTLP receiver (gRPC), for example "
            "http://otel-collector.observability:4317"
        )
    try:
        importlib.metadata.version("opentelemetry-exporter-otlp-proto-grpc")
    except importlib.metadata.PackageNotFoundError:
        raise InvalidInput("--traces-endpoint needs OpenTelemetry: pip install 'modelplane[tracing]'") from None
