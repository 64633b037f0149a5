"""A control plane whose release can change at any moment, between any two calls of the functions.

The objects stay. With other definitions the API server reads every stored object anew: without the fields that they do
not know, and with their defaults. Crossplane calls every composite again; it knows what it applied before (the
managedFields of each object say so) and, unless it was restarted, what each composite asked for.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from modelplane.errors import dotted
from modelplane.structural import Cause, Kind, Problem
from modelplane_cli.simulator import assumption
from modelplane_cli.simulator.crossplane import Crossplane
from modelplane_cli.simulator.definitions import Definition, Definitions
from modelplane_cli.simulator.record import Record
from modelplane_cli.simulator.store import Key, Object, Store
from tests.upgrades.released import Release

Json = Any
ROUNDS_MAX: Final = 60
_BEGIN: Final = datetime(2026, 1, 1, tzinfo=UTC)
_INDEX: Final = re.compile(r"\[\d+\]")


class Pruning(Kind):
    """A kind that drops what it does not know and says nothing, as the API server does with what Crossplane writes."""

    def judged(
        self, document: Mapping[str, Json], old: Mapping[str, Json] | None = None
    ) -> tuple[dict[str, Json], tuple[Problem, ...]]:
        """Return the stored document, and its problems but for unknown fields."""
        stored, problems = super().judged(document, old)
        return stored, tuple(one for one in problems if one.cause is not Cause.UNKNOWN)


class Plane:
    """A store, and the functions and definitions that act on it."""

    def __init__(self, objects: Mapping[Key, Mapping[str, Json]], release: Release) -> None:
        self.store = Store()
        for key in sorted(objects):
            self.store.put(dict(objects[key]))
        self.definitions = release.definitions
        self.lost: set[str] = set()
        """The fields that stored objects lost to other definitions, as `Kind: path`."""
        self.asked: set[tuple[str, str]] = set()
        """Group and kind of all that was required so far."""
        self._function = self._defined_by = release
        self._happens = assumption.Ready(frozenset(key for key in objects if assumption.is_observation(objects[key])))
        self._rounds = 0
        self._crossplane = Crossplane(self.store, release.definitions, release.function)

    def copy(self) -> Plane:
        """Return a plane of its own in the same state, of which nothing is recorded yet."""
        other = copy.copy(self)
        other.store, other.lost, other.asked = self.store.copy(), set(), set()
        other._happens = assumption.Ready(self._happens.observed, dict(self._happens.known))
        other._crossplane = self._crossplane.carried_on(other.store)
        return other

    # --- releases -------------------------------------------------------------------------------------------------

    def install(self, release: Release, *, is_restarted: bool = False) -> None:
        """Install definitions and functions of a release. A restarted Crossplane has forgotten what was asked for."""
        self.define(release)
        self.run(release, is_restarted=is_restarted)

    def define(self, release: Release) -> None:
        """Install the definitions of a release. A kind that they do not have keeps its definition, as on a cluster."""
        new = {(one.group, one.kind): one for one in release.definitions}
        self.definitions = Definitions(
            list({**{(one.group, one.kind): one for one in self.definitions}, **new}.values())
        )
        self._defined_by = release
        for definition in new.values():
            for key in self.store.of_kind(definition.group, definition.kind):
                self.store.put(self._read(definition, key))
        self._carry_on(is_restarted=False)

    def _read(self, definition: Definition, key: Key) -> Object:
        stored, problems = definition.served.judged(self.store.get(key) or {})
        unknown = (one for one in problems if one.cause is Cause.UNKNOWN)
        self.lost |= {f"{key.kind}: {_INDEX.sub('[]', dotted(one.path))}" for one in unknown}
        return stored

    def run(self, release: Release, *, is_restarted: bool = False) -> None:
        """Run the functions of a release, with the definitions that are there."""
        self._function = release
        self._carry_on(is_restarted=is_restarted)

    def _carry_on(self, *, is_restarted: bool) -> None:
        before, definitions = self._crossplane, self.definitions
        if self._function is not self._defined_by:
            definitions = Definitions([replace(one, served=_pruning(one.served)) for one in definitions])
        self._crossplane = Crossplane(self.store, definitions, self._function.function, before)
        self._crossplane.record = self._crossplane._pipeline._record = before.record
        self._crossplane._applied = dict(before._applied)
        if not is_restarted:
            self._crossplane._pipeline.remember(before._pipeline)

    def invalid(self) -> list[str]:
        """Return what the API server would refuse of what is stored, if it were written again as it stands."""
        return [
            f"{key}: {problem}"
            for definition in self.definitions
            for key in self.store.of_kind(definition.group, definition.kind)
            for problem in definition.served.problems(self.store.get(key) or {}, self.store.get(key))
        ]

    # --- what happens ---------------------------------------------------------------------------------------------

    def steps(self) -> Iterator[Key]:
        """Yield each composite after it was called, until nothing moves any more.

        Raises: AssertionError when that takes too long.
        """
        for _ in range(ROUNDS_MAX):
            self._rounds += 1
            moved = False
            for key in self._crossplane.composites():
                self._crossplane._created = (_BEGIN + timedelta(seconds=self._rounds)).strftime("%Y-%m-%dT%H:%M:%SZ")
                if self._crossplane.reconcile(key):
                    moved = True
                    wants = self._crossplane._pipeline._wants.get(key, ())
                    self.asked |= {(wanted.group, wanted.kind) for _, wanted in wants}
                    yield key
            if not self._happens(self.store) and not moved:
                return
        raise AssertionError(f"still moving after {ROUNDS_MAX} rounds")

    def settle(self) -> int:
        """Return the number of calls until nothing moves any more."""
        return sum(1 for _ in self.steps())

    def composites(self) -> list[Key]:
        """Return the composites."""
        return self._crossplane.composites()

    def objects(self) -> dict[Key, Object]:
        """Return all objects."""
        return {key: found for key in self.store if (found := self.store.get(key)) is not None}

    @property
    def record(self) -> Record:
        """Return what was deleted and said so far."""
        return self._crossplane.record

    def refusals(self) -> list[str]:
        """Return what was refused so far, and what the functions did wrong."""
        fatal = [f"{one.about}: {one.message}" for one in self.record.events if one.severity == "Fatal"]
        return [*map(str, self.record.bugs), *fatal]


def _pruning(kind: Kind) -> Kind:
    return Pruning(**{one.name: getattr(kind, one.name) for one in fields(kind)})
