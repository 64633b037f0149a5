"""The metrics of the function server, in the text format of Prometheus, under `/metrics` of `--metrics-address`.

They count calls and bytes, and never name an object: a label is a kind, an outcome or the name of a cache. What the
fleet has and what waits in it are facts of its objects, which kube-state-metrics reads (docs/metrics.md), so that
nothing writes them twice.

Without the flag nothing is measured.
"""

from __future__ import annotations

import importlib.metadata
import platform
import time
from collections.abc import Awaitable, Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, cast

import grpc
import prometheus_client
from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from prometheus_client import core
from prometheus_client.registry import Collector

from kubecel import caches
from modelplane.errors import InvalidInput

OTHER: Final = "other"
"""The kind of requests about a kind that no composer serves: who calls must not choose how many series there are."""

_SECONDS: Final = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60)
# From a request about one object to the most that the server receives by default.
_BYTES: Final = tuple(4096 * 4**power for power in range(8))
_REQUIREMENTS: Final = (0, 1, 2, 5, 10, 20, 50, 100)
_PORTS: Final = 65_535


class Queue(Protocol):
    """The part of the servicer whose calls wait and compute."""

    def load(self) -> tuple[int, int]:
        """Return how many calls are queued, and how many compute or pause."""


class Interceptor(grpc.aio.ServerInterceptor):  # type: ignore[type-arg]  # generic in the stubs alone
    """The measurement of each call of the function, from the arrival of its bytes to the bytes of its answer.

    It stands around the servicer, so it sees cancelled and rejected calls too, and costs nothing without the flag.
    """

    def __init__(self, registry: prometheus_client.CollectorRegistry, kinds: Container[str]) -> None:
        """Count in the registry. A kind that is not in `kinds` is counted as another one."""
        self._kinds = kinds
        self._calls = prometheus_client.Counter(
            "modelplane_function_calls",
            "Calls by kind and outcome: answered, refused (a fatal result, nothing is applied), or the gRPC status.",
            labelnames=("kind", "outcome"),
            registry=registry,
        )

        def histogram(name: str, about: str, buckets: Sequence[float]) -> prometheus_client.Histogram:
            return prometheus_client.Histogram(
                f"modelplane_function_{name}", about, labelnames=("kind",), registry=registry, buckets=buckets
            )

        self._seconds = histogram(
            "call_duration_seconds", "Seconds from the arrival of a call to its answer, with the queue.", _SECONDS
        )
        self._request = histogram("request_bytes", "Bytes of a request.", _BYTES)
        self._response = histogram("response_bytes", "Bytes of a response.", _BYTES)
        self._required = histogram(
            "required_resources", "Selectors of objects that a response asks for.", _REQUIREMENTS
        )

    async def intercept_service(self, continuation: Callable[[Any], Awaitable[Any]], details: Any) -> Any:
        """Return the handler of a call, with the measurement around it where it is one of the function."""
        handler = await continuation(details)
        if handler is None or handler.unary_unary is None or not details.method.endswith("/RunFunction"):
            return handler
        decode, encode = handler.request_deserializer, handler.response_serializer

        async def measured(received: tuple[Any, int], context: grpc.aio.ServicerContext[Any, Any]) -> bytes:
            request, size = received
            return await self._measured(request, size, context, handler.unary_unary, encode)

        return grpc.unary_unary_rpc_method_handler(
            measured,
            request_deserializer=lambda text: (decode(text), len(text)),
            response_serializer=None,
        )

    async def _measured(
        self, request: Any, size: int, context: Any, respond: Callable[[Any, Any], Awaitable[Any]], encode: Any
    ) -> bytes:
        kind, outcome, begun = self._kind(request), "CANCELLED", time.perf_counter()
        self._request.labels(kind).observe(size)
        try:
            response = await respond(request, context)
            text = cast(bytes, encode(response))
            outcome = "refused" if _is_fatal(response) else "answered"
            self._response.labels(kind).observe(len(text))
            self._required.labels(kind).observe(len(response.requirements.resources))
            return text
        except Exception:
            code = context.code()
            outcome = code.name if isinstance(code, grpc.StatusCode) and code is not grpc.StatusCode.OK else "UNKNOWN"
            raise
        finally:
            self._calls.labels(kind, outcome).inc()
            self._seconds.labels(kind).observe(time.perf_counter() - begun)

    def _kind(self, request: Any) -> str:
        fields = request.observed.composite.resource.fields
        kind = fields["kind"].string_value if "kind" in fields else ""
        return kind if kind in self._kinds else OTHER


class _State(Collector):
    """What is so at the moment of a scrape: the queue, and the caches of the process."""

    def __init__(self, queue: Queue) -> None:
        self._queue = queue

    def collect(self) -> Iterator[core.Metric]:
        """Yield the metrics."""
        queued, computing = self._queue.load()
        yield core.GaugeMetricFamily("modelplane_function_queued_calls", "Calls that wait for their turn.", queued)
        yield core.GaugeMetricFamily(
            "modelplane_function_computing_calls", "Calls that compute, or pause for shorter ones.", computing
        )
        entries = core.GaugeMetricFamily(
            "modelplane_function_cache_entries", "Answers that a cache holds.", labels=("cache",)
        )
        asked = core.CounterMetricFamily(
            "modelplane_function_cache_lookups",
            "Lookups in a cache, by result: hit or miss.",
            labels=("cache", "result"),
        )
        for name, cache in sorted(caches.CACHES.items()):
            about = getattr(cache, "cache_info", None)
            if about is None:
                entries.add_metric((name,), len(cache))  # a table, whose owner looks into it without a call
                continue
            info = about()
            entries.add_metric((name,), info.currsize)
            asked.add_metric((name, "hit"), info.hits)
            asked.add_metric((name, "miss"), info.misses)
        yield entries
        yield asked


def registry(queue: Queue) -> prometheus_client.CollectorRegistry:
    """Return a registry with what is so at each scrape: the build, the process, the queue and the caches."""
    made = prometheus_client.CollectorRegistry()
    prometheus_client.ProcessCollector(registry=made)
    prometheus_client.GCCollector(registry=made)
    made.register(_State(queue))
    build = prometheus_client.Info("modelplane_function_build", "The release that runs.", registry=made)
    build.info({"version": importlib.metadata.version("modelplane"), "python": platform.python_version()})
    return made


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The HTTP server of the metrics: its port, and what stops it."""

    port: int
    stop: Callable[[], None]


def serve(registered: prometheus_client.CollectorRegistry, address: str) -> Endpoint:
    """Return the endpoint that serves the metrics in a thread of its own. Raises: InvalidInput for the address."""
    host, port = parsed(address)
    try:
        server, thread = prometheus_client.start_http_server(port, host, registered)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InvalidInput(f"cannot serve metrics on {address}: {reason}; choose another --metrics-address") from error

    def stop() -> None:
        server.shutdown()
        server.server_close()
        thread.join()

    return Endpoint(server.server_port, stop)


def parsed(address: str) -> tuple[str, int]:
    """Return the host and the port of `[host]:port`; without a host all interfaces. Raises: InvalidInput."""
    host, colon, port = address.rpartition(":")
    if not colon or not port.isascii() or not port.isdigit() or not 0 <= int(port) <= _PORTS:
        raise InvalidInput(
            f"--metrics-address is {address!r}; write an address and a port, for example :8080 or 127.0.0.1:8080"
        )
    return host.removeprefix("[").removesuffix("]") or "0.0.0.0", int(port)  # noqa: S104 - as --address does


def _is_fatal(response: Any) -> bool:
    return any(one.severity == fnv1.SEVERITY_FATAL for one in response.results)
