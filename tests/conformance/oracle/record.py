"""Write the recorded answers anew: `python -m tests.conformance.oracle.record`.

What is recorded are questions and the facts of the answers; the words of an error are left out.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.conformance.oracle import program, questions

RECORDED = Path(__file__).parent / "recorded" / "answers.jsonl"
SEED = 20260


def asked() -> list[dict[str, Any]]:
    """Return the questions that are recorded."""
    return list(
        itertools.chain(
            questions.selectors(SEED, 700),
            questions.selectors(SEED + 1, 100, list_attributes=True),
            questions.quantities(SEED, 400),
            questions.versions(SEED, 300),
        )
    )


def facts(answer: dict[str, Any]) -> dict[str, Any]:
    """Return an answer without its id and without the words of its errors."""
    kept = {key: value for key, value in answer.items() if key not in ("id", "error", "rightError")}
    refused = {key: True for key in ("error", "rightError") if key in answer}
    return {**kept, **refused}


def recorded() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield question and answer of every recorded line."""
    for line in RECORDED.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        question = entry["asked"]
        if question["kind"] == "selector":
            question = {**question, "driver": questions.DRIVER, "device": questions.DEVICE}
        yield question, entry["answer"]


def main() -> None:
    """Ask, and write what was answered; questions on which Kubernetes itself panics are left out."""
    lines = []
    chosen = asked()
    for question, answer in zip(chosen, program.ask(chosen), strict=True):
        if "panic" in answer:
            continue
        short = {key: value for key, value in question.items() if key not in ("driver", "device")}
        lines.append(json.dumps({"asked": short, "answer": facts(answer)}, ensure_ascii=False, sort_keys=True))
    RECORDED.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
