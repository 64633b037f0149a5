"""Every recorded answer of Kubernetes' own selector engine, and ours beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from modelplane.devices import selector
from modelplane.devices.selector import Outcome
from modelplane.errors import InvalidSelector
from tests.support.selectors import device_from_slice

VECTORS = json.loads(Path(__file__).with_name("cel_vectors.json").read_text())
DEVICE = device_from_slice(VECTORS["driver"], VECTORS["device"])
CASES = [pytest.param(case, id=case["id"]) for case in VECTORS["cases"]]
COMPILED = [pytest.param(case, id=case["id"]) for case in VECTORS["cases"] if case["result"] != "compile_error"]
RESULTS = {Outcome.MATCH: "true", Outcome.NO_MATCH: "false", Outcome.ABORT: "error"}


@pytest.mark.parametrize("case", CASES)
def test_the_verdict_is_that_of_kubernetes(case: dict[str, Any]) -> None:
    try:
        result = RESULTS[selector.compile(case["expression"], admit=False).evaluate(DEVICE).outcome]
    except InvalidSelector:
        result = "compile_error"
    assert result == case["result"]


@pytest.mark.parametrize("case", CASES)
def test_what_the_api_server_refuses_is_refused_here(case: dict[str, Any]) -> None:
    if case["apiServerAccepts"]:
        assert selector.compile(case["expression"]).api_server_accepts
    else:
        with pytest.raises(InvalidSelector):
            selector.compile(case["expression"])


@pytest.mark.parametrize("case", COMPILED)
def test_the_worst_case_cost_is_that_of_kubernetes(case: dict[str, Any]) -> None:
    estimated = selector.compile(case["expression"], admit=False).estimated_cost
    if case["estimatedCost"] is None:
        assert estimated > 10**18
    else:
        assert estimated == case["estimatedCost"]


@pytest.mark.parametrize("case", COMPILED)
def test_the_actual_cost_is_that_of_kubernetes(case: dict[str, Any]) -> None:
    verdict, cost = selector.compile(case["expression"], admit=False).measure(DEVICE)
    assert RESULTS[verdict.outcome] == case["result"]
    if "unordered" not in case:
        assert cost == case["actualCost"]


def test_there_are_vectors_of_every_kind() -> None:
    counted = {result: sum(case["result"] == result for case in VECTORS["cases"]) for result in RESULTS.values()}
    assert counted == {"true": 83, "false": 18, "error": 21}
    assert len(CASES) == 145
