"""The fleet's proxy, the relay's proxy behind it, and servers with keys behind both."""

from __future__ import annotations

import base64
import http.client
import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from modelplane.routing import relay
from tests.conformance.routing import fleet, translation
from tests.conformance.routing.proxy import Envoy
from tests.conformance.routing.upstream import Upstream
from tests.support import routing

Json = Any
CHAT = "/ml-team/llama/v1/chat/completions"
RELAY = "relay-default"
HOP = f"{RELAY}.envoy-gateway-system.svc:{relay.PORT}"


def door(*namespaces: str, **spec: Json) -> Json:
    """Return a gateway whose relay stands."""
    made = routing.inference_gateway(relay={"namespaces": list(namespaces or ["ml-team"])}, **spec)
    made["status"]["relay"] = {"name": RELAY}
    return made


def service(*groups: Json, **spec: Json) -> Json:
    """Return a service that fails over whenever no answer has begun."""
    on = ["connect-failure", "refused-stream", "reset-before-request", "429", "502", "503"]
    made = routing.model_service(*groups, retries={"attempts": 2, "on": on}, **spec)
    made["metadata"]["uid"] = "3f2c9a54-2f64-4b0e-9d5e-6f1f6f7a1c11"
    return made


def key_of(name: str) -> Json:
    """Return the Secret with the key of a provider."""
    return fleet.secret(name, {"credential": f"Bearer sk-{name}"})


@dataclass
class Answer:
    code: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def server(self) -> str:
        return str(json.loads(self.body).get("server"))


class World:
    """Two Envoys in a row, and upstreams by the `host:port` under which endpoints name them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.upstreams: dict[str, Upstream] = {}
        self.ports: dict[str, int] = {}
        self.front: Envoy | None = None
        self.back: Envoy | None = None

    def serve(self, hosts: Mapping[str, str], certificate: Path | None = None) -> None:
        """Start a server for each name, reached as the host beside it."""
        for name, host in hosts.items():
            self.upstreams[name] = Upstream(name, certificate=certificate)
            self.ports[host] = self.upstreams[name].port

    def start(self, wanted: Json, endpoints: Sequence[Json], *documents: Json, gateway: Json = None) -> None:
        made = [*fleet.objects(wanted, endpoints, gateway=gateway or door()), *documents]
        self.run(translation.translate(made, self.folder), made)

    def run(self, done: translation.Translation, documents: Sequence[Json]) -> None:
        """Start both proxies with what was made of `documents`."""
        secrets = _secrets(documents)
        self.back = self._proxy(done.at(RELAY), "back", {**self.ports, HOP: 1}, secrets)
        # The relay asks itself for all priorities after the second.
        self.back.cluster(done.at(RELAY), ports={HOP: self.back.port})
        self.front = self._proxy(done.at("default"), "front", {**self.ports, HOP: self.back.port}, secrets)

    def translate(
        self, wanted: Json, endpoints: Sequence[Json], *documents: Json, gateway: Json = None
    ) -> tuple[translation.Translation, dict[str, Json]]:
        made = [*fleet.objects(wanted, endpoints, gateway=gateway or door()), *documents]
        return translation.translate(made, self.folder), _secrets(made)

    def ask(
        self,
        body: Json = None,
        *,
        path: str = CHAT,
        headers: Mapping[str, str] | None = None,
        port: int | None = None,
    ) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", port or self.port, timeout=60)
        try:
            payload = json.dumps({"model": "m", **(body or {})}).encode()
            connection.request("POST", path, payload, {"content-type": "application/json", **(headers or {})})
            answer = connection.getresponse()
            return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def ask_many(self, count: int, body: Json = None, *, at_once: int = 8) -> list[Answer]:
        with ThreadPoolExecutor(at_once) as pool:
            return list(pool.map(lambda _: self.ask(body), range(count)))

    def keys(self, name: str) -> set[str | None]:
        """Return every value of Authorization that a server was ever sent."""
        return {seen.headers.get("authorization") for seen in self.upstreams[name].seen}

    @property
    def port(self) -> int:
        assert self.front is not None
        return self.front.port

    @property
    def relay_port(self) -> int:
        assert self.back is not None
        return self.back.port

    def close(self) -> None:
        for envoy in (self.front, self.back):
            if envoy is not None:
                envoy.close()
        for upstream in self.upstreams.values():
            upstream.close()

    def _proxy(
        self, done: translation.Translation, name: str, ports: Mapping[str, int], secrets: Mapping[str, Json]
    ) -> Envoy:
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        return Envoy(done, folder, ports=ports, secrets=secrets)


def _secrets(documents: Sequence[Json]) -> dict[str, Json]:
    """Return what the controller would stream to the proxies: keys and authorities, under its names."""
    held = {(each["kind"], each["metadata"]["name"]): each for each in documents}
    found: dict[str, Json] = {}
    for (kind, name), document in held.items():
        spec, namespace = document.get("spec") or {}, document["metadata"].get("namespace")
        if kind == "HTTPRouteFilter" and "credentialInjection" in spec:
            secret = held.get(("Secret", spec["credentialInjection"]["credential"]["valueRef"]["name"]))
            if secret and secret["data"].get("credential"):
                value = base64.b64decode(secret["data"]["credential"]).decode()
                key = f"credential_injector/credential/httproutefilter/{namespace}/{name}"
                found[key] = {"genericSecret": {"secret": {"inlineString": value}}}
        for ref in (spec.get("tls") or {}).get("caCertificateRefs") or () if kind == "Backend" else ():
            authority = held[ref["kind"], ref["name"]]["data"]["ca.crt"]
            found[f"{name}/{namespace}-ca"] = {"validationContext": {"trustedCa": {"inlineString": authority}}}
    return found
