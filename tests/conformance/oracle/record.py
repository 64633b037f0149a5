"""Write the recorded answers anew: `python -m tests.conformance.oracle.record`; fails when one of them changed.

What is recorded are questions and the facts of the answers; the words of an error are left out. Of an allocation
problem, which is long, its name and digest are recorded; the problem itself is made anew. The file of the
module's own version (1.36) is written here; those of other versions came from the same program built against the
modules of v0.34.0, v0.35.0 and v0.37.2 (allocations: v0.35.0 alone).
"""

from __future__ import annotations

import hashlib
import itertools
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.conformance.oracle import (
    allocation_answers,
    allocation_problems,
    allocation_situations,
    program,
    questions,
)

FOLDER = Path(__file__).parent / "recorded"
RECORDED = FOLDER / "answers.jsonl"
ALLOCATIONS = FOLDER / "allocations.jsonl"
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


def allocations_of(minor: int) -> list[dict[str, Any]]:
    """Return the recorded allocation problems of another version of Kubernetes."""
    return list(allocation_problems.problems(SEED + minor, 300, minor))


def allocations() -> list[dict[str, Any]]:
    """Return the allocation problems that are recorded: those with a name, then some made up at random."""
    named = [problem for _, problem in allocation_situations.SITUATIONS]
    return [*named, *allocation_problems.problems(SEED, 400)]


def digest(problem: dict[str, Any]) -> str:
    """Return what tells a problem from a changed one."""
    return hashlib.sha256(json.dumps(problem, sort_keys=True).encode()).hexdigest()[:16]


def allocated(path: Path = ALLOCATIONS) -> dict[str, dict[str, Any]]:
    """Return the recorded entries by the name of their problem: its digest and the answer."""
    entries = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {entry["id"]: entry for entry in entries}


def write_allocations(path: Path, chosen: list[dict[str, Any]], answers: list[dict[str, Any]]) -> None:
    """Write what was answered; problems that were not answered in time are left out."""
    lines = []
    for problem, answer in zip(chosen, answers, strict=True):
        if "panic" not in answer:
            entry = {
                "id": problem["id"],
                "problem": digest(problem),
                "answer": allocation_answers.facts(answer),
            }
            lines.append(json.dumps(entry, ensure_ascii=False, sort_keys=True))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> int:
    """Ask, write what was answered, and return 1 when that is not what was recorded before."""
    files = (RECORDED, ALLOCATIONS)
    before = [path.read_bytes() if path.exists() else b"" for path in files]
    chosen, problems = asked(), allocations()
    write(RECORDED, chosen, program.ask(chosen))
    write_allocations(ALLOCATIONS, problems, program.ask(problems))
    changed = [path.name for path, old in zip(files, before, strict=True) if path.read_bytes() != old]
    if changed:
        sys.stderr.write(f"Kubernetes answers otherwise than recorded: {', '.join(changed)}\n")
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
