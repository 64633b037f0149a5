"""The long comparison: `python -m tests.conformance.oracle.fuzz` prints every difference, and ends with 1 if it did.

Every version of Kubernetes that we know is asked everything; of expressions the pinned one the full number, the others
a quarter. Cost: a quarter of an hour with the numbers that are the default. Needs Go.

Not answered are a few allocations of 1.34 and 1.35, whose search may not end where an alternative asks for all
devices. Go visits the keys of a map in random order, so what an expression costs that stops at some key is another
number each time Kubernetes is asked. It is asked again where the cost alone differs; ours must be one of its answers.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tests.conformance.oracle import allocation_answers, allocation_problems, answers, program, questions, rare, record

Json = dict[str, Any]

BATCH = 5000
SHARE_OF_OTHERS = 4
SHARE_OF_LISTS = 5
SHARE_OF_RARE = 2
ASKED_AGAIN = 100


def expressions(seed: int, count: int, minor: int = program.LATEST) -> Iterator[Json]:
    """Yield `count` questions for a version, for 1.36 some with the gate for lists; and half as many rare ones."""
    lists = count // SHARE_OF_LISTS if minor == program.LATEST else 0
    yield from questions.selectors(seed + minor, count - lists)
    yield from questions.selectors(seed + minor + 1000, lists, list_attributes=True)
    yield from rare.selectors(seed + minor + 2000, count // SHARE_OF_RARE, minor)


def allocations(seed: int, count: int, minor: int = program.LATEST) -> Iterator[Json]:
    """Yield `count` problems for a version; from 1.36 on, which counts shared parts, half of them of parted devices."""
    parted = count // 2 if minor >= program.LATEST else 0
    yield from allocation_problems.problems(seed + minor, count - parted, minor)
    yield from allocation_problems.parted(seed + minor, parted, minor)


def differing(asked: Iterable[Json], minor: int = program.LATEST) -> Iterator[tuple[int, int, list[str]]]:
    """Yield per batch how many questions were compared, how many Kubernetes did not answer, and the differences."""
    for batch in _batched(asked):
        pairs = list(zip(batch, program.ask(batch, minor), strict=True))
        answered = [(question, reply) for question, reply in pairs if "panic" not in reply]
        lines = [line for question, reply in answered for line in difference(question, reply, minor)]
        yield len(answered), len(pairs) - len(answered), lines


def difference(question: Json, reply: Json, minor: int) -> Iterator[str]:
    """Yield one line when we answer a question otherwise than Kubernetes did."""
    if question["kind"] == "allocation":
        got, want = allocation_answers.answer(question), allocation_answers.facts(reply)
        subject = question["id"]
    else:
        got, want = record.facts(answers.answer(question, minor)), record.facts(reply)
        subject = question.get("expression") or f"{question['left']!r}, {question['right']!r}"
    wrong = {key: (got.get(key), want.get(key)) for key in sorted({*got, *want}) if got.get(key) != want.get(key)}
    if wrong and not (wrong.keys() == {"actualCost"} and got in _asked_again(question, minor)):
        yield f"1.{minor} {question['kind']} {subject}: (ours, theirs) {wrong}"


def _asked_again(question: Json, minor: int) -> list[Json]:
    """Return the facts that Kubernetes answers to one question asked many times."""
    return [record.facts(reply) for reply in program.ask([question] * ASKED_AGAIN, minor) if "panic" not in reply]


def _batched(asked: Iterable[Json]) -> Iterator[tuple[Json, ...]]:
    rest = iter(asked)
    while batch := tuple(itertools.islice(rest, BATCH)):
        yield batch


def _plan(arguments: argparse.Namespace) -> Iterator[tuple[str, int, Iterator[Json]]]:
    """Yield what is compared, in its order: a name, the version that is asked, the questions."""
    seed, latest = arguments.seed, program.LATEST
    makers: tuple[tuple[str, int, int, Callable[[int, int, int], Iterator[Json]]], ...] = (
        ("expressions", arguments.expressions, SHARE_OF_OTHERS, expressions),
        ("allocations", arguments.allocations, 1, allocations),
        ("quantities", arguments.quantities, 1, lambda start, count, minor: questions.quantities(start + minor, count)),
        ("versions", arguments.versions, 1, lambda start, count, minor: questions.versions(start + minor, count)),
    )
    for name, count, share, make in makers:
        for minor in sorted(program.MINORS, key=lambda one: one != latest):
            yield name, minor, make(seed, count if minor == latest else count // share, minor)


def main() -> int:
    """Return 0 when all answers agree."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.oracle.fuzz", description=__doc__)
    parser.add_argument("--seed", type=int, default=7, help="another seed asks other questions (default 7)")
    for name, count in (("expressions", 20000), ("quantities", 100000), ("versions", 100000), ("allocations", 5000)):
        parser.add_argument(f"--{name}", type=int, default=count, help=f"how many for 1.{program.LATEST} ({count})")
    wrong = 0
    for name, minor, asked in _plan(parser.parse_args()):
        begun, compared, unanswered, differences = time.monotonic(), 0, 0, 0
        for count, silent, lines in differing(asked, minor):
            compared, unanswered, differences = compared + count, unanswered + silent, differences + len(lines)
            sys.stdout.writelines(f"{line}\n" for line in lines)
        wrong += differences
        took = f"{time.monotonic() - begun:.0f} s"
        _say(f"1.{minor} {name}: {compared} compared, {differences} differ, {unanswered} not answered by it ({took})")
    _say(f"{wrong} differences in all")
    return 1 if wrong else 0


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
