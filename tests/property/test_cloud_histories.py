"""Histories of clusters that are created: slow clouds, errors, edits and inputs that blink, in random order.

Laws: there is never a second network or cluster of one InferenceCluster; a managed resource goes only when its author
took away what it is for; with a cloud that works and documents that are right everything comes up and models are
served; and when the InferenceCluster is deleted nothing stays in the cloud.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from modelplane_cli.simulator.store import Key
from tests.support import created, fake_cloud, toy_cloud
from tests.support.fake_cloud import World
from tests.support.toy_cloud import BLOCK, RECIPE, SOURCE

Document = dict[str, Any]
GROUP = "modelplane.ai"
CLASS, CLUSTER = Key(GROUP, "InferenceClass", "", "h100-8x"), Key(GROUP, "InferenceCluster", "", "a")
DEPLOYMENT = Key(GROUP, "ModelDeployment", "ml-team", "llama")
STEPS = 8
KIND_STEPS = 6


def _pools(document: Document) -> list[Document]:
    found: list[Document] = document["spec"]["nodePools"]
    return found


def _more(document: Document) -> None:
    _pools(document)[0]["nodeCount"] = _pools(document)[0].get("nodeCount", 1) + 1


def _fewer(document: Document) -> None:
    _pools(document)[0]["nodeCount"] = max(_pools(document)[0].get("nodeCount", 1) - 1, 0)


def _without_second(document: Document) -> None:
    document["spec"]["nodePools"] = _pools(document)[:1]


def _with_third(document: Document) -> None:
    if all(pool["name"] != "third" for pool in _pools(document)):
        _pools(document).append({**_pools(document)[0], "name": "third"})


def _scaled(replicas: int) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        document["spec"]["replicas"] = replicas

    return change


def _recipe(document: Document) -> None:
    provisioning = document["spec"]["provisioning"]
    block = provisioning[provisioning["provider"].lower()]
    block["diskSizeGiB"] = block.get("diskSizeGiB", 100) + 1


EDITS: tuple[tuple[Key, Callable[[Document], None]], ...] = (
    (CLUSTER, _more),
    (CLUSTER, _fewer),
    (CLUSTER, _without_second),
    (CLUSTER, _with_third),
    (CLASS, _recipe),
    (DEPLOYMENT, _scaled(1)),
    (DEPLOYMENT, _scaled(3)),
    (DEPLOYMENT, _scaled(0)),
)
BLINKS: tuple[Key, ...] = (CLASS,)


class History:
    """One history, and what must hold after each of its steps."""

    def __init__(self, documents: list[Document], source: str, seed: int) -> None:
        self.chance = random.Random(seed)  # noqa: S311 - a story, no secret
        self.world = World(documents, source, self.chance)
        self.before: set[Key] = set()
        self.pool_of: dict[Key, str] = {}
        self.recipes: dict[str, Document] = {}
        self.held: set[str] = set()
        self.world.each_round = self._holds

    def run(self) -> None:
        if self.chance.random() < 0.5:  # else the first edits and errors come while nothing is there yet
            self._comes_up()
            self.world.each_round = self._holds
        for _ in range(STEPS):
            self._people()
            self.world.settle()
            self.world.cloud.step()
            self.world.settle()
        self._comes_up()
        self._goes()

    def _people(self) -> None:
        luck = self.chance.random()
        if luck < 0.4:
            key, change = self.chance.choice(EDITS)
            if self.world.store.get(key) is not None:
                self.world.write(key, change)
        elif luck < 0.55:
            self.world.remove(self.chance.choice(BLINKS))
        elif luck < 0.8:
            for key in BLINKS:
                self.world.restore(key)

    def _holds(self) -> None:
        """A managed resource goes only with a pool that nobody declares and no replica stands on."""
        self._singular()
        made, pool_of = set(self.world.made()), self._pools_of_managed()
        declared = {pool["name"] for pool in _pools(self.world.documents[CLUSTER])}
        for key in self.before - made:
            pool = self.pool_of.get(key)
            assert pool is not None, f"{key} is gone, and nobody took anything away"
            assert pool not in declared, f"{key} of the declared pool {pool} is gone"
            assert pool not in self._held(), f"{key} is gone under replicas"
        self.before, self.pool_of = made, pool_of
        recipes, held = self._recipes(), self._held()
        for name, recipe in recipes.items():
            is_same = self.recipes.get(name, recipe) == recipe
            # A replica that is proposed in the same round stands on nothing yet.
            assert is_same or name not in held & self.held, f"the nodes of pool {name} are replaced under replicas"
        self.recipes, self.held = recipes, held

    def _recipes(self) -> dict[str, Document]:
        parts = (self.world.store.get(key) or {} for key in self.world.store.of_kind(GROUP, "CloudNodePool"))
        return {one["spec"]["pool"]["name"]: one["spec"]["recipe"] for one in parts}

    def _held(self) -> set[str]:
        """Return the pools that replicas stand on: those that the ledger counts, and those that exist."""
        counted = {
            holding["pool"]
            for record in self.world.status(CLUSTER).get("admissions", ())
            for holding in record["holdings"]
        }
        replicas = (self.world.store.get(key) or {} for key in self.world.store.of_kind(GROUP, "ModelReplica"))
        return counted | {one["spec"]["pool"] for one in replicas}

    def _pools_of_managed(self) -> dict[Key, str]:
        found: dict[Key, str] = {}
        for part in self.world.store.of_kind(GROUP, "CloudNodePool"):
            resource = self.world.store.get(part) or {}
            for child in self.world.store.controlled_by(part):
                found[child] = resource["spec"]["pool"]["name"]
        return found

    def _singular(self) -> None:
        for group, kind in ((GROUP, "CloudNetwork"), (GROUP, "CloudCluster")):
            assert len(self.world.store.of_kind(group, kind)) <= 1
        for key, most in self.world.cloud.most.items():
            if key in ("Lawn", "Box", "Network", "Cluster", "VPC", "VirtualNetwork", "KubernetesCluster"):
                assert most <= 1, f"{most} of {key} stood at once"

    def _comes_up(self) -> None:
        for key in BLINKS:
            self.world.restore(key)
        self.world.write(CLUSTER, lambda document: _pools(document)[0].update(nodeCount=2))
        self.world.write(DEPLOYMENT, _scaled(2))
        for _ in range(KIND_STEPS):
            self.world.settle()
            self.world.cloud.step(is_kind=True)
        self.world.settle()
        status = self.world.status(CLUSTER)
        assert status["cloud"]["phase"] == "Created", status["conditions"]
        assert self.world.status(DEPLOYMENT)["readyReplicas"] == 2, self.world.status(DEPLOYMENT)
        self.world.each_round = self._singular

    def _goes(self) -> None:
        self.world.remove(DEPLOYMENT)
        self.world.settle()
        self.world.remove(CLUSTER)
        self.world.settle()
        for _ in range(KIND_STEPS):
            self.world.cloud.step(is_kind=True)
        assert not self.world.made()
        assert not self.world.cloud.existing
        labelled = [key for key in self.world.store if key.group == GROUP and key.kind.startswith("Cloud")]
        assert not labelled


TOY = (SOURCE, BLOCK, RECIPE)
REAL: dict[str, tuple[str, Document, Document]] = {
    "GKE": (
        "GKE",
        {"project": "acme-inference", "region": "us-central1", "kubernetesVersion": "1.35"},
        {"machineType": "a3-highgpu-8g", "acceleratorType": "nvidia-h100-80gb", "acceleratorCount": 8},
    ),
    "EKS": (
        "EKS",
        {"region": "us-east-2", "zones": ["us-east-2a", "us-east-2b"], "kubernetesVersion": "1.35"},
        {"instanceType": "p5.48xlarge"},
    ),
    "AKS": (
        "AKS",
        {"resourceGroup": "inference", "location": "swedencentral", "kubernetesVersion": "1.35"},
        {"vmSize": "Standard_ND96isr_H100_v5"},
    ),
}


@pytest.mark.parametrize("seed", range(24))
def test_histories_of_a_cluster_from_nothing(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    toy_cloud.use(monkeypatch)
    fake_cloud.use(monkeypatch)
    History(created.documents(*TOY), SOURCE, seed).run()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("cloud", REAL)
def test_histories_of_each_cloud(cloud: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_cloud.use(monkeypatch)
    History(created.documents(*REAL[cloud]), cloud, seed).run()


@pytest.mark.slow
@pytest.mark.parametrize("part", range(20))
def test_a_thousand_histories(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    toy_cloud.use(monkeypatch)
    fake_cloud.use(monkeypatch)
    for seed in range(1000 + part * 50, 1050 + part * 50):
        History(created.documents(*TOY), SOURCE, seed).run()


@pytest.mark.slow
@pytest.mark.parametrize("part", range(5))
@pytest.mark.parametrize("cloud", REAL)
def test_hundreds_of_histories_of_each_cloud(cloud: str, part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_cloud.use(monkeypatch)
    for seed in range(5000 + part * 20, 5020 + part * 20):
        History(created.documents(*REAL[cloud]), cloud, seed).run()
