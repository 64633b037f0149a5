"""The grammar of device requests: what is refused, at which field, and with which words."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane.api import device_requests, inference_class, inference_cluster, workload
from modelplane.api.fields import Field
from modelplane.devices.model import ASSUMED_MINOR, DeviceTaint, DeviceTaintEffect, Mode, NodeClass, Relation
from modelplane.errors import InvalidInput
from tests.support import placements as build

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
            "goes into the alternatives",
            id="count-beside-alternatives",
        ),
        pytest.param(
            [{"name": "g", "firstAvailable": [{"name": f"a{i}"} for i in range(10)]}],
            "devices[0].firstAvailable",
            "has 10 alternatives, 8 is the most",
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
            "must not be negative",
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
    existing = {"existing": {"kubernetesVersion": entry.pop("version")}} if "version" in entry else {}
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


def test_a_class_declares_taints_of_what_is_claimed() -> None:
    device = {"name": "g", "driver": "d", "deviceClassName": "c", "taints": [{"key": "k", "effect": "NoSchedule"}]}
    made = {"metadata": {"name": "c"}, "spec": {"devices": [device]}}
    assert inference_class.decode(made).devices[0].taints == (DeviceTaint("k", DeviceTaintEffect.NO_SCHEDULE),)
    with pytest.raises(InvalidInput, match=r"spec.devices\[0\].taints"):
        inference_class.decode({**made, "spec": {"devices": [{**device, "claim": "Synthetic"}]}})
