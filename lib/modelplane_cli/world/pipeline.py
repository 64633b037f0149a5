"""Calls of a function for one composite: what it observes, what it requires, and the loop until that is stable.

Source: Crossplane v2.4.0 internal/xfn (required_resources.go) and composition_functions.go.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from google.protobuf import struct_pb2

from modelplane_cli.world.record import Bug, Record
from modelplane_cli.world.store import Key, Object, Owner, Spot, Store, controller_of, group_of
from modelplane_functions import wire
from modelplane_functions.exchange import Observed, Resource

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
        """Return what the function says of the composite itself, None where it leaves that to its resources."""
        return {fnv1.READY_TRUE: True, fnv1.READY_FALSE: False}.get(self.response.desired.composite.ready)


class Pipeline:
    """Calls `function` with what is in `store`; remembers requirements as Crossplane does between reconciles."""

    def __init__(self, store: Store, function: Function | Handed, record: Record) -> None:
        self._store = store
        self.function = function
        self._record = record
        self._requirements: dict[Key, fnv1.Requirements] = {}

    def observed(self, key: Key) -> dict[str, Key]:
        """Return the composed resources of a composite that exist, by composition key."""
        found: dict[str, Key] = {}
        for child in self._store.controlled_by(key):
            resource = self._store.get(child)
            name = ((resource or {}).get("metadata", {}).get("annotations") or {}).get(ANNOTATION_KEY)
            if name and self.controls(key, resource):
                found.setdefault(str(name), child)
        return found

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
        """Return what the next request is made of, as versions: equal signatures are equal requests."""
        required = self._requirements.get(key) or fnv1.Requirements()
        return (
            self._store.version(key),
            tuple((name, child, self._store.version(child)) for name, child in sorted(self.observed(key).items())),
            tuple(
                (name, found, self._store.version(found))
                for name in sorted(required.resources)
                for found in self._select(required.resources[name])
            ),
        )

    def spots(self, key: Key) -> Iterator[Spot]:
        """Yield where something has to change before the signature does."""
        yield key
        yield Owner(key.group, key.kind, key.name)
        required = self._requirements.get(key) or fnv1.Requirements()
        for selector in required.resources.values():
            group, kind = group_of(selector.api_version), selector.kind
            if selector.WhichOneof("match") == "match_name":
                yield Key(group, kind, selector.namespace, selector.match_name)
            else:
                # What carries all labels carries the first, and what changes is noted under each of its labels.
                label = next(iter(sorted(selector.match_labels.labels.items())), ())
                yield (group, kind, *label)

    def call(self, key: Key, step: str) -> Answer:
        """Return the answer once its requirements are stable.

        As v2.4 does, the first call is seeded with the requirements of the last reconcile; a fatal result ends the
        loop at once.
        Raises: Failed when the function raises or keeps changing its requirements; both are bugs and are recorded.
        """
        stable = self._requirements.get(key) or fnv1.Requirements()
        context = struct_pb2.Struct()
        for _ in range(MAX_ITERATIONS + 1):
            response = self._run(key, stable, context)
            answer = _answer(response)
            if answer.fatal is not None:
                return answer
            if response.requirements == stable:
                self._requirements[key] = stable
                return answer
            stable = fnv1.Requirements()
            stable.CopyFrom(response.requirements)
            context = response.context
        message = f"requirements didn't stabilize after the maximum number of iterations ({MAX_ITERATIONS})"
        self._record.bugs[Bug(key, message)] = None
        raise Failed(f'cannot compose resources: cannot run pipeline step "{step}": {message}')

    def remember(self, other: Pipeline) -> None:
        """Take over what another pipeline remembers of the same objects."""
        self._requirements = dict(other._requirements)

    def forget(self, key: Key) -> None:
        """Drop what is remembered of an object that is gone."""
        self._requirements.pop(key, None)

    def _select(self, selector: fnv1.ResourceSelector) -> list[Key]:
        group, kind = group_of(selector.api_version), selector.kind
        namespace = selector.namespace if selector.HasField("namespace") else None
        if selector.WhichOneof("match") == "match_name":
            key = Key(group, kind, namespace or "", selector.match_name)
            return [key] if self._store.get(key) is not None else []
        return self._store.select((group, kind), namespace, dict(selector.match_labels.labels))

    def _run(self, key: Key, requirements: fnv1.Requirements, context: struct_pb2.Struct) -> fnv1.RunFunctionResponse:
        try:
            if isinstance(self.function, Handed):
                return self.function.answer(
                    self._about(key), decode=lambda request: self._observation(key, request, requirements)
                )
            return self.function(self._request(key, requirements, context))
        except Exception as error:
            message = f"the function failed: {type(error).__name__}: {error}"
            self._record.bugs[Bug(key, message, error)] = None
            raise Failed(f"cannot compose resources: {message}") from error

    def _about(self, key: Key) -> fnv1.RunFunctionRequest:
        request = fnv1.RunFunctionRequest()
        request.meta.capabilities.extend(_CAPABILITIES)
        request.observed.composite.resource.CopyFrom(_struct(self._store, key))
        return request

    def _request(
        self, key: Key, requirements: fnv1.Requirements, context: struct_pb2.Struct
    ) -> fnv1.RunFunctionRequest:
        request = self._about(key)
        for name, child in sorted(self.observed(key).items()):
            request.observed.resources[name].resource.CopyFrom(_struct(self._store, child))
        request.meta.tag = hashlib.sha256(request.SerializeToString(deterministic=True)).hexdigest()
        for name in sorted(requirements.resources):
            found = request.required_resources[name]
            found.SetInParent()
            for needed in self._select(requirements.resources[name]):
                found.items.add().resource.CopyFrom(_struct(self._store, needed))
        if context.fields:
            request.context.CopyFrom(context)
        return request

    def _observation(self, key: Key, about: fnv1.RunFunctionRequest, requirements: fnv1.Requirements) -> Observed:
        """Return what the request of `_request` decodes to; `about` is its beginning."""
        return Observed(
            composite=wire.decode(about).composite,
            children={name: resource(self._store, child) for name, child in sorted(self.observed(key).items())},
            required={
                name: tuple([resource(self._store, needed) for needed in self._select(requirements.resources[name])])
                for name in sorted(requirements.resources)
            },
        )


def resource(store: Store, key: Key) -> Resource:
    """Return an object as a function reads it, which keeps what was read out of it."""
    return store.derived(key, "resource", lambda _: _read(_struct(store, key)))


def _read(struct: struct_pb2.Struct) -> Resource:
    request = fnv1.RunFunctionRequest()
    request.required_resources["it"].items.add().resource.CopyFrom(struct)
    return wire.decode(request).required["it"][0]


def _struct(store: Store, key: Key) -> struct_pb2.Struct:
    return store.derived(key, "struct", _written)


def _written(found: Object) -> struct_pb2.Struct:
    struct = struct_pb2.Struct()
    struct.update(found)
    return struct


def _answer(response: fnv1.RunFunctionResponse) -> Answer:
    plain = wire.decode(fnv1.RunFunctionRequest(observed=response.desired))
    return Answer(response, plain.composite, plain.children)
