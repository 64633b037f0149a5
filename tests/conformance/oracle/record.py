"""Write the recorded answers anew: `python -m tests.conformance.oracle.record`; fails when one of them changed.

What is recorded are questions and the facts of the answers; the words of an error are left out. Of an allocation
problem, which is long, its name and digest are recorded; the problem itself is made anew. Each version of Kubernetes
that we know answers for itself.
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
    vocabulary,
)

FOLDER = Path(__file__).parent / "recorded"
RECORDED = FOLDER / "answers.jsonl"
ALLOCATIONS = FOLDER / "allocations.jsonl"
SEED = 20260

# What tells the versions apart, and what chance seldom asks.
TELLING = (
    "device.allowMultipleAllocations",
    "[1].sort() == [1]",
    'device.driver.includes("x")',
    "dyn(true)",
    '"abc".startsWith(device.driver)',
    'matches(device.driver, "g.*")',
    'device.attributes["gpu.nvidia.com"].ecc',
    '[device.attributes["gpu.nvidia.com"].ecc, dyn(1)].size() == 2',
    'semver("v1", true).major() == 1',
    "[1,2].exists(i, v, v > i)",
    # A variable that holds a type is taken for the name of one, in every version.
    "cel.bind(v, int, true)",
    "[type(1)].exists(t, t == int)",
    '{"a": int}.all(k, v, v == int)',
    "[int][0] == int",
    'duration([1][0]) < duration("1s")',
)
LISTED = (
    'device.attributes["gpu.nvidia.com"].architecture.includes("Hopper")',
    '[1, 2].includes(1) && !device.driver.includes("gpu")',
)


def answers_of(minor: int) -> Path:
    """Return the file of a version's answers about selectors, quantities and versions."""
    return RECORDED if minor == program.LATEST else FOLDER / f"answers-1.{minor}.jsonl"


def allocations_file(minor: int) -> Path:
    """Return the file of a version's allocations."""
    return ALLOCATIONS if minor == program.LATEST else FOLDER / f"allocations-1.{minor}.jsonl"


def asked(minor: int = program.LATEST) -> list[dict[str, Any]]:
    """Return the questions that are recorded for a version: most for the one that go.mod pins."""
    if minor != program.LATEST:
        return [*questions.selectors(SEED + minor, 160), *questions.of_expressions(TELLING)]
    return list(
        itertools.chain(
            questions.selectors(SEED, 700),
            questions.selectors(SEED + 1, 100, list_attributes=True),
            questions.quantities(SEED, 400),
            questions.versions(SEED, 300),
            questions.of_expressions(TELLING),
            questions.of_expressions(LISTED, list_attributes=True),
        )
    )


def facts(answer: dict[str, Any]) -> dict[str, Any]:
    """Return an answer without its id and without the words of its errors."""
    kept = {key: value for key, value in answer.items() if key not in ("id", "error", "rightError")}
    refused: dict[str, Any] = {key: True for key in ("error", "rightError") if key in answer}
    return {**kept, **refused}


def recorded(path: Path = RECORDED) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield question and answer of every recorded line."""
    for line in path.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        question = entry["asked"]
        if question["kind"] == "selector":
            question = {**question, "driver": vocabulary.DRIVER, "device": vocabulary.DEVICE}
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


def allocations(minor: int = program.LATEST) -> list[dict[str, Any]]:
    """Return the allocation problems that are recorded for a version; those with a name are the pinned one's."""
    if minor != program.LATEST:
        parted = allocation_problems.parted(SEED + minor, 100 if minor > program.LATEST else 0, minor)
        return [*allocation_problems.problems(SEED + minor, 300, minor), *parted]
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
    """Ask each version, write what was answered, and return 1 when that is not what was recorded before."""
    files = [*map(answers_of, program.MINORS), *map(allocations_file, program.MINORS)]
    before = {path: path.read_bytes() if path.exists() else b"" for path in files}
    for minor in program.MINORS:
        chosen = asked(minor)
        write(answers_of(minor), chosen, program.ask(chosen, minor))
    for minor in program.MINORS:
        problems = allocations(minor)
        write_allocations(allocations_file(minor), problems, program.ask(problems, minor))
    changed = [path.name for path in files if path.read_bytes() != before[path]]
    if changed:
        sys.stderr.write(f"Kubernetes answers otherwise than recorded: {', '.join(changed)}\n")
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
