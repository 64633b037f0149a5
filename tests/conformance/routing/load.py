"""Many requests at once over connections that stay open, as clients of a model server keep them."""

from __future__ import annotations

import asyncio
import http.client
import json
import resource
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.conformance.routing.test_traffic import CHAT

Json = Any
_WORKERS = 8


def many(port: int, count: int, headers: Mapping[str, str] | None = None) -> list[tuple[int, str]]:
    """Return code and server of `count` answers."""

    def some(number: int) -> list[tuple[int, str]]:
        with Caller(lambda: port) as caller:
            return [caller.ask(headers=headers) for _ in range(number)]

    with ThreadPoolExecutor(_WORKERS) as pool:
        found = pool.map(some, [count // _WORKERS] * _WORKERS)
        return [answer for each in found for answer in each]


class Caller:
    """A client that keeps its connection, and opens another one where it was told that this one closes."""

    def __init__(self, port: Callable[[], int]) -> None:
        self._port = port
        self._connection: http.client.HTTPConnection | None = None

    def __enter__(self) -> Caller:
        return self

    def __exit__(self, *_: object) -> None:
        if self._connection is not None:
            self._connection.close()

    def ask(self, body: Json = None, *, path: str = CHAT, headers: Mapping[str, str] | None = None) -> tuple[int, str]:
        """Return code and server of an answer. Raises: OSError or http.client.HTTPException if there is none."""
        if self._connection is None:
            self._connection = http.client.HTTPConnection("127.0.0.1", self._port(), timeout=120)
            self._connection.connect()
            self._connection.sock.setsockopt(6, 1, 1)  # TCP_NODELAY: head and body are two writes
        self._connection.request("POST", path, json.dumps(body or {"model": "m"}), headers=dict(headers or {}))
        answer = self._connection.getresponse()
        payload = answer.read()
        if answer.getheader("connection", "").lower() == "close":
            self._connection.close()
            self._connection = None
        first = payload.split(b"\n")[0].removeprefix(b"data: ")
        return answer.status, str(json.loads(first).get("server")) if answer.status == 200 else ""


class Crowd:
    """Callers that ask without a pause until stopped; `failures` is everything that is not an answer of 200."""

    def __init__(self, port: Callable[[], int], callers: int = 4) -> None:
        self.answers: list[str] = []
        self.failures: list[str] = []
        self._stop = threading.Event()
        self._port = port
        self._threads = [threading.Thread(target=self._run) for _ in range(callers)]
        for thread in self._threads:
            thread.start()

    def _run(self) -> None:
        with Caller(self._port) as caller:
            while not self._stop.is_set():
                try:
                    code, server = caller.ask()
                except (OSError, http.client.HTTPException) as error:
                    self.failures.append(repr(error))
                    return
                if code == 200:
                    self.answers.append(server)
                else:
                    self.failures.append(str(code))

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(60)


def streams(port: int, count: int, pauses: list[float]) -> list[tuple[int, bool]]:
    """Return the number of chunks of `count` streams that are open at the same time, and whether each is complete."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 8192)), hard))
    body = json.dumps({"stream": True, "pauses": pauses}).encode()
    head = f"POST {CHAT} HTTP/1.1\r\nhost: models\r\nconnection: close\r\ncontent-length: {len(body)}\r\n\r\n"

    async def one() -> tuple[int, bool]:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(head.encode() + body)
        payload = await reader.read(-1)
        writer.close()
        return payload.count(b'data: {"server"'), payload.endswith(b"0\r\n\r\n") and b"[DONE]" in payload

    async def every() -> list[tuple[int, bool]]:
        return await asyncio.gather(*(one() for _ in range(count)))

    return asyncio.run(every())


def times(port: int, count: int, path: str, headers: Mapping[str, str] | None = None) -> list[float]:
    """Return the seconds of `count` requests one after another, sorted."""
    found = []
    with Caller(lambda: port) as caller:
        for _ in range(50):
            caller.ask(path=path, headers=headers)
        for _ in range(count):
            started = time.perf_counter()
            caller.ask(path=path, headers=headers)
            found.append(time.perf_counter() - started)
    return sorted(found)
