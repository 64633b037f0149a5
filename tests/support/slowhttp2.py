"""A gRPC client that is as slow as it likes: HTTP/2 frames over a plain socket, written by hand.

Source: RFC 9113 (frames) and RFC 7541 (header fields without indexing, which need no table).
"""

from __future__ import annotations

import socket
import struct
from types import TracebackType
from typing import Final

METHOD: Final = "/apiextensions.fn.proto.v1.FunctionRunnerService/RunFunction"
PREFIX: Final = 5
"""The bytes that gRPC puts before a message."""
_PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_DATA, _HEADERS, _SETTINGS, _WINDOW_UPDATE = 0, 1, 4, 8
_END_HEADERS, _END_STREAM = 4, 1
_INITIAL_WINDOW_SIZE: Final = 4
_STREAM: Final = 1
_FIELDS: Final = {
    ":method": "POST",
    ":scheme": "http",
    ":path": METHOD,
    ":authority": "localhost",
    "te": "trailers",
    "content-type": "application/grpc",
}


class Client:
    """One call on a connection of its own. The server may send at most `window` bytes of its answer unasked."""

    def __init__(self, port: int, message: bytes, *, window: int = 65_535) -> None:
        self._socket = socket.create_connection(("localhost", port))
        settings = struct.pack(">HI", _INITIAL_WINDOW_SIZE, window)
        fields = b"".join(_field(name, value) for name, value in _FIELDS.items())
        self._socket.sendall(_PREFACE + _frame(_SETTINGS, 0, settings, stream=0))
        self._socket.sendall(_frame(_HEADERS, _END_HEADERS, fields))
        self._left = struct.pack(">BI", 0, len(message)) + message

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()

    def send(self, count: int) -> None:
        """Send so many more bytes of the message; after the last one the request is complete."""
        sent, self._left = self._left[:count], self._left[count:]
        self._socket.sendall(_frame(_DATA, 0 if self._left else _END_STREAM, sent))

    def take(self, count: int) -> None:
        """Let the server send so many more bytes of its answer."""
        self._socket.sendall(_frame(_WINDOW_UPDATE, 0, struct.pack(">I", count)))


def _frame(kind: int, flags: int, payload: bytes, *, stream: int = _STREAM) -> bytes:
    return struct.pack(">I", len(payload))[1:] + bytes((kind, flags)) + struct.pack(">I", stream) + payload


def _field(name: str, value: str) -> bytes:
    return b"\0" + b"".join(bytes((len(text),)) + text.encode() for text in (name, value))
