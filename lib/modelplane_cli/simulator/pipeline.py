"""Calls of a function for one composite: what it observes, what it requires, and the loop until that is stable.

Source: Crossplane v2.4.0 internal/xfn (required_resources.go) and composition_functions.go.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from google.protobuf import struct_pb2

from modelplane import names
from modelplane_cli.simulator import sent
from modelplane_cli.simulator.definitions import Definitions
from modelplane_cli.simulator.record import Bug, Record
from modelplane_cli.simulator.store import Key, Object, Owner, Spot, Store, controller_of, group_of
from modelplane_functions import wire
from modelplane_functions.exchange import Observed, Resource
from modelplane_functions.memory.resources import Fetched

Json: TypeAlias = Any
Function: TypeAlias = Callable[[fnv1.RunFunctionRequest], fnv1.RunFunctionResponse]
Decode: TypeAlias = Callable[[fnv1.RunFunctionRequest], Observed]


class Direct(Protocol):
    """A function that takes what a request would decode to from its caller."""

    def __call__(self, request: fnv1.RunFunctionRequest, *, decode: Decode) -> fnv1.RunFunctionResponse:
        """Return the response to a request, which says only whom it is about."""


@dataclass(frozen=True, slots=True)
class Handed:
    """A function in this process to which resources are handed as they were read, each read once per version.

    A deployment sees every cluster, and of a large fleet nearly all the time would go into writing them into requests
    and reading them again. What is composed is the same.
    """

    answer: Direct


ANNOTATION_KEY = "crossplane.io/composition-resource-name"
MAX_ITERATIONS = 5

_ASSUMED: Final = frozenset(
    {("keda.sh", "ScaledObject"), ("helm.m.crossplane.io", "Release"), ("cert-manager.io", "Certificate")}
)
"""Foreign kinds that are taken to be served where a function asks; about others there is no answer."""

_CAPABILITIES = (
    fnv1.CAPABILITY_CAPABILITIES,
    fnv1.CAPABILITY_REQUIRED_RESOURCES,
    fnv1.CAPABILITY_CREDENTIALS,
    fnv1.CAPABILITY_CONDITIONS,
    fnv1.CAPABILITY_REQUIRED_SCHEMAS,
)


class Failed(Exception):
    """The reconcile ends here and nothing is applied; the message is what Crossplane writes into Synced."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A settled response: as it came, and its desired state in plain data."""

    response: fnv1.RunFunctionResponse
    composite: Mapping[str, Json]
    children: Mapping[str, Mapping[str, Json]]

    @property
    def fatal(self) -> str | None:
        """Return the message of the first fatal result, None where there is none."""
        return next((item.message for item in self.response.results if item.severity == fnv1.SEVERITY_FATAL), None)

    def is_ready(self, name: str) -> bool:
        """Return whether the function says that a composed resource is ready; nothing said is not ready."""
        return self.response.desired.resources[name].ready == fnv1.READY_TRUE

    @property
    def own_ready(self) -> bool | None:
        """Return the readiness that the function gives to the composite, None when it leaves that to its resources."""
        return {fnv1.READY_TRUE: True, fnv1.READY_FALSE: False}.get(self.response.desired.composite.ready)


class Wanted(NamedTuple):
    """A requirement in plain data: one object by its name, or all with some labels; `namespace` None is anywhere."""

    group: str
    kind: str
    namespace: str | None
    name: str | None
    labels: tuple[tuple[str, str], ...]

    @property
    def spot(self) -> Spot:
        """Return the spot that has to change before the selected objects do."""
        if self.name is not None:
            return Key(self.group, self.kind, self.namespace or "", self.name)
        # What carries all labels carries the first, and what changes is noted under each of its labels.
        return (self.group, self.kind, *(self.labels[0] if self.labels else ()))


Wants: TypeAlias = tuple[tuple[str, Wanted], ...]


@dataclass(frozen=True, slots=True)
class Selection:
    """The objects that a requirement selects, in order, with their versions."""

    keys: tuple[Key, ...]
    versions: tuple[tuple[Key, int], ...]


@dataclass(frozen=True, slots=True)
class Children:
    """The composed resources of a composite by composition key, sorted, and in which versions they are."""

    by_name: Mapping[str, Key]
    versions: tuple[tuple[str, Key, int], ...]


class Pipeline:
    """Calls `function` with what is in `store`; remembers requirements as Crossplane does between reconciles."""

    def __init__(self, store: Store, function: Function | Handed, record: Record, definitions: Definitions) -> None:
        self._store = store
        self._definitions = definitions
        self.function = function
        self._record = record
        self._wants: dict[Key, Wants] = {}
        self._served: dict[Key, Mapping[str, bool]] = {}

    def observed(self, key: Key) -> Mapping[str, Key]:
        """Return the composed resources of a composite that exist, by composition key."""
        return self._children(key).by_name

    def _children(self, key: Key) -> Children:
        uid = (self._store.get(key) or {}).get("metadata", {}).get("uid")
        spots = (Owner(key.group, key.kind, key.name),)
        return self._store.standing(("children", key, uid), spots, lambda: self._found_children(key))

    def _found_children(self, key: Key) -> Children:
        found: dict[str, Key] = {}
        for child in self._store.controlled_by(key):
            resource = self._store.get(child)
            name = ((resource or {}).get("metadata", {}).get("annotations") or {}).get(ANNOTATION_KEY)
            if name and self.controls(key, resource):
                found.setdefault(str(name), child)
        by_name = dict(sorted(found.items()))
        return Children(by_name, tuple([(name, one, self._store.version(one)) for name, one in by_name.items()]))

    def controls(self, key: Key, resource: Object | None) -> bool:
        """Return whether the controller of `resource` is this very composite, not an earlier one of the same name."""
        reference = controller_of(resource) if resource else None
        if reference is None:
            return False
        named = (group_of(str(reference.get("apiVersion") or "")), reference.get("kind"), reference.get("name"))
        uid = (self._store.get(key) or {}).get("metadata", {}).get("uid")
        is_same = not uid or not reference.get("uid") or reference["uid"] == uid
        return is_same and named == (key.group, key.kind, key.name)

    def signature(self, key: Key) -> tuple[Any, ...]:
        """Return the versions from which the next request is made. Equal signatures mean equal requests."""
        return (
            self._store.version(key),
            self._children(key).versions,
            tuple([(name, self._selection(wanted).versions) for name, wanted in self._wants.get(key, ())]),
        )

    def spots(self, key: Key) -> Iterator[Spot]:
        """Yield where something has to change before the signature does."""
        yield key
        yield Owner(key.group, key.kind, key.name)
        for _, wanted in self._wants.get(key, ()):
            yield wanted.spot

    def call(self, key: Key, step: str) -> Answer:
        """Return the answer once its requirements are stable.

        As v2.4 does, the first call is seeded with what the last reconcile required. What was seeded stays in every
        request of the reconcile, and the first answer is final when it required nothing that it had not been given. A
        fatal result ends the loop at once.
        Raises: Failed when the function raises or keeps changing its requirements; both are bugs and are recorded.
        """
        seeded = dict(self._wants.get(key, ()))
        given, before, served = seeded, None, self._served.get(key, {})
        context = struct_pb2.Struct()
        for _ in range(MAX_ITERATIONS + 1):
            response = self._run(key, given, served, context)
            answer = _answer(response)
            if answer.fatal is not None:
                return answer
            wants = _wants(response.requirements)
            is_first, asked = before is None, {**seeded, **dict(wants)}
            answers = self._answers(response.requirements)
            is_given = answers == served and self._is_the_same(given, asked)
            if response.requirements == before or (is_first and is_given):
                self._wants[key], self._served[key] = wants, answers
                return answer
            given, served, before = asked, answers, fnv1.Requirements()
            before.CopyFrom(response.requirements)
            context = response.context
        message = f"requirements didn't stabilize after the maximum number of iterations ({MAX_ITERATIONS})"
        self._record.bugs[Bug(key, message)] = None
        raise Failed(f'cannot compose resources: cannot run pipeline step "{step}": {message}')

    def _is_the_same(self, given: Mapping[str, Wanted], asked: Mapping[str, Wanted]) -> bool:
        """Return whether all that is asked for was given already."""
        return given.keys() == asked.keys() and all(
            self._selection(given[name]).versions == self._selection(asked[name]).versions for name in given
        )

    def remember(self, other: Pipeline) -> None:
        """Take over what another pipeline remembers of the same objects."""
        self._wants, self._served = dict(other._wants), dict(other._served)

    def forget(self, key: Key) -> None:
        """Drop what is remembered of an object that is gone."""
        self._wants.pop(key, None)
        self._served.pop(key, None)

    def _selection(self, wanted: Wanted) -> Selection:
        """Return what is there of what is wanted, looked for again only once something of that kind has changed."""
        return self._store.standing(wanted, (wanted.spot,), lambda: self._found(wanted))

    def _found(self, wanted: Wanted) -> Selection:
        kind = (wanted.group, wanted.kind)
        if wanted.name is not None:
            key = Key(*kind, wanted.namespace or "", wanted.name)
            keys = [key] if self._store.get(key) is not None else []
        else:
            keys = self._store.select(kind, wanted.namespace, dict(wanted.labels))
        return Selection(tuple(keys), tuple([(key, self._store.version(key)) for key in keys]))

    def _resources(self, wanted: Wanted) -> tuple[Resource, ...]:
        """Return the same as a function reads them: one tuple for all that want it, while nothing of it changes."""
        keys = self._selection(wanted).keys
        return self._store.standing(
            ("read", wanted), (wanted.spot,), lambda: Fetched([resource(self._store, key) for key in keys])
        )

    def _run(
        self, key: Key, given: Mapping[str, Wanted], served: Mapping[str, bool], context: struct_pb2.Struct
    ) -> fnv1.RunFunctionResponse:
        try:
            if isinstance(self.function, Handed):
                return self.function.answer(
                    self._named(key), decode=lambda _request: self._observation(key, given, served)
                )
            return self.function(self._request(key, given, served, context))
        except Exception as error:
            message = f"the function failed: {type(error).__name__}: {error}"
            self._record.bugs[Bug(key, message, error)] = None
            raise Failed(f"cannot compose resources: {message}") from error

    def _named(self, key: Key) -> fnv1.RunFunctionRequest:
        """Return a request that says only whom it is about."""
        request = fnv1.RunFunctionRequest()
        request.meta.capabilities.extend(_CAPABILITIES)
        found = self._store.get(key) or {}
        metadata = {part: found["metadata"][part] for part in ("namespace", "name") if part in found["metadata"]}
        about = {"apiVersion": found["apiVersion"], "kind": found["kind"], "metadata": metadata}
        request.observed.composite.resource.update(about)
        return request

    def _request(
        self, key: Key, given: Mapping[str, Wanted], served: Mapping[str, bool], context: struct_pb2.Struct
    ) -> fnv1.RunFunctionRequest:
        request = fnv1.RunFunctionRequest()
        request.meta.capabilities.extend(_CAPABILITIES)
        request.observed.composite.resource.CopyFrom(_struct(self._store, key))
        for name, child in self.observed(key).items():
            request.observed.resources[name].resource.CopyFrom(_struct(self._store, child))
        request.meta.tag = hashlib.sha256(request.SerializeToString(deterministic=True)).hexdigest()
        for name, wanted in sorted(given.items()):
            found = request.required_resources[name]
            found.SetInParent()
            for needed in self._selection(wanted).keys:
                found.items.add().resource.CopyFrom(_struct(self._store, needed))
        for name, is_served in served.items():
            request.required_schemas[name].SetInParent()
            if is_served:
                request.required_schemas[name].openapi_v3.update({"type": "object"})
        if context.fields:
            request.context.CopyFrom(context)
        return request

    def _answers(self, requirements: fnv1.Requirements) -> dict[str, bool]:
        """Return the answers to questions about kinds: ours are served by their definitions."""
        found: dict[str, bool] = {}
        for name, one in sorted(requirements.schemas.items()):
            group = group_of(one.api_version)
            if group == names.GROUP:
                found[name] = self._definitions.find(group, one.kind) is not None
            elif (group, one.kind) in _ASSUMED:
                found[name] = True
        return found

    def _observation(self, key: Key, given: Mapping[str, Wanted], served: Mapping[str, bool]) -> Observed:
        """Return what the request of `_request` decodes to."""
        return Observed(
            composite=resource(self._store, key),
            children={name: resource(self._store, child) for name, child in self.observed(key).items()},
            required={name: self._resources(wanted) for name, wanted in sorted(given.items())},
            served=served,
        )


def resource(store: Store, key: Key) -> Resource:
    """Return an object as a function reads it, which keeps what was read out of it."""
    return store.derived(key, "resource", sent.received)


def _wants(requirements: fnv1.Requirements) -> Wants:
    return tuple([(name, _wanted(requirements.resources[name])) for name in sorted(requirements.resources)])


def _wanted(selector: fnv1.ResourceSelector) -> Wanted:
    return Wanted(
        group_of(selector.api_version),
        selector.kind,
        selector.namespace if selector.HasField("namespace") else None,
        selector.match_name if selector.WhichOneof("match") == "match_name" else None,
        tuple(sorted(selector.match_labels.labels.items())),
    )


def _struct(store: Store, key: Key) -> struct_pb2.Struct:
    return store.derived(key, "struct", _written)


def _written(found: Object) -> struct_pb2.Struct:
    struct = struct_pb2.Struct()
    struct.update(found)
    return struct


def _answer(response: fnv1.RunFunctionResponse) -> Answer:
    plain = wire.decode(fnv1.RunFunctionRequest(observed=response.desired))
    return Answer(response, plain.composite, plain.children)
