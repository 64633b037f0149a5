"""The grammar of device requests: what is refused, at which field, and with which words."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane import units
from modelplane.api import device_requests, inference_class, inference_cluster, workload
from modelplane.api.fields import Field
from modelplane.devices.model import (
    ASSUMED_MINOR,
    Attribute,
    AttributeKind,
    DeviceTaint,
    DeviceTaintEffect,
    Mode,
    NodeClass,
    Policy,
    Range,
    Relation,
)
from modelplane.errors import InvalidInput
from tests.support import placements as build

GATE = "DRAListTypeAttributes"
ALTERNATIVE = {"name": "l40s", "count": 4}


def spec(*devices: dict[str, Any], tensor: int = 1, **selector: Any) -> dict[str, Any]:
    template = {"spec": {"containers": [{"name": "engine", "image": "vllm/vllm-openai:v0.23.0"}]}}
    return {
        "nodeSelector": {"devices": list(devices), **selector},
        "workers": {"topology": {"tensor": tensor}, "template": template},
    }


@pytest.mark.parametrize(
    ("devices", "path", "words"),
    [
        pytest.param([{"name": "g", "adminAccess": True}], "devices[0].adminAccess", "is not offered", id="admin"),
        pytest.param(
            [{"name": "g", "firstAvailable": [{**ALTERNATIVE, "adminAccess": True}]}],
            "devices[0].firstAvailable[0].adminAccess",
            "is not offered",
            id="admin-in-an-alternative",
        ),
        pytest.param(
            [{"name": "g", "allocationMode": "All", "count": 2}], "devices[0].count", "remove count", id="all-and-count"
        ),
        pytest.param([{"name": "g", "allocationMode": "Some"}], "devices[0].allocationMode", "not one of", id="mode"),
        pytest.param(
            [{"name": "g", "count": 1, "firstAvailable": [ALTERNATIVE]}],
            "devices[0].count",
            "must be set in the alternatives",
            id="count-beside-alternatives",
        ),
        pytest.param(
            [{"name": "g", "firstAvailable": [{"name": f"a{i}"} for i in range(10)]}],
            "devices[0].firstAvailable",
            "has 10 alternatives, and DRA supports at most 8",
            id="ten-alternatives",
        ),
        pytest.param(
            [{"name": "g", "firstAvailable": [ALTERNATIVE, ALTERNATIVE]}],
            "devices[0].firstAvailable[1].name",
            "used twice",
            id="alternative-twice",
        ),
        pytest.param(
            [{"name": "g", "tolerations": [{"operator": "Equal"}]}],
            "devices[0].tolerations[0].key",
            "is required",
            id="toleration-of-nothing",
        ),
        pytest.param(
            [{"name": "g", "tolerations": [{"operator": "Exists", "value": "x"}]}],
            "devices[0].tolerations[0].value",
            "operator: Equal",
            id="toleration-with-a-value",
        ),
        pytest.param(
            [{"name": "g", "capacity": {"requests": {"memory": "-1"}}}],
            "devices[0].capacity.requests.memory",
            "must be at least 0",
            id="negative-capacity",
        ),
        pytest.param(
            [{"name": "g", "capacity": {"requests": {"memory": "40GB"}}}],
            "devices[0].capacity.requests.memory",
            "quantities must match",
            id="no-quantity",
        ),
    ],
)
def test_refused_where_it_stands(devices: list[dict[str, Any]], path: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words) as refused:
        workload.decode(spec(*devices), namespace="n", deployment="d")
    assert str(refused.value).startswith(f"spec.nodeSelector.{path}")


def test_an_alternative_of_too_few_is_refused_where_it_stands() -> None:
    alternatives = [{"name": "h100", "count": 8}, {"name": "l40s", "count": 2}]
    with pytest.raises(InvalidInput, match='alternative "l40s" of request "gpu" asks for 2') as refused:
        workload.decode(spec({"name": "gpu", "firstAvailable": alternatives}, tensor=4), namespace="n", deployment="d")
    assert str(refused.value).startswith("spec.nodeSelector.devices[0].firstAvailable[1].count")


def test_all_asks_for_no_fewer_than_the_topology_runs() -> None:
    found = workload.decode(spec({"name": "gpu", "allocationMode": "All"}, tensor=4), namespace="n", deployment="d")
    assert (found.roles[0].requests[0].mode, found.roles[0].requests[0].count) == (Mode.ALL, 4)


def test_a_constraint_says_one_relation_of_requests_there_are() -> None:
    requests = (device_requests.decode(Field({"name": "g", "firstAvailable": [ALTERNATIVE]}), default_count=1),)

    def read(entry: dict[str, Any]) -> Any:
        return device_requests.decode_constraints(Field([entry]), requests)

    (found,) = read({"distinctAttribute": "net/rail", "requests": ["g/l40s"]})
    assert (found.relation, found.attribute, found.requests) == (Relation.DISTINCT, "net/rail", ("g/l40s",))
    with pytest.raises(InvalidInput, match='no request is named "g/h100"; the requests are g, g/l40s'):
        read({"matchAttribute": "net/rail", "requests": ["g/h100"]})
    with pytest.raises(InvalidInput, match="exactly one of"):
        read({"matchAttribute": "net/rail", "distinctAttribute": "net/rail"})


def pool(**entry: Any) -> NodeClass:
    """Return the class of a cluster's pool."""
    declared = {"kubernetesVersion": entry.pop("version", None), "featureGates": entry.pop("gates", None)}
    existing = {"existing": {field: value for field, value in declared.items() if value is not None}}
    one = {"name": "main", "className": "h200-8x", "nodeCount": 1, **entry}
    found = inference_cluster.decode_pools(
        Field({"cluster": existing, "nodePools": [one]}), {"h200-8x": build.H200}, {}
    )
    assert found[0].node_class is not None
    return found[0].node_class


def test_rules_of_a_cluster_taint_the_devices_of_a_pool() -> None:
    entry = {"driver": build.GPU, "key": "sick", "effect": "NoExecute"}
    found = pool(deviceTaints=[entry])
    assert found.devices[0].taints == (DeviceTaint("sick", DeviceTaintEffect.NO_EXECUTE),)
    assert pool(deviceTaints=[entry]) is found
    assert pool(deviceTaints=[{**entry, "driver": "other.example.com"}]).devices == build.H200.devices
    assert pool() is build.H200


@pytest.mark.parametrize(
    ("version", "minor"), [("1.34", 34), ("v1.35.2-gke.100", 35), ("1.36", 36), ("1.37.0", ASSUMED_MINOR)]
)
def test_a_class_is_of_the_version_of_its_cluster(version: str, minor: int) -> None:
    assert pool(version=version).kubernetes_minor == minor


@pytest.mark.parametrize("version", ["1.33", "one", "2.0", "1.3345"])
def test_other_versions_are_refused(version: str) -> None:
    with pytest.raises(InvalidInput, match="kubernetesVersion"):
        pool(version=version)


@pytest.mark.parametrize(
    ("version", "gates", "says"),
    [
        pytest.param("1.35", [GATE], "needs Kubernetes 1.36, and the cluster runs 1.35; remove it", id="older"),
        pytest.param("1.37", ["DRAConsumableCapacity"], f"must be {GATE}", id="another-gate"),
    ],
)
def test_a_feature_gate_that_changes_nothing_is_refused(version: str, gates: list[str], says: str) -> None:
    with pytest.raises(InvalidInput, match=says) as refused:
        pool(version=version, gates=gates)
    assert str(refused.value).startswith("cluster.existing.featureGates[0]")


def test_lists_are_on_where_the_gate_is_declared() -> None:
    assert pool(version="1.37", gates=[GATE]).lists_are_on
    assert not pool(version="1.37").lists_are_on


def test_an_attribute_may_be_a_list() -> None:
    device = {"name": "g", "driver": "d", "deviceClassName": "c", "attributes": {"rail": {"strings": ["a", "b"]}}}
    resource = {"metadata": {"name": "x"}, "spec": {"devices": [device]}}
    (found,) = inference_class.decode(resource).devices
    assert found.attributes == (("rail", Attribute(AttributeKind.STRINGS, ("a", "b"))),)
    wrongs: tuple[tuple[Any, str], ...] = (
        ({"ints": []}, "at least one value"),
        ({"versions": ["9"]}, "version"),
        ({"ints": ["a"]}, "integer|number"),
    )
    for wrong, says in wrongs:
        device["attributes"] = {"rail": wrong}
        with pytest.raises(InvalidInput, match=says) as refused:
            inference_class.decode(resource)
        assert str(refused.value).startswith("spec.devices[0].attributes.rail.")


COUNTERS = {"counterSet": "g", "counters": {"memory": {"value": "10Gi"}}}


def shared(policy: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a class of one device that pods share."""
    memory = {"value": "80Gi", "requestPolicy": policy}
    device = {"name": "g", "driver": "d", "deviceClassName": "c", "allowMultipleAllocations": True, **more}
    sets = [{"name": "g", "count": 1, "counters": {"memory": {"value": "80Gi"}}}]
    devices = [{**device, "capacity": {"memory": memory}}]
    return {"metadata": {"name": "x"}, "spec": {"devices": devices, "sharedCounters": sets}}


def test_a_class_declares_how_pods_share_a_device() -> None:
    policy = {"default": "10Gi", "validRange": {"min": "10Gi", "step": "5Gi"}}
    (found,) = inference_class.decode(shared(policy)).devices
    assert found.is_shared
    ten, five = units.quantity("10Gi"), units.quantity("5Gi")
    assert found.policies == (("memory", Policy(ten, Range(ten, None, five))),)


@pytest.mark.parametrize(
    ("policy", "more", "says"),
    [
        pytest.param({"default": "90Gi"}, {}, "above 80Gi", id="more-than-there-is"),
        pytest.param({"validValues": ["10Gi"]}, {}, "must have a default", id="no-default"),
        pytest.param({"default": "10Gi", "validRange": {"max": "20Gi"}}, {}, "must have a min", id="no-min"),
        pytest.param(
            {"default": "12Gi", "validRange": {"min": "10Gi", "step": "5Gi"}},
            {},
            "a default that it allows",
            id="default",
        ),
        pytest.param(
            {"default": "10Gi", "validRange": {"min": "10Gi", "step": "500m"}}, {}, "whole numbers", id="fractions"
        ),
        pytest.param({"default": "10Gi", "validRange": {"min": "10Gi", "step": 0}}, {}, "a step above 0", id="no-step"),
        pytest.param(
            {"default": "7Gi", "validRange": {"min": "7Gi", "max": "24Gi", "step": "4Gi"}},
            {},
            "steps above min",
            id="max",
        ),
        pytest.param(
            {"default": "10Gi", "validRange": {"min": "10Gi", "step": "79Gi"}}, {}, "room for one step", id="one-step"
        ),
        pytest.param({"default": "1Gi", "validValues": ["2Gi", "1Gi"]}, {}, "ascending order", id="order"),
        pytest.param(
            {"default": "1Gi", "validValues": ["1Gi"], "validRange": {"min": "1Gi"}}, {}, "remove one", id="both"
        ),
        pytest.param({"default": "1Gi"}, {"allowMultipleAllocations": False}, "let pods share", id="not-shared"),
        pytest.param({"default": "1Gi"}, {"claim": "Synthetic"}, 'goes with "claim: DRA"', id="synthetic"),
        pytest.param({"default": "1Gi"}, {"consumesCounters": [COUNTERS]}, "consume counters", id="parts"),
    ],
)
def test_a_policy_that_no_api_server_stores_is_refused(policy: dict[str, Any], more: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        inference_class.decode(shared(policy, **more))


def test_a_class_declares_taints_of_what_is_claimed() -> None:
    device = {"name": "g", "driver": "d", "deviceClassName": "c", "taints": [{"key": "k", "effect": "NoSchedule"}]}
    made = {"metadata": {"name": "c"}, "spec": {"devices": [device]}}
    assert inference_class.decode(made).devices[0].taints == (DeviceTaint("k", DeviceTaintEffect.NO_SCHEDULE),)
    with pytest.raises(InvalidInput, match=r"spec.devices\[0\].taints"):
        inference_class.decode({**made, "spec": {"devices": [{**device, "claim": "Synthetic"}]}})


def test_a_device_plugin_is_not_the_other_name_of_a_device_class() -> None:
    """Its devices would be counted apart from those that are claimed of the DeviceClass."""
    name = "deviceclass.resource.kubernetes.io/gpu.nvidia.com"
    device = {"name": "g", "driver": "d", "claim": "DevicePlugin", "resourceName": name}
    with pytest.raises(InvalidInput, match=r'DeviceClass gpu.nvidia.com.* write "claim: DRA"'):
        inference_class.decode({"metadata": {"name": "c"}, "spec": {"devices": [device]}})
