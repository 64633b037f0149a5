"""Writes a generated fleet as YAML.

The clusters and classes are those of `fleets.mixed`, without what stands on them: the deployments fill them. The same
arguments give the same files, to try `modelplane plan DIR` and the other commands on a fleet of any size.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from modelplane import names
from tests.bench import arguments, documents, fleets

Json = Any

NAMESPACES = ("search", "chat", "research")
SIZES = (1, 1, 2, 2, 4, 8)
REPLICAS_MAX = 4
SELECTORS = (
    f'device.capacity["{fleets.GPU}"].memory.compareTo(quantity("40Gi")) >= 0',
    f'device.capacity["{fleets.GPU}"].memory.compareTo(quantity("75Gi")) >= 0',
    *fleets.SELECTORS,
)


def main(given: Sequence[str] | None = None) -> int:
    """Write one file per object, called as it is; return 0."""
    made = arguments.parser("files", __doc__, example="out --clusters 100 --deployments 100")
    made.add_argument("folder", metavar="DIR", type=Path, help="where the files go; made where it is not there")
    made.add_argument("--clusters", type=int, default=100, help="how many (%(default)s)")
    made.add_argument("--deployments", type=int, default=100, help="how many (%(default)s)")
    made.add_argument("--nodes", type=arguments.positive, default=64, help="nodes of a pool (%(default)s)")
    made.add_argument("--seed", type=int, default=1, help="another one gives another fleet (%(default)s)")
    options = made.parse_args(given)
    found = generated(options.clusters, options.deployments, options.seed)
    for one in found:
        for pool in one["spec"].get("nodePools", ()):
            pool["nodeCount"] = options.nodes
    for one in found:
        folder = options.folder / one["kind"].lower()
        folder.mkdir(parents=True, exist_ok=True)
        text = yaml.dump(one, Dumper=yaml.CSafeDumper, sort_keys=False)
        (folder / f"{one['metadata']['name']}.yaml").write_text(text, encoding="utf-8")
    print(f"{len(found)} documents in {options.folder}")
    return 0


def generated(clusters: int, deployments: int, seed: int = 1) -> list[Json]:
    """Return the documents of a fleet. With more deployments the first ones are the same."""
    draw = fleets.Draw(seed)
    found = [_authored(one) for one in documents.of(fleets.mixed(clusters, seed))]
    return [*found, *(deployment(number, draw) for number in range(deployments))]


def deployment(number: int, draw: fleets.Draw) -> Json:
    """Return one of many deployments, of one to four replicas that want one to eight GPUs each."""
    name = f"model-{number:05d}"
    resources = {"requests": {"cpu": "8", "memory": "64Gi"}}
    container = {"name": "engine", "image": "vllm/vllm-openai:v0.23.0", "resources": resources}
    return {
        "apiVersion": names.API_VERSION,
        "kind": "ModelDeployment",
        "metadata": {"name": name, "namespace": NAMESPACES[number % len(NAMESPACES)]},
        "spec": {
            "replicas": 1 + draw.below(REPLICAS_MAX),
            "model": {"name": name, "uri": f"hf://example/{name}"},
            "nodeSelector": {"cel": SELECTORS[draw.below(len(SELECTORS))]},
            "workers": {
                "topology": {"tensor": SIZES[draw.below(len(SIZES))]},
                "template": {"spec": {"containers": [container]}},
            },
        },
    }


def _authored(one: Json) -> Json:
    """Return an object as its author writes it: without status and identity, and with nothing on it."""
    metadata = {name: value for name, value in one["metadata"].items() if name != "uid"}
    return {**{name: value for name, value in one.items() if name != "status"}, "metadata": metadata}


if __name__ == "__main__":
    raise SystemExit(main())
