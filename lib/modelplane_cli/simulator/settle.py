"""All composites reconciled again and again until nothing changes any more.

What may never happen here: a loop without end, or one that stops and says nothing of what still moves.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field

from modelplane import words
from modelplane_cli.simulator.crossplane import Crossplane
from modelplane_cli.simulator.record import Bug, Record
from modelplane_cli.simulator.store import Key, Object, Store

Assume = Callable[[Store], list[Key]]
"""A function that writes the reports of other controllers, and returns the changed objects."""

MAX_ROUNDS = 1000
"""The maximum number of rounds, for a fleet that changes one replica at a time."""

_NAMED = 8

Told = Callable[[str], None]
"""A function that receives progress messages."""


@dataclass(slots=True)
class Settled:
    """The end of the loop."""

    rounds: int
    record: Record


@dataclass(slots=True)
class _History:
    """The content of the store by round, by which a repeated state is recognised.

    A state is told by how it differs from the beginning, so that a large store at rest costs nothing.
    """

    store: Store
    state: int = 0
    states: dict[int, int] = field(default_factory=dict)
    changed: list[set[Key]] = field(default_factory=list)
    digests: dict[Key, int] = field(default_factory=dict)
    """Of objects that have changed since the beginning, as they were when they were last noted."""

    def note(self, round_: int) -> int | None:
        """Return the earlier round with the same content as now, None where there is none."""
        moved: set[Key] = set()
        for key, before in self.store.changed().items():
            was = self.digests[key] if key in self.digests else _digest(key, before)
            now = self.digests[key] = _digest(key, self.store.get(key))
            if was != now:
                self.state ^= was ^ now
                moved.add(key)
        self.changed.append(moved)
        earlier = self.states.get(self.state)
        self.states[self.state] = round_
        return earlier

    def moved_since(self, round_: int) -> tuple[Key, ...]:
        """Return the objects that changed after `round_`, sorted."""
        return tuple(sorted(set().union(*self.changed[round_ + 1 :])))


def _digest(key: Key, resource: Object | None) -> int:
    """Return a number for what an object is, 0 for one that does not exist."""
    if resource is None:
        return 0
    text = json.dumps([key, resource], sort_keys=True, separators=(",", ":"))
    return int.from_bytes(hashlib.sha256(text.encode()).digest(), "big")


def untold(_words: str) -> None:
    """Ignore a progress message."""


Enough = Callable[[], bool]


def _never() -> bool:
    return False


def settle(
    store: Store,
    crossplane: Crossplane,
    assume: Assume,
    *,
    told: Told = untold,
    enough: Enough = _never,
) -> Settled:
    """Return after the first round in which neither a composite nor an assumption moved, or that was `enough`.

    Composites are taken in order of kind, namespace and name, so that the result depends on no order of input.
    """
    store.changed()  # what happened before is the beginning
    history = _History(store)
    history.note(0)
    for round_ in range(1, MAX_ROUNDS + 1):
        worked = 0
        for key in crossplane.composites():
            told(f"round {round_}: {key}")
            worked += crossplane.reconcile(key)
        assumed = assume(store)
        if (not worked and not assumed) or enough():
            return Settled(round_, crossplane.record)
        earlier = history.note(round_)
        if earlier is not None and earlier < round_ - 1:
            return _restless(
                crossplane, round_, history.moved_since(earlier), f"the state of round {earlier} came back"
            )
    last = max(0, MAX_ROUNDS - 10)
    return _restless(crossplane, MAX_ROUNDS, history.moved_since(last), f"still moving after {MAX_ROUNDS} rounds")


def _restless(crossplane: Crossplane, rounds: int, flipping: tuple[Key, ...], why: str) -> Settled:
    named = words.first(flipping, _NAMED)
    about = flipping[0] if flipping else Key("", "", "", "")
    crossplane.record.bugs[Bug(about, f"does not settle ({why}); objects that keep changing: {named}")] = None
    return Settled(rounds, crossplane.record)
