"""The time at which objects are created here: after all that were read, and always the same.

Replicas of a live control plane have the time of their creation, and who came first decides who gives way. Beside them
an object without a time would be the oldest of all, and a successor older than what it succeeds.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from modelplane import names, seen
from modelplane.api import replica
from modelplane_cli.simulator.store import Store

_ONE_SECOND = timedelta(seconds=1)
"""An API server counts in seconds."""


def time_after(store: Store) -> str | None:
    """Return the second after the newest replica of a store, None where no replica has a time (of documents alone)."""
    resources = (store.get(key) or {} for key in store.of_kind(names.GROUP, replica.KIND))
    found = [time for one in resources if (time := _read(seen.text(seen.at(one, "metadata", "creationTimestamp"))))]
    if not found:
        return None
    try:
        return (max(found) + _ONE_SECOND).strftime("%Y-%m-%dT%H:%M:%SZ")
    except OverflowError:  # the last second of the year 9999
        return None


def _read(text: str) -> datetime | None:
    """Return the time that an API server wrote, None for another text."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found.astimezone(UTC) if found.tzinfo else None
