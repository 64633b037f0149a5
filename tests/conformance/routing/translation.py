"""What Envoy Gateway makes of our objects: statuses and the configuration it would send to Envoy.

`egctl experimental translate` runs the controller's translator on files; nothing of a cluster is needed.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
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
    """`resources` carry the status that the controller gives them, by kind and name; `configs` are Envoy's."""

    resources: Mapping[tuple[str, str], Json]
    configs: tuple[Json, ...]

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
    given.write_text("---\n".join(yaml.safe_dump(document, sort_keys=False) for document in documents))
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
    configs = tuple(config for door in (answer.get("xds") or {}).values() for config in door["configs"])
    return Translation(resources, configs)
