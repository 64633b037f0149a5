"""Where a class lies about what drivers publish, and which class describes a node."""

from __future__ import annotations

from dataclasses import replace

import pytest

from modelplane.devices.model import Attribute, AttributeKind, Claim, Device, NodeClass
from modelplane.inventory import comparison
from tests.support import driver_slices as drivers
from tests.unit.inventory.test_drivers import cluster, surveyed

H100 = surveyed(*cluster(drivers.nvidia_gpu, nodes=1))
(CLASS,) = H100.classes
(GPU,) = CLASS.devices
PUBLISHED = H100.published["node-0"]


def text(value: str) -> Attribute:
    return Attribute(AttributeKind.STRING, value)


def declaring(**fields: object) -> NodeClass:
    return replace(CLASS, devices=(replace(GPU, **fields),))  # type: ignore[arg-type]  # as each case has it


@pytest.mark.parametrize(
    ("node_class", "lies"),
    [
        pytest.param(CLASS, [], id="the truth"),
        pytest.param(declaring(attributes=()), [], id="less than the truth"),
        pytest.param(declaring(count=4), [], id="fewer devices"),
        pytest.param(declaring(capacity=(("memory", "83516416Ki"),)), [], id="the same amount"),
        pytest.param(declaring(attributes=(("gpu.nvidia.com/brand", text("Nvidia")),)), [], id="with its domain"),
        pytest.param(
            declaring(capacity=(("memory", "80Gi"),)),
            ["device gpu: capacity memory is declared as 80Gi, and gpu-0 and 7 more publish 81559Mi"],
            id="a nominal size",
        ),
        pytest.param(
            declaring(attributes=(("architecture", text("Blackwell")),)),
            ["device gpu: attribute architecture is declared as Blackwell, and gpu-0 and 7 more publish Hopper"],
            id="another value",
        ),
        pytest.param(
            declaring(attributes=(("brand", Attribute(AttributeKind.INT, 1)),)),
            ["device gpu: attribute brand is declared as 1, and gpu-0 and 7 more publish Nvidia (string)"],
            id="another type",
        ),
        pytest.param(
            declaring(attributes=(("nvlink", text("4")),)),
            ["device gpu: attribute nvlink is declared as 4, and gpu-0 and 7 more do not publish it"],
            id="an attribute that nobody publishes",
        ),
        pytest.param(
            declaring(attributes=(("uuid", PUBLISHED[2].attribute("gpu.nvidia.com/uuid")),)),
            [
                "device gpu: attribute uuid is declared as "
                f"{PUBLISHED[2].attribute('gpu.nvidia.com/uuid').value}, and {PUBLISHED[at].name} publishes "  # type: ignore[union-attr]  # is there
                f"{PUBLISHED[at].attribute('gpu.nvidia.com/uuid').value}"  # type: ignore[union-attr]  # is there
                for at in (0, 1, 3, 4, 5, 6, 7)
            ],
            id="what only one device has",
        ),
        pytest.param(declaring(count=9), ["device gpu: count is 9, and the node publishes 8"], id="more devices"),
        pytest.param(declaring(claim=Claim.DEVICE_PLUGIN, count=9), [], id="devices of a plugin are in no slice"),
    ],
)
def test_lies_are_named_with_both_values(node_class: NodeClass, lies: list[str]) -> None:
    assert sorted(map(str, comparison.lies(node_class, PUBLISHED))) == sorted(lies)


def test_a_node_without_devices_has_none_of_what_is_declared() -> None:
    assert [str(one) for one in comparison.lies(CLASS, ())] == ["device gpu: count is 8, and the node publishes 0"]


def test_each_device_is_held_to_the_kind_that_it_is() -> None:
    a100 = replace(
        GPU, name="a100", count=1, attributes=(("productName", text("A100")),), capacity=(("memory", "40Gi"),)
    )
    declared = replace(CLASS, devices=(a100, replace(GPU, capacity=(("memory", "80Gi"),), count=7)))
    seventh: Device = replace(
        PUBLISHED[7], attributes=(("productName", text("A100")),), capacity=(("memory", "40960Mi"),)
    )
    assert [(one.device, one.field, one.devices) for one in comparison.lies(declared, (*PUBLISHED[:7], seventh))] == [
        ("gpu", "capacity memory", 7)
    ]


@pytest.mark.parametrize(
    ("node_class", "expected"),
    [
        pytest.param(CLASS, True, id="the same"),
        pytest.param(replace(CLASS, cpu_millis=None, memory_bytes=1), True, id="less CPU and memory"),
        pytest.param(replace(CLASS, cpu_millis=10**9), False, id="more CPU"),
        pytest.param(declaring(attributes=()), True, id="fewer attributes"),
        pytest.param(declaring(count=7), False, id="fewer devices"),
        pytest.param(declaring(device_class="other"), False, id="another DeviceClass"),
        pytest.param(declaring(claim=Claim.SYNTHETIC), False, id="another claim"),
        pytest.param(replace(CLASS, devices=(GPU, replace(GPU, name="more", count=1))), False, id="more kinds"),
    ],
)
def test_a_class_describes_a_node_if_it_has_the_same_devices(node_class: NodeClass, expected: bool) -> None:  # noqa: FBT001 - a column
    assert comparison.describes(node_class, CLASS) is expected
