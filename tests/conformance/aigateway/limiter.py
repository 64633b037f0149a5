"""The rate limit service as Envoy Gateway deploys it, and a Redis behind it, both as processes of this machine.

Its environment is that of the Deployment that Envoy Gateway made, and its configuration comes from Envoy Gateway's xDS
server. It reads its certificates under fixed paths, so it gets a root of its own, whose hosts file leads all names to
this machine. Its port is fixed as well (8081), so one runs on a machine.
"""

from __future__ import annotations

import base64
import os
import shutil
from pathlib import Path
from typing import Any

from tests.conformance.tools import workshop
from tests.e2e import envoy_gateway
from tests.support import controlplane, kubeapi

Json = Any
NAME = "ratelimit"
DEPLOYMENT = "envoy-ratelimit"
PORT = 8081
HOST = f"{DEPLOYMENT}.{envoy_gateway.NAMESPACE}.svc.cluster.local"
REDIS = "redis-check-rdb"
"""One program is all of Redis, by the name under which it is started; Debian's redis-tools starts no server."""
REDIS_HOST = "127.0.0.1"
"""An address, since Envoy Gateway does not start with one that is written as a name is."""
_START_SECONDS = 60
# The service's own ports beside the one that proxies use, by the variables that move them.
_OTHER_PORTS = ("PORT", "DEBUG_PORT")


class Limiter:
    """Redis runs from the beginning, the service once Envoy Gateway has made its Deployment."""

    def __init__(self, plane: controlplane.Plane) -> None:
        self._plane = plane
        (self.redis_port,) = controlplane.free_ports(1)
        self.redis: controlplane.Process | None = None
        self.service: controlplane.Process | None = None
        self.start_redis()

    @property
    def url(self) -> str:
        """Return the URL of Redis as the platform writes it."""
        return f"{REDIS_HOST}:{self.redis_port}"

    def own(self) -> None:
        """Apply the objects of Envoy Gateway's chart that own the service; without them none is made."""
        metadata = {"name": envoy_gateway.NAME, "namespace": envoy_gateway.NAMESPACE}
        labels = {"app": envoy_gateway.NAME}
        pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "it", "image": "none"}]}}
        self._plane.api.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})
        self._plane.api.apply(
            {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {"ports": [{"port": 18000}]}}
        )
        spec = {"replicas": 0, "selector": {"matchLabels": labels}, "template": pod}
        self._plane.api.apply({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec})

    def start_redis(self) -> None:
        """Start an empty Redis."""
        found = shutil.which(REDIS)
        assert found, f"{REDIS} is not on PATH"
        program = self._plane.folder / "redis-server"
        if not program.exists():
            program.symlink_to(Path(found).resolve())
        self.redis = self._plane.start(
            controlplane.Process(
                "redis",
                (str(program), "--port", str(self.redis_port), "--bind", "127.0.0.1", "--save", ""),
                self._plane.folder / "redis.log",
            )
        )
        controlplane.await_port(self.redis, self.redis_port, seconds=_START_SECONDS)

    def start(self) -> None:
        """Start the service, as its Deployment says."""
        container = self._container()
        environment = {each["name"]: each["value"] for each in container["env"] if "value" in each}
        ports = controlplane.free_ports(len(_OTHER_PORTS))
        environment |= dict(zip(_OTHER_PORTS, map(str, ports), strict=True))
        # Its mapping of metrics is a mounted ConfigMap.
        for name in ("USE_PROMETHEUS", "PROMETHEUS_ADDR", "PROMETHEUS_MAPPER_YAML"):
            environment.pop(name, None)
        root = self._root()
        self.service = self._plane.start(
            controlplane.Process(
                NAME, (*envoy_gateway.within(root), f"/{NAME}"), self._plane.folder / f"{NAME}.log", environment
            )
        )
        controlplane.await_port(self.service, PORT, seconds=_START_SECONDS)

    def _container(self) -> Json:
        made = kubeapi.until(
            lambda: self._plane.api.get("apps/v1", "Deployment", DEPLOYMENT, envoy_gateway.NAMESPACE),
            seconds=_START_SECONDS,
            what="the Deployment of the rate limit service",
        )
        (container,) = made["spec"]["template"]["spec"]["containers"]
        return container

    def _root(self) -> Any:
        root = self._plane.folder / f"{NAME}-root"
        if root.exists():
            return root
        for folder in ("certs", "tmp", "etc", "data/ratelimit"):
            (root / folder).mkdir(parents=True)
        secret = self._plane.api.get("v1", "Secret", "envoy-rate-limit", envoy_gateway.NAMESPACE)
        for name, content in secret["data"].items():
            (root / "certs" / name).write_bytes(base64.b64decode(content))
        (root / "etc/hosts").write_text("127.0.0.1 localhost envoy-gateway\n")
        (root / "etc/nsswitch.conf").write_text("hosts: files\n")
        program = workshop.program(NAME)
        os.link(program, root / NAME)
        envoy_gateway.bring_libraries(program, root)
        return root
