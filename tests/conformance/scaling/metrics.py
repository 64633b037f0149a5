"""Two servers of metrics on loopback: Prometheus' API, answered by its own engine, and the API of external metrics.

A test says which series there are, or the value of a metric. `fails` is a server that is ill.
"""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from tests.conformance.scaling import promql

EXTERNAL: Final = "/apis/external.metrics.k8s.io/v1beta1"


@dataclass
class Load:
    """What is answered: the series that Prometheus has, and the value of an external metric, None without one."""

    series: dict[str, str] = field(default_factory=dict)
    external: float | None = None
    fails: bool = False
    asked: list[str] = field(default_factory=list)


@contextmanager
def serve(load: Load, certificates: Path | None = None) -> Iterator[int]:
    """Yield the port of a server of `load`: HTTPS with certificates, else HTTP."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(load))
    if certificates is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificates / "tls.crt", certificates / "tls.key")
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()


def _handler(load: Load) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            query = parse_qs(parts.query)
            if parts.path == "/api/v1/query":
                self._prometheus(query["query"][0])
            elif parts.path.startswith(f"{EXTERNAL}/namespaces/"):
                self._external(parts.path, query.get("labelSelector", [""])[0])
            else:
                self._answer(200, _discovery(parts.path))

        def _prometheus(self, text: str) -> None:
            load.asked.append(text)
            if load.fails:
                self._answer(503, {"status": "error", "errorType": "timeout", "error": "query timed out"})
                return
            (value,) = promql.ask(load.series, [text])
            result = [] if value is None else [{"metric": {}, "value": [0, str(value)]}]
            self._answer(200, {"status": "success", "data": {"resultType": "vector", "result": result}})

        def _external(self, path: str, selector: str) -> None:
            name = path.rpartition("/")[2]
            load.asked.append(f"{path} {selector}")
            value = load.external
            if load.fails:
                self._answer(503, {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 503})
                return
            item = {"metricName": name, "metricLabels": {}, "timestamp": "2026-01-01T00:00:00Z", "value": str(value)}
            items = [] if value is None else [item]
            kind = {"kind": "ExternalMetricValueList", "apiVersion": "external.metrics.k8s.io/v1beta1"}
            self._answer(200, {**kind, "metadata": {}, "items": items})

        def _answer(self, status: int, body: Any) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_arguments: object) -> None:
            """Write nothing."""

    return Handler


def _discovery(path: str) -> Any:
    if path == EXTERNAL:
        return {
            "kind": "APIResourceList",
            "apiVersion": "v1",
            "groupVersion": "external.metrics.k8s.io/v1beta1",
            "resources": [],
        }
    version = {"groupVersion": "external.metrics.k8s.io/v1beta1", "version": "v1beta1"}
    group = {"name": "external.metrics.k8s.io", "versions": [version], "preferredVersion": version}
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": [group]}
