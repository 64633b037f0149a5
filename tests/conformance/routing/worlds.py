"""A gateway that knows its clients, with upstreams and a real Envoy, and requests that no library would send."""

from __future__ import annotations

import contextlib
import dataclasses
import http.client
import json
import socket
import time
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.conformance.routing import access, fleet, translation
from tests.conformance.routing.test_traffic import Answer, World
from tests.conformance.routing.translation import Translation

Json = Any
_SYSTEM_AUTHORITIES = "/etc/ssl/certs/ca-certificates.crt"
KEY = {"authorization": "Bearer sk-alice"}


class Door(World):
    """A world behind the gateway `door`."""

    def __init__(self, folder: Path, door: Json = access.DOOR) -> None:
        super().__init__(folder)
        self.door = door
        self.authority: Path | None = None
        """The certificate authority that stands for those of the system."""

    def translate(self, service: Json, endpoints: list[Json], *documents: Json) -> Translation:
        made = fleet.objects(service, endpoints, gateway=self.door)
        done = translation.translate([*made, *documents], self.folder)
        if self.authority is None:
            return done
        text = json.dumps(done.configs).replace(_SYSTEM_AUTHORITIES, str(self.authority))
        return dataclasses.replace(done, configs=tuple(json.loads(text)))

    def serve_replicas(self, *clusters: str) -> dict[str, int]:
        """Serve one upstream for each cluster, and return the ports by address."""
        self.serve(*clusters)
        return {f"gateway.{name}.example.com:80": self.upstreams[name].port for name in clusters}

    def listen(self) -> None:
        """Wait until the listener takes connections, which is once it has the keys of every issuer or gave up."""
        assert self.envoy is not None
        for _ in range(200):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.envoy.port), 1):
                return
            time.sleep(0.05)
        raise AssertionError("Envoy does not listen")

    def raw(
        self, path: str, headers: Sequence[tuple[str, str]], *, method: str = "POST", body: bytes = b"{}"
    ) -> Answer:
        """Send exactly these headers, however often one is among them, and this path as it stands."""
        assert self.envoy is not None
        connection = http.client.HTTPConnection("127.0.0.1", self.envoy.port, timeout=60)
        try:
            has_host = any(name.lower() == "host" for name, _ in headers)
            connection.putrequest(method, path, skip_host=has_host, skip_accept_encoding=True)
            for name, value in (*headers, ("content-length", str(len(body)))):
                connection.putheader(name, value)
            connection.endheaders(body)
            answer = connection.getresponse()
            return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def told(self) -> str:
        """Return what Envoy tells its operators: its log with the access log, and its metrics in both forms."""
        admin = (self.folder / "admin").read_text()
        said = (self.folder / "envoy.log").read_text()
        for path in ("/stats", "/stats/prometheus", "/clusters"):
            with urllib.request.urlopen(f"http://{admin}{path}", timeout=10) as answer:
                said += answer.read().decode()
        return said


def key(value: str) -> Mapping[str, str]:
    """Return the header with the key of a client."""
    return {"authorization": f"Bearer {value}"}


def session(name: str) -> Mapping[str, str]:
    """Return the header that names a session."""
    return {"x-session-id": name}


def conditions(done: Translation, kind: str, name: str) -> dict[str, tuple[str, str]]:
    """Return status and message of each condition that the controller gives an object, by type."""
    status = done.resources[kind, name]["status"]
    holders = [*(status.get("parents") or ()), *(status.get("ancestors") or ())]
    return {each["type"]: (each["status"], each.get("message", "")) for one in holders for each in one["conditions"]}
