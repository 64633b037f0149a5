"""Laws of AKS: what is not refused is rendered within the limits of Azure; names never meet; two renders are equal."""

from __future__ import annotations

import re
from collections import Counter
from random import Random
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from modelplane.errors import InvalidInput
from modelplane.render.clouds import aks
from modelplane.workload.created import PoolSpec
from tests.support import aks as worlds
from tests.support import sites

Json = Any

dice = st.integers(0, 2**32).map(Random)
LIMITS = {
    "KubernetesCluster": 63,
    "KubernetesClusterNodePool": 12,
    "ResourceGroup": 90,
    "VirtualNetwork": 64,
    "Subnet": 80,
}


def name_in_cloud(resource: Json) -> str:
    return str(resource["metadata"].get("annotations", {}).get("crossplane.io/external-name", ""))


def counted(pool: PoolSpec, spec: Json) -> None:
    """Hold the number of nodes: of one kind, and as many as the pool asks for."""
    if pool.is_fixed:
        assert (spec["autoScalingEnabled"], spec["nodeCount"]) == (False, pool.declared)
        assert not {"minCount", "maxCount"} & set(spec)
    else:
        assert (spec["autoScalingEnabled"], spec["minCount"], spec["maxCount"]) == (True, pool.least, pool.most)
        assert "nodeCount" not in spec
        assert pool.least > 0 or not pool.drivers, "an empty pool is never woken by a claim"


@given(dice=dice)
def test_what_is_not_refused_is_within_the_limits_of_azure(dice: Random) -> None:
    site, pools = worlds.accepted_site(dice)
    made = worlds.everything(site, pools)
    assert made == worlds.everything(site, pools)
    served = {(one.api_version, one.kind) for one in aks.served()}
    for one in made:
        resource = one.resource
        assert (resource["apiVersion"], resource["kind"]) in served
        assert len(name_in_cloud(resource)) <= LIMITS.get(resource["kind"], 128)
        assert ("Delete" in resource["spec"].get("managementPolicies", ["Delete"])) is not site.is_kept
    cluster = next(one.resource for one in made if one.key == "cluster")["spec"]["forProvider"]
    assert ("automaticUpgradeChannel" in cluster) is ("orchestratorVersion" not in cluster["defaultNodePool"])
    for pool in pools:
        (one,) = aks.node_pool(site, pool, {}, {})
        spec = one.resource["spec"]["forProvider"]
        counted(pool, spec)
        assert all(re.fullmatch(r"[^=:]+=[^=:]*:[A-Za-z]+", taint) for taint in spec["nodeTaints"])
        assert ("upgradeSettings" in spec) is (spec.get("priority") != "Spot")


@given(dice=dice)
def test_problems_are_said_once_and_nothing_is_raised(dice: Random) -> None:
    site, pools = worlds.random_site(dice)
    said = [str(one) for one in aks.problems(site, pools)]
    assert said == [str(one) for one in aks.problems(site, pools)]
    assert len(said) == len(set(said))
    assert all(one.startswith(("spec.cluster", "spec.nodePools")) for one in said)


names = st.one_of(
    st.from_regex(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", fullmatch=True), st.sampled_from(list(worlds.NAMES))
)


@given(fleet=st.dictionaries(names, st.lists(names, unique=True, max_size=4), min_size=2, max_size=4))
@example(fleet={"a": ["b-c", "c"], "a-b": ["c"]})
@example(fleet={"a": ["pool", "pool-a"], "a-pool": ["a", "system-a"]})
@example(fleet={"a" * 63: ["b" * 63, "b" * 62], "a" * 62: ["b" * 63]})
@example(fleet={"0a": ["0", "p0"], "c-0a": ["ab-cd", "abcd", "abc-d"]})
def test_no_two_resources_of_a_fleet_have_the_same_name(fleet: dict[str, list[str]]) -> None:
    resources: Counter[tuple[str, str]] = Counter()
    in_cloud: Counter[tuple[str, str, str]] = Counter()
    for cluster, pool_names in fleet.items():
        site = sites.site("aks", {"location": "swedencentral"}, cluster=cluster)
        pools = [sites.pool("aks", {"vmSize": "Standard_ND96isr_H100_v5"}, name=name) for name in pool_names]
        for one in worlds.everything(site, [pool for pool in pools if pool.name != "system"]):
            resource = one.resource
            resources[resource["kind"], resource["metadata"]["name"]] += 1
            scope = cluster if resource["kind"] == "KubernetesClusterNodePool" else ""
            named = (
                name_in_cloud(resource) or resource["spec"]["forProvider"].get("name") or resource["metadata"]["name"]
            )
            in_cloud[resource["kind"], scope, named] += 1
            taken = ("system", "systemtmp")
            assert resource["kind"] != "KubernetesClusterNodePool" or named not in taken
    for counter in (resources, in_cloud):
        assert [key for key, count in counter.items() if count > 1] == []
    assert all(len(name) <= 63 for _, name in resources)


unreadable = st.sampled_from([7, True, ["a"], {"a": "b"}, "", "x y", None])
fields = st.sampled_from(["location", "resourceGroup", "subnetId", "identityId", "podCidr", "serviceCidr", "tier"])
parts = st.sampled_from(["vmSize", "priority", "diskSizeGiB", "capacityReservationGroupId", "osSku"])


@given(dice=dice, key=fields, bad=unreadable)
def test_a_field_that_cannot_be_read_is_a_problem_not_a_bug(dice: Random, key: str, bad: Json) -> None:
    site, pools = worlds.random_site(dice)
    broken = sites.site("aks", {**site.settings.value, key: bad}, cluster=site.cluster)
    said = [str(one) for one in aks.problems(broken, pools)]
    try:
        worlds.everything(broken, pools)
    except InvalidInput as error:
        assert any(str(error) in one for one in said), (str(error), said)


@given(key=parts, bad=unreadable)
def test_a_recipe_that_cannot_be_read_touches_no_other_pool(key: str, bad: Json) -> None:
    site = sites.site("aks", {"location": "swedencentral"})
    other = sites.pool("aks", {"vmSize": "Standard_ND96isr_H100_v5"}, name="other")
    before = aks.node_pool(site, other, {}, {})
    broken = sites.pool("aks", {"vmSize": "Standard_ND96isr_H100_v5", key: bad}, name="broken")
    assert list(map(str, aks.problems(site, (broken, other)))) == list(map(str, aks.problems(site, (broken,))))
    assert aks.node_pool(site, other, {}, {}) == before
    assert aks.nodes(other, {"pool": {"status": bad}}).observed is None
