"""Write the recorded answers anew: `python -m tests.conformance.oracle.record`.

What is recorded are questions and the facts of the answers; the words of an error are left out. The file of the
module's own version (1.36) is written here; those of other versions came from the same program built against the
modules of v0.34.0, v0.35.0 and v0.37.2.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.conformance.oracle import program, questions

FOLDER = Path(__file__).parent / "recorded"
RECORDED = FOLDER / "answers.jsonl"
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


def recorded(path: Path = RECORDED) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield question and answer of every recorded line."""
    for line in path.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        question = entry["asked"]
        if question["kind"] == "selector":
            question = {**question, "driver": questions.DRIVER, "device": questions.DEVICE}
        yield question, entry["answer"]


def write(path: Path, chosen: list[dict[str, Any]], answers: list[dict[str, Any]]) -> None:
    """Write questions and answers; questions on which Kubernetes itself panics are left out."""
    lines = []
    for question, answer in zip(chosen, answers, strict=True):
        if "panic" in answer:
            continue
        short = {key: value for key, value in question.items() if key not in ("driver", "device")}
        lines.append(json.dumps({"asked": short, "answer": facts(answer)}, ensure_ascii=False, sort_keys=True))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    """Ask, and write what was answered."""
    chosen = asked()
    write(RECORDED, chosen, program.ask(chosen))


if __name__ == "__main__":
    main()
