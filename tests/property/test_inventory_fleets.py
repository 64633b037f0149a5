"""Fleets whose clusters are described again by what their nodes publish: every deployment has the same places."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from modelplane.api import class_document, cluster_node, resource_slice
from modelplane.inventory import survey
from modelplane.inventory.model import Seen
from tests.conformance.scheduler import fleets, hardware
from tests.support import planning

Json = Any

SEEDS = 48


def documents(seed: int) -> list[Json] | None:
    """Return a fleet, None for one with devices that no driver publishes."""
    made = fleets.documents(seed)
    devices = [device for one in made if one["kind"] == "InferenceClass" for device in one["spec"]["devices"]]
    return made if all(device.get("claim", "DRA") == "DRA" for device in devices) else None


def described(cluster: Json, classes: dict[str, Json]) -> Iterator[Json]:
    """Yield the classes of a cluster, with its name before theirs, and the cluster with pools of them."""
    name = cluster["metadata"]["name"]
    there = list(hardware.nodes(cluster, classes, name))
    found = survey.survey(
        Seen(
            tuple(resource_slice.decode(one) for one in there if one["kind"] == "ResourceSlice"),
            tuple(cluster_node.decode(one) for one in there if one["kind"] == "Node"),
            tuple(map(resource_slice.decode_class, hardware.device_classes(list(classes.values())))),
        )
    )
    for one in found.classes:
        made = class_document.encode(one)
        yield {**made, "metadata": {"name": f"{name}-{one.name}"}}
    pools = class_document.encode_cluster(name, found.pools, {}, {})["spec"]["nodePools"]
    own = [{**pool, "className": f"{name}-{pool['className']}"} for pool in pools]
    yield {**cluster, "spec": {**cluster["spec"], "nodePools": own}}


def placed(folder: Path, fleet: list[Json]) -> Json:
    """Return the clusters of each deployment's replicas."""
    file = folder / "fleet.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": fleet}))
    planned = planning.run("plan", str(file), "-o", "json")
    assert planned.code in (0, 1), planned.err
    return {
        one["name"]: (one["wanted"], sorted(replica["cluster"] for replica in one["replicas"]))
        for one in planned.json["deployments"]
    }


@pytest.mark.parametrize("seed", [seed for seed in range(SEEDS) if documents(seed) is not None])
def test_a_described_fleet_places_what_the_declared_one_does(seed: int, tmp_path: Path) -> None:
    declared = documents(seed) or []
    classes = {one["metadata"]["name"]: one for one in declared if one["kind"] == "InferenceClass"}
    again: list[Json] = []
    for one in declared:
        again += (
            described(one, classes) if one["kind"] == "InferenceCluster" else [one] * (one["kind"] != "InferenceClass")
        )
    assert placed(tmp_path, again) == placed(tmp_path, declared)
