"""Composites that run, each with all it sees: taken from the worlds of the examples.

A situation of an example is one composite at rest: asked again, its composer changes nothing. `tests.support.unrest`
has those that no example leads to, and those that are not at rest.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from modelplane import names
from modelplane.errors import InvalidInput, Unsupported
from modelplane.render import routing
from modelplane_cli.simulator import assumption, definitions, remote, settle
from modelplane_cli.simulator.crossplane import Crossplane
from modelplane_cli.simulator.pipeline import ANNOTATION_KEY
from modelplane_cli.simulator.store import Key, Object, Store, key_of
from modelplane_functions import registry, responder, wire
from modelplane_functions.exchange import Observed, Outcome
from modelplane_functions.memory.resources import Remembered
from tests.support import exchange, rendered

Json = Any
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FOLDERS = (
    *("quickstart", "ai-gateway", "budgets", "cache", "canary", "capacity", "disaggregated", "frontier", "hosts"),
    *("mig", "models", "quota", "scaling", "simple", "spillover", "tenants", "clouds/aks", "clouds/eks", "clouds/gke"),
    *sorted(f"backends/{one.name}" for one in (EXAMPLES / "backends").iterdir() if one.is_dir()),
)


_KINDS = definitions.builtin()
_SERVED = frozenset({"ScaledObject"})
_REQUIRED = (names.GROUP, "", remote.KUBERNETES, routing.GATEWAY_API)
"""The groups of what composers require of others."""


@dataclass(frozen=True)
class Situation:
    """A composite with its observed children by composition key, and the other objects it may ask for."""

    example: str
    composite: Json
    children: Mapping[str, Json]
    store: tuple[Json, ...]
    earlier: Mapping[Key, Sequence[Json]] = field(default_factory=dict)
    """What its objects were before they came to rest: each version, the first one first."""
    state: str = ""
    shape: str = ""
    """The state and the shape of a replica that no example made."""
    kinds: frozenset[str] | None = None
    """The kinds that the control plane serves, None for a caller that does not say."""
    ran: tuple[Json, ...] = ()
    """The ModelReplicas that run and are deleted or edited, as they were when they were admitted."""
    is_waiting: bool = False
    """Whether replicas wait here for a place or for their cluster, and no world goes on that would give it to them."""
    recorded: frozenset[str] = frozenset()
    """The replicas that nothing but the record of their cluster shows as they run."""

    @property
    def kind(self) -> str:
        """Return the kind of the composite."""
        return str(self.composite["kind"])

    @functools.cached_property
    def inputs(self) -> tuple[Input, ...]:
        """Return every input that the composer reads at rest: what it requires of the other objects, and no more."""
        return tuple(_inputs(self))

    @functools.cached_property
    def rest(self) -> Outcome:
        """Return what its composer decides while no input is wrong."""
        return answered(self)

    @functools.cached_property
    def end(self) -> Outcome:
        """Return what its composer decides in the end, while no input is wrong."""
        return ended(self, self)

    @functools.cached_property
    def namespaces(self) -> frozenset[str]:
        """Return the namespaces that its children name."""
        return frozenset(found for child in self.children.values() for found in namespaces_in(child))

    def __str__(self) -> str:
        """Return which composite of which example it is."""
        return f"{self.example}/{self.kind}/{self.composite['metadata']['name']}"


@dataclass(frozen=True)
class Input:
    """One document that a composer gets: its composite, a child by its key, or another object by its place."""

    role: str
    at: str | int = ""

    def document(self, situation: Situation) -> Json:
        """Return the document in a situation."""
        if self.role == COMPOSITE:
            return situation.composite
        return situation.children[str(self.at)] if self.role == CHILD else situation.store[int(self.at)]

    def replaced(self, situation: Situation, document: Json) -> Situation:
        """Return the situation with another document in this place."""
        if self.role == COMPOSITE:
            return replace(situation, composite=received(document))
        if self.role == CHILD:
            return replace(situation, children={**situation.children, str(self.at): received(document)})
        store = list(situation.store)
        store[int(self.at)] = received(document)
        return replace(situation, store=tuple(store))

    def named(self, situation: Situation) -> str:
        """Return the words for it."""
        if self.role == OTHER:
            document = self.document(situation)
            return f"{document['kind']} {document['metadata']['name']}"
        return f"child {self.at}" if self.role == CHILD else "itself"


COMPOSITE, CHILD, OTHER = "composite", "child", "other"


def _inputs(situation: Situation) -> list[Input]:
    compose, read = functools.partial(responder.composed, registry.composers()[situation.kind]), set[int]()

    def watched(observed: Observed) -> Outcome:
        read.update(id(one) for answer in observed.required.values() for one in answer)
        return compose(observed)

    exchange.settle(
        watched, situation.composite, children=situation.children, store=situation.store, kinds=situation.kinds
    )
    others = [Input(OTHER, place) for place, one in enumerate(situation.store) if id(one) in read]
    return [Input(COMPOSITE), *(Input(CHILD, key) for key in sorted(situation.children)), *others]


def namespaces_in(value: Json) -> Iterator[str]:
    """Yield every namespace that is named in a document."""
    if isinstance(value, Mapping):
        named = value.get("namespace")
        if isinstance(named, str):
            yield named
        for inside in value.values():
            if not isinstance(inside, str):
                yield from namespaces_in(inside)
    elif isinstance(value, (list, tuple)):
        for inside in value:
            if not isinstance(inside, str):
                yield from namespaces_in(inside)


def received(document: Json) -> Json:
    """Return a document as the server hands it to a composer: what is read out of it and its spec is kept with it."""
    if isinstance(document, Remembered):
        return document
    spec = document.get("spec")
    is_kept = isinstance(spec, Remembered) or not isinstance(spec, dict)
    return Remembered(document if is_kept else {**document, "spec": Remembered(spec)})


def answered(situation: Situation) -> Outcome:
    """Return what its composer answers; a refusal is fatal, which Crossplane takes as: nothing changes."""
    composite, composer = received(situation.composite), registry.composers()[situation.kind]
    compose = functools.partial(responder.composed, composer)
    try:
        return exchange.settle(
            compose, composite, children=situation.children, store=situation.store, kinds=situation.kinds
        )
    except (InvalidInput, Unsupported) as error:
        metadata = composite["metadata"]
        about = wire.Subject(
            names.API_VERSION, situation.kind, str(metadata.get("namespace", "")), metadata["name"], ""
        )
        return responder.refused(about, composer.condition, error)


def decided(situation: Situation) -> Outcome | None:
    """Return what its composer decides, None for a refusal."""
    outcome = answered(situation)
    return None if outcome.fatal is not None else outcome


def after(situation: Situation, outcome: Outcome | None) -> Situation:
    """Return the situation once an outcome is applied: desired children are observed, all others are gone."""
    if outcome is None:
        return situation
    children = {}
    for key, child in outcome.children.items():
        before = situation.children.get(key) or {}
        made = copy.deepcopy(dict(child.resource))
        made["metadata"] = {**copy.deepcopy(before.get("metadata") or {}), **made["metadata"]}
        if "status" in before:
            made["status"] = copy.deepcopy(before["status"])
        children[key] = made
    status = copy.deepcopy(dict(outcome.status))
    conditions = _conditions(situation, outcome)
    composite = {**situation.composite, "status": {**status, **({"conditions": conditions} if conditions else {})}}
    return replace(situation, composite=composite, children=children)


def mended(start: Situation, now: Situation) -> Situation:
    """Return what is there once every input is as it was in `start` again.

    What the composer writes is as it wrote it last: the status of its composite, the specs and the metadata of its
    children. What others write is as it was: the spec of the composite, the statuses of the children, and all that the
    composer reads.
    """
    children = {}
    for key, child in now.children.items():
        was = start.children.get(key, {})
        metadata = {**was.get("metadata", {}), **child["metadata"]}
        status = {"status": was["status"]} if "status" in was else {}
        bare = {name: value for name, value in child.items() if name != "status"}
        children[key] = received({**bare, "metadata": metadata, **status})
    told = now.composite.get("status")
    status = {"status": told} if isinstance(told, dict) else {}
    bare = {name: value for name, value in start.composite.items() if name != "status"}
    return replace(start, children=children, composite=received({**bare, **status}))


def ended(start: Situation, now: Situation) -> Outcome:
    """Return what the composer decides at the end, with the right inputs of `start`, whatever it wrote before."""
    now = mended(start, now)
    for _ in range(_ROUNDS):
        outcome = answered(now)
        following = mended(start, after(now, outcome if outcome.fatal is None else None))
        if (following.children, following.composite) == (now.children, now.composite):
            break
        now = following
    return outcome


_ROUNDS = 12
_SINCE = "1970-01-01T00:00:00Z"


def _conditions(situation: Situation, outcome: Outcome) -> list[Json]:
    """Return the conditions of the composite once an outcome is applied: one that is not told again is kept."""
    told = situation.composite.get("status")
    before = told.get("conditions") if isinstance(told, dict) else None
    kept = [one for one in before if isinstance(one, dict)] if isinstance(before, list) else []
    new = {
        one.type: {"type": one.type, "status": one.status.value, "reason": one.reason, "message": one.message}
        for one in outcome.conditions
    }
    for condition in new.values():
        condition["lastTransitionTime"] = _SINCE
    found = [{**one, **new.pop(one["type"], {})} if isinstance(one.get("type"), str) else one for one in kept]
    return [*found, *new.values()]


@functools.cache
def running() -> tuple[Situation, ...]:
    """Return every composite of the examples at rest."""
    return tuple(one for folder in FOLDERS for one in settled(folder, rendered.written(EXAMPLES / folder, _KINDS)))


def settled(name: str, given: Mapping[Key, Mapping[str, Json]]) -> Iterator[Situation]:
    """Yield every composite that documents lead to, at rest."""
    store = _settled(given)
    seen = {key: received(copy.deepcopy(store.get(key))) for key in store if key.group in _REQUIRED}
    for kind in _KINDS:
        for key in store.of_kind(kind.group, kind.kind):
            yield _situation(name, store, key, seen)


def _settled(given: Mapping[Key, Mapping[str, Json]]) -> _Recording:
    """Return the objects that documents lead to, as `modelplane render` assumes, with all that they were before."""
    store = _Recording()
    for key in sorted(given):
        store.put(dict(given[key]))
    observed = frozenset(key for key in given if assumption.is_observation(given[key]))
    ended = settle.settle(store, Crossplane(store, _KINDS, responder.answer), assumption.Ready(observed))
    assert not ended.record.bugs, ended.record.bugs
    return store


class _Recording(Store):
    """A store that keeps every version of every object."""

    def __init__(self) -> None:
        super().__init__()
        self.versions: dict[Key, list[Json]] = {}

    def put(self, resource: Object) -> bool:
        is_new = super().put(resource)
        if is_new:
            self.versions.setdefault(key_of(resource), []).append(copy.deepcopy(resource))
        return is_new


def _situation(folder: str, store: _Recording, key: Key, seen: Mapping[Key, Json]) -> Situation:
    composite = store.get(key)
    assert composite is not None
    children = {}
    for child in store.controlled_by(key):
        resource = store.get(child) or {}
        name = (resource.get("metadata", {}).get("annotations") or {}).get(ANNOTATION_KEY)
        if name:
            children[name] = received(copy.deepcopy(resource))
    # A wrong input leads an InferenceCluster to ask for the Objects of a workload, and no other composite at rest.
    groups = _REQUIRED if key.kind == "InferenceCluster" else (names.GROUP, "")
    others = tuple(seen[one] for one in sorted(seen, key=_by_kind) if one.group in groups)
    # A control plane answers where it is asked whether it serves a kind, and no other caller does.
    is_scaled = key.kind == "ModelDeployment" and composite["spec"].get("scaling") is not None
    kinds = _SERVED if is_scaled else None
    return Situation(folder, received(copy.deepcopy(composite)), children, others, store.versions, kinds=kinds)


def _by_kind(key: Key) -> tuple[str, ...]:
    return (key.kind, *key)
