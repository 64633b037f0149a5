"""The messages on standard error about a settled world: failures, deletions and missing Secrets, one line each."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from modelplane_cli.checks import references
from modelplane_cli.simulator import verdict
from modelplane_cli.simulator.offline import World

_SHOWN = 20


def world(settled: World, *, failures_shown_elsewhere: bool) -> None:
    """Write the failures, deletions, warnings and missing Secrets of a settled world."""
    record = settled.settled.record
    if not failures_shown_elsewhere:
        _lines("not as wanted", (str(failure) for failure in verdict.failures(settled)))
    for deletion in record.deletions:
        also = f" and with it {', '.join(str(key) for key in deletion.with_it)}" if deletion.with_it else ""
        print(f"deleted: {deletion.key}{also}: no longer wanted by {deletion.owner}", file=sys.stderr)
    warnings = (event for event in record.events if event.severity == "Warning")
    _lines("warning", (f"{event.about}: {event.reason}: {event.message}" for event in warnings))
    _lines("note", (str(missing) for missing in references.missing_secrets(settled)))
    bugs(settled)


def bugs(settled: World) -> None:
    """Write the internal errors of the functions."""
    for bug in settled.settled.record.bugs:
        print(f"bug: {bug}", file=sys.stderr)


def _lines(label: str, lines: Iterable[str]) -> None:
    every = list(lines)
    for line in every[:_SHOWN]:
        print(f"{label}: {line}", file=sys.stderr)
    if len(every) > _SHOWN:
        print(f"{label}: and {len(every) - _SHOWN} more; -o json has them all", file=sys.stderr)
