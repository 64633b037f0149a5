"""The law of mutations: one field of one input made wrong takes nothing away: `python -m tests.property.mutations`.

Every composer is asked `--each` times: an input of a composite of the examples is chosen, a field of it, and one of
the ways to make it wrong. The answer is judged by `tests.support.losses`. Every tenth question is a sequence: two
mutations in a row, then the inputs as they were; the end must equal the beginning. A seed and a number make a question,
whatever was asked before, so that `--seed 5 --kind ModelService --start 1234 --each 1235` asks one again. A run says
after each `--chunk` how far every composer was asked; `--start` goes on from there. Exit code 1 when something was
lost.
"""

# ruff: noqa: T201 - what a run prints is what it is for

from __future__ import annotations

import argparse
import contextlib
import functools
import multiprocessing
import random
import secrets
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from modelplane_functions.exchange import Outcome
from tests.support import losses, mutations, situations
from tests.support.situations import Situation

Json = Any
# Crossplane tells children by these, and the server writes the rest; no client makes them wrong while an object is
# seen.
_NOT_SEEN = {("metadata", part) for part in ("uid", "ownerReferences", "generation", "annotations")}
# A replica's cluster never changes: its definition says so to every client.
_NEVER_CHANGES = {("ModelReplica", ("spec", "clusterName"))}


@dataclass(frozen=True, slots=True)
class Question:
    """A situation with one wrong input."""

    start: Situation
    situation: Situation
    about: str
    mutation: mutations.Mutation
    document: Json

    def may_be_refused(self) -> bool:
        """Return whether the composer may refuse its composite for this, and so leave everything as it is.

        It may for the composite's own text, and for a child's that no API server would hold. A status has no author to
        mend it, and what another object says is a condition about that one.
        """
        if self.mutation.path[0] == "status":
            return False
        is_child = any(self.document is child for child in self.start.children.values())
        return self.document is self.start.composite or (is_child and not self.is_authors())

    def is_authors(self) -> bool:
        """Return whether the mutation is an edit that the API server takes from whoever owns the object.

        Cost: some milliseconds, so it is asked about what would be a loss and about nothing else.
        """
        path = self.mutation.path
        if path[:2] == ("metadata", "labels"):
            return True  # what is selected by a label is what its author labels so
        return path[0] == "spec" and mutations.is_accepted(self.document, self.mutation.applied(self.document))

    def __str__(self) -> str:
        """Return what was made wrong, and the value."""
        shown = "" if self.mutation.value is mutations.GONE else f" = {self.mutation.value!r:.80}"
        return f"{self.situation}: {self.about}: {self.mutation}{shown}"


def kinds() -> list[str]:
    """Return the kinds that have a composer and stand in an example."""
    return sorted({one.kind for one in situations.running()})


def ask(kind: str, numbers: Iterable[int], seed: int) -> Iterator[str]:
    """Yield a line for each thing that was lost in the questions of these numbers to one composer."""
    for number in numbers:
        chance = random.Random(f"{seed}/{kind}/{number}")  # noqa: S311 - a seed must repeat it
        situation = chance.choice(_among(kind))
        lost = _sequence(situation, chance) if number % 10 == 9 else _one(_question(situation, chance))
        yield from (f"{kind} {number}: {line}" for line in lost)


@functools.cache
def _among(kind: str) -> tuple[Situation, ...]:
    return tuple(one for one in situations.running() if one.kind == kind)


def _question(situation: Situation, chance: random.Random) -> Question:
    """Return a question about an input that the composer really looks at."""
    which = chance.choice(["composite", "child", "other"])
    if which == "child" and situation.children:
        key = chance.choice(sorted(situation.children))
        document = situation.children[key]
        mutation = _drawn(document, chance)
        changed = replace(situation, children={**situation.children, key: _made(mutation, document)})
        return Question(situation, changed, f"child {key}", mutation, document)
    if which == "other" and situation.store:
        index = chance.randrange(len(situation.store))
        document = situation.store[index]
        mutation = _drawn(document, chance)
        others = list(situation.store)
        others[index] = _made(mutation, document)
        about = f"{document['kind']} {document['metadata']['name']}"
        return Question(situation, replace(situation, store=tuple(others)), about, mutation, document)
    document = situation.composite
    mutation = _drawn(document, chance)
    return Question(situation, replace(situation, composite=_made(mutation, document)), "itself", mutation, document)


def _made(mutation: mutations.Mutation, document: Json) -> Json:
    return situations.received(mutation.applied(document))


def _drawn(document: Json, chance: random.Random) -> mutations.Mutation:
    while True:
        mutation = mutations.draw(document, chance)
        if mutation.path[:2] not in _NOT_SEEN and (document["kind"], mutation.path) not in _NEVER_CHANGES:
            return mutation


def _one(question: Question) -> Iterator[str]:
    try:
        outcome = situations.decided(question.situation)
    except Exception as error:
        yield f"{question}: {_bug(error)}"
        return
    if outcome is None and not question.may_be_refused():
        yield f"{question}: it is refused, for what its author did not write and cannot mend"
        return
    found = list(losses.of(question.start, question.situation, outcome, is_authors=False))
    if found and question.is_authors():
        found = list(losses.of(question.start, question.situation, outcome, is_authors=True))
    yield from (f"{question}: {loss}" for loss in found)


def _bug(error: Exception) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"a bug: {type(error).__name__} at {frame.filename.rsplit('/', 1)[-1]}:{frame.lineno}: {error!s:.80}"


def _sequence(start: Situation, chance: random.Random) -> Iterator[str]:
    """Yield what differs at the end of two mutations in a row and the inputs as they were."""
    first, second = _question(start, chance), _question(start, chance)
    told = f"{first}, then {second.about}: {second.mutation}, then back"
    try:
        now = situations.after(first.situation, situations.decided(first.situation))
        merged = _merged(now, first, second)
        now = situations.after(merged, situations.decided(merged))
        back = replace(start, children=_kept(start, now), composite=_with_status(start, now))
        ended = situations.decided(back)
        for _ in range(3):
            back = situations.after(back, ended)
            ended = situations.decided(back)
    except Exception as error:
        yield f"{told}: {_bug(error)}"
        return
    found = list(_differences(start, ended))
    if found and not first.is_authors() and not second.is_authors():
        yield from (f"{told}: {difference}" for difference in found)


def _differences(start: Situation, ended: Outcome | None) -> Iterator[str]:
    if ended is None:
        if situations.decided(start) is not None:
            yield "it is refused at the end"
        return
    yield from (f"{loss} at the end" for loss in losses.of(start, start, ended, is_authors=False))


def _merged(now: Situation, first: Question, second: Question) -> Situation:
    """Return the situation in which the second mutation follows on the first, which is mended by then."""
    wrong = second.situation
    children = {key: wrong.children.get(key, child) for key, child in now.children.items()}
    return replace(wrong, children=children)


def _kept(start: Situation, now: Situation) -> dict[str, Json]:
    """Return the children that are still there, as they were before."""
    return {key: start.children.get(key, child) for key, child in now.children.items()}


def _with_status(start: Situation, now: Situation) -> Json:
    """Return the composite as its author has it, with the status that the function wrote last."""
    status = now.composite.get("status") if isinstance(now.composite.get("status"), dict) else {}
    return {**start.composite, "status": status}


def _chunk(task: tuple[str, range, int]) -> tuple[str, int, list[str]]:
    kind, numbers, seed = task
    return kind, len(numbers), list(ask(kind, numbers, seed))


def main(arguments: list[str]) -> int:
    """Return 0 when nothing was lost, 1 otherwise."""
    parser = argparse.ArgumentParser(prog="python -m tests.property.mutations", description=__doc__)
    parser.add_argument("--each", type=int, default=2000, help="questions to each composer (default 2000)")
    parser.add_argument("--start", type=int, default=0, help="the number of the first question (default 0)")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**6), help="repeats a run")
    parser.add_argument("--kind", action="append", choices=kinds(), help="ask only these composers")
    parser.add_argument("--jobs", type=int, default=1, help="processes beside each other (default 1)")
    parser.add_argument("--chunk", type=int, default=500, help="questions to each composer between two lines")
    options = parser.parse_args(arguments)
    asked_kinds = options.kind or kinds()
    tasks = [
        (kind, range(first, min(first + options.chunk, options.each)), options.seed)
        for first in range(options.start, options.each, options.chunk)
        for kind in asked_kinds
    ]
    print(f"seed {options.seed}", flush=True)
    asked, lost = _run(tasks, jobs=options.jobs, kinds_count=len(asked_kinds))
    for kind in asked_kinds:
        print(f"{asked[kind]:8} questions to {kind}, {lost[kind]} losses")
    again = f"--seed {options.seed} --start {options.start} --each {options.each}"
    print(f"{asked.total()} mutations, {lost.total()} losses; {again} asks the same again")
    return 1 if lost else 0


def _run(tasks: list[tuple[str, range, int]], *, jobs: int, kinds_count: int) -> tuple[Counter[str], Counter[str]]:
    """Return the questions asked and the losses found by kind; a loss is printed when it is found."""
    asked, lost = Counter[str](), Counter[str]()
    begun = time.monotonic()
    situations.running()  # before the processes part, so that it is made once
    with contextlib.ExitStack() as stack:
        # One job is this process: a pool of one would only wait beside it.
        done = stack.enter_context(multiprocessing.Pool(jobs)).imap(_chunk, tasks) if jobs > 1 else map(_chunk, tasks)
        for number, (kind, count, lines) in enumerate(done, 1):
            asked[kind] += count
            if lines:
                lost[kind] += len(lines)
                print("\n".join(lines), flush=True)
            if number % kinds_count == 0:
                seconds = time.monotonic() - begun
                until = tasks[number - 1][1].stop
                print(
                    f"{seconds:7.0f} s  each to {until:7}  {asked.total():8} asked  {lost.total()} losses", flush=True
                )
    return asked, lost


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
