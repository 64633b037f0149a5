"""Node pools of EKS: node groups, launch templates, sizes, and what is counted."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane.errors import InvalidInput
from modelplane.render.clouds import eks
from modelplane.render.clouds.eks import sizes
from modelplane.render.provisioning import POOL, Nodes
from modelplane.workload.created import NodeTaint, PoolSpec
from tests.support import eks as world

Json = Any

FABRIC = {"instanceType": "p6-b200.48xlarge", "efaInterfaces": 8}
IN_BLOCK = FABRIC | {"capacityType": "CAPACITY_BLOCK", "capacityReservationId": world.BLOCK}


def _pool(of: PoolSpec, **settings: Json) -> dict[str, Json]:
    return {one.key: one.resource for one in world.settled_pool(world.site(**settings), of)}


def _fields(resource: Json) -> Json:
    return resource["spec"]["forProvider"]


def test_a_plain_pool_is_a_node_group_alone() -> None:
    found = _pool(world.pool(recipe={"diskSizeGiB": 300, "capacityType": "SPOT"}))
    assert list(found) == [POOL]
    assert found[POOL]["metadata"]["annotations"]["crossplane.io/external-name"] == "l40s"
    assert _fields(found[POOL]) == {
        "region": world.REGION,
        "clusterNameRef": {"name": "ohio"},
        "nodeRoleArnRef": _fields(found[POOL])["nodeRoleArnRef"],
        "subnetIdRefs": _fields(found[POOL])["subnetIdRefs"],
        "amiType": "AL2023_x86_64_NVIDIA",
        "capacityType": "SPOT",
        "instanceTypes": ["g6e.12xlarge"],
        "diskSize": 300,
        "scalingConfig": {"minSize": 2, "desiredSize": 2, "maxSize": 2},
        "updateConfig": {"maxUnavailable": 1},
        "nodeRepairConfig": {"enabled": True},
        "labels": {"modelplane.ai/pool": "l40s"},
        "taint": [{"key": "nvidia.com/gpu", "value": "true", "effect": "NO_SCHEDULE"}],
        "version": "1.34",
    }


@pytest.mark.parametrize(
    "recipe",
    [
        pytest.param({"efaInterfaces": 1}, id="an-adapter"),
        pytest.param({"placementGroup": "shared"}, id="a-group-that-exists"),
        pytest.param({"placementPolicy": "Cluster"}, id="a-group-of-its-own"),
        pytest.param({"capacityReservationId": world.BLOCK}, id="bought-capacity"),
        pytest.param({"diskThroughputMiB": 500}, id="a-faster-disk"),
    ],
)
def test_type_and_disk_stand_in_the_template_where_there_is_one(recipe: Json) -> None:
    found = _pool(world.pool(recipe=recipe | {"diskSizeGiB": 300}))
    group, template = _fields(found[POOL]), _fields(found["launch-template"])
    assert not {"instanceTypes", "diskSize"} & group.keys(), "EKS refuses them in both places"
    assert group["launchTemplate"] == {"name": template["name"], "version": "1"}
    assert template["instanceType"] == "g6e.12xlarge"
    assert template["blockDeviceMappings"][0]["ebs"]["volumeSize"] == 300
    assert not {"iamInstanceProfile", "instanceInitiatedShutdownBehavior"} & template.keys()
    assert all("subnetId" not in one for one in template.get("networkInterfaces", ()))


def test_the_adapters_of_a_node_are_bounded() -> None:
    """Each is rendered, and the recipe of a part is any object. Without the bound it ran for ever."""
    with pytest.raises(InvalidInput, match="efaInterfaces"):
        _pool(world.pool(recipe={"efaInterfaces": 2**53 - 1}))


def test_a_template_with_interfaces_waits_for_the_group_of_the_cluster_and_names_it() -> None:
    of, where = world.pool("b200", recipe=FABRIC, devices=8), world.site(privateNodes=True)
    assert eks.node_pool(where, of, {}, {}) == ()
    known = world.facts(where)
    (template,) = eks.node_pool(where, of, known, {})
    interfaces = template.resource["spec"]["forProvider"]["networkInterfaces"]
    assert {tuple(one["securityGroups"]) for one in interfaces} == {(known["clusterSecurityGroupId"],)}
    assert [one.key for one in world.settled_pool(where, of)] == ["launch-template", POOL]


def test_a_node_group_uses_the_newest_version_of_its_template() -> None:
    of, where = world.pool(recipe={"diskThroughputMiB": 500}), world.site()
    observed = world.made(eks.node_pool(where, of, {}, {}))
    observed["launch-template"]["status"]["atProvider"]["latestVersion"] = 7
    found = {one.key: one.resource for one in eks.node_pool(where, of, {}, observed)}
    assert _fields(found[POOL])["launchTemplate"]["version"] == "7"


@pytest.mark.parametrize(
    ("size", "adapters", "expected"),
    [
        pytest.param("g6e.12xlarge", 0, [], id="none"),
        pytest.param("g6e.12xlarge", 1, [(0, 0, "efa")], id="one-carries-ip-too"),
        pytest.param("g6e.24xlarge", 2, [(0, 0, "interface"), (0, 1, "efa-only"), (1, 0, "efa-only")], id="two"),
        pytest.param(
            "p6-b200.48xlarge",
            8,
            [(0, 0, "interface"), (0, 1, "efa-only"), *((card, 0, "efa-only") for card in range(1, 8))],
            id="one-on-each-card",
        ),
        pytest.param(
            "p6-b300.48xlarge",
            16,
            [(0, 0, "interface"), *((card, 0, "efa-only") for card in range(1, 17))],
            id="the-first-card-takes-none",
        ),
        pytest.param("p6-b300.48xlarge", 1, [(0, 0, "interface"), (1, 0, "efa-only")], id="one-not-on-the-first"),
    ],
)
def test_adapters_are_laid_out_on_cards(size: str, adapters: int, expected: list[tuple[int, int, str]]) -> None:
    found = sizes.attachments(sizes.SIZES[size], adapters)
    assert [(one.card, one.index, one.kind) for one in found] == expected


@pytest.mark.parametrize("size", sizes.SIZES.values(), ids=lambda one: one.name)
def test_every_size_has_one_adapter_on_a_card(size: sizes.Size) -> None:
    for adapters in range(size.fabric + 1):
        found = sizes.attachments(size, adapters)
        fabric = [one.card for one in found if one.kind != sizes.INTERFACE]
        assert len(fabric) == len(set(fabric)) == adapters
        assert len({(one.card, one.index) for one in found}) == len(found)
        assert not found or found[0].kind != sizes.FABRIC_ALONE, "such an interface has no address"


def test_a_capacity_block_keeps_the_size_that_eks_gives_it() -> None:
    found = _pool(world.pool("b200", recipe=IN_BLOCK, devices=8), privateNodes=True)
    template, group = _fields(found["launch-template"]), found[POOL]
    assert template["instanceMarketOptions"] == {"marketType": "capacity-block"}
    target = template["capacityReservationSpecification"]["capacityReservationTarget"]
    assert target == {"capacityReservationId": world.BLOCK}
    assert _fields(group)["capacityType"] == "CAPACITY_BLOCK"
    assert _fields(group)["scalingConfig"] == {"minSize": 0, "maxSize": 2}
    assert group["spec"]["initProvider"] == {"scalingConfig": {"desiredSize": 2}}
    assert _fields(group)["updateConfig"]["updateStrategy"] == "MINIMAL"


def test_reserved_capacity_is_no_market_of_its_own() -> None:
    found = _pool(world.pool(recipe={"capacityReservationId": world.BLOCK}))
    assert "instanceMarketOptions" not in _fields(found["launch-template"])
    assert _fields(found[POOL])["updateConfig"] == {"maxUnavailable": 1, "updateStrategy": "MINIMAL"}


@pytest.mark.parametrize(
    ("autoscaler", "bounds", "initial"),
    [
        pytest.param(False, {"minSize": 1, "desiredSize": 1, "maxSize": 1}, None, id="nothing-makes-it-grow"),
        pytest.param(
            True, {"minSize": 1, "maxSize": 8}, {"scalingConfig": {"desiredSize": 1}}, id="an-autoscaler-owns-it"
        ),
    ],
)
def test_a_pool_that_scales(autoscaler: bool, bounds: Json, initial: Json) -> None:  # noqa: FBT001  a column of the table
    found = _pool(world.grown(), autoscaler=autoscaler)[POOL]
    assert _fields(found)["scalingConfig"] == bounds
    assert found["spec"].get("initProvider") == initial


def test_a_pool_of_no_nodes_has_the_smallest_bounds_that_eks_takes() -> None:
    found = _pool(world.pool(declared=0, least=0, most=0))[POOL]
    assert _fields(found)["scalingConfig"] == {"minSize": 0, "desiredSize": 0, "maxSize": 1}


def test_a_pool_of_its_own_placement_group_stands_in_it() -> None:
    found = _pool(world.pool(recipe={"placementPolicy": "Cluster"}))
    group = found["placement-group"]
    assert _fields(group)["strategy"] == "cluster"
    name = group["metadata"]["annotations"]["crossplane.io/external-name"]
    assert _fields(found["launch-template"])["placement"] == {"groupName": name}


def test_labels_of_kubernetes_and_of_eks_are_theirs_to_set() -> None:
    labels = (
        ("kubernetes.io/arch", "amd64"),
        ("node.kubernetes.io/instance-type", "x"),
        ("eks.amazonaws.com/a", "b"),
        ("a/b", "c"),
    )
    assert _fields(_pool(world.pool(labels=labels))[POOL])["labels"] == {"a/b": "c", "modelplane.ai/pool": "l40s"}


def test_taints_are_in_the_words_of_eks_and_the_authors_comes_first() -> None:
    own = (NodeTaint("nvidia.com/gpu", "", "NoSchedule"), NodeTaint("team", "a", "PreferNoSchedule"))
    assert _fields(_pool(world.pool(taints=own))[POOL])["taint"] == [
        {"key": "nvidia.com/gpu", "effect": "NO_SCHEDULE"},
        {"key": "team", "value": "a", "effect": "PREFER_NO_SCHEDULE"},
    ]


def test_a_pool_without_devices_has_the_standard_image_and_no_taint() -> None:
    found = _fields(_pool(world.pool(recipe={"instanceType": "m7i.4xlarge"}, devices=0, drivers=()))[POOL])
    assert (found["amiType"], found["taint"]) == ("AL2023_x86_64_STANDARD", [])


@pytest.mark.parametrize(
    ("kind", "devices", "image"),
    [
        pytest.param("p5.48xlarge", 8, "AL2023_x86_64_NVIDIA", id="gpus"),
        pytest.param("p9.48xlarge", 8, "AL2023_x86_64_NVIDIA", id="gpus-of-an-unknown-family"),
        pytest.param("p6e-gb200.36xlarge", 4, "AL2023_ARM_64_NVIDIA", id="grace"),
        pytest.param("g5g.xlarge", 1, "AL2023_ARM_64_NVIDIA", id="graviton-with-gpus"),
        pytest.param("trn2.48xlarge", 16, "AL2023_x86_64_NEURON", id="neuron"),
        pytest.param("m7gd.4xlarge", 0, "AL2023_ARM_64_STANDARD", id="graviton"),
        pytest.param("g6e.xlarge", 1, "AL2023_x86_64_NVIDIA", id="no-graviton"),
    ],
)
def test_the_image_follows_the_type(kind: str, devices: int, image: str) -> None:
    of = world.pool(recipe={"instanceType": kind}, devices=devices, drivers=())
    assert _fields(_pool(of)[POOL])["amiType"] == image
    assert list(eks.problems(world.site(), (of,))) == []


def test_a_pool_in_given_subnets_has_that_of_its_zone() -> None:
    found = _fields(_pool(world.pool(zones=(world.B,)), zones=None, **world.GIVEN)[POOL])
    assert found["subnetIds"] == [world.GIVEN["zoneSubnetIds"][world.B]]
    assert "subnetIdRefs" not in found


# --- counting ---------------------------------------------------------------------------------------------------------


def _observed(status: Json, *, scales: bool) -> Json:
    initial = {"initProvider": {"scalingConfig": {"desiredSize": 1}}} if scales else {}
    return {POOL: {"kind": "NodeGroup", "spec": {"forProvider": {}, **initial}, "status": {"atProvider": status}}}


def _reported(size: Json, status: str = "ACTIVE") -> Json:
    return {"status": status, "scalingConfig": {"desiredSize": size}}


PLUGIN: Json = {"drivers": ()}


@pytest.mark.parametrize(
    ("of", "status", "scales", "expected"),
    [
        pytest.param(world.pool(), {}, False, Nodes(), id="nothing-reported"),
        pytest.param(world.pool(), _reported("two"), False, Nodes(), id="no-number"),
        pytest.param(world.pool(), _reported(2, "CREATING"), False, Nodes(0), id="none-there-yet"),
        pytest.param(world.pool(), _reported(2, "CREATE_FAILED"), False, Nodes(0), id="none-came"),
        pytest.param(world.pool(), _reported(2), False, Nodes(2), id="a-fixed-pool"),
        pytest.param(world.pool(), _reported(2.0), False, Nodes(2), id="a-number-of-json"),
        pytest.param(world.pool(), _reported(0), False, Nodes(0), id="a-block-that-ended"),
        pytest.param(world.grown(), _reported(3), False, Nodes(3), id="no-autoscaler-no-promise"),
        pytest.param(world.grown(), _reported(3), True, Nodes(3, 5), id="up-to-its-largest"),
        pytest.param(world.grown(), _reported(9), True, Nodes(9, 0), id="above-its-largest"),
        pytest.param(world.grown(), _reported(0), True, Nodes(0, 0), id="dra-never-wakes-from-zero"),
        pytest.param(world.grown(**PLUGIN), _reported(0), True, Nodes(0, 8), id="a-device-plugin-does"),
        pytest.param(
            world.grown(recipe={"capacityType": "SPOT"}), _reported(3), True, Nodes(3), id="spot-is-no-promise"
        ),
        pytest.param(world.pool(recipe=IN_BLOCK), _reported(2), True, Nodes(2), id="a-block-never-grows"),
    ],
)
def test_nodes_are_those_that_the_cloud_reports(of: PoolSpec, status: Json, scales: bool, expected: Nodes) -> None:  # noqa: FBT001
    assert eks.nodes(of, _observed(status, scales=scales)) == expected


def test_nothing_observed_is_nothing_known() -> None:
    assert eks.nodes(world.pool(), {}) == Nodes()
