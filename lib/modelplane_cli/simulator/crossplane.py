"""One reconcile of one composite resource, the way Crossplane does it.

What may never happen here: a step that real Crossplane does not take. A function sees real protobuf requests, declares
its requirements again on every call, and what it leaves out is deleted before anything is applied.
Source: Crossplane v2.4.0 (composition_functions.go, required_resources.go, reconciler.go). Known divergences: one
function step per pipeline, no realtime caches (nothing is stale), deletion is immediate, no connection details.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from crossplane.function.proto.v1 import run_function_pb2 as fnv1

from modelplane import structural
from modelplane.errors import dotted
from modelplane.render import protection
from modelplane.render.stack import releases
from modelplane_cli.simulator import conditions, creation, ownership
from modelplane_cli.simulator.definitions import Definition, Definitions
from modelplane_cli.simulator.pipeline import ANNOTATION_KEY, Answer, Failed, Function, Handed, Pipeline
from modelplane_cli.simulator.record import Bug, Deletion, Event, Record
from modelplane_cli.simulator.store import (
    CLUSTER_SCOPED,
    Key,
    Object,
    Spot,
    Store,
    controller_of,
    group_of,
    key_of,
    uid_of,
)

Json: TypeAlias = Any

LABEL_COMPOSITE = "crossplane.io/composite"
ANNOTATION_PAUSED = "crossplane.io/paused"

_SEVERITIES = {fnv1.SEVERITY_WARNING: "Warning", fnv1.SEVERITY_NORMAL: "Normal", fnv1.SEVERITY_FATAL: "Fatal"}
_TRUTHS = {fnv1.STATUS_CONDITION_TRUE: "True", fnv1.STATUS_CONDITION_FALSE: "False"}
_HASH_DIGITS = 12


class Crossplane:
    """Reconciles composites of `store` with `function`."""

    def __init__(
        self, store: Store, definitions: Definitions, function: Function | Handed, like: Crossplane | None = None
    ) -> None:
        """Know nothing yet. What is created gets the time that it gets with `like`, where there is one."""
        self._store = store
        self._definitions = definitions
        self.record = Record()
        self._pipeline = Pipeline(store, function, self.record, definitions)
        self._applied: dict[Key, Mapping[str, Json]] = {}
        self._seen: dict[Key, tuple[Any, ...]] = {}
        self._looked: dict[Key, tuple[int, tuple[Spot, ...]]] = {}
        self._asleep: frozenset[Key] = frozenset()
        self._created: str | None = creation.time_after(store) if like is None else like._created

    def carried_on(self, store: Store, asleep: frozenset[Key] = frozenset()) -> Crossplane:
        """Return a Crossplane with an empty record that knows of `store`, this one's or a copy, what this one knows.

        It never looks at composites that are `asleep`, nor at those that were so here.
        """
        other = Crossplane(store, self._definitions, self._pipeline.function, self)
        other._asleep = self._asleep | asleep
        other._applied, other._seen, other._looked = dict(self._applied), dict(self._seen), dict(self._looked)
        other._pipeline.remember(self._pipeline)
        return other

    def composites(self) -> list[Key]:
        """Return the composites of the store, sorted by kind, namespace and name."""
        return [
            key for definition in self._definitions for key in self._store.of_kind(definition.group, definition.kind)
        ]

    def reconcile(self, key: Key) -> bool:
        """Return whether anything was done: a composite whose inputs are as at the last call is left alone."""
        if key in self._asleep or self._is_still(key):
            return False
        composite = self._store.get(key)
        definition = self._definitions.find(key.group, key.kind)
        if composite is None or definition is None or not self._is_active(key, composite):
            return False
        if self._pipeline.signature(key) == self._seen.get(key):
            self._look(key)
            return False
        composite = self._configured(key, composite, definition)
        try:
            step = _step(definition)
            answer = self._answer(key, step)
            self._note_events(key, answer)
            if answer.fatal is not None:
                self._stop(key, composite, answer, step)
            else:
                self._compose(key, composite, definition, answer)
        except Failed as failure:
            self._write_conditions(key, composite, [conditions.not_synced(str(failure))])
        return True

    def _answer(self, key: Key, step: str) -> Answer:
        """Return the function's answer, and remember what it was given, before anything changes through it."""
        try:
            return self._pipeline.call(key, step)
        finally:
            self._seen[key] = self._pipeline.signature(key)
            self._look(key)

    def _look(self, key: Key) -> None:
        """Remember that the composite was looked at now: while nothing changes where it looks it needs no signature."""
        self._looked[key] = (self._store.now, tuple(self._pipeline.spots(key)))

    def _is_still(self, key: Key) -> bool:
        since, spots = self._looked.get(key, (-1, ()))
        return since >= 0 and self._store.is_still(spots, since)

    # --- observe ------------------------------------------------------------------------------------------------------

    def _is_active(self, key: Key, composite: Object) -> bool:
        metadata = composite["metadata"]
        if metadata.get("deletionTimestamp"):
            return False
        if (metadata.get("annotations") or {}).get(ANNOTATION_PAUSED) == "true":
            self._write_conditions(key, composite, [conditions.condition("Synced", "False", "ReconcilePaused")])
            return False
        return True

    def _configured(self, key: Key, composite: Object, definition: Definition) -> Object:
        """Return the composite with what Crossplane writes into it before it composes anything."""
        metadata = dict(composite["metadata"])
        metadata.setdefault("uid", uid_of(key))
        metadata["labels"] = {LABEL_COMPOSITE: key.name, **(metadata.get("labels") or {})}
        spec = dict(composite.get("spec") or {})
        machinery = {"compositionUpdatePolicy": "Automatic", **(spec.get("crossplane") or {})}
        if definition.composition:
            machinery["compositionRef"] = {"name": definition.composition["metadata"]["name"]}
        spec["crossplane"] = machinery
        configured = {**composite, "metadata": metadata, "spec": spec}
        self._store.put(configured)
        return configured

    # --- conditions and events ----------------------------------------------------------------------------------------

    def _note_events(self, key: Key, answer: Answer) -> None:
        for result in answer.response.results:
            severity = _SEVERITIES.get(result.severity, "Normal")
            self.record.events[Event(key, severity, result.reason or "ComposeResources", result.message)] = None

    def _stop(self, key: Key, composite: Object, answer: Answer, step: str) -> None:
        """Write what a fatal result leaves behind: its conditions, and doubt about those it did not return."""
        returned = _returned(answer.response)
        before = (composite.get("status") or {}).get("conditions") or []
        why = f'cannot compose resources: pipeline step "{step}" returned a fatal result: {answer.fatal}'
        unknown = conditions.after_fatal(before, returned)
        self._write_conditions(key, composite, [*returned, *unknown, conditions.not_synced(why)])

    def _write_conditions(self, key: Key, composite: Object, new: list[conditions.Condition]) -> None:
        status = dict((self._store.get(key) or composite).get("status") or {})
        status["conditions"] = conditions.merged(status.get("conditions") or [], new)
        self._store.put({**(self._store.get(key) or composite), "status": status})

    # --- compose ------------------------------------------------------------------------------------------------------

    def _compose(self, key: Key, composite: Object, definition: Definition, answer: Answer) -> None:
        observed = self._pipeline.observed(key)
        desired = {
            name: self._rendered(key, composite, name, resource, observed.get(name))
            for name, resource in sorted(answer.children.items())
        }
        self._check_controllable(key, desired)
        for name in sorted(set(observed) - set(desired)):
            self._delete(key, observed[name])
        composite = self._refer(key, composite, desired)
        unsynced = [name for name, resource in desired.items() if not self._apply(key, resource)]
        unready = [name for name in desired if not answer.is_ready(name)]
        said = conditions.synced()
        if unsynced:
            said = conditions.not_synced(f"Unsynced resources: {', '.join(sorted(unsynced))}")
        returned = _returned(answer.response)
        self._write_status(
            key, composite, definition, answer, [*returned, said, conditions.ready(unready, own=answer.own_ready)]
        )

    def _rendered(
        self, key: Key, composite: Object, name: str, resource: Mapping[str, Json], existing: Key | None
    ) -> Object:
        """Return a desired composed resource with the metadata that Crossplane gives it."""
        metadata = {k: v for k, v in (resource.get("metadata") or {}).items() if k in _OWN_METADATA}
        prefix = composite["metadata"]["labels"][LABEL_COMPOSITE]
        group, kind = group_of(str(resource["apiVersion"])), str(resource["kind"])
        is_cluster_scoped = self._is_cluster_scoped(group, kind)
        if key.namespace and is_cluster_scoped:
            raise self._bug(
                key,
                f'cannot apply cluster scoped composed resource "{name}" (a {kind} named '
                f"{metadata.get('name', '')}) for a namespaced composite resource",
            )
        if existing is not None:
            metadata["name"] = existing.name
            metadata["namespace"] = existing.namespace
        elif key.namespace:
            metadata["namespace"] = key.namespace
        if is_cluster_scoped or not metadata.get("namespace"):
            metadata.pop("namespace", None)
        if not is_cluster_scoped and "namespace" not in metadata:
            raise self._bug(key, f'composed resource "{name}" (a {kind}) has no namespace')
        if not metadata.get("name"):
            metadata["generateName"] = f"{prefix}-"
            metadata["name"] = _child_name(prefix, composite["metadata"]["uid"], name)
        metadata["labels"] = {**(metadata.get("labels") or {}), LABEL_COMPOSITE: prefix}
        metadata["annotations"] = {**(metadata.get("annotations") or {}), ANNOTATION_KEY: name}
        metadata["ownerReferences"] = [_owner_reference(composite)]
        body = {field: value for field, value in resource.items() if field not in ("metadata", "status")}
        return {**body, "metadata": metadata}

    def _is_cluster_scoped(self, group: str, kind: str) -> bool:
        definition = self._definitions.find(group, kind)
        return not definition.is_namespaced if definition else (group, kind) in CLUSTER_SCOPED

    def _check_controllable(self, key: Key, desired: Mapping[str, Object]) -> None:
        """Refuse to take over what another controls; Crossplane stops at such a resource."""
        for name, resource in desired.items():
            there = self._store.get(key_of(resource))
            reference = controller_of(there) if there else None
            if reference is not None and not self._pipeline.controls(key, there):
                raise Failed(
                    f'cannot compose resources: cannot apply composed resource "{name}": {key_of(resource)} is '
                    f"controlled by {reference.get('kind')} {reference.get('name')}; rename one of the two"
                )

    def _delete(self, owner: Key, child: Key) -> None:
        # What only asked whether something is there has its answer, and a protection that nobody needs ends: nothing
        # is gone with either.
        is_answered = releases.is_question(self._store.get(child) or {}) or child.group == protection.GROUP
        gone = self._store.remove(child)
        for key in gone:
            self._pipeline.forget(key)
            self._applied.pop(key, None)
            self._seen.pop(key, None)
            self._looked.pop(key, None)
        if not is_answered:
            self.record.deletions.append(Deletion(child, owner, tuple(gone[1:])))

    def _refer(self, key: Key, composite: Object, desired: Mapping[str, Object]) -> Object:
        """Return the composite with references to all it composes, written before they are applied."""
        references = []
        for resource in desired.values():
            reference = {"apiVersion": resource["apiVersion"], "kind": resource["kind"]}
            if not key.namespace and resource["metadata"].get("namespace"):
                reference["namespace"] = resource["metadata"]["namespace"]
            references.append({**reference, "name": resource["metadata"]["name"]})
        references.sort(key=lambda item: item["apiVersion"] + item["kind"] + item["name"])
        spec = dict(composite["spec"])
        machinery = {name: value for name, value in spec["crossplane"].items() if name != "resourceRefs"}
        spec["crossplane"] = {**machinery, "resourceRefs": references} if references else machinery
        referring = {**composite, "spec": spec}
        self._store.put(referring)
        return referring

    def _apply(self, owner: Key, desired: Object) -> bool:
        """Return whether the API server takes a composed resource."""
        key = key_of(desired)
        live = self._store.get(key)
        previous = self._applied.get(key)
        if previous is None:
            previous = _presumed_owned(live) if live is not None and controller_of(live) else {}
        merged = ownership.apply(live or {}, desired, previous)
        created = {} if live is not None or self._created is None else {"creationTimestamp": self._created}
        merged["metadata"] = {"uid": uid_of(key), **created, **merged["metadata"]}
        if merged == live:
            self._applied[key] = desired
            return True
        definition = self._definitions.find(key.group, key.kind)
        if definition is not None:
            merged, problems = definition.served.judged(merged, live)
            refused = list(_errors(problems))
            for problem in refused:
                self._bug(owner, f"composes an invalid {key}: {problem}")
            if refused:
                return False
        self._applied[key] = desired
        self._store.put(merged)
        return True

    def _write_status(
        self, key: Key, composite: Object, definition: Definition, answer: Answer, new: list[conditions.Condition]
    ) -> None:
        """Write the whole status: what the function left out is gone, conditions stay until they are replaced."""
        earlier = composite.get("status") or {}
        status = _without_conditions(answer.composite.get("status") or {})
        if status != _without_conditions(earlier):
            # The spec was checked as it came in, and is not looked at again with every status.
            candidate = {**{name: value for name, value in composite.items() if name != "spec"}, "status": status}
            reported = definition.reported
            if reported is definition.served:
                candidate["spec"] = composite.get("spec")
            stored, problems = reported.judged(candidate)
            for problem in _errors(problems, "status"):
                self._bug(key, f"reports an invalid status: {problem}")
            status = stored.get("status") or {}
        said = conditions.merged(earlier.get("conditions") or [], new)
        self._store.put({**composite, "status": {**status, "conditions": said}})

    def _bug(self, key: Key, message: str) -> Failed:
        self.record.bugs[Bug(key, message)] = None
        return Failed(f"cannot compose resources: {message}")


_OWN_METADATA = frozenset({"name", "generateName", "namespace", "labels", "annotations", "finalizers"})


def _step(definition: Definition) -> str:
    """Return the name of the one pipeline step.

    Raises: Failed when the kind has no Composition, or one that this world cannot run.
    """
    if definition.composition is None:
        raise Failed(f"cannot compose resources: no Composition for {definition.api_version} {definition.kind}")
    pipeline = definition.composition["spec"]["pipeline"]
    if len(pipeline) != 1:
        raise Failed(f"cannot compose resources: {len(pipeline)} pipeline steps; exactly one runs offline")
    return str(pipeline[0]["step"])


def _returned(response: fnv1.RunFunctionResponse) -> list[conditions.Condition]:
    return [
        conditions.condition(item.type, _TRUTHS.get(item.status, "Unknown"), item.reason, item.message)
        for item in response.conditions
        if item.type not in conditions.SYSTEM
    ]


def _without_conditions(status: Mapping[str, Json]) -> dict[str, Json]:
    return {name: value for name, value in status.items() if name != "conditions"}


def _owner_reference(composite: Object) -> dict[str, Json]:
    return {
        "apiVersion": composite["apiVersion"],
        "blockOwnerDeletion": True,
        "controller": True,
        "kind": composite["kind"],
        "name": composite["metadata"]["name"],
        "uid": composite["metadata"]["uid"],
    }


def _child_name(prefix: str, uid: str, name: str) -> str:
    digest = hashlib.sha256(f"{uid}{name}".encode()).hexdigest()[:_HASH_DIGITS]
    return f"{prefix[: 63 - _HASH_DIGITS - 1].rstrip('-')}-{digest}"


def _presumed_owned(live: Object) -> dict[str, Json]:
    """Return the fields of a composed resource that came with the input and that its composite is taken to own.

    Documents rarely carry managedFields. All of spec is presumed to be the composite's, but for what Crossplane itself
    keeps in a composed composite; labels and annotations may be anybody's.
    """
    owned = {name: value for name, value in live.items() if name not in ("metadata", "status")}
    if isinstance(owned.get("spec"), Mapping):
        owned["spec"] = {name: value for name, value in owned["spec"].items() if name != "crossplane"}
    return owned


def _errors(problems: Iterable[structural.Problem], *under: str) -> Iterator[str]:
    """Yield what the API server would refuse, as text; with `under`, only below that path."""
    for problem in problems:
        if problem.severity is structural.Severity.ERROR and problem.path[: len(under)] == under:
            yield ": ".join(part for part in (dotted(problem.path), problem.message) if part)
