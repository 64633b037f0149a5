"""GKE: what is rendered of a network, a cluster and node pools, and what may be counted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from modelplane import names
from modelplane.render import protection
from modelplane.render.clouds import gke, selection
from modelplane.render.manifest import Manifest
from modelplane.render.provisioning import Nodes, PoolSpec, Provisioner, Site
from modelplane.render.stack import releases
from tests.support import gcp_fields, sites

Json = Any
SETTINGS = {"project": "acme-inference", "region": "us-central1", "providerConfigRef": {"name": "gcp-prod"}}
L4 = {"machineType": "g2-standard-96"}
H200 = {"machineType": "a3-ultragpu-8g", "placementPolicy": "Compact", "networkProfile": "auto", "reservation": "h200"}
ZONE = ("us-central1-b",)
TWO = ("us-central1-a", "us-central1-c")


def _site(cluster: str = "north", *, settings: Json = None, **fields: Any) -> Site:
    return sites.site("gke", SETTINGS | (settings or {}), cluster=cluster, **fields)


def _pool(recipe: Json, **fields: Any) -> PoolSpec:
    return sites.pool("gke", recipe, **{"zones": ZONE, **fields})


def _by_key(manifests: tuple[Manifest, ...]) -> dict[str, Json]:
    assert len({one.key for one in manifests}) == len(manifests)
    return {one.key: one.resource for one in manifests}


def _cluster(**settings: Json) -> Json:
    return _by_key(gke.cluster(_site(settings=settings), {}))["cluster"]["spec"]["forProvider"]


def _node_pool(pool: PoolSpec, **settings: Json) -> Json:
    assert [str(one) for one in gke.problems(_site(settings=settings), (pool,))] == []
    (made,) = gke.node_pool(_site(settings=settings), pool, {}, {})
    assert gcp_fields.problems(made.resource) == []
    return made.resource["spec"]


def _seen(count: Json) -> Mapping[str, Json]:
    return {"pool": {"status": {"atProvider": {"nodeCount": count}}}}


def test_it_is_a_cloud_that_makes_clusters() -> None:
    assert isinstance(gke, Provisioner)
    assert selection.maker("GKE") is gke


def test_everything_of_a_cluster_is_what_the_provider_takes() -> None:
    site = _site()
    pools = (_pool(H200, name="frontier"), _pool(L4, name="l4", count=None, zones=TWO))
    assert not list(gke.problems(site, pools))
    made = [
        *gke.network(site),
        *gke.cluster(site, {}),
        *(one for pool in pools for one in gke.node_pool(site, pool, {}, {})),
    ]
    assert {one.key: gcp_fields.problems(one.resource) for one in made} == {one.key: [] for one in made}
    served = {(one.api_version, one.kind) for one in gke.served()}
    assert {(one.resource["apiVersion"], one.resource["kind"]) for one in made} == served
    assert list(gke.served()) == sorted(set(gke.served()), key=lambda one: (one.api_version, one.kind))


def test_the_network_has_ranges_for_pods_and_services() -> None:
    made = _by_key(gke.network(_site()))
    assert made["network"]["spec"]["forProvider"]["mtu"] == 8896
    assert made["network"]["spec"]["forProvider"]["autoCreateSubnetworks"] is False
    subnetwork = made["subnetwork"]["spec"]["forProvider"]
    assert subnetwork["ipCidrRange"] == "10.0.0.0/20"
    assert subnetwork["networkRef"] == {"name": made["network"]["metadata"]["name"]}
    assert subnetwork["secondaryIpRange"] == [
        {"rangeName": "pods", "ipCidrRange": "10.16.0.0/14"},
        {"rangeName": "services", "ipCidrRange": "10.20.0.0/20"},
    ]


def test_an_existing_network_is_named_and_nothing_is_made() -> None:
    existing = {"network": "shared", "subnetwork": "shared-us"}
    assert gke.network(_site(settings=existing)) == ()
    cluster = _cluster(**existing, podRangeName="p", serviceRangeName="s")
    assert (cluster["network"], cluster["subnetwork"]) == ("shared", "shared-us")
    assert not {"networkRef", "subnetworkRef"} & set(cluster)
    assert cluster["ipAllocationPolicy"] == {
        "stackType": "IPV4",
        "clusterSecondaryRangeName": "p",
        "servicesSecondaryRangeName": "s",
    }
    by_range = _cluster(**existing, podCidr="10.64.0.0/14")["ipAllocationPolicy"]
    assert by_range == {"stackType": "IPV4", "clusterIpv4CidrBlock": "10.64.0.0/14"}


def test_the_cluster_can_be_deleted_and_leaves_the_gateway_api_to_others() -> None:
    cluster = _cluster()
    assert cluster["deletionProtection"] is False, "left out it is true, and the deletion hangs"
    assert cluster["gatewayApiConfig"] == {"channel": "CHANNEL_DISABLED"}
    assert cluster["workloadIdentityConfig"] == {"workloadPool": "acme-inference.svc.id.goog"}
    assert cluster["ignoreNodeCountChanges"] is True
    assert cluster["location"] == "us-central1"


@pytest.mark.parametrize(
    ("settings", "channel", "version", "upkeep"),
    [
        pytest.param({}, "REGULAR", None, {"autoRepair": True, "autoUpgrade": True}, id="a-channel-by-default"),
        pytest.param(
            {"kubernetesVersion": "v1.35", "releaseChannel": "RAPID"},
            "RAPID",
            "1.35",
            {"autoRepair": True, "autoUpgrade": True},
            id="a-minor-is-the-least-version",
        ),
        pytest.param(
            {"kubernetesVersion": "1.35.1-gke.100"},
            "UNSPECIFIED",
            "1.35.1-gke.100",
            {"autoRepair": True, "autoUpgrade": False},
            id="a-pin-has-no-channel",
        ),
    ],
)
def test_a_channel_or_a_pinned_version_never_both(
    settings: Json, channel: str, version: str | None, upkeep: Json
) -> None:
    made = _by_key(gke.cluster(_site(settings=settings), {}))
    cluster, system = (made[key]["spec"]["forProvider"] for key in ("cluster", "system-pool"))
    pool = _node_pool(_pool(L4), **settings)["forProvider"]
    assert (cluster["releaseChannel"], cluster.get("minMasterVersion")) == ({"channel": channel}, version)
    pinned = version if channel == "UNSPECIFIED" else None
    for one in (system, pool):
        assert (one["management"], one.get("version")) == (upkeep, pinned)


def test_the_system_pool_is_small_and_no_pool_of_devices() -> None:
    system = _by_key(gke.cluster(_site(settings={"systemMachineType": "n2-standard-4"}), {}))["system-pool"]
    spec = system["spec"]["forProvider"]
    assert spec["autoscaling"] == {"totalMinNodeCount": 1, "totalMaxNodeCount": 3, "locationPolicy": "BALANCED"}
    assert spec["nodeConfig"]["labels"] == {names.LABEL_POOL: "system"}
    assert spec["nodeConfig"]["machineType"] == "n2-standard-4"
    assert not {"guestAccelerator", "taint"} & set(spec["nodeConfig"])


def test_the_control_plane_gets_in_with_a_key_of_its_own() -> None:
    made = _by_key(gke.cluster(_site(), {}))
    account = made["access-identity"]["metadata"]["annotations"]["crossplane.io/external-name"]
    member = f"serviceAccount:{account}@acme-inference.iam.gserviceaccount.com"
    assert made["access-role"]["spec"]["forProvider"] == {
        "project": "acme-inference",
        "role": "roles/container.admin",
        "member": member,
    }
    key = made["access-key"]["spec"]
    assert key["forProvider"]["serviceAccountIdRef"] == {"name": made["access-identity"]["metadata"]["name"]}
    kubeconfig = made["cluster"]["spec"]["writeConnectionSecretToRef"]["name"]
    config = gke.config(_site())
    assert config.key == "provider-config"
    for one in (config.resource, releases.config(config.resource).resource):
        assert one["metadata"] == {"name": protection.name_of("north")}
        secret = {"namespace": names.SYSTEM_NAMESPACE, "name": kubeconfig, "key": "kubeconfig"}
        assert one["spec"]["credentials"] == {"source": "Secret", "secretRef": secret}
        assert one["spec"]["identity"] == {
            "type": "GoogleApplicationCredentials",
            "source": "Secret",
            "secretRef": {
                "namespace": names.SYSTEM_NAMESPACE,
                "name": key["writeConnectionSecretToRef"]["name"],
                "key": "private_key",
            },
        }


def test_with_an_injected_identity_there_is_no_key() -> None:
    site = _site(settings={"access": "InjectedIdentity"})
    assert not [key for key in _by_key(gke.cluster(site, {})) if key.startswith("access")]
    for one in (gke.config(site),):
        assert one.resource["spec"]["identity"] == {
            "type": "GoogleApplicationCredentials",
            "source": "InjectedIdentity",
        }


def test_existing_accounts_of_nodes_are_used() -> None:
    email = "nodes@acme-inference.iam.gserviceaccount.com"
    made = _by_key(gke.cluster(_site(settings={"nodeServiceAccount": email}), {}))
    assert not [key for key in made if key.startswith("nodes")]
    node = _node_pool(_pool(L4), nodeServiceAccount=email)["forProvider"]["nodeConfig"]
    assert (node["serviceAccount"], "serviceAccountRef" in node) == (email, False)


def test_a_fixed_pool_of_what_was_reserved() -> None:
    spec = _node_pool(_pool(H200, count=4))["forProvider"]
    assert spec["nodeCount"] == 4
    assert "autoscaling" not in spec
    assert spec["nodeLocations"] == list(ZONE)
    assert spec["upgradeSettings"] == {"strategy": "SURGE", "maxSurge": 0, "maxUnavailable": 1}
    assert spec["networkConfig"] == {"acceleratorNetworkProfile": "auto"}
    assert spec["placementPolicy"] == {"type": "COMPACT"}
    node = spec["nodeConfig"]
    assert node["guestAccelerator"] == [
        {"type": "nvidia-h200-141gb", "count": 8, "gpuDriverInstallationConfig": {"gpuDriverVersion": "DEFAULT"}}
    ]
    assert node["ephemeralStorageLocalSsdConfig"] == {"localSsdCount": 32}
    assert node["diskType"] == "hyperdisk-balanced"
    assert node["gvnic"] == {"enabled": True}
    assert node["reservationAffinity"] == {
        "consumeReservationType": "SPECIFIC_RESERVATION",
        "key": "compute.googleapis.com/reservation-name",
        "values": ["h200"],
    }
    assert node["labels"]["cloud.google.com/gke-networking-dra-driver"] == "true"


def test_the_number_of_a_fixed_pool_counts_each_zone() -> None:
    assert _node_pool(_pool(L4, count=6, zones=TWO))["forProvider"]["nodeCount"] == 3


@pytest.mark.parametrize(
    ("bounds", "zones", "first"),
    [
        pytest.param((0, 8), TWO, None, id="from-nothing"),
        pytest.param((3, 8), TWO, 2, id="the-least-rounded-up"),
        pytest.param((1, 1), TWO, None, id="never-more-than-the-most"),
        pytest.param((2, 4), (), 2, id="zones-of-the-cluster"),
    ],
)
def test_the_bounds_of_a_pool_that_scales_count_the_pool(
    bounds: tuple[int, int], zones: tuple[str, ...], first: int | None
) -> None:
    spec = _node_pool(_pool(L4, count=None, bounds=bounds, zones=zones))
    assert spec["forProvider"]["autoscaling"] == {
        "totalMinNodeCount": bounds[0],
        "totalMaxNodeCount": bounds[1],
        "locationPolicy": "ANY",
    }
    assert spec["forProvider"]["ignoreNodeCountChanges"] is True
    assert "nodeCount" not in spec["forProvider"], "it does not stand beside autoscaling"
    assert spec.get("initProvider", {}).get("initialNodeCount") == first


def test_devices_are_claimed_from_one_driver_alone() -> None:
    claimed = _node_pool(_pool(L4))["forProvider"]["nodeConfig"]
    assert claimed["labels"] == {
        "cloud.google.com/gke-nvidia-gpu-dra-driver": "true",
        "gke-no-default-nvidia-gpu-device-plugin": "true",
        names.LABEL_POOL: "pool",
        "nvidia.com/gpu.present": "true",
    }
    counted = _node_pool(_pool(L4, drivers=()))["forProvider"]["nodeConfig"]
    assert counted["labels"] == {names.LABEL_POOL: "pool"}, "GKE's own device plugin hands the devices out"


def test_taints_of_the_author_stand_beside_that_of_the_devices() -> None:
    taints = (sites.taint("team", "NoExecute", "a"), sites.taint("nvidia.com/gpu"))
    assert _node_pool(_pool(L4))["forProvider"]["nodeConfig"]["taint"] == [
        {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}
    ]
    assert _node_pool(_pool(L4, taints=taints))["forProvider"]["nodeConfig"]["taint"] == [
        {"key": "team", "value": "a", "effect": "NO_EXECUTE"},
        {"key": "nvidia.com/gpu", "value": "", "effect": "NO_SCHEDULE"},
    ]


@pytest.mark.parametrize(
    ("recipe", "part"),
    [
        pytest.param({"spot": True}, {"spot": True}, id="spot"),
        pytest.param(
            {"flexStart": True, "maxRunSeconds": 86400},
            {
                "flexStart": True,
                "maxRunDuration": "86400s",
                "reservationAffinity": {"consumeReservationType": "NO_RESERVATION"},
            },
            id="flex-start",
        ),
        pytest.param({"imageStreaming": True}, {"gcfsConfig": {"enabled": True}}, id="streaming"),
        pytest.param(
            {"imageCacheDisk": "projects/a/global/images/engines"},
            {
                "gcfsConfig": {"enabled": True},
                "secondaryBootDisks": [
                    {"diskImage": "projects/a/global/images/engines", "mode": "CONTAINER_IMAGE_CACHE"}
                ],
            },
            id="images-on-a-disk",
        ),
        pytest.param(
            {"diskSizeGiB": 500, "diskType": "pd-balanced", "imageType": "UBUNTU_CONTAINERD", "localSsdCount": 8},
            {
                "diskSizeGb": 500,
                "diskType": "pd-balanced",
                "imageType": "UBUNTU_CONTAINERD",
                "ephemeralStorageLocalSsdConfig": {"localSsdCount": 8},
            },
            id="disks",
        ),
    ],
)
def test_a_recipe_is_rendered(recipe: Json, part: Json) -> None:
    node = _node_pool(_pool(L4 | recipe, count=None))["forProvider"]["nodeConfig"]
    assert {key: node.get(key) for key in part} == part


def test_a_type_that_is_not_in_the_table_is_rendered_as_it_is_written() -> None:
    recipe = {"machineType": "n1-standard-8", "acceleratorType": "nvidia-tesla-t4", "acceleratorCount": 2}
    node = _node_pool(_pool(recipe, devices=2))["forProvider"]["nodeConfig"]
    assert node["guestAccelerator"][0]["count"] == 2
    assert not {"ephemeralStorageLocalSsdConfig", "diskType", "gvnic"} & set(node)


def test_an_adopted_cluster_has_the_name_of_its_author() -> None:
    made = _by_key(gke.cluster(_site(external_name="prod-7"), {}))["cluster"]
    assert made["metadata"]["annotations"]["crossplane.io/external-name"] == "prod-7"


def test_what_is_kept_in_the_cloud_is_never_deleted() -> None:
    site = _site(is_kept=True)
    for one in (*gke.network(site), *gke.cluster(site, {}), *gke.node_pool(site, _pool(L4), {}, {})):
        assert "Delete" not in one.resource["spec"]["managementPolicies"]
        assert gcp_fields.problems(one.resource) == []


@pytest.mark.parametrize(
    ("fields", "observed", "nodes"),
    [
        pytest.param({"count": 6, "zones": TWO}, _seen(3), Nodes(6), id="each-zone-of-a-fixed-pool"),
        pytest.param({"count": 6, "zones": TWO}, {}, Nodes(None), id="nothing-is-reported-yet"),
        pytest.param({"count": 2}, _seen("two"), Nodes(None), id="another-type-is-unknown"),
        pytest.param(
            {"count": None, "bounds": (1, 4)}, _seen(2), Nodes(None, 4), id="the-number-of-one-that-scales-is-not-read"
        ),
        pytest.param({"count": None, "spot": True}, _seen(2), Nodes(2, 0), id="spot-promises-nothing"),
        pytest.param({"count": None, "spot": True}, {}, Nodes(None, 0), id="spot-that-is-not-reported-yet"),
    ],
)
def test_nodes_are_counted_where_they_are_read(fields: Json, observed: Json, nodes: Nodes) -> None:
    fields = dict(fields)
    recipe = L4 | {"spot": fields.pop("spot", False)}
    pool = _pool(recipe, **fields)
    assert gke.nodes(pool, observed) == nodes
    is_ignored = _node_pool(pool)["forProvider"].get("ignoreNodeCountChanges", False)
    assert is_ignored is (nodes.growable > 0), "what is ignored is not maintained"


def test_facts_are_known_when_they_are_reported() -> None:
    assert gke.facts(_site(), {}) == {}
    observed = {"cluster": {"status": {"atProvider": {"endpoint": "203.0.113.9", "masterVersion": 5}}}}
    assert gke.facts(_site(), observed) == {"endpoint": "203.0.113.9"}


def test_the_stack_finds_the_driver_and_asks_for_a_quota() -> None:
    needs = gke.stack_needs(_site())
    assert (needs.gpu_driver_root, needs.needs_critical_quota) == ("/home/kubernetes/bin/nvidia", True)


def test_offline_a_cluster_is_made_with_what_was_asked_for() -> None:
    site = _site(settings={"kubernetesVersion": "1.34"})
    made = _by_key(gke.cluster(site, {}))
    observed = {key: {**one, "status": {"atProvider": gke.assumed(one)}} for key, one in made.items()}
    assert gke.facts(site, observed) == {"version": "1.34.1-gke.1396002", "endpoint": "203.0.113.10"}
    pool = _pool(L4, count=6, zones=TWO)
    (one,) = gke.node_pool(site, pool, {}, {})
    assert gke.nodes(pool, {"pool": {"status": {"atProvider": gke.assumed(one.resource)}}}) == Nodes(6)
    assert made["access-identity"]["metadata"]["annotations"]["crossplane.io/external-name"] in str(
        gke.assumed(made["access-identity"])
    )
