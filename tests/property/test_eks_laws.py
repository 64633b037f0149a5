"""Laws of clusters from nothing on EKS, over random sites and pools."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from modelplane.render.clouds import eks
from modelplane.render.provisioning import CLUSTER, POOL
from tests.support import eks as world

Json = Any

# Source: the limits of names of Kubernetes, of EKS (clusters 100, pools 63), IAM (roles 64) and EC2 (templates 128).
LIMITS = {"Cluster": 100, "NodeGroup": 63, "Role": 64, "LaunchTemplate": 128}
seeds = st.integers(0, 2**32)
names = st.sampled_from(
    ("a", "a-b", "a-b-c", "b", "b-c", "c", "pool", "system-pool", "nodes", "a" * 63, "a" * 62 + "b")
)


def _site(seed: int) -> Any:
    return world.random_site(random.Random(seed))  # noqa: S311  chance, not secrecy


@given(seeds)
def test_what_no_check_refuses_is_rendered_the_same_twice(seed: int) -> None:
    where, pools = _site(seed)
    assert list(eks.problems(where, pools)) == []
    once, twice = world.everything(where, pools), world.everything(where, pools)
    assert json.dumps([one.resource for _, one in once]) == json.dumps([one.resource for _, one in twice])
    assert {part for part, _ in once} >= {"cluster", "config", *(f"pool {one.name}" for one in pools)}
    assert all(any(part == f"pool {one.name}" and made.key == POOL for part, made in once) for one in pools)


@given(seeds)
def test_keys_and_names_are_unique_and_within_limits(seed: int) -> None:
    where, pools = _site(seed)
    found = world.everything(where, pools)
    assert len({(part, one.key) for part, one in found}) == len(found)
    assert len({_identity(one.resource) for _, one in found}) == len(found)
    for _, one in found:
        metadata = one.resource["metadata"]
        assert len(metadata["name"]) <= 63
        cloud_name = metadata.get("annotations", {}).get("crossplane.io/external-name", metadata["name"])
        assert len(cloud_name) <= LIMITS.get(one.resource["kind"], 255)


def _identity(resource: Json) -> tuple[str, str, str]:
    return resource["apiVersion"], resource["kind"], resource["metadata"]["name"]


@given(names, names, names, names)
def test_no_two_clusters_or_pools_share_a_name(cluster: str, pool: str, other_cluster: str, other_pool: str) -> None:
    """Joined by a dash, cluster a with pool b-c reads as cluster a-b with pool c."""
    if (cluster, pool) == (other_cluster, other_pool):
        return
    settings: Json = {"privateNodes": True, "storageDrivers": ["EBS", "EFS"], "adminRoleArns": [world.ROLE]}
    recipe = {"efaInterfaces": 1, "placementPolicy": "Cluster"}
    one = world.everything(world.site(cluster, **settings), (world.pool(pool, recipe=recipe),))
    other = world.everything(world.site(other_cluster, **settings), (world.pool(other_pool, recipe=recipe),))
    if cluster == other_cluster:
        one, other = ([each for each in found if each[0].startswith("pool")] for found in (one, other))
    assert not {_identity(each.resource) for _, each in one} & {_identity(each.resource) for _, each in other}


@given(seeds)
def test_every_reference_names_something_that_is_made(seed: int) -> None:
    where, pools = _site(seed)
    found = world.everything(where, pools)
    there = {one.resource["metadata"]["name"] for _, one in found}
    for _, one in found:
        for name in _references(one.resource["spec"].get("forProvider", {})):
            assert name in there, f"{one.resource['kind']} refers to {name}"


@given(seeds)
def test_every_usage_is_of_and_by_what_is_made(seed: int) -> None:
    where, _ = _site(seed)
    found = [one.resource for one in world.settled_cluster(where)]
    there = {_identity(one) for one in found}
    for usage in (one for one in found if one["kind"] == "Usage"):
        for end in (usage["spec"]["of"], usage["spec"]["by"]):
            assert (end["apiVersion"], end["kind"], end["resourceRef"]["name"]) in there


def _references(value: Json) -> list[str]:
    if isinstance(value, list):
        return [name for one in value for name in _references(one)]
    if not isinstance(value, dict):
        return []
    own = [
        one["name"]
        for key, below in value.items()
        if key.endswith(("Ref", "Refs"))
        for one in (below if isinstance(below, list) else [below])
    ]
    return own + [
        name for key, below in value.items() if not key.endswith(("Ref", "Refs")) for name in _references(below)
    ]


broken = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5), st.lists(st.integers(), max_size=2))


@given(seeds, broken, st.sampled_from(("version", "endpoint", "vpcConfig", "status", "id")))
def test_a_broken_observation_takes_nothing_from_a_cluster_but_what_needs_it(
    seed: int, value: Json, field: str
) -> None:
    where, _ = _site(seed)
    whole = eks.cluster(where, world.made(eks.cluster(where, {})))
    observed = world.made(whole)
    for one in observed.values():
        one["status"]["atProvider"][field] = value
    left = {one.key for one in eks.cluster(where, observed)}
    waits = {"SecurityGroup", "SecurityGroupIngressRule", "MountTarget"}
    assert {one.key for one in whole if one.resource["kind"] not in waits} <= left
    assert CLUSTER in left


@given(seeds, broken)
def test_broken_facts_take_nothing_from_a_pool_but_what_needs_them(seed: int, value: Json) -> None:
    where, pools = _site(seed)
    for pool in pools:
        whole = world.settled_pool(where, pool)
        needs = any("networkInterfaces" in one.resource["spec"]["forProvider"] for one in whole)
        observed = world.made(whole)
        for one in observed.values():
            one["status"] = value
        left = {one.key for one in eks.node_pool(where, pool, {}, observed)}
        assert {one.key for one in whole} - left <= ({"launch-template", POOL} if needs else {POOL})
        assert eks.nodes(pool, observed).growable == 0


@given(seeds, st.text(max_size=80))
def test_a_zone_more_changes_nothing_that_stands(seed: int, _: str) -> None:
    where, _pools = _site(seed)
    region = where.settings.at("region").text()
    wider = replace(where, zones=tuple(sorted({*where.zones, f"{region}e"})))
    observed = world.made(eks.cluster(where, {}))
    if where.settings.at("subnetIds").is_set:
        return
    before = {one.key: one.resource for one in (*eks.network(where), *eks.cluster(where, observed))}
    after = {one.key: one.resource for one in (*eks.network(wider), *eks.cluster(wider, observed))}
    assert {key: after[key] for key in before} == before
