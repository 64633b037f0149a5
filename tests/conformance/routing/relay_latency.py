"""Latency of the relay: the same request to a server, through one rule, and through the relay. It asserts nothing.

    hatch run python -m tests.conformance.routing.relay_latency [REQUESTS]

The three ways are asked in turn over connections that stay open, so that a busy machine slows all of them.
"""

from __future__ import annotations

import http.client
import json
import socket
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from tests.conformance.routing import fleet, relayed, translation
from tests.conformance.routing.proxy import Envoy
from tests.conformance.routing.relayed import World, door, key_of, service
from tests.support import routing

Json = Any
_ANSWER = b'{"object": "chat.completion"}'
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(_ANSWER)
_WARM = 200


def main(requests: int = 3000) -> None:
    """Print the percentiles of each way, for a short prompt and one of 64 KiB."""
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=_serve, args=(server,), daemon=True).start()
        port = server.getsockname()[1]
        world, plain = World(Path(folder)), _one_rule(Path(folder), port)
        own = routing.replica_endpoint("a-0", "a")
        saas = routing.model_endpoint("saas", "http://api.example.com/openai", auth={"secretRef": {"name": "saas"}})
        wanted = service(routing.group(deployment="a"), routing.group(endpoint="saas", priority=1))
        world.ports = {"gateway.east.example.com:80": port, "api.example.com:80": port}
        world.start(wanted, [own, saas], key_of("saas"), gateway=door())
        try:
            ways = {"the server": port, "one rule": plain.port, "the relay": world.port}
            _say(f"{'prompt':>8}  {'way':<10}  {'p50':>8}  {'p90':>8}  {'p99':>8}   ms, {requests} requests each")
            for size in (100, 64 * 1024):
                for way, taken in _measure(ways, size, requests).items():
                    shown = "  ".join(f"{taken[int(len(taken) * part)] * 1000:8.3f}" for part in (0.5, 0.9, 0.99))
                    _say(f"{size:>8}  {way:<10}  {shown}")
        finally:
            plain.close()
            world.close()


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def _one_rule(folder: Path, port: int) -> Envoy:
    """Return the fleet's proxy alone, with a service that needs no relay."""
    at = folder / "plain"
    at.mkdir()
    documents = fleet.objects(
        routing.model_service(routing.group(deployment="a")), [routing.replica_endpoint("a-0", "a")]
    )
    done = translation.translate(documents, at)
    return Envoy(done, at, ports={"gateway.east.example.com:80": port}, secrets={})


def _measure(ways: dict[str, int], size: int, requests: int) -> dict[str, list[float]]:
    """Return the sorted seconds of each way."""
    body = json.dumps({"model": "m", "prompt": "x" * size}).encode()
    open_ = {way: http.client.HTTPConnection("127.0.0.1", port, timeout=30) for way, port in ways.items()}
    taken: dict[str, list[float]] = {way: [] for way in ways}
    for number in range(requests + _WARM):
        for way, connection in open_.items():
            began = time.perf_counter()
            connection.request("POST", relayed.CHAT, body, {"content-type": "application/json"})
            answer = connection.getresponse()
            answer.read()
            if number >= _WARM:
                taken[way].append(time.perf_counter() - began)
            assert answer.status == 200, (way, answer.status)
    for connection in open_.values():
        connection.close()
    return {way: sorted(each) for way, each in taken.items()}


def _serve(server: socket.socket) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=_answer, args=(connection,), daemon=True).start()


def _answer(connection: socket.socket) -> None:
    """Answer each request at once, whatever it asks."""
    stream = connection.makefile("rb")
    while True:
        length = 0
        line = stream.readline()
        while line not in {b"\r\n", b""}:
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
            line = stream.readline()
        if not line:
            return
        stream.read(length)
        connection.sendall(_HEAD + _ANSWER)


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
