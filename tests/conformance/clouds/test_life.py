"""The life of a cluster of EKS with Crossplane's real core: it is made, an input blinks, and it goes in order.

The definitions are the provider's own. Amazon is played: the managed resources report that they are made, and are gone
some seconds after their deletion, as with a finalizer of the provider. In the background, which is the default, the
garbage collector deletes everything at once: the order is that of Crossplane's Usages.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from modelplane.render.clouds import eks
from tests.conformance.clouds.providers import PROVIDERS
from tests.support import installation, kubeapi, live, live_cloud, livefleet, rendered
from tests.support.created import documents

Json = Any
SECONDS = 480
SETTINGS = {"region": "us-east-2", "zones": ["us-east-2a", "us-east-2b"], "kubernetesVersion": "1.35"}
RECIPE = {"instanceType": "p5.48xlarge"}
RELEASES = 7
DISPENSABLE = ("pod-identity",)
"""Parts of the names of add-ons that nothing needs which is uninstalled."""
BELOW = (
    ("NodeGroup", "Cluster"),
    ("Cluster", "VPC"),
    ("Cluster", "Route"),
    ("Cluster", "InternetGateway"),
    ("Cluster", "Subnet"),
    ("LaunchTemplate", "Cluster"),
    ("Release", "ClusterAuth"),
    ("Release", "Addon"),
    ("Release", "Cluster"),
)
"""What is gone before what, of those that stand."""


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[livefleet.LiveFleet]:
    live.needs("clouds", "go")
    with livefleet.running(tmp_path_factory.mktemp("life")) as running:
        installation.apply_definitions(running.plane, PROVIDERS["EKS"].documents())
        yield running


def _cluster(fleet: livefleet.LiveFleet) -> Json:
    (found,) = fleet.all_of("InferenceCluster")
    return found


@pytest.mark.parametrize("propagation", ["Background", "Foreground"])
def test_it_is_made_and_held_and_goes_in_order(fleet: livefleet.LiveFleet, propagation: str) -> None:
    node_class, cluster, *_ = (rendered.bare(one) for one in documents("EKS", SETTINGS, RECIPE))
    # No gateway of the fleet stands here that could show a certificate.
    cluster["spec"]["gateway"] = {**cluster["spec"].get("gateway", {}), "mutualTLS": "Disabled"}
    with live_cloud.running(fleet.plane, eks) as cloud:
        fleet.apply([node_class, cluster])
        kubeapi.until(
            lambda: _cluster(fleet).get("status", {}).get("cloud", {}).get("phase") == "Created",
            seconds=SECONDS,
            what="the cluster to be created",
        )
        kubeapi.until(
            lambda: any(one.get("status", {}).get("summary") == "5/5" for one in fleet.all_of("ServingStack")),
            seconds=SECONDS,
            what="the serving stack to be installed",
        )
        assert len(cloud.installed()) == RELEASES
        made = _identities(cloud)
        assert {kind for kind, _, _ in made} >= {"VPC", "Subnet", "Role", "Cluster", "ClusterAuth", "NodeGroup"}
        nodes = [pool["nodes"] for pool in _cluster(fleet)["status"]["pools"]]
        assert [one["observed"] for one in nodes] == [2, 1]

        fleet.plane.api.delete(node_class)
        fleet.rest()
        assert _identities(cloud) == made, "a class that is gone for a moment takes nothing away"
        fleet.apply([node_class])
        fleet.rest()
        assert _identities(cloud) == made

        fleet.plane.api.delete(_cluster(fleet), propagation=propagation)
        kubeapi.until(
            lambda: _is_gone(fleet, cloud, propagation), seconds=SECONDS, what="everything in the cloud to go"
        )
        _went_in_order(cloud)
        for kind in ("InferenceCluster", "CloudNetwork", "CloudCluster", "CloudNodePool"):
            _await_gone(fleet, kind)
        usages = ("protection.crossplane.io/v1beta1", "Usage")
        kubeapi.until(lambda: not fleet.plane.api.all_of(*usages), seconds=SECONDS, what="the last Usage to go")


def _await_gone(fleet: livefleet.LiveFleet, kind: str) -> None:
    kubeapi.until(lambda: not fleet.all_of(kind), seconds=SECONDS, what=f"each {kind} to go")


def _is_gone(fleet: livefleet.LiveFleet, cloud: live_cloud.LiveCloud, propagation: str) -> bool:
    left = [*cloud.made(), *cloud.installed()]
    is_seen = bool(fleet.all_of("InferenceCluster"))
    left = (
        [*cloud.made(), *cloud.installed()] if left and not is_seen else left
    )  # it may have ended between the two looks
    assert propagation == "Background" or is_seen or not left, "it stays visible until everything in the cloud is gone"
    return not left


def _went_in_order(cloud: live_cloud.LiveCloud) -> None:
    order = [kind for kind, name in cloud.gone if not any(part in name for part in DISPENSABLE)]
    for first, then in BELOW:
        lasts = [place for place, kind in enumerate(order) if kind == first]
        assert all(last < order.index(then) for last in lasts), f"{then} went before {first}: {order}"


def _identities(cloud: live_cloud.LiveCloud) -> set[tuple[str, str, str]]:
    return {(one["kind"], one["metadata"]["name"], one["metadata"]["uid"]) for one in cloud.made()}
