"""Nodes and ResourceSlices as a cluster has them, and the observer's program in this process."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable
from typing import Any

from modelplane import names
from modelplane.render import observer, observer_program
from tests.support.cluster_world import Running, synced

Json = Any
GPU = "gpu.nvidia.com"


def program() -> dict[str, Json]:
    """Return the names of the observer's program, which does nothing by itself when it is not `__main__`."""
    found: dict[str, Json] = {"__name__": "observer"}
    exec(compile(observer_program.TEXT, "observer", "exec"), found)  # noqa: S102 - our own text
    return found


def node(name: str, *, pool: str = "gpu", ready: bool = True, cordoned: bool = False, **status: Json) -> Json:
    """Return a Node of a pool."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {names.LABEL_POOL: pool}},
        "spec": {"unschedulable": True} if cordoned else {},
        "status": {
            "conditions": [{"type": "Ready", "status": "True" if ready else "False"}],
            "allocatable": {"cpu": "64", "memory": "512Gi", **status},
        },
    }


def device(name: str, *, memory: str = "81559Mi", architecture: str = "Hopper", **more: Json) -> Json:
    """Return a device as the NVIDIA driver publishes it."""
    return {
        "name": name,
        "attributes": {"architecture": {"string": architecture}, "uuid": {"string": f"GPU-{name}"}},
        "capacity": {"memory": {"value": memory}},
        **more,
    }


def resource_slice(node_name: str, devices: Iterable[Json], *, count: int = 1, generation: int = 1) -> Json:
    """Return one slice of the pool of a node."""
    pool = {"name": node_name, "generation": generation, "resourceSliceCount": count}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": f"{node_name}-{GPU}-{generation}"},
        "spec": {"driver": GPU, "nodeName": node_name, "pool": pool, "devices": list(devices)},
    }


def whole(name: str, gpus: int = 8, **more: Json) -> Json:
    """Return the slice of a node whose GPUs are all there."""
    return resource_slice(name, [device(f"gpu-{index}", **more) for index in range(gpus)])


class Watched(Running):
    """A cluster with admitted replicas whose nodes and slices are looked at."""

    def __init__(self, replicas: int = 3, nodes: int = 2) -> None:
        super().__init__(replicas, nodes)
        self.cluster["spec"]["observe"] = {}
        self.step()
        self.nodes = [node(f"n{index}") for index in range(nodes)]
        self.slices = [whole(f"n{index}") for index in range(nodes)]

    def question(self) -> Json:
        """Return what the observer is asked."""
        return question(self.children[observer.KEY])

    def look(self) -> Json:
        """Let the observer look, and the provider read what it wrote and that its pod is ready."""
        text = program()["summary"](self.question(), self.nodes, self.slices)
        answer(self.children, text)
        return text

    def writes(self, text: Json) -> None:
        """Let the ConfigMap have these data."""
        _write(self.children, text)

    def pool(self) -> Json:
        """Return the entry of the pool in the status that is decided now."""
        return self.compose().status["pools"][0]


def answer(children: dict[str, Json], text: Json) -> None:
    """Let the observer have written these data, and the provider read them and that its pod is ready."""
    _write(children, text)
    running = {"conditions": [{"type": "Available", "status": "True"}]}
    deployment = copy.deepcopy(children[observer.KEY]["spec"]["forProvider"]["manifest"])
    children[observer.KEY]["status"] = {
        "atProvider": {"manifest": {**deployment, "status": running}},
        "conditions": synced("True"),
    }


def _write(children: dict[str, Json], text: Json) -> None:
    child = children[observer.MAP_KEY]
    manifest = {**copy.deepcopy(child["spec"]["forProvider"]["manifest"]), "data": {"observation": text}}
    child["status"] = {"atProvider": {"manifest": manifest}, "conditions": synced("True")}


def question(child: Json) -> Json:
    """Return what a rendered observer is asked."""
    (container,) = child["spec"]["forProvider"]["manifest"]["spec"]["template"]["spec"]["containers"]
    return json.loads(container["args"][0].replace("$$", "$"))
