"""What Envoy Gateway makes of our objects: statuses and the configuration it would send to Envoy.

`egctl experimental translate` runs the controller's translator on files; nothing of a cluster is needed.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from tests.conformance.tools import workshop

Json = Any
_TRANSLATE = [
    "experimental",
    "translate",
    "--from",
    "gateway-api",
    "--to",
    "gateway-api,xds",
    "--type",
    "all",
    "-o",
    "yaml",
    "-f",
]
_STATUS_LISTS = {
    "backends": "Backend",
    "backendTrafficPolicies": "BackendTrafficPolicy",
    "clientTrafficPolicies": "ClientTrafficPolicy",
    "gateways": "Gateway",
    "httpRoutes": "HTTPRoute",
    "securityPolicies": "SecurityPolicy",
}


@dataclass(frozen=True)
class Translation:
    """`resources` carry the status that the controller gives them, by kind and name; `configs` are Envoy's.

    `doors` are the configs of each Gateway by its name.
    """

    resources: Mapping[tuple[str, str], Json]
    configs: tuple[Json, ...]
    doors: Mapping[str, tuple[Json, ...]] = field(default_factory=dict)

    def at(self, door: str) -> Translation:
        """Return the same with the configuration of one Gateway alone."""
        return replace(self, configs=self.doors[door])

    def dumped(self, kind: str, *path: str) -> Iterator[Json]:
        """Yield the entries of one configuration dump, for example ("ClustersConfigDump", "dynamicActiveClusters")."""
        for config in self.configs:
            if config["@type"].endswith(f".{kind}"):
                for entry in config.get(path[0]) or ():
                    found = entry
                    for key in path[1:]:
                        found = found[key]
                    yield found


def translate(documents: Iterable[Json], folder: Path) -> Translation:
    """Return what the translator says about `documents`. Raises: AssertionError with its own words; Missing."""
    program = workshop.program("egctl")
    given = folder / "objects.yaml"
    given.write_text("---\n".join(yaml.safe_dump(_readable(document), sort_keys=False) for document in documents))
    done = subprocess.run(
        [
            str(program),
            *_TRANSLATE,
            str(given),
        ],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    answer = yaml.safe_load(done.stdout)
    resources = {
        (kind, resource["metadata"]["name"]): resource
        for key, kind in _STATUS_LISTS.items()
        for resource in answer.get(key) or ()
    }
    doors = {name.partition("/")[2]: tuple(door["configs"]) for name, door in (answer.get("xds") or {}).items()}
    return Translation(resources, tuple(config for door in doors.values() for config in door), doors)


def _readable(document: Json) -> Json:
    """Return the document without selectors of Namespaces: this translator drops the labels of those it reads.

    Source: Envoy Gateway v1.9.0 internal/gatewayapi/resource/load.go. The controller has them
    (`test_relay_controller`).
    """
    if document["kind"] != "Gateway":
        return document
    listeners = [
        {**each, "allowedRoutes": {"namespaces": {"from": "All"}}} if "selector" in str(each) else each
        for each in document["spec"]["listeners"]
    ]
    return {**document, "spec": {**document["spec"], "listeners": listeners}}
