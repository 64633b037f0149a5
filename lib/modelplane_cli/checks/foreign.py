"""The shape of objects that are not ours, as far as functions and output read them.

On a control plane their own definitions guarantee it. Offline a document may say anything, and a status that is a
number is the document's mistake and nobody's bug. Only what is read is described; everything else is left alone.
Source: provider-kubernetes v1.2 (Object), Gateway API v1.6, Envoy Gateway v1.9 (status fields). Of a backend's own
kinds the backend says what it reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from modelplane.render.backends import selection
from modelplane.structural import values
from modelplane.structural.problem import Problem
from modelplane.structural.schema import Schema, read

Json: TypeAlias = Any

_TEXT: Json = {"type": "string"}
_WHOLE: Json = {"type": "integer"}
_ANY: Json = {"x-kubernetes-preserve-unknown-fields": True}


def _map(**properties: Json) -> Json:
    return {"type": "object", "properties": properties, **_ANY}


def _list(item: Json) -> Json:
    return {"type": "array", "items": item}


def _map_of(value: Json) -> Json:
    return {"type": "object", "additionalProperties": value}


_CONDITIONS = _list(_map(type=_TEXT, status=_TEXT, reason=_TEXT, message=_TEXT))
_HOLDERS = _list(_map(parentRef=_map(), ancestorRef=_map(), conditions=_CONDITIONS))
_STATUS: Mapping[str, Json] = {
    "conditions": _CONDITIONS,
    "parents": _HOLDERS,
    "ancestors": _HOLDERS,
    "addresses": _list(_map(type=_TEXT, value=_TEXT, url=_TEXT, name=_TEXT)),
    "listeners": _list(_map(name=_TEXT, conditions=_CONDITIONS)),
    "url": _TEXT,
    "observedGeneration": _WHOLE,
    "replicas": _WHOLE,
    "readyReplicas": _WHOLE,
}
_BACKEND_REFS = _list(_map(group=_TEXT, kind=_TEXT, name=_TEXT, namespace=_TEXT))
_SPEC: Mapping[str, Json] = {
    "listeners": _list(_map(name=_TEXT, port=_WHOLE, protocol=_TEXT, hostname=_TEXT)),
    "parentRefs": _list(_map(name=_TEXT)),
    "targetRefs": _list(_map(name=_TEXT)),
    "targetRef": _map(name=_TEXT),
    "rules": _list(_map(backendRefs=_BACKEND_REFS)),
}
_METADATA = _map(name=_TEXT, namespace=_TEXT, generation=_WHOLE, labels=_map_of(_TEXT), annotations=_map_of(_TEXT))

_OBJECT = read(_map(metadata=_METADATA, spec=_map(**_SPEC), status=_map(**_STATUS)))
_MANIFEST = _map(apiVersion=_TEXT, kind=_TEXT, metadata=_METADATA, spec=_map(**_SPEC), status=_map(**_STATUS))
_WRAPPED_SPEC = _map(
    forProvider=_map(manifest=_MANIFEST),
    managementPolicies=_list(_TEXT),
    providerConfigRef=_map(kind=_TEXT, name=_TEXT),
    readiness=_map(policy=_TEXT, celQuery=_TEXT),
)
_WRAPPED_STATUS = _map(conditions=_CONDITIONS, atProvider=_map(manifest=_MANIFEST))
_WRAPPED = read(_map(metadata=_METADATA, spec=_WRAPPED_SPEC, status=_WRAPPED_STATUS))
_RELEASE = read(
    _map(metadata=_METADATA, spec=_map(forProvider=_map(chart=_map())), status=_map(conditions=_CONDITIONS))
)
_SECRET = read(_map(data=_map(), stringData=_map()))

# Objects of these kinds are read in their own way; all others by the parts that most kinds share.
_SHAPES: Mapping[str, Schema] = {"Object": _WRAPPED, "Release": _RELEASE, "Secret": _SECRET}
_SEEN = ("status", "atProvider", "manifest")
_NOT_READ = frozenset({"ConfigMap"})


def without_nulls(value: Json) -> Json:
    """Return a value without the members of maps that are null, which no API server keeps."""
    if isinstance(value, Mapping):
        return {key: without_nulls(member) for key, member in value.items() if member is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value


def problems(document: Mapping[str, Json]) -> Iterator[Problem]:
    """Yield what is out of shape in a foreign document, and in the manifest it wraps."""
    kind = str(document["kind"])
    if kind in _NOT_READ:
        return
    yield from values.problems(document, _SHAPES.get(kind, _OBJECT), ())
    if kind == "Object":
        path = ("spec", "forProvider", "manifest")
        manifest = _at(document, path)
        carried = manifest.get("kind") if isinstance(manifest, Mapping) else None
        shape = _backend_shape(carried) if isinstance(carried, str) else None
        if shape is not None:
            yield from values.problems(manifest, shape, path)
            yield from values.problems(_at(document, _SEEN) or {}, shape, _SEEN)


def _backend_shape(kind: str) -> Schema | None:
    """Return the shape of what a backend reads of its own kinds, None for kinds of no backend."""
    found = next((backend.SHAPES[kind] for backend in selection.BACKENDS.values() if kind in backend.SHAPES), None)
    return None if found is None else read(found)


def _at(value: Json, path: tuple[str, ...]) -> Json:
    for part in path:
        value = value.get(part) if isinstance(value, Mapping) else None
    return value
