"""Suites to run: what a change touches, and of the others those whose turn it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta

from tests.support.ci.suites import EVERYTHING, GROUPS, Suite


@dataclass(frozen=True, slots=True)
class Chosen:
    """A suite that runs, and why."""

    suite: Suite
    why: str


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A suite that does not run, and why."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Choice:
    """Suites in the order in which they are to run, and those that are left out."""

    run: tuple[Chosen, ...]
    left_out: tuple[LeftOut, ...]


def choose(suites: Iterable[Suite], changed: frozenset[str] | None, day: date, skip: frozenset[str]) -> Choice:
    """Return what to run on a day; `changed` are files of the change, None where nobody can tell.

    What is touched comes before what is not. Among each the suites of the day's turn come first, then those of the
    next days, each in order of cost: so a day that has no time for all of them leaves out others than the day before.
    """
    run: list[tuple[tuple[bool, int, float, str], Chosen]] = []
    left_out = []
    for suite in suites:
        turn = (suite.group - day.toordinal()) % GROUPS
        touched = _touched(suite, changed)
        if suite.name in skip or (suite.parts and skip.issuperset(suite.parts)):
            left_out.append(LeftOut(suite.name, "named by MODELPLANE_SKIP"))
        elif touched or turn == 0:
            why = touched or "not touched; its turn is today"
            run.append(((not touched, turn, suite.minutes, suite.name), Chosen(suite, why)))
        else:
            left_out.append(LeftOut(suite.name, f"not touched; its turn is {day + timedelta(days=turn)}"))
    return Choice(tuple(chosen for _, chosen in sorted(run, key=lambda pair: pair[0])), tuple(left_out))


def everything(suites: Iterable[Suite], skip: frozenset[str]) -> Choice:
    """Return all suites, in their order in the table, except those that are left out by name."""
    choice = choose(suites, None, date(1, 1, 1), skip)
    run = {chosen.suite.name: chosen.suite for chosen in choice.run}
    return Choice(tuple(Chosen(suite, "all are asked for") for suite in suites if suite.name in run), choice.left_out)


def _touched(suite: Suite, changed: frozenset[str] | None) -> str:
    """Return how a change touches a suite, with one file as an example; empty when it does not."""
    if changed is None:
        return "what was changed is not known, so all counts as touched"
    hit = sorted(name for name in changed if name.startswith((*suite.paths, *EVERYTHING)))
    return f"touched by {hit[0]}{f' and {len(hit) - 1} more' if len(hit) > 1 else ''}" if hit else ""
