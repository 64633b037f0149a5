"""A tensor size that no node holds: `explain` proposes several nodes, where the engine takes them, and it fits then."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import jsonpatch, rendering
from tests.support import planning as given
from tests.support.edits import (
    HOPPER,
    Json,
    Objects,
    both,
    explained,
    fleet,
    larger,
    pool,
    spec,
    with_devices,
)

TOPOLOGY = "/spec/workers/topology"
SPLIT: dict[str, tuple[Callable[[], Objects], str, list[tuple[str, str, int]]]] = {
    "two nodes": (
        lambda: fleet(md=spec(workers={"topology": {"tensor": 16}})),
        "the topology were tensor: 8, pipeline: 2, which takes several nodes",
        [("replace", f"{TOPOLOGY}/tensor", 8), ("add", f"{TOPOLOGY}/pipeline", 2)],
    ),
    "devices of a node that do not divide it": (
        lambda: fleet(md=spec(model={"uri": "hf://example/unknown"}, workers={"topology": {"tensor": 12}})),
        "the topology were tensor: 6, pipeline: 2, which takes several nodes",
        [("replace", f"{TOPOLOGY}/tensor", 6), ("add", f"{TOPOLOGY}/pipeline", 2)],
    ),
    "a pipeline that is there": (
        lambda: fleet(
            **both(pool(nodeCount=4)), md=spec(workers={"count": 1, "topology": {"tensor": 16, "pipeline": 2}})
        ),
        "the topology were tensor: 8, pipeline: 4, which takes several nodes",
        [("replace", f"{TOPOLOGY}/tensor", 8), ("replace", f"{TOPOLOGY}/pipeline", 4)],
    ),
    "too few nodes, too": (
        lambda: fleet(**both(pool(nodeCount=1)), md=spec(workers={"topology": {"tensor": 16}})),
        "the topology were tensor: 8, pipeline: 2, which takes several nodes and pool gpu had 1 more free node",
        [
            ("replace", f"{TOPOLOGY}/tensor", 8),
            ("add", f"{TOPOLOGY}/pipeline", 2),
            ("replace", "/spec/nodePools/0/nodeCount", 2),
        ],
    ),
    "nodes of two sizes, of which only the small ones are enough": (
        lambda: [
            given.node_class("h100-4x", count=4),
            *fleet(
                a=spec(
                    nodePools=[
                        {"name": "gpu", "className": "h100-8x", "nodeCount": 1},
                        {"name": "small", "className": "h100-4x", "nodeCount": 4},
                    ]
                ),
                b=pool(nodeCount=0),
                md=spec(workers={"topology": {"tensor": 16}}),
            ),
        ],
        "the topology were tensor: 4, pipeline: 4, which takes several nodes",
        [("replace", f"{TOPOLOGY}/tensor", 4), ("add", f"{TOPOLOGY}/pipeline", 4)],
    ),
    "a number of devices that is written": (
        lambda: with_devices(
            {"name": "gpu", "count": 16, "selectors": [{"cel": HOPPER}]}, md=spec(workers={"topology": {"tensor": 16}})
        ),
        "the topology were tensor: 8, pipeline: 2, which takes several nodes",
        [
            ("replace", f"{TOPOLOGY}/tensor", 8),
            ("add", f"{TOPOLOGY}/pipeline", 2),
            ("replace", "/spec/nodeSelector/devices/0/count", 8),
        ],
    ),
    "a part that does not divide the heads of a known model": (
        lambda: fleet(**both(pool(nodeCount=3)), md=spec(workers={"topology": {"tensor": 12}})),
        "the topology were tensor: 4, pipeline: 3, which takes several nodes",
        [("replace", f"{TOPOLOGY}/tensor", 4), ("add", f"{TOPOLOGY}/pipeline", 3)],
    ),
}


@pytest.mark.parametrize(("world", "words", "edits"), SPLIT.values(), ids=SPLIT.keys())
def test_a_tensor_size_that_no_node_holds_becomes_several_nodes(
    tmp_path: Path, world: Callable[[], Objects], words: str, edits: list[tuple[str, str, int]]
) -> None:
    objects = world()
    before = explained(tmp_path, objects)
    closest = before["closest"]
    assert not before["placed"]
    assert closest["wouldFitIf"] == words
    assert [(one["op"], one["path"], one["value"]) for one in closest["change"]] == edits
    assert closest["notInDocuments"] == []
    planned = given.run("plan", str(tmp_path / "now.yaml"), "-o", "json").json
    assert planned["deployments"][0]["unschedulable"]["closest"] == closest, "a plan says the same"
    after = explained(tmp_path, jsonpatch.apply(objects, closest["change"]))
    assert after["placed"], (closest, after["message"])


def of_engine(image: str, *args: str, tensor: int = 16, **topology: int) -> Json:
    template = {"spec": {"containers": [{"name": "engine", "image": image, "args": list(args)}]}}
    return spec(workers={"topology": {"tensor": tensor, **topology}, "template": template})


KEPT: dict[str, Callable[[], Objects]] = {
    "an engine that spans no nodes": lambda: fleet(md=of_engine("ghcr.io/ggml-org/llama.cpp:server-cuda-b7000")),
    "arguments that say the size": lambda: fleet(
        md=of_engine("vllm/vllm-openai:v0.23.0", "--tensor-parallel-size", "16")
    ),
    "a size without a divisor": lambda: fleet(md=of_engine("vllm/vllm-openai:v0.23.0", tensor=11)),
    "more devices than the topology has": lambda: with_devices(
        {"name": "gpu", "count": 12, "selectors": [{"cel": HOPPER}]}
    ),
    "nodes of another cluster that are large enough": lambda: [
        larger(),
        *fleet(b=pool(className="h100-16x", nodeCount=0), md=spec(workers={"topology": {"tensor": 16}})),
    ],
}


@pytest.mark.parametrize("world", KEPT.values(), ids=KEPT.keys())
def test_a_topology_that_its_engine_does_not_take_is_not_proposed(tmp_path: Path, world: Callable[[], Objects]) -> None:
    found = explained(tmp_path, world())
    assert found["closest"] is not None, found["message"]
    assert "topology" not in found["closest"]["wouldFitIf"]


def test_the_role_is_named_whose_topology_is_too_wide(tmp_path: Path) -> None:
    objects = [one for one in rendering.example("disaggregated") if one["kind"] != "ModelService"]
    (deployment,) = (one for one in objects if one["kind"] == "ModelDeployment")
    deployment["spec"]["replicas"] = 1
    deployment["spec"]["prefill"]["workers"] |= {"count": 1, "topology": {"tensor": 16}}
    closest = explained(tmp_path, objects)["closest"]
    assert "the topology of prefill were tensor: 8, pipeline: 2" in closest["wouldFitIf"]
    assert closest["change"][0]["path"] == "/spec/prefill/workers/topology/tensor"
    assert explained(tmp_path, jsonpatch.apply(objects, closest["change"]))["placed"]
