"""The law of mutations asked of every field in every way: `python -m tests.property.mutations --all`.

`tests.support.fields` says which fields there are. Each is asked for every variant of every way, in the first situation
that has it, and judged as the drawn questions are. Pairs of mutations are too many to be enumerated: they are drawn.
"""

# ruff: noqa: T201 - what a run prints is what it is for

from __future__ import annotations

import contextlib
import functools
import multiprocessing
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from modelplane_cli.simulator.store import key_of
from tests.property import mutations as law
from tests.support import fields, mutations, situations
from tests.support.fields import Field
from tests.support.mutations import Mutation

_CHUNK = 40
_ORDER = (situations.COMPOSITE, situations.OTHER, situations.CHILD)


@functools.cache
def every_field() -> tuple[Field, ...]:
    """Return every field in the order in which they are asked: those of the composites first."""
    return tuple(sorted(fields.every(), key=lambda one: _ORDER.index(one.input.role)))


def ways(one: Field) -> Iterator[Mutation]:
    """Yield each mutation of a field."""
    if one.samples:
        yield from mutations.added(one.path, one.samples)
        return
    document = one.input.document(one.start)
    for mutation in mutations.every(document, one.path, one.start.earlier.get(key_of(document), ())):
        if fields.is_possible(document, mutation):
            yield mutation


def ask(one: Field, wanted: Iterable[Mutation]) -> Iterator[tuple[Mutation, list[str]]]:
    """Yield each mutation with a line for each thing that is lost by it."""
    for mutation in wanted:
        yield mutation, list(law.judged(law.question(one.start, one.input, mutation)))


@dataclass(slots=True)
class Counts:
    """How much was asked and lost, by composer and input, and by the example or backend that the field is of."""

    fields: Counter[tuple[str, str]] = field(default_factory=Counter)
    asked: Counter[tuple[str, str]] = field(default_factory=Counter)
    lost: Counter[tuple[str, str]] = field(default_factory=Counter)
    backends: Counter[str] = field(default_factory=Counter)
    ways: Counter[str] = field(default_factory=Counter)

    def add(self, other: Counts) -> None:
        """Add what another process counted."""
        for name in self.__slots__:
            getattr(self, name).update(getattr(other, name))


def _chunk(numbers: list[int]) -> tuple[Counts, list[str]]:
    counts, lines = Counts(), list[str]()
    for number in numbers:
        one = every_field()[number]
        about = (one.start.kind, one.input_name)
        counts.fields[about] += 1
        for mutation, lost in ask(one, ways(one)):
            counts.asked[about] += 1
            counts.ways[mutation.how.partition(",")[0]] += 1
            counts.lost[about] += len(lost)
            if one.start.kind == "ModelReplica":
                counts.backends[one.start.composite["spec"]["backend"]] += 1
            lines += [f"{number}: {line}" for line in lost]
    return counts, lines


def run(kinds: list[str], jobs: int, part: tuple[int, int]) -> int:
    """Return 0 when nothing was lost; `part` (n, m) asks the n-th of m equal parts."""
    numbers = [number for number, one in enumerate(every_field()) if one.start.kind in kinds]
    chunks = [numbers[first : first + _CHUNK] for first in range(0, len(numbers), _CHUNK)][part[0] - 1 :: part[1]]
    total, begun, printed = Counts(), time.monotonic(), 0.0
    print(f"{sum(map(len, chunks))} fields of {len(situations.running())} composites and every backend", flush=True)
    with contextlib.ExitStack() as stack:
        done = stack.enter_context(multiprocessing.Pool(jobs)).imap(_chunk, chunks) if jobs > 1 else map(_chunk, chunks)
        for counts, lines in done:
            total.add(counts)
            if lines:
                print("\n".join(lines), flush=True)
            if time.monotonic() - printed > 30:
                printed = time.monotonic()
                print(
                    f"{printed - begun:7.0f} s  {total.fields.total():6} fields  {total.asked.total():8} asked  "
                    f"{total.lost.total()} losses",
                    flush=True,
                )
    _told(total, time.monotonic() - begun)
    return 1 if total.lost.total() else 0


def _told(total: Counts, seconds: float) -> None:
    for about in sorted(total.fields):
        kind, name = about
        print(f"{total.fields[about]:7} fields {total.asked[about]:8} asked {total.lost[about]:5} lost  {kind}: {name}")
    for counter in (total.backends, total.ways):
        print("; ".join(f"{name} {count}" for name, count in sorted(counter.items())))
    print(
        f"{total.fields.total()} fields, {total.asked.total()} mutations, {total.lost.total()} losses, {seconds:.0f} s"
    )
