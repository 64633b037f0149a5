"""The conversion between the protobuf messages of the function protocol and the plain data of `exchange`.

Reading must never create a map entry. A number must never change. What we own must never contain an explicit null. A
secret (connection details, credentials) must never reach a composer.

Source: Crossplane v2.4.0 proto/fn/v1/run_function.proto, as shipped by crossplane-function-sdk-python 0.15.1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from google.protobuf import duration_pb2, struct_pb2

from kubecel import interruption
from modelplane_functions import numbers
from modelplane_functions.exchange import (
    Child,
    Condition,
    Event,
    Json,
    Observed,
    Outcome,
    Ready,
    Requirement,
    Resource,
    Severity,
    Truth,
)
from modelplane_functions.memory import fragments
from modelplane_functions.memory.resources import Memory, Remembered
from modelplane_functions.memory.structs import Structs

# About 14,000 clusters of four pools. What a server holds then: `python -m tests.bench.functions 10000`.
REMEMBERED_BYTES = 32 * 1024 * 1024
_MEMORY = Memory(REMEMBERED_BYTES)
_FRAGMENTS = fragments.Fragments()
# Apart from what is fetched, of which a large composite that changes in each call would displace much.
COMPOSITE_BYTES = 4 * 1024 * 1024
_COMPOSITES = Memory(COMPOSITE_BYTES)
# The children of some 2,000 composites.
WRITTEN_BYTES = 8 * 1024 * 1024
_STRUCTS = Structs(WRITTEN_BYTES)
_SPEC = "spec"

_READY = {Ready.TRUE: fnv1.READY_TRUE, Ready.FALSE: fnv1.READY_FALSE, None: fnv1.READY_UNSPECIFIED}
_TRUTH = {
    Truth.TRUE: fnv1.STATUS_CONDITION_TRUE,
    Truth.FALSE: fnv1.STATUS_CONDITION_FALSE,
    Truth.UNKNOWN: fnv1.STATUS_CONDITION_UNKNOWN,
}
_Where: TypeAlias = "str | tuple[_Where, str | int]"
"""A path in a resource: its first step, or a path and the next step."""
_SEVERITY = {Severity.NORMAL: fnv1.SEVERITY_NORMAL, Severity.WARNING: fnv1.SEVERITY_WARNING}


@dataclass(frozen=True, slots=True)
class Subject:
    """The identity of a request's composite, and the tag of the request. A log line may contain nothing else."""

    api_version: str
    kind: str
    namespace: str
    name: str
    tag: str

    def __str__(self) -> str:
        """Return the kind and the qualified name."""
        where = f"{self.namespace}/" if self.namespace else ""
        return f"{self.kind or 'no kind'} {where}{self.name or '(no name)'}"


def subject(request: fnv1.RunFunctionRequest) -> Subject:
    """Return the identity of the request's composite. Missing fields are empty strings."""
    composite = request.observed.composite.resource
    metadata = composite.fields["metadata"].struct_value if "metadata" in composite.fields else struct_pb2.Struct()
    return Subject(
        api_version=_text(composite, "apiVersion"),
        kind=_text(composite, "kind"),
        namespace=_text(metadata, "namespace"),
        name=_text(metadata, "name"),
        tag=request.meta.tag,
    )


def size(request: fnv1.RunFunctionRequest) -> int:
    """Return the number of objects in a request. Counting bytes would take a tenth of a call about a large fleet."""
    fetched = request.required_resources
    return 1 + len(request.observed.resources) + sum([len(fetched[key].items) for key in fetched])


def decode(request: fnv1.RunFunctionRequest) -> Observed:
    """Return the part of a request that a composer sees.

    Shape: connection details, credentials, context and the desired state of earlier steps are left out. So is
    `metadata.managedFields`, which is half of a real object; it is removed from the request. Resources are shared
    between calls and must not change.
    Cost: 0.06 to 0.15 s for 1,000 new clusters, less when they have more in common; 0.015 s for 1,000 cached ones.
    """
    return Observed(
        composite=_decode_composite(request.observed.composite.resource),
        children={
            key: _decode_resource(request.observed.resources[key].resource)
            for key in sorted(request.observed.resources)
        },
        required={
            key: tuple([_decode_resource(item.resource) for item in request.required_resources[key].items])
            for key in sorted(request.required_resources)
        },
        served={key: bool(request.required_schemas[key].openapi_v3.fields) for key in sorted(request.required_schemas)},
    )


def lacks_required_resources(request: fnv1.RunFunctionRequest) -> bool:
    """Return whether the caller lists its capabilities, and fetching required resources is not among them."""
    capabilities = set(request.meta.capabilities)
    return fnv1.CAPABILITY_CAPABILITIES in capabilities and fnv1.CAPABILITY_REQUIRED_RESOURCES not in capabilities


def encode(request: fnv1.RunFunctionRequest, outcome: Outcome) -> fnv1.RunFunctionResponse:
    """Return the response for `outcome`.

    Shape: the desired state and the context of earlier steps are passed through. A fatal outcome has only its
    conditions and the fatal result. Crossplane keeps the conditions of a failed step and drops everything else.
    Raises: ValueError or TypeError for an outcome that no composer may return (a bug: a number that JSON cannot hold,
    or a child without a kind).
    """
    if outcome.fatal is not None:
        return _encode_fatal(request, outcome)
    # The SDK's response.to would do the same, but it loads pydantic: a fifth of the start of the command.
    response = fnv1.RunFunctionResponse(
        meta=fnv1.ResponseMeta(tag=request.meta.tag), desired=request.desired, context=request.context
    )
    _encode_report(response, outcome)
    _encode_children(response, outcome.children)
    _encode_composite(response, request, outcome)
    return response


def largest_children(response: fnv1.RunFunctionResponse, *, count: int) -> tuple[tuple[str, int], ...]:
    """Return the `count` largest desired resources as (key, bytes), the largest first."""
    sizes = ((key, response.desired.resources[key].ByteSize()) for key in sorted(response.desired.resources))
    return tuple(sorted(sizes, key=lambda item: (-item[1], item[0]))[:count])


# --- protobuf to plain data -------------------------------------------------------------------------------------------


def _text(struct: struct_pb2.Struct, key: str) -> str:
    return struct.fields[key].string_value if key in struct.fields else ""


def _decode_resource(struct: struct_pb2.Struct) -> dict[str, Json]:
    """Return a resource as plain data. Every deployment reads every cluster, so most resources are cached.

    The key is the whole serialized resource, so the answer depends on the request alone.
    """
    _drop_managers(struct)
    return _recalled(struct)


def _decode_composite(struct: struct_pb2.Struct) -> Remembered:
    """Return the composite. Its status changes more often than its spec, which is cached by itself as well."""
    _drop_managers(struct)
    interruption.checkpoint()
    return _COMPOSITES.recall(struct.SerializeToString(deterministic=True), partial(_decode_parts, struct))


def _decode_parts(struct: struct_pb2.Struct) -> dict[str, Json]:
    fields = struct.fields
    decoded = {key: _decode_value(fields[key]) for key in fields if key != _SPEC}
    if _SPEC in fields:
        spec = fields[_SPEC]
        is_object = spec.WhichOneof("kind") == "struct_value"
        decoded[_SPEC] = _recalled(spec.struct_value) if is_object else _decode_value(spec)
    return decoded


def _recalled(struct: struct_pb2.Struct) -> Remembered:
    interruption.checkpoint()
    text = struct.SerializeToString(deterministic=True)
    return _MEMORY.recall(text, partial(_decode_text, text, struct))


def _decode_text(text: bytes, struct: struct_pb2.Struct) -> dict[str, Json]:
    """Return the members of the Struct, whose serialized form is `text`. Fields of a later protocol are ignored."""
    try:
        return _FRAGMENTS.struct(text)
    except fragments.UnreadableError:
        return _decode_struct(struct)


def _drop_managers(struct: struct_pb2.Struct) -> None:
    if "metadata" in struct.fields:
        metadata = struct.fields["metadata"].struct_value.fields
        if "managedFields" in metadata:
            del metadata["managedFields"]


def _decode_struct(struct: struct_pb2.Struct) -> dict[str, Json]:
    fields = struct.fields  # its items() is Python's, its own iteration is not, and every value comes by here
    return {key: _decode_value(fields[key]) for key in fields}


def _decode_value(value: struct_pb2.Value) -> Json:
    text = value.string_value  # what most are, and cheaper to ask for than what it is
    if text:
        return text
    kind = value.WhichOneof("kind")
    if kind == "struct_value":
        return _decode_struct(value.struct_value)
    if kind == "list_value":
        return [_decode_value(item) for item in value.list_value.values]
    if kind == "number_value":
        return numbers.number(value.number_value)
    if kind == "bool_value":
        return value.bool_value
    return text if kind == "string_value" else None


# --- plain data to protobuf -------------------------------------------------------------------------------------------


def _encode_fatal(request: fnv1.RunFunctionRequest, outcome: Outcome) -> fnv1.RunFunctionResponse:
    response = fnv1.RunFunctionResponse(meta=fnv1.ResponseMeta(tag=request.meta.tag))
    _encode_report(response, outcome)
    response.results.append(
        fnv1.Result(
            severity=fnv1.SEVERITY_FATAL,
            message=outcome.fatal,
            reason=_fatal_reason(outcome.conditions),
            target=fnv1.TARGET_COMPOSITE,
        )
    )
    return response


def _encode_report(response: fnv1.RunFunctionResponse, outcome: Outcome) -> None:
    response.meta.ttl.CopyFrom(duration_pb2.Duration(seconds=outcome.ttl_seconds))
    for name in sorted(outcome.requirements):
        response.requirements.resources[name].CopyFrom(_requirement(outcome.requirements[name]))
    for name, asked in sorted(outcome.kinds.items()):
        selector = fnv1.SchemaSelector(api_version=asked.api_version, kind=asked.kind)
        response.requirements.schemas[name].CopyFrom(selector)
    response.conditions.extend(_condition(condition) for condition in outcome.conditions)
    response.results.extend(_event(event) for event in outcome.events)


def _encode_children(response: fnv1.RunFunctionResponse, children: Mapping[str, Child]) -> None:
    for key in sorted(children):
        child = children[key]
        if not child.resource.get("apiVersion") or not child.resource.get("kind"):
            raise ValueError(f"composed resource {key!r} has no apiVersion or no kind")
        desired = response.desired.resources[key]
        desired.Clear()  # of what an earlier step wrote under this key
        desired.ready = _READY[child.ready]
        _STRUCTS.write(desired.resource, child.resource, partial(_fill, source=child.resource, where=key))


def _encode_composite(response: fnv1.RunFunctionResponse, request: fnv1.RunFunctionRequest, outcome: Outcome) -> None:
    """Write status and readiness. Other status fields of an earlier step stay."""
    about = subject(request)
    composite = response.desired.composite
    if outcome.status:
        composite.resource.fields["apiVersion"].string_value = about.api_version
        composite.resource.fields["kind"].string_value = about.kind
        status = composite.resource.fields["status"].struct_value
        status.SetInParent()
        fill = partial(_fill, source=outcome.status, where="status")
        if status.fields:
            fill(status)
        else:
            _STRUCTS.write(status, outcome.status, fill)
    if outcome.ready is not None:
        composite.ready = _READY[outcome.ready]


def _fill(struct: struct_pb2.Struct, source: Resource, where: _Where) -> None:
    """Write `source` into `struct`. A member with the value None is left out, because a null would own the field."""
    interruption.checkpoint()
    fields = struct.fields
    for key, value in source.items():
        if not isinstance(key, str):
            raise TypeError(f"{_spelled(where)}: key {key!r} is not a string")
        if value is not None:
            _set_value(fields[key], value, (where, key))


def _set_value(target: struct_pb2.Value, value: Any, where: _Where) -> None:
    # Exact types first: nearly all values are of them, and a hundred replicas have ten thousand.
    kind = type(value)
    if kind is str:
        target.string_value = value
    elif kind is dict or isinstance(value, Mapping):
        target.struct_value.SetInParent()
        _fill(target.struct_value, value, where)
    elif isinstance(value, str):
        # str() drops the enum from a StrEnum; protobuf refuses subclasses in no documented way.
        target.string_value = str(value)
    elif kind is bool:
        target.bool_value = value
    elif isinstance(value, int | float):
        target.number_value = _encode_number(value, where)
    elif isinstance(value, list | tuple):
        target.list_value.SetInParent()
        _extend(target.list_value, value, where)
    elif value is None:
        target.null_value = struct_pb2.NULL_VALUE
    else:
        raise TypeError(f"{_spelled(where)}: JSON cannot represent {kind.__name__}")


def _extend(target: struct_pb2.ListValue, values: Iterable[Any], where: _Where) -> None:
    """Write `values`. A None in a list stays, because positions in a list have a meaning."""
    add = target.values.add
    for index, value in enumerate(values):
        _set_value(add(), value, (where, index))


def _encode_number(number: float, where: _Where) -> float:
    if isinstance(number, int):
        if abs(number) > numbers.EXACT_INTEGER_MAX:
            raise ValueError(
                f"{_spelled(where)}: {number} is larger than 2^53 and would lose precision; write it as a string"
            )
        return float(number)
    if not math.isfinite(number):
        raise ValueError(f"{_spelled(where)}: JSON cannot represent {number}")
    return number


def _spelled(where: _Where) -> str:
    """Return a path in its usual spelling. It is needed only in an error."""
    if isinstance(where, str):
        return where
    above, step = where
    return f"{_spelled(above)}[{step}]" if isinstance(step, int) else f"{_spelled(above)}.{step}"


def _requirement(requirement: Requirement) -> fnv1.ResourceSelector:
    selector = fnv1.ResourceSelector(api_version=requirement.api_version, kind=requirement.kind)
    if requirement.name is not None:
        selector.match_name = requirement.name
    else:
        # An empty match_labels asks for all of the kind, also where a selector without a match is refused.
        selector.match_labels.SetInParent()
        for key in sorted(requirement.labels):
            selector.match_labels.labels[key] = requirement.labels[key]
    if requirement.namespace is not None:
        selector.namespace = requirement.namespace
    return selector


def _condition(condition: Condition) -> fnv1.Condition:
    encoded = fnv1.Condition(
        type=condition.type,
        status=_TRUTH[condition.status],
        reason=condition.reason,
        target=fnv1.TARGET_COMPOSITE,
    )
    if condition.message:
        encoded.message = condition.message
    return encoded


def _event(event: Event) -> fnv1.Result:
    return fnv1.Result(
        severity=_SEVERITY[event.severity],
        message=event.message,
        reason=event.reason,
        target=fnv1.TARGET_COMPOSITE,
    )


def _fatal_reason(conditions: tuple[Condition, ...]) -> str:
    """Return the reason of the first condition that is not true."""
    return next((c.reason for c in conditions if c.status is not Truth.TRUE), "Refused")
