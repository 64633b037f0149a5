"""AKS: what is rendered of a network, a cluster and node pools, and what may be counted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest

from modelplane import names
from modelplane.render import protection
from modelplane.render.clouds import aks, selection
from modelplane.render.clouds.aks import naming
from modelplane.render.manifest import Manifest
from modelplane.render.provisioning import Nodes, PoolSpec, Provisioner, Site
from modelplane.render.stack import releases
from tests.support import sites

Json = Any
SETTINGS = {"location": "swedencentral", "providerConfigRef": {"name": "azure-prod"}}
H100 = {"vmSize": "Standard_ND96isr_H100_v5"}
MI300X = {"vmSize": "Standard_ND96isr_MI300X_v5"}
GROUPS = "/subscriptions/s/resourceGroups/g/providers"
SUBNET = f"{GROUPS}/Microsoft.Network/virtualNetworks/n/subnets/nodes"
IDENTITY = f"{GROUPS}/Microsoft.ManagedIdentity/userAssignedIdentities/i"
RESERVED = f"{GROUPS}/Microsoft.Compute/capacityReservationGroups/r"
CLOSE = f"{GROUPS}/Microsoft.Compute/proximityPlacementGroups/p"
SPOT = sites.taint("kubernetes.azure.com/scalesetpriority", value="spot")


def _site(cluster: str = "north", *, settings: Json = None, **fields: Any) -> Site:
    return sites.site("aks", SETTINGS | (settings or {}), cluster=cluster, **fields)


def _pool(recipe: Json = None, **fields: Any) -> PoolSpec:
    return sites.pool("aks", H100 | (recipe or {}), **{"bounds": (1, 4), **fields})


def _by_key(manifests: tuple[Manifest, ...]) -> dict[str, Json]:
    assert len({one.key for one in manifests}) == len(manifests)
    return {one.key: one.resource for one in manifests}


def _cluster(**settings: Json) -> Json:
    return _by_key(aks.cluster(_site(settings=settings), {}))["cluster"]["spec"]["forProvider"]


def _node_pool(pool: PoolSpec, **settings: Json) -> Json:
    assert [str(one) for one in aks.problems(_site(settings=settings), (pool,))] == []
    (made,) = aks.node_pool(_site(settings=settings), pool, {}, {})
    return made.resource["spec"]["forProvider"]


def _seen(**at_provider: Json) -> Json:
    return {"status": {"atProvider": at_provider}}


def test_it_is_a_cloud_that_makes_clusters() -> None:
    assert isinstance(aks, Provisioner)
    assert selection.maker("AKS") is aks


def test_every_kind_is_served() -> None:
    site, identity = _site(), _seen(id=IDENTITY, principalId="p")
    made = [
        *aks.network(site),
        *aks.cluster(site, {"identity": identity}),
        *aks.node_pool(site, _pool(), {}, {}),
    ]
    served = [(one.api_version, one.kind) for one in aks.served()]
    assert {(one.resource["apiVersion"], one.resource["kind"]) for one in made} == set(served)
    assert served == sorted(set(served))


@pytest.mark.parametrize(
    ("settings", "kinds"),
    [
        pytest.param({}, ["ResourceGroup", "VirtualNetwork", "Subnet"], id="all-of-it"),
        pytest.param({"resourceGroup": "g"}, ["VirtualNetwork", "Subnet"], id="in-an-existing-group"),
        pytest.param({"subnetId": SUBNET}, ["ResourceGroup"], id="in-an-existing-subnet"),
        pytest.param({"resourceGroup": "g", "subnetId": SUBNET}, [], id="nothing"),
    ],
)
def test_what_exists_is_not_made(settings: Json, kinds: list[str]) -> None:
    made = aks.network(_site(settings=settings))
    assert [one.resource["kind"] for one in made] == kinds
    assert [one.key for one in made][:1] == ["network"] * bool(kinds), "the cluster stands in the first"
    cluster = _cluster(**settings)
    assert ("resourceGroupName" in cluster) is ("resourceGroup" in settings)
    assert cluster["defaultNodePool"].get("vnetSubnetId") == settings.get("subnetId")
    assert _node_pool(_pool(), **settings).get("vnetSubnetId") == settings.get("subnetId")


def test_a_made_group_is_none_that_another_would_choose() -> None:
    group = _by_key(aks.network(_site("prod")))["network"]
    assert group["metadata"]["annotations"]["crossplane.io/external-name"] == "modelplane-prod"


def test_the_cluster_has_a_kubeconfig_with_a_certificate() -> None:
    made = _by_key(aks.cluster(_site(), {}))["cluster"]
    spec = made["spec"]["forProvider"]
    assert spec["localAccountDisabled"] is False
    assert spec["networkProfile"]["networkPluginMode"] == "overlay"
    assert (spec["networkProfile"]["serviceCidr"], spec["networkProfile"]["dnsServiceIp"]) == (
        "10.96.0.0/16",
        "10.96.0.10",
    )
    secret = made["spec"]["writeConnectionSecretToRef"]["name"]
    config = aks.config(_site())
    assert config.key == "provider-config"
    for one in (config.resource, releases.config(config.resource).resource):
        assert one["metadata"] == {"name": protection.name_of("north")}
        reference = {"namespace": names.SYSTEM_NAMESPACE, "name": secret, "key": "kubeconfig"}
        assert one["spec"] == {"credentials": {"source": "Secret", "secretRef": reference}}


def test_the_system_pool_is_small_and_can_be_changed() -> None:
    pool = _cluster(systemVmSize="Standard_D4ds_v5")["defaultNodePool"]
    assert (pool["minCount"], pool["maxCount"], pool["autoScalingEnabled"]) == (1, 3, True)
    assert pool["temporaryNameForRotation"] == "systemtmp"
    assert pool["nodeLabels"] == {names.LABEL_POOL: "system"}
    assert pool["vmSize"] == "Standard_D4ds_v5"


@pytest.mark.parametrize(
    ("settings", "version", "channel", "pinned"),
    [
        pytest.param({}, None, "stable", None, id="a-channel-by-default"),
        pytest.param({"kubernetesVersion": "1.35"}, "1.35", "patch", None, id="a-minor-gets-patches"),
        pytest.param({"kubernetesVersion": "v1.35.2"}, "1.35.2", None, "1.35.2", id="a-pin-has-no-channel"),
        pytest.param({"upgradeChannel": "rapid"}, None, "rapid", None, id="a-channel-chooses"),
    ],
)
def test_a_channel_or_a_pinned_version_never_both(
    settings: Json, version: str | None, channel: str | None, pinned: str | None
) -> None:
    cluster, pool = _cluster(**settings), _node_pool(_pool(), **settings)
    assert (cluster.get("kubernetesVersion"), cluster.get("automaticUpgradeChannel")) == (version, channel)
    assert (pool.get("orchestratorVersion"), cluster["defaultNodePool"].get("orchestratorVersion")) == (pinned, pinned)


@pytest.mark.parametrize("is_kept", [False, True])
def test_fields_that_are_not_set_stay_unset(is_kept: bool) -> None:  # noqa: FBT001 - a parameter of pytest
    """A version or a number of nodes that the provider found would be held against the channel and the autoscaler."""
    site = _site(is_kept=is_kept)
    made = (_by_key(aks.cluster(site, {}))["cluster"], aks.node_pool(site, _pool(), {}, {})[0].resource)
    for one in made:
        policies = one["spec"]["managementPolicies"]
        assert policies == ["Observe", "Create", "Update", *([] if is_kept else ["Delete"])]


def test_the_identity_gets_its_role_as_soon_as_it_is_known() -> None:
    assert sorted(_by_key(aks.cluster(_site(), {}))) == ["cluster", "identity"]
    identity = _seen(id="/subscriptions/s-1/resourceGroups/g/providers/x", principalId="p-1")
    made = _by_key(aks.cluster(_site(), {"identity": identity}))
    assert made["identity-role"]["spec"]["forProvider"] == {
        "principalId": "p-1",
        "roleDefinitionName": "Network Contributor",
        "scope": "/subscriptions/s-1/resourceGroups/modelplane-north/providers/Microsoft.Network"
        "/virtualNetworks/modelplane-north",
    }
    assert made["cluster"]["spec"]["forProvider"]["identity"] == {
        "type": "UserAssigned",
        "identityIdsRefs": [{"name": made["identity"]["metadata"]["name"]}],
    }
    existing = _by_key(aks.cluster(_site(settings={"subnetId": SUBNET}), {"identity": identity}))
    assert existing["identity-role"]["spec"]["forProvider"]["scope"] == SUBNET


@pytest.mark.parametrize(
    "status",
    [{}, {"id": IDENTITY}, {"principalId": "p"}, {"id": "x", "principalId": "p"}, {"id": 7, "principalId": []}],
)
def test_a_role_waits_for_what_is_not_known(status: Json) -> None:
    assert sorted(_by_key(aks.cluster(_site(), {"identity": _seen(**status)}))) == ["cluster", "identity"]


def test_an_existing_identity_is_used() -> None:
    made = _by_key(aks.cluster(_site(settings={"identityId": IDENTITY}), {}))
    assert sorted(made) == ["cluster"]
    assert made["cluster"]["spec"]["forProvider"]["identity"] == {"type": "UserAssigned", "identityIds": [IDENTITY]}


def test_a_fixed_pool() -> None:
    spec = _node_pool(_pool({"diskSizeGiB": 512, "osDiskType": "Ephemeral"}, zones=("1",)))
    expected = {
        "vmSize": "Standard_ND96isr_H100_v5",
        "autoScalingEnabled": False,
        "nodeCount": 2,
        "gpuDriver": "Install",
        "osSku": "Ubuntu",
        "osDiskType": "Ephemeral",
        "osDiskSizeGb": 512,
        "zones": ["1"],
        "mode": "User",
        "nodeLabels": {names.LABEL_POOL: "pool", "nvidia.com/gpu.present": "true"},
        "nodeTaints": ["nvidia.com/gpu=present:NoSchedule"],
        "upgradeSettings": {"maxSurge": "1", "drainTimeoutInMinutes": 60},
    }
    assert {key: spec.get(key) for key in expected} == expected
    assert not {"minCount", "maxCount"} & set(spec)


def test_a_pool_that_scales_has_bounds_and_no_number() -> None:
    spec = _node_pool(_pool(count=None, bounds=(1, 4)))
    assert (spec["autoScalingEnabled"], spec["minCount"], spec["maxCount"]) == (True, 1, 4)
    assert "nodeCount" not in spec


def test_spot_capacity_has_the_taint_and_label_that_azure_adds() -> None:
    taints = (SPOT, sites.taint("team", "NoExecute", "a"))
    spec = _node_pool(_pool({"priority": "Spot"}, count=None, taints=taints))
    assert (spec["priority"], spec["evictionPolicy"], spec["spotMaxPrice"]) == ("Spot", "Delete", -1)
    assert spec["nodeTaints"] == [
        "nvidia.com/gpu=present:NoSchedule",
        "kubernetes.azure.com/scalesetpriority=spot:NoSchedule",
        "team=a:NoExecute",
    ]
    assert spec["nodeLabels"]["kubernetes.azure.com/scalesetpriority"] == "spot"
    assert "upgradeSettings" not in spec, "Spot pools can't set max surge"


def test_what_was_reserved_has_no_spare_node() -> None:
    spec = _node_pool(_pool({"capacityReservationGroupId": RESERVED, "proximityPlacementGroupId": CLOSE}))
    assert spec["capacityReservationGroupId"] == RESERVED
    assert spec["proximityPlacementGroupId"] == CLOSE
    assert spec["upgradeSettings"] == {"maxSurge": "0", "maxUnavailable": "1", "drainTimeoutInMinutes": 60}


def test_the_driver_of_amd_is_installed_by_its_operator() -> None:
    spec = _node_pool(_pool(MI300X, drivers=("gpu.amd.com",)))
    assert spec["gpuDriver"] == "None"
    assert spec["nodeTaints"] == ["amd.com/gpu=present:NoSchedule"]
    assert spec["nodeLabels"] == {names.LABEL_POOL: "pool"}


def test_nodes_without_devices_have_neither_driver_nor_taint() -> None:
    spec = _node_pool(_pool({"vmSize": "Standard_D16ds_v5"}, devices=0, drivers=()))
    assert "gpuDriver" not in spec
    assert spec["nodeTaints"] == []


@pytest.mark.parametrize(
    ("fields", "observed", "nodes"),
    [
        pytest.param({"count": 3}, {"nodeCount": 3}, Nodes(3), id="fixed"),
        pytest.param({"count": 3}, {}, Nodes(None), id="not-reported-yet"),
        pytest.param({"count": None}, {"nodeCount": 1}, Nodes(1, 3), id="grows-to-its-bound"),
        pytest.param({"count": None}, {}, Nodes(None, 4), id="will-have-the-least"),
        pytest.param({"count": None}, {"nodeCount": 0}, Nodes(0, 0), id="never-from-nothing"),
        pytest.param({"count": None, "bounds": (0, 4)}, {}, Nodes(None, 0), id="may-be-empty"),
        pytest.param({"count": None}, {"nodeCount": 9}, Nodes(9, 0), id="more-than-the-bound"),
        pytest.param({"count": None, "spot": True}, {"nodeCount": 1}, Nodes(1, 0), id="spot-promises-nothing"),
        pytest.param({"count": 3}, {"nodeCount": "3"}, Nodes(None), id="another-type-is-unknown"),
    ],
)
def test_nodes_are_counted_as_the_provider_reads_them(fields: Json, observed: Json, nodes: Nodes) -> None:
    fields = dict(fields)
    pool = _pool({"priority": "Spot" if fields.pop("spot", False) else "Regular"}, **fields)
    assert aks.nodes(pool, {"pool": _seen(**observed)}) == nodes


@pytest.mark.parametrize(
    ("pool", "called"),
    [
        pytest.param("h100", "h100", id="as-it-is"),
        pytest.param("abcdefghijkl", "abcdefghijkl", id="twelve"),
        pytest.param("h100-8x", None, id="hyphen"),
        pytest.param("8x", None, id="digit-first"),
        pytest.param("a" * 13, None, id="long"),
        pytest.param("abcd01234567", None, id="like-one-with-a-digest"),
        pytest.param("systemtmp", None, id="taken"),
    ],
)
def test_names_of_pools_are_short(pool: str, called: str | None) -> None:
    name = naming.pool_name(pool)
    assert re.fullmatch(r"[a-z][a-z0-9]{0,11}", name)
    if called is None:
        assert name != pool
        assert re.fullmatch(r"[a-z0-9]{4}[0-9a-f]{8}", name)
    else:
        assert name == called


def test_the_group_of_the_nodes_is_named_where_azure_would_refuse_its_own_name() -> None:
    assert "nodeResourceGroup" not in _cluster()
    long = _by_key(aks.cluster(_site("n" * 60), {}))["cluster"]["spec"]["forProvider"]
    assert len(long["nodeResourceGroup"]) <= 80
    assert len(long["dnsPrefix"]) <= 54
    adopted = _by_key(aks.cluster(_site("n" * 60, external_name="a" * 63), {}))["cluster"]
    assert "nodeResourceGroup" not in adopted["spec"]["forProvider"], "it would replace a cluster that exists"
    assert adopted["metadata"]["annotations"]["crossplane.io/external-name"] == "a" * 63


def test_the_stack_needs_nothing() -> None:
    needs = aks.stack_needs(_site())
    assert (needs.gpu_driver_root, needs.needs_critical_quota) == ("/", False)


def test_offline_a_cluster_is_made_with_what_was_asked_for() -> None:
    site = _site(settings={"kubernetesVersion": "1.34"})
    observed: Mapping[str, Json] = {}
    for _ in range(2):
        made = _by_key(aks.cluster(site, observed))
        observed = {key: {**one, "status": {"atProvider": aks.assumed(one)}} for key, one in made.items()}
    assert sorted(observed) == ["cluster", "identity", "identity-role"]
    assert aks.facts(site, observed) == {"version": "1.34.1", "endpoint": "north.hcp.swedencentral.azmk8s.io"}
    assert aks.facts(site, {"cluster": _seen(fqdn=3)}) == {}
    for pool, nodes in ((_pool(count=6), Nodes(6)), (_pool(count=None), Nodes(1, 3))):
        (one,) = aks.node_pool(site, pool, {}, {})
        assert aks.nodes(pool, {"pool": _seen(**aks.assumed(one.resource))}) == nodes
