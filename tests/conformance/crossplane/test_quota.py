"""A quota on a real control plane: two deployments race for its last devices over two clusters.

Crossplane's core calls the functions as it likes, on its own caches, and every look at the API server is judged.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.conformance.crossplane.test_watches import cluster, deployment
from tests.support import fleet, kubeapi, live, livefleet, quota_fleet
from tests.support.livefleet import LiveFleet

Json = Any
NAMESPACE = "ml-team"
SETTLED_SECONDS = 180
RACE_SECONDS = 8
ROUNDS = 2
DEVICES = 8
GLANCE_SECONDS = 0.1


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveFleet]:
    """Two empty clusters, and a quota of eight devices for a namespace that its label selects."""
    live.needs("crossplane-watches", "go")
    with livefleet.running(tmp_path_factory.mktemp("quota")) as running:
        running.apply([quota_fleet.namespace(NAMESPACE, team="gold")])
        node_class = fleet.inference_class()
        node_class["metadata"] = {"name": node_class["metadata"]["name"]}
        limits = {"devices": [{"name": "h100", "className": node_class["metadata"]["name"], "count": DEVICES}]}
        quota = quota_fleet.quota("team", limits=limits, namespaces={"matchLabels": {"team": "gold"}})
        quota["metadata"] = {"name": "team"}
        running.apply([node_class, cluster("a"), cluster("b"), quota])
        kubeapi.until(
            lambda: all(one.get("status", {}).get("pools") for one in running.all_of("InferenceCluster")),
            seconds=SETTLED_SECONDS,
            what="both clusters to publish their pools",
        )
        running.rest()
        yield running


def racer(name: str, place: str) -> Json:
    made = deployment(name, clusterSelector={"matchLabels": {"only": place}})
    made["spec"]["workers"]["topology"]["tensor"] = DEVICES
    return made


def admitted(running: LiveFleet) -> list[str]:
    """Return the admitted replicas of both clusters."""
    clusters = running.all_of("InferenceCluster")
    return sorted(key for one in clusters for key in one.get("status", {}).get("admitted", ()))


def reasons(running: LiveFleet) -> dict[str, str]:
    """Return the reason of ReplicasScheduled, by deployment."""
    return {
        one["metadata"]["name"]: said["reason"]
        for one in running.all_of("ModelDeployment")
        for said in one.get("status", {}).get("conditions", ())
        if said["type"] == "ReplicasScheduled"
    }


def allow(running: LiveFleet, count: int) -> None:
    """Let the quota allow so many devices."""
    (quota,) = running.all_of("InferenceQuota")
    limits = {"devices": [{**quota["spec"]["limits"]["devices"][0], "count": count}]}
    running.merge(quota, {"spec": {"limits": limits}})


def watched(running: LiveFleet, most: int, until: float) -> None:
    """Look at both ledgers again and again: never is more admitted than the quota allows."""
    while time.monotonic() < until:
        assert len(admitted(running)) <= most
        time.sleep(GLANCE_SECONDS)


@pytest.mark.parametrize("number", range(ROUNDS))
def test_two_deployments_race_for_the_last_devices_and_one_gets_them(limited: LiveFleet, number: int) -> None:
    """The other one is told why, and gets its place when the quota allows more."""
    most = 2 * number + 1
    allow(limited, DEVICES * most)
    racers = [racer(f"race-{number}-{place}", place) for place in ("a", "b")]
    threads = [threading.Thread(target=limited.apply, args=([one],)) for one in racers]
    for thread in threads:
        thread.start()
    watched(limited, most, time.monotonic() + RACE_SECONDS)
    for thread in threads:
        thread.join()
    kubeapi.until(
        lambda: len(admitted(limited)) == most and "QuotaExceeded" in reasons(limited).values(),
        seconds=SETTLED_SECONDS,
        what="one racer to be admitted, and the other to be told why it is not",
    )
    allow(limited, DEVICES * (most + 1))
    kubeapi.until(
        lambda: len(admitted(limited)) == most + 1 and set(reasons(limited).values()) == {"AllScheduled"},
        seconds=SETTLED_SECONDS,
        what="the other one to be admitted once the quota allows it",
    )
    limited.rest()


def test_a_quota_calls_neither_a_settled_deployment_nor_a_settled_cluster(limited: LiveFleet) -> None:
    (quota,) = limited.all_of("InferenceQuota")
    calls = limited.after(lambda: limited.merge(quota, {"spec": {"limits": {"replicas": 9}}}))
    assert calls.of("InferenceQuota") == {"team"}
    assert calls.of("ModelDeployment") == set()
    assert calls.of("InferenceCluster") == set()
    assert calls.of("ModelReplica") == set()


def test_a_smaller_quota_stops_nothing_and_shows_as_over(limited: LiveFleet) -> None:
    before = admitted(limited)
    assert before
    allow(limited, 1)
    kubeapi.until(
        lambda: limited.all_of("InferenceQuota")[0]["status"]["summary"].get("over") == "h100",
        seconds=SETTLED_SECONDS,
        what="the quota to say that it is over",
    )
    limited.rest()
    assert admitted(limited) == before
