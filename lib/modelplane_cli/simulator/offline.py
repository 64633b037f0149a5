"""The settled world of documents: all resulting objects, and the record of how they came about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

from modelplane_cli.simulator import assumption, contention
from modelplane_cli.simulator.crossplane import Crossplane
from modelplane_cli.simulator.definitions import Definitions
from modelplane_cli.simulator.pipeline import Function
from modelplane_cli.simulator.record import Record
from modelplane_cli.simulator.settle import Settled, Told, settle, untold
from modelplane_cli.simulator.store import Key, Object, Store, controller_of

Json: TypeAlias = Any


class Assume(StrEnum):
    """The assumption about controllers that do not run offline."""

    READY = "ready"
    """Composed workloads come up."""
    NOTHING = "nothing"
    """Only what the documents observe has happened."""


@dataclass(frozen=True, slots=True)
class World:
    """A fleet at rest."""

    store: Store
    settled: Settled
    definitions: Definitions
    given: frozenset[Key]
    assume: Assume

    def objects(self) -> list[Object]:
        """Return all objects but Secrets, sorted by kind, namespace and name.

        Secrets only ever come from the input; what is in them is nobody's business here.
        """
        keys = sorted((key for key in self.store if key.kind != "Secret"), key=lambda key: (key[1], *key))
        return [found for key in keys if (found := self.store.get(key)) is not None]

    def composites(self) -> list[Key]:
        """Return the composites, sorted by kind, namespace and name."""
        return [key for kind in self.definitions for key in self.store.of_kind(kind.group, kind.kind)]

    def wanted(self) -> list[Key]:
        """Return the composites that people wrote: those without an owner."""
        return [key for key in self.composites() if controller_of(self.store.get(key) or _NOTHING) is None]

    def children(self, key: Key) -> list[Key]:
        """Return the objects that an object controls, sorted."""
        return self.store.controlled_by(key)


_NOTHING: Object = {"metadata": {}}


def unsettled(objects: Mapping[Key, Mapping[str, Json]], definitions: Definitions) -> World:
    """Return the world of `objects` as they are, in which nothing has happened."""
    return World(_stored(objects), Settled(0, Record()), definitions, frozenset(objects), Assume.READY)


def build(
    objects: Mapping[Key, Mapping[str, Json]],
    definitions: Definitions,
    function: Function,
    assume: Assume,
    told: Told = untold,
) -> World:
    """Return the world that `objects` lead to. Objects that carry a status are taken as observed."""
    store = _stored(objects)
    observed = frozenset(key for key in objects if assumption.is_observation(objects[key]))
    happens = assumption.Ready(observed) if assume is Assume.READY else assumption.nothing
    settled = settle(store, Crossplane(store, definitions, function), happens, told=told)
    settled.record.bugs.update(dict.fromkeys(contention.fights(store)))
    return World(store, settled, definitions, frozenset(objects), assume)


def _stored(objects: Mapping[Key, Mapping[str, Json]]) -> Store:
    store = Store()
    for key in sorted(objects):
        store.put(dict(objects[key]))
    return store
