"""The server of a live page: the page, its data, and the events that say that there is something new.

What may never happen here: a request that changes anything, an answer to a page of another site, or a file of the
machine.
"""

from __future__ import annotations

import hashlib
import http.server
import ipaddress
import json
import threading
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, TypeAlias

from modelplane_cli.report import page

Json: TypeAlias = Any

PULSE_SECONDS = 15.0
"""The time after which a quiet stream of events says that it is alive, by which it notices that its reader left."""
READERS_MAX = 32
"""The most streams of events at once."""

_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Board:
    """The last data with their version, and the trouble that prevents newer ones."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._changed = threading.Condition()
        self._data: Mapping[str, Json] = {}
        self.body, self.version, self.trouble = b"", "", ""

    def show(self, data: Mapping[str, Json]) -> bool:
        """Show data, and return whether they differ from the last."""
        body = json.dumps({"title": self._title, **data}, separators=(",", ":")).encode()
        version = hashlib.sha256(body).hexdigest()[:16]
        with self._changed:
            is_new = version != self.version
            is_told = is_new or bool(self.trouble)
            self._data, self.body, self.version, self.trouble = data, body, version, ""
            if is_told:
                self._changed.notify_all()
        return is_new

    def complain(self, trouble: str) -> None:
        """Say why what is shown is not the newest."""
        with self._changed:
            self.trouble = trouble
            self._changed.notify_all()

    def page(self) -> bytes:
        """Return the page with the last data."""
        with self._changed:
            data, version = self._data, self.version
        return page.html_page(data, self._title, version=version)

    def after(self, known: tuple[str, str], seconds: float) -> tuple[str, str]:
        """Return version and trouble as soon as they are others than those that are known, or after so long."""
        with self._changed:
            self._changed.wait_for(lambda: (self.version, self.trouble) != known, seconds)
            return self.version, self.trouble


class Server(http.server.ThreadingHTTPServer):
    """An HTTP server of one board. Raises: OSError where the address cannot be taken."""

    daemon_threads = True

    def __init__(self, address: tuple[str, int], board: Board) -> None:
        super().__init__(address, _Handler)
        self.board = board
        self.respond: Callable[[_Handler], None] = _respond
        self.readers = threading.BoundedSemaphore(READERS_MAX)
        self._host, self._port = address[0], self.server_address[1]
        self.is_local = ipaddress.ip_address(self._host).is_loopback

    @property
    def url(self) -> str:
        """Return the address of the page."""
        return f"http://{self._host}:{self._port}/"

    def names(self) -> frozenset[str]:
        """Return the hosts by which pages of this server name it."""
        return frozenset(f"{name}:{self._port}" for name in ("127.0.0.1", "localhost", self._host))


class _Handler(http.server.BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "modelplane", ""
    timeout = 60

    def do_GET(self) -> None:
        """Answer as the server does."""
        self.server.respond(self)

    def do_HEAD(self) -> None:
        """Answer as to GET, without a body."""
        self.server.respond(self)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the standard library's
        """Keep quiet: a request says nothing that its reader does not see."""


def _respond(asked: _Handler) -> None:
    """Answer with the page, its data or events; a HEAD without any of them."""
    # Another site may let its name lead here; a browser then takes this page for one of that site.
    if asked.server.is_local and asked.headers.get("Host", "") not in asked.server.names():
        _answer(asked, HTTPStatus.MISDIRECTED_REQUEST, "text/plain", b"this server is known by another name\n")
        return
    path = asked.path.partition("?")[0]
    board = asked.server.board
    if path == "/":
        _answer(asked, HTTPStatus.OK, "text/html; charset=utf-8", board.page())
    elif path == "/report.json":
        _answer(asked, HTTPStatus.OK, "application/json", board.body)
    elif path == "/events" and asked.command == "HEAD":
        _answer(asked, HTTPStatus.OK, "text/event-stream", b"")
    elif path == "/events":
        _tell(asked)
    else:
        _answer(asked, HTTPStatus.NOT_FOUND, "text/plain", b"there is only /, /report.json and /events\n")


def _answer(asked: _Handler, status: HTTPStatus, kind: str, body: bytes) -> None:
    asked.send_response(status)
    for name, value in {**_HEADERS, "Content-Type": kind, "Content-Length": str(len(body))}.items():
        asked.send_header(name, value)
    asked.end_headers()
    if asked.command != "HEAD":
        asked.wfile.write(body)


def _tell(asked: _Handler) -> None:
    """Write events until the reader leaves."""
    if not asked.server.readers.acquire(blocking=False):
        _answer(asked, HTTPStatus.SERVICE_UNAVAILABLE, "text/plain", b"too many readers\n")
        return
    try:
        asked.send_response(HTTPStatus.OK)
        for name, value in {**_HEADERS, "Content-Type": "text/event-stream", "Connection": "close"}.items():
            asked.send_header(name, value)
        asked.end_headers()
        asked.close_connection = True
        known = ("", "")
        while True:
            told = asked.server.board.after(known, PULSE_SECONDS)
            asked.wfile.write(_events(known, told))
            asked.wfile.flush()
            known = told
    except OSError:
        return  # its reader left
    finally:
        asked.server.readers.release()


def _events(known: tuple[str, str], told: tuple[str, str]) -> bytes:
    """Return what changed as server-sent events; a comment where nothing did."""
    if told == known:
        return b": alive\n\n"
    version, trouble = told
    if trouble:
        return f"event: trouble\ndata: {' '.join(trouble.split())}\n\n".encode()
    return f"event: version\ndata: {version}\n\n".encode()
