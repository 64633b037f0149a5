"""A real HTTP server that speaks as much OpenAI as routing can tell apart, and remembers what it was asked."""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

Json = Any


@dataclass(frozen=True)
class Request:
    path: str
    headers: Mapping[str, str]
    body_bytes: int


class Upstream:
    """Serves until closed. `fail_with` answers every request with that status code, 0 with an answer.

    `fail_headers` go with each failure. A `document` is its answer to everything.
    """

    def __init__(self, name: str, *, certificate: Path | None = None, address: str = "127.0.0.1") -> None:
        self.name = name
        self.seen: list[Request] = []
        self.asked_names: list[str | None] = []
        self.fail_with = 0
        self.fail_headers: dict[str, str] = {}
        self.document: Json = None
        self.connections: list[socket.socket] = []
        self._lock = threading.Lock()
        self._server = _Server((address, 0), _handler(self))
        self._server.daemon_threads = True
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate / "tls.crt", certificate / "tls.key")
            context.sni_callback = lambda _socket, name, _context: self.asked_names.append(name)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    def close(self) -> None:
        """Stop like a process that dies: nothing listens any more, and open connections break."""
        self._server.shutdown()
        self._server.server_close()
        for connection in self.connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def reply(self, path: str, asked: Json) -> Json:
        """Return the answer to a request."""
        return {"object": "chat.completion", "model": asked.get("model"), "server": self.name}

    def chunks(self, asked: Json) -> list[Json]:
        """Return the parts of a streamed answer, one for each of the `pauses` that were asked for."""
        return [{"server": self.name} for _ in asked["pauses"]]

    def remember(self, request: Request) -> None:
        with self._lock:
            self.seen.append(request)


def _handler(upstream: Upstream) -> type[BaseHTTPRequestHandler]:
    return type("Handler", (_Handler,), {"upstream": upstream})


class _Server(ThreadingHTTPServer):
    """A server to which a thousand clients may connect at once."""

    request_queue_size = 2048


class _Handler(BaseHTTPRequestHandler):
    upstream: Upstream
    protocol_version = "HTTP/1.1"
    timeout = 120
    disable_nagle_algorithm = True  # head and body are two writes

    def setup(self) -> None:
        super().setup()
        self.upstream.connections.append(self.connection)

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers.get("content-length") or 0)))

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name that is overridden
        """Say nothing."""

    def _answer(self, body: bytes) -> None:
        headers = {key.lower(): value for key, value in self.headers.items()}
        self.upstream.remember(Request(self.path, headers, len(body)))
        if self.upstream.fail_with:
            message = f"{self.upstream.name} is out of order"
            self._send(self.upstream.fail_with, {"error": {"message": message}}, self.upstream.fail_headers)
            return
        if self.upstream.document is not None:
            self._send(200, self.upstream.document)
            return
        asked = json.loads(body) if body else {}
        if asked.get("stream"):
            self._stream(asked)
        else:
            self._send(200, self.upstream.reply(self.path, asked))

    def _send(self, code: int, document: Json, headers: Mapping[str, str] | None = None) -> None:
        payload = json.dumps(document).encode()
        self.send_response(code)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def _stream(self, asked: Json) -> None:
        """Send `pauses` seconds of silence, each followed by one chunk, as server-sent events. With `breaks` the
        connection breaks after them.
        """
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for pause, chunk in zip(asked["pauses"], self.upstream.chunks(asked), strict=True):
            time.sleep(pause)
            self._chunk(chunk)
        if asked.get("breaks"):
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        self._chunk("[DONE]")
        self.wfile.write(b"0\r\n\r\n")

    def _chunk(self, document: Json) -> None:
        text = document if isinstance(document, str) else json.dumps(document)
        event = f"data: {text}\n\n".encode()
        self.wfile.write(f"{len(event):x}\r\n".encode() + event + b"\r\n")
        self.wfile.flush()
