"""The catalogue of classes: each can be made by its cloud, and has devices of known memory."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from modelplane.api import cloud_parts, inference_class
from modelplane.api.fields import Field
from modelplane.devices import published
from modelplane.render.clouds import selection
from modelplane.render.clouds.aks.sizes import SIZES
from modelplane.render.clouds.gke.machines import MACHINES
from tests.support import examples

Json = Any
SETTINGS = {
    "GKE": {"project": "acme-inference", "region": "us-central1"},
    "AKS": {"location": "swedencentral"},
}
ZONES = {"GKE": ["us-central1-a"], "AKS": ["1"]}


def _classes(name: str) -> list[Json]:
    text = (examples.EXAMPLES / "classes" / f"{name}.yaml").read_text(encoding="utf-8")
    return [one for one in yaml.safe_load_all(text) if one]


CLASSES = [("GKE", one) for one in _classes("gke")] + [("AKS", one) for one in _classes("aks")]


@pytest.mark.parametrize(("source", "document"), [pytest.param(*one, id=one[1]["metadata"]["name"]) for one in CLASSES])
def test_a_class_of_the_catalogue_can_be_made(source: str, document: Json) -> None:
    entry = {"name": "pool", "className": document["metadata"]["name"], "maxNodeCount": 4, "minNodeCount": 1}
    cluster = {
        "metadata": {"name": "north"},
        "spec": {
            "cluster": {"source": source, source.lower(): SETTINGS[source]},
            "nodePools": [{**entry, "zones": ZONES[source]}],
        },
    }
    node_class = inference_class.decode(document)
    pool = cloud_parts.pool(next(Field(cluster).at("spec", "nodePools").items()), document, node_class, source)
    cloud, site = selection.maker(source), cloud_parts.site(cluster, source)
    assert [str(one) for one in cloud.problems(site, (pool,))] == []
    assert cloud.node_pool(site, pool, {}, {})
    assert all(published.nominal_memory(device) is None for device in node_class.devices)


def test_every_node_that_is_known_has_a_class() -> None:
    made = {one["spec"]["provisioning"]["gke"]["machineType"] for source, one in CLASSES if source == "GKE"}
    # One device beside four processors serves nothing, and the type for the edge is sold to few.
    assert set(MACHINES) - made == {"g2-standard-4", "a3-edgegpu-8g"}
    assert made <= set(MACHINES)
    assert {one["spec"]["provisioning"]["aks"]["vmSize"] for source, one in CLASSES if source == "AKS"} == set(SIZES)
