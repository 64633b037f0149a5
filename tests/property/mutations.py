"""The law of mutations: one field of one input made wrong takes nothing away: `python -m tests.property.mutations`.

Every composer is asked `--each` times: an input of a composite of the examples or of a replica of any backend is
chosen, a field of it, and one of the ways to make it wrong. The answer is judged by `tests.support.losses`. Every tenth
question is a sequence: two mutations in a row, then the inputs as they were; the end must equal the beginning. A seed
and a number make a question, whatever was asked before, so that `--seed 5 --kind ModelService --start 1234 --each 1235`
asks one again. A run says after each `--chunk` how far every composer was asked; `--start` goes on from there.

With `--all` nothing is drawn: every field of every input is asked in every way (`tests.support.fields` says when two
fields are one). `--part 3/100` asks the third of a hundred equal parts, `--kind` some composers, `--jobs` shares the
work. The last lines count fields, questions and losses of each composer and input. Pairs are too many: only the
sequences have them. Exit code 1 when something was lost.
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
from dataclasses import dataclass
from typing import Any

from modelplane import names
from modelplane.seen import at as seen_at
from modelplane_cli.simulator.store import key_of
from modelplane_functions.exchange import Outcome
from tests.support import fields, losses, mutations, shapes, situations, unrest
from tests.support.situations import Input, Situation

Json = Any
SECONDS_MAX = 10
"""The most seconds of computing that a wrong input may cost; a right one costs milliseconds."""


@dataclass(frozen=True)
class Question:
    """A situation with one wrong input."""

    start: Situation
    input: Input
    mutation: mutations.Mutation

    @property
    def document(self) -> Json:
        """Return the input as it is right."""
        return self.input.document(self.start)

    @functools.cached_property
    def situation(self) -> Situation:
        """Return the situation with the wrong input."""
        return self.input.replaced(self.start, self.mutation.applied(self.document))

    def asked_of(self, now: Situation) -> Situation | None:
        """Return what the situation has become with the input wrong, None where the field is gone by then."""
        try:
            return self.input.replaced(now, self.mutation.applied(self.input.document(now)))
        except (KeyError, IndexError, TypeError):
            return None

    @property
    def about(self) -> str:
        """Return the words for the input."""
        return self.input.named(self.start)

    def is_of_record(self) -> bool:
        """Return whether the field is the only record of what runs. Nobody knows then what there was before."""
        excuse = losses.excuse(self.start, self.document, self.mutation.path)
        return excuse.is_record or bool(excuse.forgotten)

    def may_be_refused(self) -> bool:
        """Return whether the composer may refuse its composite for this, and so leave everything as it is.

        It may for the composite's own text, for a child's that no API server would hold, and for what the platform
        forbids to endpoints. A status has no author to mend it, and what another object says otherwise is a condition
        about that one.
        """
        if self.mutation.path[0] == "status":
            return False
        if self.document is self.start.composite:
            return True
        if self.document["kind"] == "InferenceGateway" and self.mutation.path[:2] == ("spec", "endpoints"):
            return self.is_authors()  # the platform says there which endpoints it allows
        is_child = any(self.document is child for child in self.start.children.values())
        return is_child and not self.is_authors()

    def may_free(self) -> bool:
        """Return whether the field may say that the pods of a deleted replica have ended."""
        return losses.excuse(self.start, self.document, self.mutation.path).may_free

    def is_of_unheld_child(self) -> bool:
        """Return whether the input is a child of our kinds as no API server holds it."""
        is_ours = self.document["apiVersion"] == names.API_VERSION
        return self.input.role == situations.CHILD and is_ours and not self.is_authors()

    def is_authors(self) -> bool:
        """Return whether the mutation is an edit that the API server takes from whoever owns the object.

        Cost: some milliseconds, so it is asked about what would be a loss and about nothing else.
        """
        path = self.mutation.path
        if path[:2] == ("metadata", "labels"):
            return True  # what is selected by a label is what its author labels so
        if path[:2] == ("metadata", "ownerReferences") and self.document["kind"] == "ModelEndpoint":
            return True  # one that no ModelDeployment composes may not lead where composed ones lead
        return path[0] == "spec" and mutations.is_accepted(self.document, self.mutation.applied(self.document))

    def losses(self, outcome: Outcome, *, is_authors: bool) -> Iterator[str]:
        """Yield a line per loss, as `tests.support.losses` does."""
        excuse = losses.excuse(self.start, self.document, self.mutation.path)
        yield from losses.of(self.start, self.situation, outcome, is_authors=is_authors, excuse=excuse)

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
        lost = _sequence(situation, chance) if number % 10 == 9 else judged(_question(situation, chance))
        yield from (f"{kind} {number}: {line}" for line in lost)


@functools.cache
def _among(kind: str) -> tuple[Situation, ...]:
    every = (*situations.running(), *shapes.situations(), *unrest.every())
    return tuple(one for one in every if one.kind == kind)


def lost(situation: Situation, chance: random.Random) -> Iterator[str]:
    """Yield a line for each thing that is lost by one wrong input of a composite at rest."""
    yield from judged(_question(situation, chance))


def _question(situation: Situation, chance: random.Random) -> Question:
    """Return a question about an input that the composer really looks at."""
    which = chance.choice([situations.COMPOSITE, situations.CHILD, situations.OTHER])
    found = [one for one in situation.inputs if one.role == which] or [Input(situations.COMPOSITE)]
    wrong = chance.choice(found)
    return question(situation, wrong, _drawn(situation, wrong, chance))


def question(situation: Situation, wrong: Input, mutation: mutations.Mutation) -> Question:
    """Return the question that one mutation of one input is."""
    return Question(situation, wrong, mutation)


def _drawn(situation: Situation, wrong: Input, chance: random.Random) -> mutations.Mutation:
    document = wrong.document(situation)
    earlier = situation.earlier.get(key_of(document), ())
    while True:
        mutation = mutations.draw(document, chance, earlier)
        if fields.is_mutable(document, mutation.path, wrong.role) and fields.is_possible(document, mutation):
            return mutation


def judged(question: Question) -> Iterator[str]:
    """Yield a line for each thing that is lost by one wrong input."""
    begun = time.process_time()
    yield from _judged(question)
    taken = time.process_time() - begun
    if taken > SECONDS_MAX:
        yield f"{question}: it takes {taken:.0f} s of computing"


def _judged(question: Question) -> Iterator[str]:
    try:
        outcome = situations.answered(question.situation)
    except Exception as error:
        yield f"{question}: {_bug(error)}"
        return
    if outcome.fatal is not None and question.start.rest.fatal is None and not question.may_be_refused():
        yield f"{question}: it is refused, for what its author did not write and cannot mend"
        return
    found = list(question.losses(outcome, is_authors=False))
    if found and question.is_authors():
        found = list(question.losses(outcome, is_authors=True))
    yield from (f"{question}: {loss}" for loss in found)


def _bug(error: Exception) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"a bug: {type(error).__name__} at {frame.filename.rsplit('/', 1)[-1]}:{frame.lineno}: {error!s:.80}"


def _sequence(start: Situation, chance: random.Random) -> Iterator[str]:
    """Yield what differs at the end of two mutations in a row and the inputs as they were."""
    first, second = _question(start, chance), _question(start, chance)
    told = f"{first}, then {second.about}: {second.mutation}, then back"
    yield from (f"{told}: {line}" for line in in_a_row(start, first, second))


def in_a_row(start: Situation, *questions: Question) -> Iterator[str]:
    """Yield what differs from a situation without wrong inputs, once they were wrong in a row and are right again."""
    now, backends = start, {_backend(start)}
    try:
        for one in questions:
            seen = one.asked_of(now)
            if seen is not None:
                now = situations.mended(start, situations.after(seen, situations.decided(seen)))
                backends.add(_backend(now))
        found = situations.ended(start, now)
    except Exception as error:
        yield _bug(error)
        return
    if found.fatal is not None and any(
        one.input.role == situations.CHILD and one.may_be_refused() for one in questions
    ):
        return  # what no API server holds as a child is there until its composer can read it again
    if any(one.is_of_record() for one in questions):
        return
    has_effects = any(one.is_authors() or one.may_free() for one in questions)
    is_waiting = start.is_waiting or (start.kind == "InferenceQuota" and bool(start.composite["status"]["refused"]))
    if has_effects and (is_waiting or len(backends) > 1):
        # Whoever waited may have got what there was for a moment, and keeps it. A backend that was chosen is kept too.
        excuse = losses.Excuse(may_free=any(one.may_free() for one in questions))
        lost = losses.of(start, start, found, is_authors=True, excuse=excuse)
        yield from (f"{line} at the end" for line in lost)
        return
    unread = {str(one.input.at) for one in questions if one.is_of_unheld_child()}
    yield from (f"{line} at the end" for line in losses.differences(start.end, found, unread))


def _backend(situation: Situation) -> str:
    """Return the backend that a deployment has chosen."""
    return str(seen_at(situation.composite, "status", "backend")) if situation.kind == "ModelDeployment" else ""


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
    parser.add_argument(
        "--all",
        action="store_true",
        help="ask every field of every input in every way, and draw nothing; --kind and --jobs hold, --part too",
    )
    parser.add_argument("--part", default="1/1", help="with --all: 2/5 asks the second of five equal parts")
    options = parser.parse_args(arguments)
    asked_kinds = options.kind or kinds()
    if options.all:
        from tests.property import enumerated  # noqa: PLC0415 - it asks with what stands here

        this, parts = map(int, options.part.split("/"))
        return enumerated.run(asked_kinds, options.jobs, (this, parts))
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
