"""The face of the selector engine: verdicts, refusals, places of errors, versions of Kubernetes, validation rules."""

from __future__ import annotations

import subprocess
import sys

import pytest

from modelplane.devices import selector
from modelplane.devices.model import Attribute, AttributeKind, Device
from modelplane.devices.selector import PROFILES, Outcome, Profile
from modelplane.errors import InvalidSelector

GPU = Device(
    "gpu",
    "gpu.nvidia.com",
    8,
    attributes=(
        ("architecture", Attribute(AttributeKind.STRING, "Hopper")),
        ("cudaComputeCapability", Attribute(AttributeKind.VERSION, "9.0.0")),
        ("ecc", Attribute(AttributeKind.BOOL, value=True)),
        ("index", Attribute(AttributeKind.INT, 3)),
        ("resource.kubernetes.io/pcieRoot", Attribute(AttributeKind.STRING, "pci0000:01")),
    ),
    capacity=(("memory", "81559Mi"),),
)
A = 'device.attributes["gpu.nvidia.com"]'
C = 'device.capacity["gpu.nvidia.com"]'


@pytest.mark.parametrize(
    ("expression", "outcome", "cause"),
    [
        pytest.param(f'{A}.architecture == "Hopper"', Outcome.MATCH, "", id="match"),
        pytest.param(f'{A}.architecture == "Ada"', Outcome.NO_MATCH, "", id="no-match"),
        pytest.param(f'{A}.arch == "Hopper"', Outcome.ABORT, "no such key: arch", id="a-missing-attribute-aborts"),
        pytest.param(f'has({A}.arch) && {A}.arch == "x"', Outcome.NO_MATCH, "", id="a-guard-does-not"),
        pytest.param(f'{A}.arch == "x" || {A}.ecc', Outcome.MATCH, "", id="an-or-absorbs-the-error"),
        pytest.param(f"{A}.architecture", Outcome.ABORT, "could not be converted to bool", id="not-a-bool"),
        pytest.param(
            f'{C}.memory.compareTo(quantity("1Pi")) < 0 && {C}.memory.isInteger()',
            Outcome.NO_MATCH,
            "",
            id="mutation",
        ),
        pytest.param(f"{C}.memory.isInteger()", Outcome.MATCH, "", id="the-next-evaluation-starts-afresh"),
        pytest.param(
            f'{A}.cudaComputeCapability in ["9.0.0"]',
            Outcome.ABORT,
            "unhashable",
            id="a-version-cannot-be-looked-up",
        ),
        pytest.param(
            f'{A}.cudaComputeCapability in ["9.0.0"] || true',
            Outcome.ABORT,
            "unhashable",
            id="and-nothing-absorbs-that",
        ),
    ],
)
def test_three_verdicts(expression: str, outcome: Outcome, cause: str) -> None:
    verdict = selector.compile(expression).evaluate(GPU)
    assert verdict.outcome is outcome
    assert cause in verdict.cause
    assert verdict.aborts is bool(cause)


def test_a_version_that_does_not_parse_aborts_every_selector() -> None:
    broken = Device("gpu", "d", 1, attributes=(("v", Attribute(AttributeKind.VERSION, "1.0")),))
    verdict = selector.compile("true").evaluate(broken)
    assert verdict.aborts
    assert "attribute v: parse semantic version" in verdict.cause


@pytest.mark.parametrize(
    ("expression", "line", "column", "offending"),
    [
        pytest.param('device.driver = "x"', 1, 15, "=", id="syntax"),
        pytest.param('device.drivr == "x"', 1, 7, ".", id="undeclared-field"),
        pytest.param("true &&\n  foo(1)", 2, 6, "(", id="second-line"),
        pytest.param("ünknown == 1", 1, 1, "ünknown", id="not-ascii"),
        pytest.param(f'{A}.architecture.matches("(?=x)")', 1, 58, '"', id="pattern"),
        pytest.param("[1, 'a'] == []", 1, 5, "'", id="mixed-list"),
    ],
)
def test_an_error_names_its_place(expression: str, line: int, column: int, offending: str) -> None:
    with pytest.raises(InvalidSelector) as caught:
        selector.compile(expression)
    assert (caught.value.line, caught.value.column, caught.value.offending) == (line, column, offending)
    shown, caret = caught.value.message.split("\n")[-2:]
    assert expression.split("\n")[line - 1] in shown
    assert caret == " | " + "." * (column - 1) + "^"


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        pytest.param(f"type({A}.index) == int", "exceeds cost limit", id="worst-case-too-dear"),
        pytest.param('"' + "x" * 10_240 + '" == "x"', "the limit is 10240", id="too-long"),
        pytest.param('"' + "ü" * 5_200 + '" == "x"', "the limit is 10240", id="bytes-count-not-characters"),
    ],
)
def test_what_the_api_server_refuses(expression: str, why: str) -> None:
    compiled = selector.compile(expression, admit=False)
    assert why in compiled.refusal
    assert not compiled.api_server_accepts
    with pytest.raises(InvalidSelector, match="the API server refuses"):
        selector.compile(expression)


@pytest.mark.parametrize(
    ("expression", "version", "admitted"),
    [
        pytest.param("[1].sort() == [1]", "1.34", False, id="lists-run-on-1.34-and-are-not-admitted-there"),
        pytest.param("[1].sort() == [1]", "1.35", True, id="lists-on-1.35"),
        pytest.param("device.allowMultipleAllocations", "1.36", True, id="consumable-capacity-on-1.36"),
        pytest.param(
            f'{A}.architecture.includes("x")', "1.36", False, id="includes-runs-on-1.36-and-is-not-admitted-there"
        ),
        pytest.param('semver("v1", true).major() == 1', "1.34", True, id="normalising-versions-on-1.34"),
    ],
)
def test_new_expressions_may_use_what_the_version_before_knew(expression: str, version: str, admitted: bool) -> None:  # noqa: FBT001 - a column
    compiled = selector.compile(expression, PROFILES[version], admit=False)
    assert compiled.api_server_accepts is admitted


@pytest.mark.parametrize(
    ("levels", "compiles"),
    [pytest.param(249, True, id="249-parentheses"), pytest.param(250, False, id="250-parentheses")],
)
def test_the_nesting_limit_is_that_of_kubernetes(levels: int, compiles: bool) -> None:  # noqa: FBT001 - a column of the table
    expression = "(" * levels + "true" + ")" * levels
    if compiles:
        assert selector.compile(expression).evaluate(GPU).matches
    else:
        with pytest.raises(InvalidSelector, match="recursion limit"):
            selector.compile(expression)


@pytest.mark.parametrize(
    ("literal", "taken"),
    [
        pytest.param("9" * 5_000, False, id="more-digits-than-Python-reads"),
        pytest.param("-" + "9" * 5_000, False, id="with-a-sign"),
        pytest.param("0" * 5_000 + "1", True, id="zeros-count-for-nothing"),
        pytest.param("0" * 5_000, True, id="zeros-alone"),
        pytest.param("0x" + "0" * 5_000 + "1", True, id="hexadecimal"),
        pytest.param("0x" + "f" * 5_000 + "u", False, id="hexadecimal-without-sign"),
        pytest.param("9" * 5_000 + "u", False, id="without-sign"),
        pytest.param("1" * 300 + ".5", True, id="a-double"),
        pytest.param("1" * 5_000 + ".5", False, id="no-double-any-more"),
    ],
)
def test_a_number_of_any_length_is_read_or_refused(literal: str, taken: bool) -> None:  # noqa: FBT001 - a column of the table
    try:
        selector.compile(f"{literal} == {literal}")
    except InvalidSelector as error:
        assert not taken and "literal" in error.message
    else:
        assert taken


def test_deep_comprehensions_evaluate() -> None:
    expression = "[1].exists(x, " * 200 + "true" + ")" * 200
    assert selector.compile(expression).evaluate(GPU).matches


def test_the_run_time_limit_ends_an_evaluation() -> None:
    ten = "[0,1,2,3,4,5,6,7,8,9]"
    nested = "".join(f"{ten}.all({name}, " for name in "abcdef") + "a + b + c + d + e + f >= 0" + ")" * 6
    verdict, cost = selector.compile(nested, admit=False).measure(GPU)
    assert verdict.aborts
    assert "cost limit" in verdict.cause
    assert cost == 1_000_001
    assert selector.compile(nested, admit=False).evaluate(GPU) == verdict


def test_the_same_text_is_compiled_once() -> None:
    assert selector.compile("true") is selector.compile("true")


def test_loading_the_engine_does_not_load_the_regular_expressions() -> None:
    code = (
        "import sys; from modelplane.devices import selector; selector.compile('true'); sys.exit('re2' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("minor", [34, 35, 36, 37])
@pytest.mark.parametrize(
    ("expression", "compiles"),
    [
        pytest.param("cel.bind(v, int, true)", False, id="bound-though-never-read"),
        pytest.param("[type(1)].exists(t, t == int)", False, id="the-variable-of-a-loop"),
        pytest.param("[int].all(t, true)", True, id="a-loop-that-does-not-read-it"),
        pytest.param("cel.bind(v, [int], v[0] == int)", True, id="a-list-of-types-is-no-type"),
        pytest.param("cel.bind(v, dyn(int), true)", True, id="dynamic"),
        pytest.param("type(1) == int", True, id="the-name-of-a-type"),
    ],
)
def test_a_variable_that_holds_a_type_is_refused_as_kubernetes_does(
    expression: str, *, compiles: bool, minor: int
) -> None:
    if compiles:
        assert selector.compile(expression, Profile(minor), admit=False).evaluate(GPU).outcome is Outcome.MATCH
    else:
        with pytest.raises(InvalidSelector, match="reference to undefined type"):
            selector.compile(expression, Profile(minor))


def test_what_a_gate_adds_is_admitted_while_the_gate_is_on() -> None:
    expression = f'{A}.architecture.includes("Hopper")'
    assert selector.compile(expression, Profile(36, list_attributes=True)).api_server_accepts
    assert not selector.compile(expression, Profile(36), admit=False).api_server_accepts


@pytest.mark.parametrize(("minor", "known"), [(34, True), (35, True), (36, True), (37, False)])
def test_a_number_is_no_duration_any_more_in_1_37(minor: int, known: bool) -> None:  # noqa: FBT001 - a column of the table
    expression = 'duration([1][0]) < duration("1s")'
    if known:
        assert selector.compile(expression, Profile(minor), admit=False).evaluate(GPU).outcome is Outcome.ABORT
    else:
        with pytest.raises(InvalidSelector, match="duration"):
            selector.compile(expression, Profile(minor), admit=False)


@pytest.mark.parametrize(("minor", "greater"), [(34, False), (35, False), (36, False), (37, True)])
def test_a_sum_changes_a_big_operand_up_to_1_36(minor: int, greater: bool) -> None:  # noqa: FBT001 - a column of the table
    big = 'quantity("100000000000000000000")'
    expression = f"cel.bind(x, {big}, x.add(1).isGreaterThan(x))"
    verdict = selector.compile(expression, Profile(minor), admit=False).evaluate(GPU)
    assert verdict.matches is greater


@pytest.mark.parametrize(
    ("expression", "outcome"),
    [
        pytest.param('ip("10.1.2.3").family() == 4', Outcome.MATCH, id="a-text-in-parentheses"),
        pytest.param('cidr("10.1.0.0/16").ip().family() == 4', Outcome.MATCH, id="a-network-before-the-dot"),
        pytest.param("dyn('10.1.2.3').ip().family() == 4", Outcome.ABORT, id="a-text-before-the-dot"),
        pytest.param("ip(dyn(cidr('10.1.0.0/16'))).family() == 4", Outcome.ABORT, id="a-network-in-parentheses"),
    ],
)
def test_ip_means_one_thing_with_a_receiver_and_another_without(expression: str, outcome: Outcome) -> None:
    assert selector.compile(expression, admit=False).evaluate(GPU).outcome is outcome


@pytest.mark.parametrize(("minor", "outcome"), [(35, "no match"), (36, "no match"), (37, "abort")])
def test_or_value_of_what_is_no_optional_is_an_error_from_1_37(minor: int, outcome: str) -> None:
    expression = f"dyn({A}.architecture).orValue(10) == 10"
    assert selector.compile(expression, Profile(minor), admit=False).evaluate(GPU).outcome == outcome


@pytest.mark.parametrize(
    ("expression", "cost"),
    [
        pytest.param(f"{A}.architecture == {A}.architecture", 15, id="attributes-have-a-bound"),
        pytest.param(f"{C}.huge.add(100) != {C}.huge", 1844674407370955273, id="capacities-behind-a-dot-have-none"),
    ],
)
def test_the_estimate_knows_the_bounds_of_a_device(expression: str, cost: int) -> None:
    assert selector.compile(expression, admit=False).estimated_cost == cost
