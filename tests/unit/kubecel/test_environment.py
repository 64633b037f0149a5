"""The package kubecel as others use it: what its README says, versions, declared variables, refusals, costs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import kubecel
from kubecel import check, interruption, quantity
from kubecel.environment import COST_LIMIT, VERSIONS, Environment, Results, Shape
from kubecel.errors import EvaluationError, InvalidExpression
from kubecel.values import QuantityBox, Uint

README = Path(kubecel.__file__).with_name("README.md")
EXAMPLES = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
NAMES = check.list_of(check.STRING)


@pytest.mark.parametrize("example", EXAMPLES, ids=[example.splitlines()[-1] for example in EXAMPLES])
def test_an_example_of_the_readme_runs(example: str) -> None:
    assert "assert" in example
    exec(compile(example, str(README), "exec"), {})  # noqa: S102 - the README's own text


def test_the_readme_shows_examples() -> None:
    assert len(EXAMPLES) == 4


@pytest.mark.parametrize(
    ("expression", "variables", "value"),
    [
        pytest.param("a + b", {"a": 1, "b": 2}, 3, id="numbers"),
        pytest.param("[a, b].map(n, n * 2)", {"a": 1, "b": 2}, [2, 4], id="a-list"),
        pytest.param("string(a) + '/' + string(b)", {"a": 1, "b": 2}, "1/2", id="a-text"),
        pytest.param("uint(a)", {"a": 1, "b": 2}, Uint(1), id="a-kind-of-its-own"),
        pytest.param("a > 5 || b == 2", {"a": 1, "b": 2}, True, id="truth"),
        pytest.param("{'k': a}", {"a": 1, "b": 2}, {"k": 1}, id="a-map"),
    ],
)
def test_a_program_gives_its_value(expression: str, variables: dict[str, int], value: object) -> None:
    program = Environment("1.36", variables={"a": check.INT, "b": check.INT}).compile(expression)
    found = program.evaluate(variables)
    assert (type(found), found) == (type(value), value)
    assert program.measure(variables).value == value


@pytest.mark.parametrize(
    ("expression", "variables", "message"),
    [
        pytest.param("1 / a > 0", {"a": 0}, "division by zero", id="division"),
        pytest.param("[1, 2][a] == 1", {"a": 7}, "index out of bounds: 7", id="index"),
        pytest.param("a == 1", {}, "no such attribute", id="a-variable-that-is-not-given"),
    ],
)
def test_an_error_that_nothing_absorbs_is_raised(expression: str, variables: dict[str, int], message: str) -> None:
    program = Environment("1.36", variables={"a": check.INT}).compile(expression)
    with pytest.raises(EvaluationError, match=message):
        program.evaluate(variables)
    error = program.measure(variables).error
    assert error is not None
    assert message in error


@pytest.mark.parametrize("version", VERSIONS)
def test_a_version_brings_its_functions(version: str) -> None:
    environment = Environment(version, variables={"names": NAMES})
    if environment.minor >= 34:
        assert environment.compile("names.distinct()").evaluate({"names": ["a", "a"]}) == ["a"]
    else:
        with pytest.raises(InvalidExpression, match="undeclared reference to 'distinct'"):
            environment.compile("names.distinct()")
    assert ("distinct" in environment.functions) == (environment.minor >= 34)


def test_a_version_that_is_not_known_is_refused() -> None:
    with pytest.raises(ValueError, match=r"unknown Kubernetes version 1\.2; the known versions are 1\.33, "):
        Environment("1.2")


def test_what_compiles_can_be_checked_alone() -> None:
    environment = Environment("1.36", variables={"a": check.INT}, results=Results((check.BOOL,), "a truth"))
    environment.check("a == 1")
    with pytest.raises(InvalidExpression, match="must evaluate to a truth, not int") as caught:
        environment.check("a")
    assert caught.value.diagnosis == "must evaluate to a truth, not int"


def test_a_withheld_function_is_not_there() -> None:
    environment = Environment("1.36", variables={"names": NAMES}, withheld=frozenset({"distinct"}))
    with pytest.raises(InvalidExpression, match="distinct"):
        environment.compile("names.distinct() == names")
    assert environment.compile("names.reverse()").evaluate({"names": ["a", "b"]}) == ["b", "a"]


def test_objects_have_the_fields_that_are_declared() -> None:
    pod = check.object_type("example.Pod")
    environment = Environment("1.36", variables={"pod": pod}, objects={pod.name: {"name": check.STRING}})
    program = environment.compile("pod.name == 'a' && !has(pod.name)")
    assert list(program.fields_of(pod)) == ["name", "name"]
    with pytest.raises(InvalidExpression, match="undefined field 'nane'"):
        environment.compile("pod.nane == 'a'")


def test_a_shape_bounds_the_estimate() -> None:
    expression = "names.all(name, name.contains('x'))"
    free = Environment("1.36", variables={"names": NAMES}).compile(expression)
    shape = Shape(10, element=Shape(20))
    bounded = Environment("1.36", variables={"names": NAMES}, shapes={"names": shape}).compile(expression)
    assert bounded.estimate().maximum < COST_LIMIT < free.estimate().maximum
    assert bounded.estimate() is bounded.estimate()


def test_an_evaluation_ends_at_its_limit() -> None:
    program = Environment("1.36", variables={"names": NAMES}).compile("names.all(name, name == 'a')")
    names = {"names": ["a"] * 100}
    cost = program.measure(names).cost
    assert program.measure(names, limit=cost).error is None
    assert program.measure(names, limit=cost - 1).error == "operation cancelled: actual cost limit exceeded"


def test_an_expression_as_deep_as_kubernetes_allows_runs() -> None:
    environment = Environment("1.36", variables={"a": check.INT})
    program = environment.compile("-(" * 120 + "a" + ")" * 120)
    assert program.evaluate({"a": 7}) == 7


def test_a_quantity_keeps_its_exact_value() -> None:
    environment = Environment("1.36", variables={"q": check.QUANTITY})
    found = environment.compile('q.add(quantity("1n"))').evaluate({"q": QuantityBox(quantity.parse("1"))})
    assert found.quantity.canonical() == "1000000001n"


@pytest.mark.parametrize(
    "text",
    [
        "[0,1,2,3,4,5,6,7,8,9].all(a, [0,1,2,3,4,5,6,7,8,9].all(b, a + b >= 0))",
        f"[{','.join(map(str, range(400)))}].all(a, a >= 0)",
        "sets.contains([1,2,3,4,5,6,7,8,9], [1,2,3,4,5,6,7,8,9])",
    ],
    ids=["loops in loops", "one long loop", "one list in another"],
)
def test_an_evaluation_can_be_interrupted(text: str) -> None:
    program = Environment().compile(text)
    passed = 0

    def counted() -> None:
        nonlocal passed
        passed += 1

    with interruption.asking(counted):
        assert program.evaluate({}) is True
    assert passed >= 4

    def stopped() -> None:
        raise interruption.Interrupted

    with interruption.asking(stopped), pytest.raises(interruption.Interrupted):
        program.evaluate({})
    assert program.evaluate({}) is True
