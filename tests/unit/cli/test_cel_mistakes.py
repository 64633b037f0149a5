"""What `modelplane cel` says to someone who writes a selector for the first time: the exact words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from modelplane_cli.commands import cel as command

A = 'device.attributes["gpu.nvidia.com"]'
C = 'device.capacity["gpu.nvidia.com"]'
METHOD = 'compare with a method: .compareTo(quantity("80Gi")) >= 0'
KEPT = 'attributes and capacity are grouped by domain: device.attributes["gpu.nvidia.com"].name'
HAS = (
    'has() takes a field selection: has(device.attributes["gpu.nvidia.com"].name);'
    ' for a name in quotes write "name" in device.attributes["gpu.nvidia.com"]'
)
VALUE = "a selector must return true or false; compare the value with something"

DEVICE = {
    "driver": "gpu.nvidia.com",
    "device": {
        "name": "gpu-0",
        "attributes": {
            "architecture": {"string": "Hopper"},
            "productName": {"string": "NVIDIA H100 80GB HBM3"},
            "cudaComputeCapability": {"version": "9.0.0"},
            "index": {"int": 0},
            "ecc": {"bool": True},
        },
        "capacity": {"memory": {"value": "81559Mi"}},
    },
}

MISTAKES = [
    pytest.param(
        f'{A}.Architecture == "Hopper"',
        "device 'gpu-0' has no attribute 'Architecture'; did you mean 'architecture'?",
        id="the wrong case of a name",
    ),
    pytest.param('device.attributes.architecture == "Hopper"', KEPT, id="no domain"),
    pytest.param('device.attributes["architecture"] == "Hopper"', KEPT, id="a name for the domain"),
    pytest.param(
        'device.attributes["gpu.nvidia.co"].ecc',
        "device 'gpu-0' has no attributes in domain 'gpu.nvidia.co'; did you mean 'gpu.nvidia.com'?",
        id="a misspelt domain",
    ),
    pytest.param(
        'device.attributes[gpu.nvidia.com].architecture == "Hopper"',
        'a domain is a string: write ["gpu.nvidia.com"]',
        id="a domain without quotes",
    ),
    pytest.param(f"{C}.memory >= 80", METHOD, id="a quantity and a number"),
    pytest.param(f'{C}.memory >= "80Gi"', METHOD, id="a quantity and a text"),
    pytest.param(f'{C}.memory >= quantity("80Gi")', METHOD, id="quantities by an operator"),
    pytest.param(
        f'{C}.memory.compareTo("80Gi") >= 0',
        'compareTo() takes a Quantity, which quantity() returns: .compareTo(quantity("80Gi"))',
        id="a text for a quantity",
    ),
    pytest.param(f"{C}.memory.isGreaterThan(80Gi)", 'write a size as quantity("80Gi")', id="a bare size"),
    pytest.param(
        f'{C}.memory.compareTo(quantity("80GB")) >= 0',
        'quantity("80GB") cannot be read; did you mean quantity("80G")?',
        id="a size in GB",
    ),
    pytest.param(
        f'{C}.memory.compareTo(quantity("80Gi")) >= 0',
        "80Gi is a nominal size: device 'gpu-0' has memory 81559Mi, which is less; write 79Gi",
        id="a nominal size",
    ),
    pytest.param(
        "device.memory > 80",
        "device has driver, attributes, capacity and allowMultipleAllocations; what the driver publishes is grouped by"
        ' domain: device.attributes["gpu.nvidia.com"].memory, device.capacity["gpu.nvidia.com"].memory',
        id="a field of the device itself",
    ),
    pytest.param(
        f'{A}.memory.compareTo(quantity("40Gi")) >= 0',
        "device 'gpu-0' has 'memory' in capacity; write device.capacity[\"gpu.nvidia.com\"].memory",
        id="a capacity among the attributes",
    ),
    pytest.param(
        f"{A}.cudaComputeCapability >= 9.0.0",
        'write a version as semver("9.0.0"), and compare it with .compareTo(...) >= 0',
        id="a version without quotes",
    ),
    pytest.param(
        f'{A}.cudaComputeCapability == "9.0.0"',
        "'cudaComputeCapability' is a version, 9.0.0; compare it with .compareTo(semver(\"9.0.0\")) == 0",
        id="a version and a text",
    ),
    pytest.param(
        f'{A}.cudaComputeCapability.compareTo(semver("9.0")) >= 0',
        'semver("9.0") cannot be read; did you mean semver("9.0.0")?',
        id="half a version",
    ),
    pytest.param(f"{A}.ecc and {A}.index == 0", "write && for and", id="and"),
    pytest.param(f"{A}.ecc or true", "write || for or", id="or"),
    pytest.param(f"not {A}.ecc", "write ! for not", id="not"),
    pytest.param(f"{A}.ecc & true", "write && for &", id="one ampersand"),
    pytest.param(f'{A}.architecture = "Hopper"', "write == for =", id="one equals sign"),
    pytest.param(
        f"{A}.architecture == \u201cHopper\u201d",
        "\u201c is a typographic quote; strings use straight quotes: \" or '",
        id="quotes of a word processor",
    ),
    pytest.param(
        f'{A}.architecture == "Hopper',
        'the string that starts with " is not terminated; add a closing "',
        id="no closing quote",
    ),
    pytest.param(f"{A}.architecture == Hopper", 'a string needs quotes: "Hopper"', id="no quotes"),
    pytest.param(f"(({A}.ecc) && true", "1 opening bracket is not closed; add )", id="no closing bracket"),
    pytest.param(
        f'{A}.productName.contain("H100")', "there is no function contain; did you mean contains?", id="a method"
    ),
    pytest.param(
        f'{A}.productName.startswith("N")',
        "there is no function startswith; did you mean startsWith?",
        id="the wrong case of a method",
    ),
    pytest.param(f'has({A}["architecture"])', HAS, id="has with brackets"),
    pytest.param('has("architecture")', HAS, id="has of a text"),
    pytest.param(
        f'{A}.index == "0"',
        "'index' is of type int, for example 0; it never equals a string",
        id="a number and a text",
    ),
    pytest.param(f"{A}.architecture", VALUE, id="a value alone"),
    pytest.param(
        "1 + 1",
        "a selector must return a bool, but this one returns int; compare it with a value",
        id="a number alone",
    ),
    pytest.param(
        f'{A}.productName.matches("*H100*")',
        'the regular expression is invalid; "*" repeats the preceding character, and ".*" matches anything',
        id="a pattern of a shell",
    ),
    pytest.param(
        f'{A}.productName in "H100"',
        '"in" tests lists and maps; for a part of a string write text.contains("part")',
        id="in for a part of a text",
    ),
    pytest.param("Device.driver == 'x'", "write device for Device", id="a capital"),
    pytest.param("True", "write true for True", id="a constant of Python"),
]


@pytest.fixture
def device(tmp_path: Path) -> str:
    path = tmp_path / "device.json"
    path.write_text(json.dumps(DEVICE), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(("expression", "words"), MISTAKES)
def test_a_typical_mistake_comes_with_what_to_write(
    expression: str, words: str, device: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = command.main([expression, "--device", device])
    said = capsys.readouterr().err.splitlines()
    assert [line for line in said if line.startswith("hint: ")] == [f"hint: {words}"]
    assert code in (1, 2)


@pytest.mark.parametrize(
    ("expression", "diagnosis"),
    [
        pytest.param(
            "device.driver = 'x'",
            "invalid: line 1, column 15: Syntax error: token recognition error at: '='\n"
            " | device.driver = 'x'\n"
            " | ..............^\n",
            id="one line",
        ),
        pytest.param(
            "true &&\n  device.memory == 1",
            "invalid: line 2, column 9: undefined field 'memory'\n |   device.memory == 1\n | ........^\n",
            id="the second line",
        ),
    ],
)
def test_the_caret_stands_under_the_mistake(
    expression: str, diagnosis: str, device: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main([expression, "--device", device]) == 2
    assert capsys.readouterr().err.startswith(diagnosis)


@pytest.mark.parametrize("expression", [f'{A}.architecture == "Hopper"', f"{A}.ecc && {A}.index == 0", f"has({A}.ecc)"])
def test_what_is_right_has_no_hint(expression: str, device: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main([expression, "--device", device]) == 0
    assert capsys.readouterr().err == ""
