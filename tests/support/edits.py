"""Edits of a small fleet and its deployment, in the words of an author, and what `explain` answers for the result."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from tests.support import planning as given

Json = Any
Objects = list[Json]

GPU = "gpu.nvidia.com"
CLUSTER = "modelplane.ai/cluster"
HOPPER = f'device.attributes["{GPU}"].architecture == "Hopper"'


def fleet(**edits: Json) -> Objects:
    """Return a class, two clusters of two nodes and a deployment of one replica of a node; `edits` per object."""
    objects = {
        "kind": given.node_class(),
        "a": given.cluster("a"),
        "b": given.cluster("b"),
        "md": given.deployment(replicas=1, tensor=8),
    }
    for name, edit in edits.items():
        merge(objects[name], edit)
    return list(objects.values())


def merge(document: Json, edit: Json) -> None:
    """Write the fields of an edit into a document; a mapping is merged, any other value replaced."""
    for key, value in edit.items():
        if isinstance(value, dict) and isinstance(document.get(key), dict):
            merge(document[key], value)
        else:
            document[key] = value


def spec(**fields: Json) -> Json:
    return {"spec": fields}


def both(edit: Json) -> Json:
    return {"a": copy.deepcopy(edit), "b": copy.deepcopy(edit)}


def taint(effect: str, **fields: str) -> Json:
    return spec(taints=[{"key": "team/only", "effect": effect, **fields}])


def pool(**fields: Json) -> Json:
    return spec(nodePools=[{"name": "gpu", "className": "h100-8x", **fields}])


def pods(*amounts: Json) -> Json:
    """Return a template of a pod whose containers have these resources."""
    containers = [
        {"name": "engine" if index == 0 else f"side-{index}", "image": "vllm/vllm-openai:v0.23.0", "resources": one}
        for index, one in enumerate(amounts)
    ]
    containers[0]["env"] = copy.deepcopy(given.TOKEN)
    return spec(workers={"template": {"spec": {"containers": containers}}})


def one_gpu(pod: Json) -> Json:
    return {**pod["spec"]["workers"], "topology": {"tensor": 1}}


def asking(**requests: str) -> Json:
    return {"requests": requests}


def devices(*entries: Json) -> Json:
    return {"spec": {"nodeSelector": {"devices": list(entries)}}}


def with_devices(*entries: Json, md: Json | None = None) -> Objects:
    objects = fleet(md=devices(*entries))
    merge(objects[-1], md or {})
    del objects[-1]["spec"]["nodeSelector"]["cel"]
    return objects


def cel(text: str) -> Json:
    return spec(nodeSelector={"cel": text})


def memory(least: str) -> str:
    return f'device.capacity["{GPU}"].memory.compareTo(quantity("{least}")) >= 0'


def expression(operator: str, *values: str, key: str = "tier") -> Json:
    found: Json = {"key": key, "operator": operator}
    if values:
        found["values"] = list(values)
    return spec(clusterSelector={"matchExpressions": [found]})


def labelled(name: str, **labels: str) -> Json:
    return {"metadata": {"labels": labels}} if name else {}


def explained(tmp_path: Path, objects: Objects) -> Json:
    """Return what `explain -o json` says of the one deployment of these documents."""
    (deployment,) = (one["metadata"]["name"] for one in objects if one["kind"] in ("ModelDeployment", "LLMInference"))
    file = given.written(tmp_path, "now", *objects)
    ran = given.run("explain", file, f"md/{deployment}", "-o", "json")
    assert ran.code in (0, 1), ran.err
    assert ran.json["placed"] is (ran.code == 0)
    return ran.json


def larger() -> Json:
    """Return a class whose nodes have twice the devices; no cluster has such a pool."""
    made = given.node_class("h100-16x")
    made["spec"]["devices"][0]["count"] = 16
    return made
