"""A cloud that exists in tests alone: one network, one cluster, and one pool for each pool of an InferenceCluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from modelplane import names
from modelplane.errors import InvalidInput
from modelplane.render import cloud, provisioning
from modelplane.render.clouds import selection
from modelplane.render.manifest import Manifest
from modelplane.render.provisioning import (
    CLUSTER,
    NETWORK,
    POOL,
    Identity,
    Nodes,
    PoolSpec,
    Provisioner,
    Served,
    Site,
    StackNeeds,
)

Json = Any
Resource = Mapping[str, Json]

# The definitions list the sources of the API, so the toy answers to the name of one of them.
SOURCE = "AKS"
BLOCK = {"resourceGroup": "sandbox", "location": "westeurope"}
RECIPE = {"vmSize": "Toy_8"}
API_VERSION = "toys.example.org/v1"
NO_ROOM = "the sandbox is full"
RIGHT = "guest-"


class Toy:
    """The toy. A pool needs the fact "gate", which the observed cluster reports."""

    def served(self) -> tuple[Served, ...]:
        return tuple(Served(API_VERSION, kind, "provider-toys") for kind in ("Box", "Lawn", "Shelf"))

    def problems(self, site: Site, pools: tuple[PoolSpec, ...]) -> Iterator[InvalidInput]:
        if site.settings.at("location").text("") == "nowhere":
            yield site.settings.at("location").wrong("is not a place; write westeurope")
        for pool in pools:
            if pool.recipe.at("vmSize").text("") == "Toy_0":
                yield pool.at.at("className").wrong(
                    f'InferenceClass "{pool.class_name}" names vmSize Toy_0; write Toy_8'
                )

    def network(self, site: Site) -> tuple[Manifest, ...]:
        if site.settings.at("subnetId").is_set:
            return ()
        lawn = {"place": site.settings.at("location").text()}
        return (provisioning.managed(_identity(NETWORK, "Lawn", site.cluster), lawn, site=site),)

    def cluster(self, site: Site, observed: Mapping[str, Resource]) -> tuple[Manifest, ...]:
        box = {"group": site.settings.at("resourceGroup").text()}
        guests = site.settings.at("guests").texts()
        return (
            provisioning.managed(_identity(CLUSTER, "Box", site.cluster), box, site=site),
            *(
                provisioning.managed(_identity(f"{RIGHT}{guest}", "Shelf", site.cluster, guest), {}, site=site)
                for guest in guests
            ),
        )

    def facts(self, site: Site, observed: Mapping[str, Resource]) -> dict[str, str]:
        gate = provisioning.at_provider(observed.get(CLUSTER), "gate")
        return {"gate": gate, "version": "1.36.1"} if isinstance(gate, str) else {}

    def node_pool(
        self, site: Site, pool: PoolSpec, facts: Mapping[str, str], observed: Mapping[str, Resource]
    ) -> tuple[Manifest, ...]:
        if "gate" not in facts:
            return ()
        shelf = {
            "size": pool.recipe.at("vmSize").text(),
            "gate": facts["gate"],
            "nodes": pool.most if pool.is_fixed else pool.least,
            "zones": list(pool.zones),
        }
        return (provisioning.managed(_identity(POOL, "Shelf", site.cluster, pool.name), shelf, site=site),)

    def nodes(self, pool: PoolSpec, observed: Mapping[str, Resource]) -> Nodes:
        counted = provisioning.at_provider(observed.get(POOL), "nodes")
        return Nodes(counted, max(pool.most - counted, 0)) if isinstance(counted, int) else Nodes()

    def config(self, site: Site) -> Manifest:
        return cloud.provider_config(
            site.cluster, namespace=names.SYSTEM_NAMESPACE, secret=site.cluster, key="kubeconfig"
        )

    def lifelines(self) -> tuple[str, ...]:
        return (CLUSTER,)

    def rights(self) -> tuple[str, ...]:
        return (RIGHT,)

    def stack_needs(self, site: Site) -> StackNeeds:
        return StackNeeds()

    def advice(self, message: str) -> str:
        return "buy a larger one" if NO_ROOM in message else ""

    def assumed(self, resource: Resource) -> dict[str, Json]:
        if resource["kind"] == "Box":
            return {"gate": "north"}
        return {"nodes": resource["spec"]["forProvider"]["nodes"]} if resource["kind"] == "Shelf" else {}


def _identity(key: str, kind: str, *parts: str) -> Identity:
    return Identity(key, API_VERSION, kind, provisioning.part_name(*parts))


def use(monkeypatch: pytest.MonkeyPatch) -> Provisioner:
    """Make clusters with the toy for the time of a test."""
    toy: Provisioner = Toy()
    monkeypatch.setitem(selection.CLOUDS, SOURCE, toy)
    return toy


def ready(resource: Resource, at_provider: Json = None) -> dict[str, Json]:
    """Return an observed managed resource that is made."""
    conditions = [{"type": "Ready", "status": "True"}, {"type": "Synced", "status": "True"}]
    return {**resource, "status": {"atProvider": at_provider or {}, "conditions": conditions}}


def failed(resource: Resource, message: str, kind: str = "LastAsyncOperation") -> dict[str, Json]:
    """Return an observed managed resource with an error of the cloud."""
    conditions = [{"type": "Ready", "status": "False"}, {"type": kind, "status": "False", "message": message}]
    return {**resource, "status": {"conditions": conditions}}
