"""The routing sidecar of llm-d, played, because the module proxy of Go does not serve its module.

What it takes on its command line, which workers it may then call, and what it asks the API server for, restated from
llm-d/llm-d-router: pkg/sidecar/proxy/options.go at 0186107 (AddFlags, Complete, Validate) and allowlist.go at 33fe52b,
which are newer than v0.10.0. Left out are flags that nothing here renders and that take no part in these rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Json = Any

GROUP = "inference.networking.k8s.io"
OLD_GROUP = "inference.networking.x-k8s.io"
"""The group that the sidecar of KServe's preset (v0.9.0) is told; the newer one knows no other than `GROUP`."""

_CONNECTORS = ("nixlv2", "shared-storage", "sglang", "mooncake", "offloading")
_TEXTS = {
    "port": "8000",
    "model-server-port": "",
    "vllm-port": "8200",
    "kv-connector": "nixlv2",
    "ec-connector": "",
    "cert-path": "",
    "inference-pool": "",
    "pool-group": GROUP,
}
_NUMBERS = {
    "data-parallel-size": "1",
    "mooncake-bootstrap-port": "8998",
    "max-idle-conns-per-host": "",
    "prefill-max-retries": "0",
    "decode-chunk-size": "0",
    "metrics-port": "0",
}
_SWITCHES = {
    "secure-serving": "true",
    "enable-ssrf-protection": "false",
    "enable-prefiller-sampling": "false",
    "tracing": "false",
}
# One variable of the sidecar has two names.
_ALIASES = {"secure-proxy": "secure-serving"}
# As strconv.ParseBool reads them.
_TRUTH = {**dict.fromkeys(("1", "t", "T", "true", "TRUE", "True"), True)} | dict.fromkeys(
    ("0", "f", "F", "false", "FALSE", "False"), False
)


class Refused(Exception):
    """The sidecar ends with an error before it listens."""


@dataclass(frozen=True, slots=True)
class Sidecar:
    """A sidecar that has started. `pool` is (namespace, name)."""

    port: int
    model_server_port: int
    connector: str
    pool: tuple[str, str]
    group: str
    is_protected: bool
    is_secure: bool
    is_traced: bool

    def targets(self, pools: Iterable[Mapping[str, Json]], pods: Iterable[Mapping[str, Json]]) -> set[str]:
        """Return the `name:port` of the pods that it may call."""
        found = [one for one in pools if self._is_its(one)]
        return {
            f"{pod['metadata']['name']}:{port['number']}"
            for pool in found
            for port in pool["spec"]["targetPorts"]
            for pod in pods
            if pool["spec"]["selector"]["matchLabels"].items() <= pod["metadata"]["labels"].items()
            and pod["metadata"]["namespace"] == self.pool[0]
        }

    def _is_its(self, pool: Mapping[str, Json]) -> bool:
        metadata = pool["metadata"]
        named = (metadata.get("namespace"), metadata["name"]) == self.pool
        return named and (pool["apiVersion"], pool["kind"]) == (f"{self.group}/v1", "InferencePool")

    def asks(self) -> set[tuple[str, str, str, str]]:
        """Return group, resource, verb and name of what it asks the API server for; "" is any name.

        It lists and watches its pool by a field selector with the name, which counts as that name.
        """
        wanted = ((self.group, "inferencepools", self.pool[1]), ("", "pods", "")) if self.is_protected else ()
        return {(group, resource, verb, name) for group, resource, name in wanted for verb in ("list", "watch")}


def started(arguments: Sequence[str], groups: Sequence[str] = (GROUP,)) -> Sidecar:
    """Return the sidecar with these arguments. `groups` are those of pools that its version knows. Raises: Refused."""
    told = _read(arguments)
    port, own = _port(told, "port"), "model-server-port" if told["model-server-port"] else "vllm-port"
    if told["kv-connector"] not in _CONNECTORS:
        raise Refused(f"--kv-connector must be one of: {', '.join(_CONNECTORS)}")
    pool = _pool(told["inference-pool"])
    is_protected = _TRUTH[told["enable-ssrf-protection"]]
    if is_protected and not all(pool):
        raise Refused("--inference-pool flag is required when --enable-ssrf-protection is true")
    if is_protected and told["pool-group"] not in groups:
        raise Refused(f"pool-group must be {groups[0]}, got {told['pool-group']}")
    return Sidecar(
        port,
        _port(told, own),
        told["kv-connector"],
        pool,
        told["pool-group"],
        is_protected,
        _TRUTH[told["secure-serving"]],
        _TRUTH[told["tracing"]],
    )


def _read(arguments: Sequence[str]) -> dict[str, str]:
    told = {**_TEXTS, **_NUMBERS, **_SWITCHES}
    for argument in arguments:
        dashes, name, equals, value = argument[:2], *argument[2:].partition("=")
        name = _ALIASES.get(name, name)
        if dashes != "--" or name not in told or not equals:
            raise Refused(f"unknown flag: {argument}")
        if name in _SWITCHES and value not in _TRUTH:
            raise Refused(f"invalid argument {value} for {argument}")
        if name in _NUMBERS and not value.isdecimal():
            raise Refused(f"invalid argument {value} for {argument}")
        told[name] = value
    return told


def _port(told: Mapping[str, str], name: str) -> int:
    first, size = told[name], int(told["data-parallel-size"])
    if not first.isdecimal() or size < 1 or not 1 <= int(first) <= 65535 - (size - 1):
        raise Refused(f"--{name}: {first} is no port of {size} ranks")
    return int(first)


def _pool(text: str) -> tuple[str, str]:
    namespace, slash, name = text.partition("/")
    if not text:
        return "", ""
    if "/" in name or not namespace or (slash and not name):
        raise Refused("--inference-pool must be in format 'namespace/name' or 'name'")
    return (namespace, name) if slash else ("default", namespace)
