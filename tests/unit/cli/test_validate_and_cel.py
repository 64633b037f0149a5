"""`modelplane validate` and `modelplane cel` as a person meets them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support import rendering
from tests.support.commands import CLASS, DEPLOYMENT

ROOT = rendering.ROOT


def test_validate_json_keeps_its_promise(run: Any) -> None:
    done = run("validate", "a.yaml", "-o", "json", files={"a.yaml": DEPLOYMENT.replace("tensor: 1", "tensr: 1")})
    assert done.code == 2
    (problem, *_) = json.loads(done.out)["problems"]
    assert {"file", "line", "document", "path", "message", "severity"} <= problem.keys()
    assert (problem["file"], problem["line"], problem["document"]) == ("a.yaml", 8, 1)
    assert (problem["path"], problem["severity"]) == ("spec.workers.topology.tensr", "error")


def test_validate_of_the_examples(run: Any) -> None:
    for name in (*rendering.EXAMPLES, "classes"):
        done = run("validate", str(ROOT / "examples" / name))
        assert done.code == 0, done.out
        assert done.out == ""


MEMORY = 'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("20Gi")) >= 0'
CELS = [
    pytest.param(MEMORY, 0, "true", True, id="match"),
    pytest.param('device.driver == "x"', 1, "false", True, id="no match"),
    pytest.param('device.attributes["gpu.nvidia.com"].nothing', 1, "error", True, id="abort"),
    pytest.param("device.driver +", 2, "compile_error", False, id="does not compile"),
]


@pytest.mark.parametrize(("expression", "code", "result", "accepted"), CELS)
def test_cel_answers_one_object_for_one_device(
    run: Any, expression: str, code: int, result: str, accepted: object
) -> None:
    done = run("cel", expression, "--class", "c.yaml", "-o", "json", files={"c.yaml": CLASS})
    assert done.code == code
    answer = json.loads(done.out)
    assert {"id", "expression", "result", "error", "estimatedCost", "actualCost", "apiServerAccepts"} <= answer.keys()
    assert (answer["expression"], answer["result"], answer["apiServerAccepts"]) == (expression, result, accepted)


HINTS = [
    pytest.param(MEMORY.replace("memory", "memroy"), "did you mean 'memory'?", id="misspelt"),
    pytest.param(MEMORY.replace("20Gi", "24Gi"), "nominal size", id="nominal size"),
]


@pytest.mark.parametrize(("expression", "hint"), HINTS)
def test_cel_hints_at_what_was_probably_meant(run: Any, expression: str, hint: str) -> None:
    done = run("cel", expression, "--class", "c.yaml", files={"c.yaml": CLASS})
    assert done.code == 1
    assert hint in done.err


@pytest.mark.parametrize(("expression", "hint"), HINTS)
def test_validate_warns_at_the_selector_and_refuses_nothing(run: Any, expression: str, hint: str) -> None:
    deployment = DEPLOYMENT.replace('"true"', f"'{expression}'")
    done = run("validate", ".", files={"a.yaml": deployment, "c.yaml": CLASS})
    assert done.code == 0
    (line,) = done.out.splitlines()
    assert line.startswith("a.yaml:6: ")
    assert "warning: " in line
    assert hint in line


def test_validate_warns_of_the_size_in_a_products_name(run: Any) -> None:
    named = CLASS.replace("memory: {value: 23034Mi}", "memory: {value: 24Gi}").replace(
        "    capacity", "    attributes: {productName: {string: NVIDIA L4}}\n    capacity"
    )
    done = run("validate", "c.yaml", files={"c.yaml": named})
    assert done.code == 0
    assert "write 23034Mi" in done.out


def test_cel_says_a_fault_of_the_expression_once(run: Any) -> None:
    two = CLASS + "---\n" + CLASS.replace("name: l4", "name: l4-too")
    done = run("cel", "device.driver +", "--class", "c.yaml", files={"c.yaml": two})
    assert done.code == 2
    assert done.err.count("Syntax error") == 1


SLICE = """\
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s}
spec:
  driver: gpu.nvidia.com
  devices:
  - name: gpu-0
    attributes: {type: {string: gpu}}
    capacity: {memory: {value: 23034Mi}}
  - name: gpu-1
    basic:
      capacity: {memory: {value: 1Gi}}
"""


def test_cel_reads_resource_slices_of_old_and_new(run: Any) -> None:
    done = run("cel", MEMORY, "--device", "s.yaml", files={"s.yaml": SLICE})
    assert done.code == 0
    lines = [line.split() for line in done.out.splitlines()]
    assert [line[:2] for line in lines] == [["gpu-0", "match"], ["gpu-1", "no"]]


def test_cel_batch(run: Any) -> None:
    batch = {
        "driver": "d.example.com",
        "device": {"attributes": {"a": {"int": 1}}},
        "cases": [
            {"id": "one", "expression": 'device.attributes["d.example.com"].a == 1'},
            {"id": "two", "expression": "("},
        ],
    }
    done = run("cel", "--batch", "b.json", "-o", "json", files={"b.json": json.dumps(batch)})
    assert done.code == 0
    assert [(one["id"], one["result"]) for one in json.loads(done.out)] == [("one", "true"), ("two", "compile_error")]


CEL_MISUSE = [
    pytest.param(["cel"], "give either an EXPRESSION", id="nothing"),
    pytest.param(["cel", "true"], "give either --device", id="no device"),
    pytest.param(["cel", "true", "--class", "nowhere"], "does not exist", id="no file"),
    pytest.param(["cel", "true", "--class", "d.yaml"], "holds no InferenceClass", id="another kind"),
    pytest.param(["cel", "true", "--device", "d.yaml"], "holds no ResourceSlice", id="no slice"),
    pytest.param(["cel", "--batch", "d.yaml"], "cases", id="no cases"),
]


@pytest.mark.parametrize(("arguments", "message"), CEL_MISUSE)
def test_cel_misused(run: Any, arguments: list[str], message: str) -> None:
    done = run(*arguments, files={"d.yaml": DEPLOYMENT})
    assert done.code == 2
    assert message in done.err
