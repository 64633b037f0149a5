"""Our allocations against Kubernetes' own allocator: recorded answers always, and fresh ones, which need Go.

MODELPLANE_ALLOCATIONS is the number of fresh problems of each generator (default 3000), MODELPLANE_ORACLE_SEED where
they start (default 7).
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from tests.conformance.oracle import (
    allocation_answers,
    allocation_problems,
    allocation_situations,
    program,
    record,
)
from tests.support import live

SUITE = "oracle"
Json = dict[str, Any]


@pytest.fixture
def go() -> None:
    """Only what is asked anew needs the program; what is recorded is compared wherever the tests run."""
    live.needs(SUITE, "go")


def differences(pairs: Iterable[tuple[Json, Json]]) -> Iterator[str]:
    """Yield one line per problem we answer otherwise."""
    for problem, want in pairs:
        got = allocation_answers.answer(problem)
        if got != want:
            yield f"{problem['id']}: ours {got}, theirs {want}"


@pytest.mark.parametrize(
    ("reason", "problem"), [pytest.param(*one, id=one[1]["id"]) for one in allocation_situations.SITUATIONS]
)
def test_a_situation_ends_as_in_kubernetes(reason: str, problem: Json) -> None:
    entry = record.allocated()[problem["id"]]
    assert record.digest(problem) == entry["problem"], "the problem changed: record the answers anew"
    assert allocation_answers.answer(problem) == entry["answer"], reason


def test_recorded_problems_are_allocated_alike() -> None:
    recorded = record.allocated()
    problems = [problem for problem in record.allocations() if problem["id"] in recorded]
    assert [record.digest(one) for one in problems] == [recorded[one["id"]]["problem"] for one in problems]
    assert len(problems) > len(allocation_situations.SITUATIONS) + 300
    assert list(differences((one, recorded[one["id"]]["answer"]) for one in problems)) == []


@pytest.mark.parametrize("minor", [one for one in program.MINORS if one != program.LATEST])
def test_other_versions_of_kubernetes_allocate_alike(minor: int) -> None:
    recorded = record.allocated(record.allocations_file(minor))
    problems = [problem for problem in record.allocations(minor) if problem["id"] in recorded]
    assert [record.digest(one) for one in problems] == [recorded[one["id"]]["problem"] for one in problems]
    assert len(problems) > 250
    assert list(differences((one, recorded[one["id"]]["answer"]) for one in problems)) == []


def test_the_record_covers_every_verdict() -> None:
    answers = [entry["answer"] for entry in record.allocated().values()]
    results = Counter((answer["result"], answer.get("cause", "")) for answer in answers)
    assert {result for result, _ in results} == {"allocated", "none", "abort"}
    assert len([cause for _, cause in results if cause]) >= 6, results


@pytest.mark.slow
@pytest.mark.usefixtures("go")
@pytest.mark.parametrize("minor", program.MINORS)
def test_the_record_is_what_the_allocator_answers_today(minor: int) -> None:
    problems = record.allocations(minor)
    answered = [one for one in zip(problems, program.ask(problems, minor), strict=True) if "panic" not in one[1]]
    fresh = {problem["id"]: allocation_answers.facts(reply) for problem, reply in answered}
    recorded = record.allocated(record.allocations_file(minor))
    assert fresh == {name: entry["answer"] for name, entry in recorded.items()}


@pytest.mark.slow
@pytest.mark.usefixtures("go")
@pytest.mark.parametrize(
    ("generate", "minor"),
    [
        *[(allocation_problems.problems, minor) for minor in program.MINORS],
        *[(allocation_problems.parted, minor) for minor in (36, 37)],
    ],
)
def test_fresh_problems_are_allocated_alike(generate: Callable[[int, int, int], Iterator[Json]], minor: int) -> None:
    seed = int(os.environ.get("MODELPLANE_ORACLE_SEED", "7"))
    count = int(os.environ.get("MODELPLANE_ALLOCATIONS", "3000"))
    problems = list(generate(seed, count if minor == program.LATEST else count // 4, minor))
    pairs = [
        (problem, allocation_answers.facts(reply))
        for problem, reply in zip(problems, program.ask(problems, minor), strict=True)
        if "panic" not in reply
    ]
    assert len(pairs) > 0.98 * len(problems)
    results = Counter(want["result"] for _, want in pairs)
    assert min(results["allocated"], results["none"]) > len(problems) / 10, results
    assert list(differences(pairs)) == []
