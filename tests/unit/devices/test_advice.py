"""Advice on selectors that compile and still select nothing."""

from __future__ import annotations

import pytest

from modelplane.devices import selector
from modelplane.devices.hints import advice
from modelplane.devices.model import Attribute, AttributeKind, Device

H100 = Device(
    "gpu",
    "gpu.nvidia.com",
    8,
    attributes=(
        ("architecture", Attribute(AttributeKind.STRING, "Hopper")),
        ("cudaComputeCapability", Attribute(AttributeKind.VERSION, "9.0.0")),
        ("productName", Attribute(AttributeKind.STRING, "NVIDIA H100 80GB HBM3")),
    ),
    capacity=(("memory", "81559Mi"),),
)
MEMORY = 'device.capacity["gpu.nvidia.com"].memory'


@pytest.mark.parametrize(
    ("expression", "better"),
    [
        pytest.param(f'{MEMORY}.compareTo(quantity("80Gi")) >= 0', "79Gi", id="at-least"),
        pytest.param(f'{MEMORY}.compareTo(quantity("80Gi")) > -1', "79Gi", id="at-least-written-otherwise"),
        pytest.param(f'!{MEMORY}.isLessThan(quantity("80Gi"))', "79Gi", id="not-less"),
        pytest.param(f'true && {MEMORY}.isGreaterThan(quantity("80Gi"))', "79Gi", id="inside-an-and"),
        pytest.param(
            'device.capacity[device.driver]["memory"].compareTo(quantity("80Gi")) >= 0', "79Gi", id="own-domain"
        ),
        pytest.param(
            f'cel.bind(m, 1, {MEMORY}.compareTo(quantity("82G")) >= 0 || m > 0)', None, id="82G-is-less-than-published"
        ),
        pytest.param(f'{MEMORY}.compareTo(quantity("79Gi")) >= 0', None, id="the-real-figure"),
        pytest.param(f'{MEMORY}.compareTo(quantity("141Gi")) >= 0', None, id="another-device-is-meant"),
        pytest.param(f'{MEMORY}.compareTo(quantity("80Gi")) < 0', None, id="an-upper-bound"),
    ],
)
def test_a_nominal_size_is_pointed_out_with_the_one_that_works(expression: str, better: str | None) -> None:
    found = advice.selector_advice(expression, H100)
    assert [each.better for each in found] == ([] if better is None else [better])
    if better is not None:
        assert "81559Mi" in found[0].message
        assert not selector.compile(expression).evaluate(H100).matches
        assert selector.compile(expression.replace("80Gi", better)).evaluate(H100).matches


@pytest.mark.parametrize(
    ("expression", "written", "better"),
    [
        pytest.param(
            'device.attributes["gpu.nvidia.com"].architectur == "Hopper"', "architectur", "architecture", id="attribute"
        ),
        pytest.param(
            'device.attributes["gpu.nvidia.com"]["Architecture"] == "x"', "Architecture", "architecture", id="case"
        ),
        pytest.param(
            'has(device.attributes["gpu.nvidia.co"].architecture)', "gpu.nvidia.co", "gpu.nvidia.com", id="domain"
        ),
        pytest.param('device.capacity["gpu.nvidia.com"].memry.sign() > 0', "memry", "memory", id="capacity"),
    ],
)
def test_a_misspelt_name_comes_with_the_one_that_was_meant(expression: str, written: str, better: str) -> None:
    (remark,) = advice.selector_advice(expression, H100)
    assert (remark.written, remark.better) == (written, better)
    assert "did you mean" in remark.message


@pytest.mark.parametrize(
    "expression",
    [
        pytest.param('device.attributes["gpu.amd.com"].family == "x"', id="another-driver"),
        pytest.param('device.attributes["gpu.nvidia.com"].brand == "x"', id="nothing-like-it"),
        pytest.param("device.driver ==", id="does-not-parse"),
    ],
)
def test_no_advice_where_nothing_is_close(expression: str) -> None:
    assert advice.selector_advice(expression, H100) == ()
