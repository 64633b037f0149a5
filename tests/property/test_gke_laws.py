"""Laws of GKE: what is not refused is rendered and taken by the provider; names never meet; two renders are equal."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from modelplane.errors import InvalidInput
from modelplane.render.clouds import gke
from modelplane.render.clouds.gke.machines import MACHINES
from modelplane.render.manifest import Manifest
from modelplane.workload.created import PoolSpec, Site
from tests.support import gcp_fields, sites

Json = Any
REGION = "us-central1"
ZONES = [f"{REGION}-{letter}" for letter in "abcf"]

# Names that Kubernetes takes, as they come: with digits first, with hyphens, long, and like a shortened one.
names = st.one_of(
    st.from_regex(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", fullmatch=True),
    st.sampled_from(["a", "a-b", "b", "b-c", "c", "system", "nodes", "a-pool", "0", "a" * 63, f"a-{'0' * 16}"]),
)


def ranges(prefixes: tuple[int, int], second: tuple[int, int]) -> st.SearchStrategy[str]:
    return st.builds(
        lambda prefix, block: f"10.{block & ~((1 << max(0, 16 - prefix)) - 1)}.0.0/{prefix}",
        st.integers(*prefixes),
        st.integers(*second),
    )


settings = st.fixed_dictionaries(
    {"project": st.sampled_from(["acme-inference", "p-7-long-enough"]), "region": st.just(REGION)},
    optional={
        "kubernetesVersion": st.sampled_from(["1.34", "v1.36", "1.35.1-gke.1396002", "1.33"]),
        "releaseChannel": st.sampled_from(["RAPID", "STABLE"]),
        "network": st.just("shared"),
        "subnetwork": st.just("shared-us"),
        "podCidr": ranges((11, 20), (0, 255)),
        "serviceCidr": ranges((16, 26), (0, 255)),
        "nodeCidr": ranges((16, 26), (0, 255)),
        "podRangeName": st.just("p"),
        "serviceRangeName": st.just("s"),
        "access": st.sampled_from(["Key", "InjectedIdentity"]),
        "nodeServiceAccount": st.just("n@acme-inference.iam.gserviceaccount.com"),
        "systemMachineType": st.just("n2-standard-8"),
        "providerConfigRef": st.just({"name": "gcp"}),
    },
)
recipes = st.fixed_dictionaries(
    {"machineType": st.sampled_from([*MACHINES, "n1-standard-8"])},
    optional={
        "acceleratorType": st.sampled_from(["nvidia-l4", "nvidia-tesla-t4", "nvidia-h200-141gb"]),
        "acceleratorCount": st.sampled_from([1, 4, 8]),
        "driverVersion": st.sampled_from(["Default", "Latest", "Disabled"]),
        "imageType": st.just("COS_CONTAINERD"),
        "diskSizeGiB": st.integers(10, 1000),
        "diskType": st.sampled_from(["pd-ssd", "hyperdisk-balanced"]),
        "localSsdCount": st.sampled_from([0, 1, 8, 32]),
        "placementPolicy": st.sampled_from(["None", "Compact"]),
        "networkProfile": st.just("auto"),
        "reservation": st.just("r"),
        "spot": st.booleans(),
        "flexStart": st.booleans(),
        "maxRunSeconds": st.integers(600, 604800),
        "imageStreaming": st.booleans(),
        "imageCacheDisk": st.just("projects/p/global/images/i"),
    },
)


@st.composite
def pools(draw: st.DrawFn) -> PoolSpec:
    recipe: Json = draw(recipes)
    facts = MACHINES.get(str(recipe["machineType"]))
    devices = facts.devices if facts and draw(st.booleans()) else draw(st.sampled_from([0, 1, 4, 8]))
    least = draw(st.integers(0, 8))
    return sites.pool(
        "gke",
        recipe,
        name=draw(names),
        count=draw(st.one_of(st.none(), st.integers(0, 12))),
        bounds=(least, least + draw(st.integers(0, 20))),
        zones=tuple(draw(st.lists(st.sampled_from(ZONES), unique=True, max_size=3))),
        taints=tuple(draw(st.lists(st.builds(sites.taint, st.sampled_from(["team", "nvidia.com/gpu"])), max_size=1))),
        drivers=draw(st.sampled_from([(), sites.DRA, ("dra.net", "gpu.nvidia.com")])),
        devices=devices,
    )


@st.composite
def some_sites(draw: st.DrawFn) -> Site:
    return sites.site("gke", draw(settings), cluster=draw(names), is_kept=draw(st.booleans()))


def rendered(site: Site, asked: list[PoolSpec]) -> list[Manifest]:
    of_pools = (one for pool in asked for one in gke.node_pool(site, pool, {}, {}))
    return [*gke.network(site), *gke.cluster(site, {}), *of_pools]


def counted(pool: PoolSpec, resource: Json) -> None:
    """Hold the number of nodes: of one kind, and as many as the pool asks for."""
    spec = resource["spec"]["forProvider"]
    assert ("nodeCount" in spec) is pool.is_fixed is ("autoscaling" not in spec)
    zones = max(1, len(pool.zones))
    if pool.is_fixed:
        assert spec["nodeCount"] * zones == pool.declared
        return
    assert set(spec["autoscaling"]) == {"totalMinNodeCount", "totalMaxNodeCount", "locationPolicy"}
    assert resource["spec"].get("initProvider", {}).get("initialNodeCount", 0) * zones <= pool.most


def mended(site: Site) -> Site:
    """Return the site with as many of its settings as are not refused together."""
    kept = {"project": site.settings.value["project"], "region": REGION}
    given = site.settings.value
    parts = [{key: given[key]} for key in given if key not in (*kept, "network", "subnetwork")]
    if {"network", "subnetwork"} <= set(given):
        parts.insert(0, {"network": given["network"], "subnetwork": given["subnetwork"]})
    for part in parts:
        tried = sites.site("gke", kept | part, cluster=site.cluster, is_kept=site.is_kept)
        kept = kept | part if not list(gke.problems(tried, ())) else kept
    return sites.site("gke", kept, cluster=site.cluster, is_kept=site.is_kept)


def mended_pool(site: Site, pool: PoolSpec) -> PoolSpec | None:
    """Return the pool with as much of its recipe and zones as is not refused together, None if its name is."""
    given = pool.recipe.value
    machine = given["machineType"]
    facts = MACHINES.get(machine)
    recipe = {"machineType": machine}
    if facts is None:
        recipe |= {"acceleratorType": "nvidia-tesla-t4", "acceleratorCount": 4}
    best = None
    for zones in ((ZONES[0],), pool.zones):
        for part in ({}, {"spot": True}, *({key: value} for key, value in given.items())):
            tried = sites.pool(
                "gke",
                recipe | part,
                name=pool.name,
                count=pool.declared,
                bounds=(pool.least, max(1, pool.most)),
                zones=zones,
                taints=pool.taints,
                drivers=pool.drivers,
                devices=4 if facts is None else facts.devices,
            )
            if not list(gke.problems(site, (tried,))):
                best, recipe = tried, recipe | part
    return best


@given(site=some_sites(), asked=st.lists(pools(), max_size=3, unique_by=lambda pool: pool.name))
def test_what_is_not_refused_is_taken_by_the_provider(site: Site, asked: list[PoolSpec]) -> None:
    site = mended(site)
    asked = [pool for one in asked if (pool := mended_pool(site, one)) is not None]
    if list(gke.problems(site, tuple(asked))):
        asked = asked[:1]
    made = rendered(site, asked)
    assert made == rendered(site, asked)
    for one in made:
        assert gcp_fields.problems(one.resource) == []
        assert ("managementPolicies" in one.resource["spec"]) is site.is_kept
    for pool in asked:
        (resource,) = (one.resource for one in gke.node_pool(site, pool, {}, {}))
        counted(pool, resource)
        assert gke.nodes(pool, {}).growable <= (0 if pool.is_fixed else pool.most)


@given(site=some_sites(), asked=st.lists(pools(), max_size=3, unique_by=lambda pool: pool.name))
def test_problems_are_said_once_and_nothing_is_raised(site: Site, asked: list[PoolSpec]) -> None:
    said = [str(one) for one in gke.problems(site, tuple(asked))]
    assert said == [str(one) for one in gke.problems(site, tuple(asked))]
    assert len(said) == len(set(said))
    assert all(one.startswith(("spec.cluster", "spec.nodePools")) for one in said)


@given(
    fleet=st.dictionaries(names, st.lists(names, unique=True, max_size=4), min_size=2, max_size=4),
)
@example(fleet={"a": ["b-c", "c"], "a-b": ["c"]})
@example(fleet={"a": ["pool", "pool-a"], "a-pool": ["a", "system-a"]})
@example(fleet={"a" * 63: ["b" * 63, "b" * 62], "a" * 62: ["b" * 63]})
@example(fleet={"0a": ["0", "c-0"], "c-0a": ["0"]})
def test_no_two_resources_of_a_fleet_have_the_same_name(fleet: dict[str, list[str]]) -> None:
    recipe = {"machineType": "g2-standard-96"}
    resources: Counter[tuple[str, str]] = Counter()
    in_cloud: Counter[tuple[str, str, str]] = Counter()
    secrets: Counter[str] = Counter()
    for cluster, pool_names in fleet.items():
        site = sites.site("gke", {"project": "acme-inference", "region": REGION}, cluster=cluster)
        asked = [sites.pool("gke", recipe, name=name) for name in pool_names if name != "system"]
        for one in rendered(site, asked):
            resource = one.resource
            assert gcp_fields.problems(resource) == [], "names within the limits of their kinds"
            resources[resource["kind"], resource["metadata"]["name"]] += 1
            secrets[resource["spec"].get("writeConnectionSecretToRef", {}).get("name", one.key + cluster)] += 1
            external = resource["metadata"].get("annotations", {}).get("crossplane.io/external-name", "")
            # A node pool is named within its cluster, everything else within the project.
            scope = cluster if resource["kind"] == "NodePool" else ""
            in_cloud[resource["kind"], scope, external or f"{one.key} of {cluster}"] += 1
    for counter in (resources, in_cloud):
        assert [key for key, count in counter.items() if count > 1] == []
    assert all(len(name) <= 63 for _, name in resources)


unreadable = st.sampled_from([7, True, ["a"], {"a": "b"}, "", "x y", None])
fields = st.sampled_from(["project", "region", "network", "podCidr", "access", "kubernetesVersion"])


@given(site=some_sites(), pool=pools(), key=fields, bad=unreadable)
def test_a_field_that_cannot_be_read_is_a_problem_not_a_bug(site: Site, pool: PoolSpec, key: str, bad: Json) -> None:
    broken = sites.site("gke", {**site.settings.value, key: bad}, cluster=site.cluster)
    said = [str(one) for one in gke.problems(broken, (pool,))]
    try:
        rendered(broken, [pool])
    except InvalidInput as error:
        assert any(str(error) in one for one in said), (str(error), said)


@given(pool=pools(), key=st.sampled_from(["machineType", "spot", "localSsdCount", "reservation"]), bad=unreadable)
def test_a_recipe_that_cannot_be_read_touches_no_other_pool(pool: PoolSpec, key: str, bad: Json) -> None:
    site = sites.site("gke", {"project": "acme-inference", "region": REGION})
    other = sites.pool("gke", {"machineType": "g2-standard-96"}, name="other", zones=(ZONES[0],))
    before = gke.node_pool(site, other, {}, {})
    broken = sites.pool("gke", {**pool.recipe.value, key: bad}, name="broken", count=None)
    assert list(map(str, gke.problems(site, (broken, other)))) == list(map(str, gke.problems(site, (broken,))))
    assert gke.node_pool(site, other, {}, {}) == before
    assert gke.nodes(other, {"pool": {"status": bad}}).observed is None
