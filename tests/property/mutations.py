"""The law of mutations: one field of one input made wrong takes nothing away: `python -m tests.property.mutations`.

Every composer is asked `--each` times: an input of a composite of the examples is chosen, a field of it, and one of
the ways to make it wrong. The answer is judged by `tests.support.losses`. Every tenth question is a sequence: two
mutations in a row, then the inputs as they were; the end must equal the beginning. The seed is printed and repeats a
run. Exit code 1 when something was lost.
"""

# ruff: noqa: T201 - what a run prints is what it is for

from __future__ import annotations

import argparse
import random
import secrets
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
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
    is_authors: bool

    def __str__(self) -> str:
        """Return what was made wrong, and the value."""
        shown = "" if self.mutation.value is mutations.GONE else f" = {self.mutation.value!r:.80}"
        return f"{self.situation}: {self.about}: {self.mutation}{shown}"


def kinds() -> list[str]:
    """Return the kinds that have a composer and stand in an example."""
    return sorted({one.kind for one in situations.running()})


def ask(kind: str, count: int, seed: int) -> Iterator[str]:
    """Yield a line for each thing that was lost in `count` questions to one composer."""
    chance = random.Random(f"{kind}/{seed}")  # noqa: S311 - a seed must repeat it
    among = [one for one in situations.running() if one.kind == kind]
    for number in range(count):
        situation = chance.choice(among)
        if number % 10 == 9:
            yield from _sequence(situation, chance)
        else:
            yield from _one(_question(situation, chance))


def _question(situation: Situation, chance: random.Random) -> Question:
    """Return a question about an input that the composer really looks at."""
    which = chance.choice(["composite", "child", "other"])
    if which == "child" and situation.children:
        key = chance.choice(sorted(situation.children))
        document = situation.children[key]
        mutation = _drawn(document, chance)
        changed = replace(situation, children={**situation.children, key: mutation.applied(document)})
        return Question(situation, changed, f"child {key}", mutation, _is_authors(document, mutation))
    if which == "other" and situation.store:
        index = chance.randrange(len(situation.store))
        document = situation.store[index]
        mutation = _drawn(document, chance)
        others = list(situation.store)
        others[index] = mutation.applied(document)
        about = f"{document['kind']} {document['metadata']['name']}"
        return Question(
            situation, replace(situation, store=tuple(others)), about, mutation, _is_authors(document, mutation)
        )
    mutation = _drawn(situation.composite, chance)
    changed = replace(situation, composite=mutation.applied(situation.composite))
    return Question(situation, changed, "itself", mutation, _is_authors(situation.composite, mutation))


def _drawn(document: Json, chance: random.Random) -> mutations.Mutation:
    while True:
        mutation = mutations.draw(document, chance)
        if mutation.path[:2] not in _NOT_SEEN and (document["kind"], mutation.path) not in _NEVER_CHANGES:
            return mutation


def _is_authors(document: Json, mutation: mutations.Mutation) -> bool:
    """Return whether the mutation is an edit that the API server takes from whoever owns the object."""
    if mutation.path[:2] == ("metadata", "labels"):
        return True  # what is selected by a label is what its author labels so
    return mutation.path[0] == "spec" and mutations.is_accepted(document, mutation.applied(document))


def _one(question: Question) -> Iterator[str]:
    outcome: Outcome | None = None
    try:
        outcome = situations.decided(question.situation)
    except Exception as error:
        yield f"{question}: {_bug(error)}"
        return
    for loss in losses.of(question.start, question.situation, outcome, is_authors=question.is_authors):
        yield f"{question}: {loss}"


def _bug(error: Exception) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"a bug: {type(error).__name__} at {frame.filename.rsplit('/', 1)[-1]}:{frame.lineno}: {error!s:.80}"


def _sequence(start: Situation, chance: random.Random) -> Iterator[str]:
    """Yield what differs at the end of two mutations in a row and the inputs as they were."""
    first, second = _question(start, chance), _question(start, chance)
    if first.is_authors or second.is_authors:
        return
    told = f"{first}, then {second.about}: {second.mutation}, then back"
    try:
        begun = situations.decided(start)
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
    if begun is None or ended is None:
        if begun is not ended:
            yield f"{told}: it is refused at the end"
        return
    missing = sorted(begun.children.keys() - ended.children.keys())
    if missing:
        yield f"{told}: {', '.join(missing)} did not come back"


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


def main(arguments: list[str]) -> int:
    """Return 0 when nothing was lost, 1 otherwise."""
    parser = argparse.ArgumentParser(prog="python -m tests.property.mutations", description=__doc__)
    parser.add_argument("--each", type=int, default=2000, help="questions to each composer (default 2000)")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**6), help="repeats a run")
    parser.add_argument("--kind", action="append", help="ask only these composers")
    parser.add_argument("--show", type=int, default=40, help="how many different losses are printed")
    options = parser.parse_args(arguments)
    begun, asked, lost = time.monotonic(), 0, 0
    print(f"seed {options.seed}")
    for kind in options.kind or kinds():
        found = Counter[str]()
        for line in ask(kind, options.each, options.seed):
            found[line] += 1
        asked += options.each
        lost += sum(found.values())
        print(f"{time.monotonic() - begun:6.0f} s  {kind:18} {options.each:7} questions, {sum(found.values())} losses")
        for line, _ in found.most_common(options.show):
            print(f"    {line}")
    print(f"{asked} mutations, {lost} losses; --seed {options.seed} asks the same again")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
