"""The works that defend the caches of the process, by name."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from crossplane.function.proto.v1 import run_function_pb2 as fnv1

from kubecel import rules
from modelplane import placement
from modelplane.api import catalogue, inference_cluster, replica
from modelplane.api.fields import Field
from modelplane.devices import selector
from modelplane.devices.hints import advice
from modelplane.placement.snapshot import Allocation, Current, Intent
from modelplane.sizing import catalogue as sizes
from modelplane.sizing import verdict
from modelplane.sizing.verdict import Start
from modelplane.topology.shape import Topology
from modelplane_functions import replicas, wire
from modelplane_functions.compose import model_deployment
from tests.bench import documents, fleets
from tests.support import exchange, mig, rendering, routing
from tests.support import placements as given
from tests.support import replicas as build

Json = Any
Work = Callable[[], object]

PATTERNS = (
    f'device.attributes["{fleets.GPU}"].productName.matches("^GPU [0-9]+$")',
    f'device.attributes["{fleets.GPU}"].productName.matches("^(GPU|NIC) ([0-9]{{1,900}})+.{{0,900}}$")',
)
"""Selectors with a regular expression; the second needs so many instructions that few such are kept."""

SLICED = Intent("bench", "slices", 1)
SERVICE = routing.model_service()
REPLICA = replica.encode(build.replica(build.role(workers=2)))
MODELS = sorted(sizes.read())[:16]
TAINT = {"driver": fleets.GPU, "key": "example.com/reserved", "effect": "NoSchedule"}
TAINTED = Field(
    {
        "nodePools": [
            {"name": one.name, "className": one.name, "nodeCount": 1, "deviceTaints": [TAINT]}
            for one in fleets.classes(6)
        ]
    }
)
QUEUED = Field(
    {
        "scheduler": {"type": "Kueue"},
        "nodePools": [{"name": one.name, "className": one.name, "nodeCount": 0} for one in fleets.classes(6)],
    }
)


def all_of_them() -> dict[str, Work]:
    """Return what is done with the library: each by its name."""
    mixed, demand, intent = fleets.mixed(12), fleets.demand(), Intent("bench", "bench", 4)
    texts = [*fleets.SELECTORS, f'device.capacity["{fleets.GPU}"].memory.compareTo(quantity("75Gi")) >= 0']
    misspelt = [text.replace("memory", "memroy") for text in texts] + ['device.attributes["x"].a.matches("^a[0-9]+$")']
    known = {one.name: one for one in fleets.classes(6)}
    devices = [device for one in known.values() for device in one.devices]
    store, target = documents.of(fleets.mixed(8)), documents.deployment(3)
    messages, clusters = _messages(store), _composites(store)
    outcome = exchange.settle(model_deployment.compose, target, store=store)
    fleet, regions = fleets.mixed(200), fleets.priced(fleets.mixed(48), regions=24)
    published = [one for one in documents.of(fleets.mixed(100)) if one["kind"] == "InferenceCluster"]

    def selectors() -> list[object]:
        return [
            (selector.compile(text).evaluate(device), advice.of_names((text,), device), advice.told((text,), (device,)))
            for text in [*texts, *misspelt]
            for device in devices
        ]

    def example() -> list[object]:
        stores = [rendering.world(rendering.example(name)).store for name in ("mig", "simple")]
        return [store.get(key) for store in stores for key in store]

    def versions() -> list[object]:
        """Ask a selector on clusters of every version that is known, each with two classes."""
        return [
            selector.compile(text, profile).evaluate(device)
            for profile in selector.PROFILES.values()
            for text in texts
            for device in devices[:8]
        ]

    return {
        "selectors": selectors,
        "versions": versions,
        "large": lambda: [selector.compile(PATTERNS[1]).evaluate(device) for device in devices * 5],
        "patterns": lambda: [selector.compile(text).evaluate(device) for text in PATTERNS for device in devices],
        "documents": lambda: [
            catalogue.structural_kind(kind).judged(SERVICE) for kind in ("ModelService", "ModelEndpoint") * 2
        ],
        "replicas": lambda: [replicas.asked(copy.deepcopy(REPLICA)) for _ in range(100)],
        "tainted": lambda: [inference_cluster.decode_pools(TAINTED, known, {}) for _ in range(100)],
        "queued": lambda: [inference_cluster.decode_pools(QUEUED, known, {}) for _ in range(100)],
        "rules": lambda: [rules.compile(f"self.size >= {number % 50}") for number in range(100)],
        "slices": _slices,
        "requests": lambda: [wire.decode(fnv1.RunFunctionRequest.FromString(text)) for text in messages],
        "composites": lambda: [wire.decode(fnv1.RunFunctionRequest.FromString(text)) for text in clusters],
        "answers": lambda: wire.encode(fnv1.RunFunctionRequest(), outcome),
        "authors": lambda: [
            selector.compile(f"{fleets.SELECTORS[0]} && {number} > 0", profile)
            for profile in (selector.V1_36, selector.V1_37)
            for number in range(20)
        ],
        "alike": lambda: [
            placement.explain(mixed, demand, Intent("bench", f"of-{number}", 1), Current()) for number in range(12)
        ],
        "placement": lambda: placement.explain(mixed, demand, intent, Current()),
        "deployment": lambda: exchange.settle(model_deployment.compose, target, store=store),
        "admissions": lambda: [placement.admit(one.pools, one.accounting, []) for one in mixed.clusters * 5],
        "fleet": lambda: placement.schedule(fleet, demand, Intent("bench", "bench", 100), Current()),
        "regions": lambda: placement.explain(regions, demand, intent, Current()),
        "models": lambda: [verdict.judge(Start(name), Topology(8), 80 * 2**30) for name in MODELS],
        "clusters": lambda: [inference_cluster.decode(document, known) for document in published],
        "examples": example,
    }


def _messages(store: Sequence[Json]) -> list[bytes]:
    """Return two requests that hold the documents; one cluster has changed in the second."""
    found = []
    for deletes in (0, 1):
        message = fnv1.RunFunctionRequest()
        for number, document in enumerate(store):
            changed = {**document["metadata"], "labels": {"changed": "true"}} if deletes > number else {}
            message.required_resources["all"].items.add().resource.update(
                {**document, "metadata": changed or document["metadata"]}
            )
        found.append(message.SerializeToString(deterministic=True))
    return found


def _composites(store: Sequence[Json]) -> list[bytes]:
    """Return a request about each of the documents."""
    found = []
    for document in store:
        message = fnv1.RunFunctionRequest()
        message.observed.composite.resource.update(document)
        found.append(message.SerializeToString(deterministic=True))
    return found


def _slices() -> list[object]:
    """Place deployments of MIG slices one after the other, on nodes that those before share."""
    here = mig.node_class("H100", 4)
    there = replace(here, name="bought-later")
    held: list[Allocation] = []
    made: list[object] = []
    for profile in ("1g.10gb", "3g.40gb", "1g.10gb", "2g.20gb", "4g.40gb", "1g.20gb") * 2:
        selectors = (f'device.attributes["{mig.DRIVER}"].profile == "{profile}"',)
        fleet = given.fleet(
            given.cluster("a", given.pool(3, here, held)), given.cluster("b", given.pool(3, there, held))
        )
        made.append(placement.explain(fleet, given.demand(given.role(1, selectors=selectors)), SLICED, Current()))
        held.append(given.used(2, 1, device="mig-" + profile.replace(".", "-")))
    return made
