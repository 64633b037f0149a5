"""The catalogue of InferenceClasses: real figures, and names nobody stumbles over."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from modelplane import units
from modelplane.api import inference_class as decoder
from modelplane.devices.published import PRODUCTS
from modelplane_functions.compose import inference_class
from modelplane_functions.exchange import Observed, Truth

Json = Any

FOLDER = Path(__file__).resolve().parents[3] / "examples" / "classes"


def classes() -> list[Json]:
    return [
        document
        for path in sorted(FOLDER.glob("*.yaml"))
        for document in yaml.safe_load_all(path.read_text())
        if document
    ]


def name_of(document: Json) -> str:
    return str(document["metadata"]["name"])


def test_names_are_unique() -> None:
    names = [name_of(document) for document in classes()]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("document", classes(), ids=name_of)
def test_function_accepts_without_a_warning(document: Json) -> None:
    outcome = inference_class.compose(Observed(document))
    assert {condition.type: condition.status for condition in outcome.conditions} == {
        "Accepted": Truth.TRUE,
        "MemoryAsPublished": Truth.TRUE,
    }
    assert "warnings" not in outcome.status


@pytest.mark.parametrize("document", classes(), ids=name_of)
def test_memory_is_what_the_driver_publishes(document: Json) -> None:
    for device in document["spec"]["devices"]:
        published = {product.publishes for product in PRODUCTS if product.driver == device["driver"]}
        assert device["capacity"]["memory"]["value"] in published


@pytest.mark.parametrize("document", [d for d in classes() if "provisioning" in d["spec"]], ids=name_of)
def test_node_is_smaller_than_the_machine_and_large_enough(document: Json) -> None:
    """Every device needs the two cpu and 8Gi that the short way to a model asks for each."""
    spec = document["spec"]
    count = spec["devices"][0]["count"]
    assert units.quantity(spec["node"]["cpu"]) >= units.quantity(str(2 * count))
    assert units.quantity(spec["node"]["memory"]) >= units.quantity(f"{8 * count}Gi")


@pytest.mark.parametrize("accelerator", ["L4", "A10G", "A100", "L40S", "H100", "H200", "B200", "B300", "MI300X"])
def test_every_accelerator_is_there(accelerator: str) -> None:
    named = " ".join(d["spec"]["devices"][0]["attributes"]["productName"]["string"] for d in classes())
    assert accelerator in named.replace("_", " ").replace("-", " ").split()


@pytest.mark.parametrize("provider", ["GKE", "EKS", "AKS"])
def test_every_cloud_is_there(provider: str) -> None:
    assert any(d["spec"].get("provisioning", {}).get("provider") == provider for d in classes())


def test_slices_of_a_gpu_are_declared_as_the_driver_publishes_them() -> None:
    """Seven 1g, four of 20 GB, three 2g, two 3g: the instances `nvidia-smi mig -lgip` counts, of each of eight GPUs."""
    (document,) = (one for one in classes() if name_of(one) == "h100-8x-mig")
    assert {device.name: device.count for device in decoder.decode(document).devices} == {
        "gpu": 8,
        "mig-1g-10gb": 8 * 7,
        "mig-1g-10gb-me": 8,
        "mig-1g-20gb": 8 * 4,
        "mig-2g-20gb": 8 * 3,
        "mig-3g-40gb": 8 * 2,
        "mig-4g-40gb": 8,
        "mig-7g-80gb": 8,
    }
