"""A cloud added from outside: one object with the interface of a cloud, one entry in the registry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from modelplane import names
from modelplane.errors import InvalidInput, Unsupported
from modelplane.render import cloud
from modelplane.render.cloud import Access, Cloud, Given
from modelplane.render.clouds import selection
from modelplane.render.manifest import Manifest
from modelplane_functions.compose import inference_cluster
from modelplane_functions.exchange import Ready
from tests.support import exchange, fleet, rendered

Json = Any
# The definitions list the sources of the API, so the toy answers to the name of one of them.
NAME = "AKS"
BLOCK = {"resourceGroup": "sandbox", "location": "westeurope"}


class Toy:
    """A cloud that makes a cluster of one object, which writes a kubeconfig into a Secret of its name."""

    def access(self, cluster: str, given: Given) -> Access:
        made = Manifest(
            "box",
            {
                "apiVersion": "toys.example.org/v1",
                "kind": "SandBox",
                "metadata": {"name": cluster, "namespace": names.SYSTEM_NAMESPACE},
                "spec": {"place": given.at("aks", "location").text(), "group": given.at("aks", "resourceGroup").text()},
            },
        )
        config = cloud.provider_config(cluster, namespace="toys", secret=cluster, key="kubeconfig")
        return Access(cloud.PROVIDER_CONFIG_KIND, config.resource["metadata"]["name"], (made, config))

    def is_ready(self, observed: Mapping[str, Json]) -> bool:
        if observed["kind"] != "SandBox":
            return True
        return bool((observed.get("status") or {}).get("filled"))


def _cluster() -> Json:
    document = fleet.inference_cluster("a")
    document["spec"]["cluster"] = {"source": NAME, "aks": dict(BLOCK)}
    return document


def _compose(document: Json, children: Mapping[str, Json] | None = None) -> Any:
    return exchange.settle(inference_cluster.compose, document, children=children)


@pytest.fixture
def _toy(monkeypatch: pytest.MonkeyPatch) -> None:
    toy: Cloud = Toy()
    monkeypatch.setitem(selection.CLOUDS, NAME, toy)


@pytest.mark.usefixtures("_toy")
def test_its_object_and_its_provider_configuration_are_composed() -> None:
    outcome = _compose(_cluster())
    assert outcome.children["box"].resource["spec"] == {"place": "westeurope", "group": "sandbox"}
    config = outcome.children["provider-config"].resource
    assert config["spec"]["credentials"]["secretRef"] == {"namespace": "toys", "name": "a", "key": "kubeconfig"}
    reference = {"kind": "ClusterProviderConfig", "name": config["metadata"]["name"]}
    assert outcome.status["providerConfigRef"] == reference
    assert outcome.children["gateway"].resource["spec"]["providerConfigRef"] == reference


@pytest.mark.usefixtures("_toy")
@pytest.mark.parametrize(("status", "ready"), [({}, Ready.FALSE), ({"filled": True}, Ready.TRUE)])
def test_it_judges_its_own_object(status: Json, ready: Ready) -> None:
    box = {**_compose(_cluster()).children["box"].resource, "status": status}
    assert _compose(_cluster(), {"box": box}).children["box"].ready is ready


@pytest.mark.usefixtures("_toy")
def test_a_mistake_in_its_block_is_refused_with_its_path() -> None:
    document = _cluster()
    del document["spec"]["cluster"]["aks"]["location"]
    with pytest.raises(InvalidInput, match=r"spec\.cluster\.aks\.location"):
        _compose(document)


@pytest.mark.usefixtures("_toy")
def test_replicas_run_on_the_cluster_it_makes() -> None:
    world = rendered.quickstart(cluster={"source": NAME, "aks": dict(BLOCK)})
    deployment = next(one for one in world.objects() if one["kind"] == "ModelDeployment")
    assert deployment["status"]["readyReplicas"] == 2
    assert {one["kind"] for one in world.objects()} >= {"SandBox", "ClusterProviderConfig"}


def test_one_that_is_not_registered_is_refused() -> None:
    source = "Other"
    document = _cluster()
    document["spec"]["cluster"] = {"source": source}
    with pytest.raises(Unsupported) as raised:
        _compose(document)
    assert (raised.value.reason, raised.value.message) == (
        "SourceNotOffered",
        f"spec.cluster.source {source} is not offered yet; create the cluster yourself and use source Existing",
    )
