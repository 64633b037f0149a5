"""Our engine against Kubernetes' own code: recorded answers always, and fresh ones, which need Go.

MODELPLANE_ORACLE_QUESTIONS is the number of fresh questions of each kind and version (default 1500),
MODELPLANE_ORACLE_SEED where they start (default 7); `python -m tests.conformance.oracle.fuzz` asks many more.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from tests.conformance.oracle import answers, fuzz, program, questions, record
from tests.support import live

SUITE = "oracle"


@pytest.fixture
def go() -> None:
    """Only what is asked anew needs the program; what is recorded is compared wherever the tests run."""
    live.needs(SUITE, "go")


def differences(pairs: Iterable[tuple[dict[str, Any], dict[str, Any]]], minor: int = 36) -> Iterator[str]:
    """Yield one line per question we answer otherwise."""
    for question, want in pairs:
        got = record.facts(answers.answer(question, minor))
        if got != want:
            wrong = {key: (got.get(key), want.get(key)) for key in {*got, *want} if got.get(key) != want.get(key)}
            subject = question.get("expression") or (question["left"], question["right"])
            yield f"{subject}: (ours, theirs) {wrong}"


def test_recorded_answers_are_ours_too() -> None:
    assert list(differences(record.recorded())) == []


@pytest.mark.parametrize("minor", [34, 35, 37])
def test_other_versions_of_kubernetes_are_answered_alike(minor: int) -> None:
    assert list(differences(record.recorded(record.FOLDER / f"answers-1.{minor}.jsonl"), minor)) == []


def test_the_record_covers_every_result() -> None:
    results = {answer.get("result") for _, answer in record.recorded()}
    assert {"true", "false", "error", "compile_error"} <= results


@pytest.mark.slow
@pytest.mark.usefixtures("go")
@pytest.mark.parametrize("minor", program.MINORS)
def test_the_record_is_what_kubernetes_answers_today(minor: int) -> None:
    chosen = record.asked(minor)
    fresh = zip(chosen, program.ask(chosen, minor), strict=True)
    recorded = [(question["id"], answer) for question, answer in record.recorded(record.answers_of(minor))]
    assert [(question["id"], record.facts(reply)) for question, reply in fresh if "panic" not in reply] == recorded


@pytest.mark.slow
@pytest.mark.usefixtures("go")
@pytest.mark.parametrize("minor", program.MINORS)
def test_fresh_questions_are_answered_alike(minor: int) -> None:
    seed = int(os.environ.get("MODELPLANE_ORACLE_SEED", "7"))
    count = int(os.environ.get("MODELPLANE_ORACLE_QUESTIONS", "1500"))
    asked = fuzz.expressions(seed, count, minor)
    if minor == program.LATEST:
        asked = itertools.chain(asked, questions.quantities(seed, count), questions.versions(seed, count))
    for compared, unanswered, differences in fuzz.differing(asked, minor):
        assert unanswered < 0.01 * compared
        assert differences == []


@pytest.mark.slow
@pytest.mark.usefixtures("go")
def test_a_cost_that_changes_with_the_order_of_a_map_is_no_difference() -> None:
    """Go visits keys in random order: Kubernetes itself counts 12 or 13 here, as the key that ends the loop has it."""
    (asked,) = questions.of_expressions(("dyn(device.attributes).all(k, v, k == v)",))
    replies = program.ask([asked] * fuzz.ASKED_AGAIN)
    assert len({reply["actualCost"] for reply in replies}) > 1
    assert [lines for _, _, lines in fuzz.differing([asked] * 20)] == [[]]


@pytest.mark.slow
@pytest.mark.usefixtures("go")
@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param({"actualCost": 1000}, id="a cost that no order gives"),
        pytest.param({"result": "true"}, id="a result, which no order changes"),
    ],
)
def test_an_answer_that_kubernetes_never_gives_is_a_difference(
    wrong: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    (asked,) = questions.of_expressions(("dyn(device.attributes).all(k, v, k == v)",))
    right = answers.answer(asked, program.LATEST)
    monkeypatch.setattr(answers, "answer", lambda question, minor: {**right, **wrong})
    assert [len(lines) for _, _, lines in fuzz.differing([asked])] == [1]
