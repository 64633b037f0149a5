"""All composites reconciled again and again until nothing changes any more.

What may never happen here: a loop without end, or one that stops and says nothing of what still moves.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field

from modelplane_cli.world.crossplane import Crossplane
from modelplane_cli.world.record import Bug, Record
from modelplane_cli.world.store import Key, Store

Assume = Callable[[Store], list[Key]]
"""Writes what other controllers would report by now; returns the objects that changed."""

MAX_ROUNDS = 1000
"""Of a fleet that changes one replica at a time, the longest way that was worth waiting for."""

_NAMED = 8

Told = Callable[[str], None]
"""Hears what is being done, for people who wait."""


@dataclass(slots=True)
class Settled:
    """The end of the loop. `flipping` holds the objects that never came to rest."""

    rounds: int
    record: Record
    flipping: tuple[Key, ...] = ()


@dataclass(slots=True)
class _History:
    """Content of the store by round, to tell a state that came back from one that is new."""

    store: Store
    digests: dict[Key, str] = field(default_factory=dict)
    versions: dict[Key, int] = field(default_factory=dict)
    states: dict[str, int] = field(default_factory=dict)
    changed: list[set[Key]] = field(default_factory=list)

    def note(self, round_: int) -> int | None:
        """Return the earlier round with the same content as now, None where there is none."""
        moved: set[Key] = set()
        present = list(self.store)
        for key in present:
            version = self.store.version(key)
            if self.versions.get(key) != version:
                self.versions[key] = version
                text = json.dumps(self.store.get(key), sort_keys=True, separators=(",", ":"))
                digest = hashlib.sha256(text.encode()).hexdigest()
                if self.digests.get(key) != digest:
                    self.digests[key] = digest
                    moved.add(key)
        for key in set(self.digests) - set(present):
            del self.digests[key], self.versions[key]
            moved.add(key)
        self.changed.append(moved)
        whole = hashlib.sha256("".join(f"{key}\x00{self.digests[key]}\n" for key in present).encode()).hexdigest()
        earlier = self.states.get(whole)
        self.states[whole] = round_
        return earlier

    def moved_since(self, round_: int) -> tuple[Key, ...]:
        """Return the objects that changed after `round_`, sorted."""
        return tuple(sorted(set().union(*self.changed[round_ + 1 :])))


def untold(_words: str) -> None:
    """Tell nobody."""


def settle(
    store: Store, crossplane: Crossplane, assume: Assume, *, told: Told = untold, max_rounds: int = MAX_ROUNDS
) -> Settled:
    """Return after the first round in which neither a composite nor an assumption moved.

    Composites are taken in order of kind, namespace and name, so that the result depends on no order of input.
    """
    history = _History(store)
    history.note(0)
    for round_ in range(1, max_rounds + 1):
        worked = 0
        for key in crossplane.composites():
            told(f"round {round_}: {key}")
            worked += crossplane.reconcile(key)
        assumed = assume(store)
        if not worked and not assumed:
            return Settled(round_, crossplane.record)
        earlier = history.note(round_)
        if earlier is not None and earlier < round_ - 1:
            return _restless(
                crossplane, round_, history.moved_since(earlier), f"the state of round {earlier} came back"
            )
    last = max(0, max_rounds - 10)
    return _restless(crossplane, max_rounds, history.moved_since(last), f"still moving after {max_rounds} rounds")


def _restless(crossplane: Crossplane, rounds: int, flipping: tuple[Key, ...], why: str) -> Settled:
    named = ", ".join(str(key) for key in flipping[:_NAMED])
    more = f" and {len(flipping) - _NAMED} more" if len(flipping) > _NAMED else ""
    about = flipping[0] if flipping else Key("", "", "", "")
    crossplane.record.bugs[Bug(about, f"does not settle ({why}); objects that keep changing: {named}{more}")] = None
    return Settled(rounds, crossplane.record, flipping)
