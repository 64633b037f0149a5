"""What `modelplane validate` says to somebody who writes what other tools call a thing, or a size in bytes."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import pytest
import yaml

from modelplane.structural import patterns
from modelplane_cli.checks import misplaced
from modelplane_cli.checks.misplaced import Place
from tests.support import planning as given
from tests.support.edits import asking, fleet, pods, spec

Json = Any
APIS = Path(__file__).resolve().parents[3] / "apis"
PLACES = [(kind, word, place) for kind, words in misplaced.PLACES.items() for word, place in words.items()]


@functools.cache
def schemas() -> dict[str, Json]:
    found = {}
    for path in sorted(APIS.glob("*/definition.yaml")):
        definition = yaml.safe_load(path.read_text(encoding="utf-8"))["spec"]
        found[definition["names"]["kind"]] = definition["versions"][0]["schema"]["openAPIV3Schema"]
    return found


@pytest.mark.parametrize("place", sorted({place for _, _, place in PLACES}, key=str), ids=lambda place: place.path)
def test_every_place_exists_in_its_definition(place: Place) -> None:
    schema = schemas()[place.kind]
    if place.path == "metadata.labels":
        return  # of every object
    for step in place.path.split("."):
        name = step.removesuffix("[]")
        assert name in schema.get("properties", {}), f"{place.path}: {name}"
        schema = schema["properties"][name]
        schema = schema["items"] if step.endswith("[]") else schema


def test_words_are_as_they_are_looked_up() -> None:
    assert [word for _, word, _ in PLACES if word != word.lower().replace("_", "").replace("-", "")] == []


def said(tmp_path: Path, *objects: Json) -> dict[str, str]:
    ran = given.run("validate", given.written(tmp_path, "all", *objects), "-o", "json")
    return {one["path"]: one["message"] for one in ran.json["problems"] if one["path"]}


@pytest.mark.parametrize(
    ("fields", "path", "says"),
    [
        pytest.param({"gpus": 8}, "spec.gpus", "write spec.workers.topology.tensor, for example 8", id="gpus"),
        pytest.param(
            {"gpuMemory": "80Gi"}, "spec.gpuMemory", "write spec.nodeSelector.cel, for example device.cap", id="memory"
        ),
        pytest.param(
            {"placement": {"regions": ["eu"]}},
            "spec.placement.regions",
            "write spec.clusterSelector.matchLabels, for example {modelplane.ai/region: eu-west-1}",
            id="regions",
        ),
        pytest.param(
            {"placement": {"clusterSelector": {}}},
            "spec.placement.clusterSelector",
            "write spec.clusterSelector",
            id="a field one level too deep",
        ),
        pytest.param(
            {"workers": {"image": "x"}},
            "spec.workers.image",
            "write spec.workers.template.spec.containers[].image",
            id="image",
        ),
        pytest.param(
            {"workers": {"topology": {"tensor_parallel_size": 8}}},
            "spec.workers.topology.tensor_parallel_size",
            "write spec.workers.topology.tensor, for example 8",
            id="the engine's word, with dashes or without",
        ),
        pytest.param(
            {"prefill": {"workers": {"tp": 8}}},
            "spec.prefill.workers.tp",
            "write spec.prefill.workers.topology.tensor",
            id="of prefill",
        ),
        pytest.param(
            {"workers": {"replicas": 2}}, "spec.workers.replicas", "write spec.workers.count, for example 2", id="count"
        ),
        pytest.param(
            {"host": "x"}, "spec.host", "a ModelService has it, as spec.host, for example models.exa", id="another kind"
        ),
        pytest.param(
            {"cache": "llama"}, "spec.cache", "write spec.modelCacheRef, for example {name: NAME}", id="cache"
        ),
        pytest.param(
            {"workers": {"nodeSelector": {}}}, "spec.workers.nodeSelector", "write spec.nodeSelector", id="devices"
        ),
        pytest.param({"replica": 2}, "spec.replica", 'did you mean "replicas"?', id="a likeness is still proposed"),
        pytest.param(
            {"workers": {"template": {"spec": {"tolerations": []}}}},
            "spec.workers.template.spec.tolerations",
            'unknown field "tolerations"',
            id="tolerations of a pod are no tolerations of clusters",
        ),
    ],
)
def test_an_unknown_field_says_where_the_thing_belongs(tmp_path: Path, fields: Json, path: str, says: str) -> None:
    message = said(tmp_path, *fleet(md=spec(**fields)))[path]
    assert message.startswith(f'unknown field "{path.rpartition(".")[2]}"')
    assert says in message


RESOURCES = "spec.workers.template.spec.containers[0].resources"
QUANTITIES = [
    pytest.param("400GB", '"400GB" is no Kubernetes quantity; write 400G', id="GB"),
    pytest.param("64 GiB", "write 64Gi", id="a space and GiB"),
    pytest.param("1.5tb", "write 1.5T", id="small letters"),
    pytest.param("lots", "write a number and a unit, for example 500m, 400G or 64Gi", id="no number"),
    pytest.param("10 parsecs", "write a number and a unit", id="another unit"),
]


@pytest.mark.parametrize(("text", "says"), QUANTITIES)
def test_a_quantity_is_corrected(tmp_path: Path, text: str, says: str) -> None:
    message = said(tmp_path, *fleet(md=pods(asking(memory=text))))[f"{RESOURCES}.requests.memory"]
    assert says in message
    assert "[0-9]" not in message


def test_the_pattern_of_a_quantity_is_that_of_the_definitions() -> None:
    written = [line.strip() for path in APIS.glob("*/definition.yaml") for line in path.read_text("utf-8").splitlines()]
    assert {line for line in written if "KMGTPE" in line} == {f"pattern: {patterns.QUANTITY}"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("400", "400 is 400 bytes; write 400Mi or 400Gi", id="no unit"),
        pytest.param("400m", "400m is less than a byte; write 400Mi or 400Gi", id="thousandths of a byte"),
        pytest.param("64k", "64k is 64000 bytes; write 64Mi or 64Gi", id="kilobytes"),
        pytest.param("1.5k", "1.5k is 1500 bytes; write it in Mi or Gi", id="a fraction"),
        pytest.param("0", "", id="nothing is meant"),
        pytest.param("1Mi", "", id="a mebibyte"),
        pytest.param("64Gi", "", id="as it should be"),
    ],
)
def test_memory_in_bytes_is_warned_about(tmp_path: Path, text: str, says: str) -> None:
    found = said(tmp_path, *fleet(md=pods(asking(memory=text))))
    assert found == ({f"{RESOURCES}.requests.memory": says} if says else {})


def test_bytes_of_a_class_are_warned_about(tmp_path: Path) -> None:
    found = said(tmp_path, *fleet(kind=spec(node={"memory": "2000"})))
    assert found["spec.node.memory"] == "2000 is 2000 bytes; write 2000Mi or 2000Gi"


@pytest.mark.parametrize(
    ("image", "says"),
    [
        pytest.param("vllm/vllm-openai", "has no tag, and replicas that start later may run another", id="no tag"),
        pytest.param(
            "h:5000/vllm-openai", "write h:5000/vllm-openai:TAG or h:5000/vllm-openai@D", id="a port is no tag"
        ),
        pytest.param("vllm/vllm-openai:latest", "has the tag latest", id="latest"),
        pytest.param("vllm/vllm-openai:v0.23.0", "", id="a tag"),
        pytest.param(f"vllm/vllm-openai@sha256:{'0' * 64}", "", id="a digest"),
    ],
)
def test_an_image_that_changes_by_itself_is_warned_about(tmp_path: Path, image: str, says: str) -> None:
    objects = fleet(md=pods(asking(memory="64Gi")))
    objects[-1]["spec"]["workers"]["template"]["spec"]["containers"][0]["image"] = image
    found = said(tmp_path, *objects)
    assert list(found) == (["spec.workers.template.spec.containers[0].image"] if says else [])
    assert says in "".join(found.values())
