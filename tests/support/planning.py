"""Small fleets for plans, explanations and simulations, and the command run in this process."""

from __future__ import annotations

import contextlib
import copy
import io
import json
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from modelplane_cli import __main__ as command
from tests.support import fleet

Json = Any
Object = dict[str, Json]


class Run(NamedTuple):
    """What one run of the command said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Json:
        """Return standard output as JSON."""
        return json.loads(self.out)


def run(*arguments: str) -> Run:
    """Return what the command says to `arguments`."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = command.main([*arguments])
        except SystemExit as stop:  # argparse ends the process for --help and usage errors
            code = int(stop.code or 0)
    return Run(code, out.getvalue(), err.getvalue())


def written(folder: Path, name: str, *objects: Object) -> str:
    """Return the path of a file with the objects in it."""
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump_all(objects, sort_keys=False), encoding="utf-8")
    return str(path)


def cluster(name: str, *, nodes: int = 2, class_name: str = "h100-8x", **labels: str) -> Object:
    """Return a cluster as its author writes it: one pool `gpu`, no status."""
    found = fleet.inference_cluster(name, nodes=nodes, class_name=class_name)
    del found["status"], found["metadata"]["uid"]
    found["metadata"]["labels"] = {"modelplane.ai/region": f"region-{name}", **labels}
    return found


def node_class(name: str = "h100-8x", *, price: str | None = None, **fields: Any) -> Object:
    """Return a class as its author writes it."""
    found = fleet.inference_class(name, **fields)
    del found["metadata"]["uid"]
    if price is not None:
        found["spec"]["cost"] = {"perNodeHour": price, "currency": "USD"}
    return found


TOKEN = [{"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hf-token", "key": "token", "optional": True}}}]
"""The environment of an engine that fetches a gated model, as that of the deployments here is."""


def deployment(name: str = "llama", *, replicas: int = 2, tensor: int = 1, selector: str = fleet.SELECTOR) -> Object:
    """Return a deployment as its author writes it, of replicas of one pod with `tensor` GPUs."""
    found = fleet.model_deployment(name, replicas=replicas, selector=selector)
    del found["metadata"]["uid"]
    found["spec"]["workers"]["topology"] = {"tensor": tensor}
    (engine,) = found["spec"]["workers"]["template"]["spec"]["containers"]
    engine["env"] = copy.deepcopy(TOKEN)
    return found


def tainted(one: Object, effect: str = "NoExecute", key: str = "maintenance") -> Object:
    """Return the cluster with a taint."""
    found = copy.deepcopy(one)
    found["spec"]["taints"] = [{"key": key, "value": "true", "effect": effect}]
    return found
