"""A cloud that is played: it makes what managed resources ask for, slowly, with errors, and forgets nothing by itself.

`histories` drive an InferenceCluster from nothing through edits, blinks of its inputs and errors of the cloud, to its
deletion. What exists in the cloud is kept apart from the managed resources, so that an orphan is seen.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from modelplane.render.clouds import selection
from modelplane.render.provisioning import Provisioner
from modelplane_cli.simulator import assumption, definitions
from modelplane_cli.simulator.crossplane import Crossplane
from modelplane_cli.simulator.settle import Settled, settle
from modelplane_cli.simulator.store import Key, Store, group_of, key_of
from modelplane_functions import responder
from tests.support import rendered

Json = Any
Document = dict[str, Any]

_ERRORS = (
    "cannot resolve references: referenced field was empty (reference may not yet be ready)",
    "async create failed: the sandbox is full",
    "observe failed: cannot run refresh: context deadline exceeded",
)
_SYNCED = {"type": "Synced", "status": "True", "reason": "ReconcileSuccess"}


@dataclass(slots=True)
class FakeCloud:
    """The cloud of one provisioner beside a store. `existing` has what stands in it, with its state."""

    store: Store
    cloud: Provisioner
    chance: random.Random
    existing: dict[Key, str] = field(default_factory=dict)
    most: dict[str, int] = field(default_factory=dict)
    """How many of each kind existed at once, at most."""

    def wanted(self) -> list[Key]:
        """Return the managed resources of the store."""
        kinds = {(group_of(one.api_version), one.kind) for one in self.cloud.served()}
        return sorted(key for kind in kinds for key in self.store.of_kind(*kind))

    def step(self, *, is_kind: bool = False) -> None:
        """Let some time pass; a cloud that `is_kind` makes no errors and leaves nothing for later."""
        wanted = self.wanted()
        for key in wanted:
            if is_kind or self.chance.random() < 0.7:
                self._advance(key, is_kind=is_kind)
        for key in sorted(set(self.existing) - set(wanted)):
            if is_kind or self.chance.random() < 0.5:
                del self.existing[key]
        for kind in {key.kind for key in self.existing}:
            now = sum(key.kind == kind for key in self.existing)
            self.most[kind] = max(self.most.get(kind, 0), now)

    def _advance(self, key: Key, *, is_kind: bool) -> None:
        state = self.existing.get(key, "absent")
        luck = 1.0 if is_kind else self.chance.random()
        if luck < 0.15:
            self._says(key, ready=False, error=self.chance.choice(_ERRORS))
        elif state == "absent":
            self.existing[key] = "creating"
            self._says(key, ready=False)
        else:
            self.existing[key] = "ready"
            self._says(key, ready=True)

    def _says(self, key: Key, *, ready: bool, error: str = "") -> None:
        resource = self.store.get(key)
        assert resource is not None
        kind = "Synced" if error.startswith(("cannot", "observe")) else "LastAsyncOperation"
        told = [{"type": kind, "status": "False", "reason": "ReconcileError", "message": error}] if error else [_SYNCED]
        truth = "True" if ready else "False"
        status: Json = {"conditions": [*told, {"type": "Ready", "status": truth}]}
        before = (resource.get("status") or {}).get("atProvider")
        at_provider = self.cloud.assumed(resource) if ready else before
        if at_provider:
            status["atProvider"] = at_provider
        self.store.put({**resource, "status": status})


class World:
    """A control plane with the real functions, beside a fake cloud."""

    def __init__(self, documents: list[Document], source: str, chance: random.Random) -> None:
        cloud = selection.maker(source)
        self.documents = {key_of(one): copy.deepcopy(one) for one in documents}
        self.store = Store()
        for one in self.documents.values():
            self.store.put(dict(rendered.stored(one)))
        self.kinds = definitions.builtin()
        self.crossplane = Crossplane(self.store, self.kinds, responder.answer)
        self.ready = assumption.Ready(frozenset())
        self.each_round: Callable[[], None] = lambda: None
        """What must hold after each round of reconciles."""
        self.cloud = FakeCloud(self.store, cloud, chance)

    def settle(self) -> Settled:
        """Let Crossplane and what runs on clusters come to rest. The cloud stands still meanwhile."""
        settled = settle(self.store, self.crossplane, self._others)
        assert not settled.record.bugs, list(settled.record.bugs)
        return settled

    def _others(self, store: Store) -> list[Key]:
        self.each_round()
        return self.ready(store)

    def write(self, key: Key, change: Callable[[Document], None]) -> None:
        """Edit a document as its author does."""
        edited = copy.deepcopy(self.documents[key])
        change(edited)
        standing = self.store.get(key) or {}
        kept = {name: standing[name] for name in ("status",) if name in standing}
        spec = {**rendered.stored(edited)["spec"]}
        if "crossplane" in (standing.get("spec") or {}):
            spec["crossplane"] = standing["spec"]["crossplane"]
        metadata = {**(standing.get("metadata") or edited["metadata"])}
        self.store.put({**edited, "metadata": metadata, "spec": spec, **kept})
        self.documents[key] = edited

    def remove(self, key: Key) -> None:
        """Take a document away for a while."""
        self.store.remove(key)

    def restore(self, key: Key) -> None:
        """Put a document back that was taken away."""
        if self.store.get(key) is None:
            self.store.put(dict(rendered.stored(self.documents[key])))

    def made(self) -> dict[Key, Mapping[str, Json]]:
        """Return the managed resources."""
        return {key: found for key in self.cloud.wanted() if (found := self.store.get(key)) is not None}

    def status(self, key: Key) -> Json:
        """Return the status of an object."""
        return (self.store.get(key) or {}).get("status") or {}


def use(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no managed resource be ready by assumption: the fake cloud says what they are."""
    monkeypatch.setattr(assumption, "_managed_rules", lambda: iter(()))
