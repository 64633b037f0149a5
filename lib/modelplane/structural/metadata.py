"""Problems of metadata, which no schema describes.

Source: ObjectMeta validation of apimachinery v0.36 (names are DNS subdomains, label keys qualified names).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from modelplane.structural.defaults import suggestion
from modelplane.structural.problem import Cause, Path, Problem
from modelplane.structural.schema import Schema
from modelplane.structural.values import shown

Json: TypeAlias = Any

_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_DNS_LABEL = re.compile(rf"{_LABEL}\Z")
_DNS_SUBDOMAIN = re.compile(rf"{_LABEL}(\.{_LABEL})*\Z")
_QUALIFIED_NAME = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]\Z")
_NAME_MAX, _LABEL_MAX = 253, 63
_ANNOTATIONS_MAX_BYTES = 256 * 1024

_FIELDS = [
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "managedFields",
]
_KNOWN = {name: Schema() for name in _FIELDS}


def problems(document: Mapping[str, Json], *, namespaced: bool) -> Iterator[Problem]:
    """Yield the problems of the metadata of a document."""
    metadata = document.get("metadata")
    if not isinstance(metadata, Mapping):
        yield Problem(("metadata",), "is required and must be an object with a name", cause=Cause.REQUIRED)
        return
    for key in metadata:
        if key not in _KNOWN:
            yield Problem(
                ("metadata", key), f'unknown field "{key}"{suggestion(str(key), _KNOWN)}', cause=Cause.UNKNOWN
            )
    yield from _names(metadata)
    yield from _namespace(metadata, str(document.get("kind", "")), namespaced=namespaced)
    yield from _labels(metadata.get("labels"), ("metadata", "labels"))
    yield from _annotations(metadata.get("annotations"), ("metadata", "annotations"))


def _names(metadata: Mapping[str, Json]) -> Iterator[Problem]:
    name, prefix = metadata.get("name"), metadata.get("generateName")
    if name is None and prefix is None:
        yield Problem(("metadata", "name"), "name or generateName is required", cause=Cause.REQUIRED)
    for key, value in (("name", name), ("generateName", prefix)):
        if value is None:
            continue
        path = ("metadata", key)
        # A prefix may end in a dash: something follows it.
        text = value.removesuffix("-") if key == "generateName" and isinstance(value, str) else value
        if not isinstance(value, str):
            yield Problem(path, f"must be a string, not {shown(value)}; put it in quotes", cause=Cause.TYPE)
        elif len(value) > _NAME_MAX:
            yield Problem(path, f"must be at most {_NAME_MAX} characters long, not {len(value)}")
        elif not _DNS_SUBDOMAIN.match(text):
            yield Problem(
                path,
                f'{shown(value)} must be lower-case letters, digits, "-" and ".", with a letter or digit at both ends',
            )


def _namespace(metadata: Mapping[str, Json], kind: str, *, namespaced: bool) -> Iterator[Problem]:
    value, path = metadata.get("namespace"), ("metadata", "namespace")
    if not namespaced:
        if value not in (None, ""):
            yield Problem(path, f"{kind} is cluster scoped; remove the namespace", cause=Cause.FORBIDDEN)
    elif value in (None, ""):
        yield Problem(path, f"{kind} is namespaced; write the namespace it belongs to", cause=Cause.REQUIRED)
    elif not isinstance(value, str):
        yield Problem(path, f"must be a string, not {shown(value)}; put it in quotes", cause=Cause.TYPE)
    elif len(value) > _LABEL_MAX or not _DNS_LABEL.match(value):
        yield Problem(path, f'{shown(value)} must be at most 63 lower-case letters, digits and "-"')


def _labels(labels: Json, path: Path) -> Iterator[Problem]:
    for key, value in _text_map(labels):
        yield from _key(key, path)
        if not isinstance(value, str):
            yield Problem((*path, key), f"must be a string, not {shown(value)}; put it in quotes", cause=Cause.TYPE)
        elif value and (len(value) > _LABEL_MAX or not _QUALIFIED_NAME.match(value)):
            yield Problem(path, f'the value {shown(value)} of {key} must be at most 63 letters, digits and "-_."')
    yield from _not_an_object(labels, path)


def _annotations(annotations: Json, path: Path) -> Iterator[Problem]:
    size = 0
    for key, value in _text_map(annotations):
        yield from _key(key.lower() if isinstance(key, str) else key, path)
        if not isinstance(value, str):
            yield Problem((*path, key), f"must be a string, not {shown(value)}; put it in quotes", cause=Cause.TYPE)
        else:
            size += len(str(key).encode()) + len(value.encode())
    if size > _ANNOTATIONS_MAX_BYTES:
        yield Problem(
            path, f"must be at most {_ANNOTATIONS_MAX_BYTES} bytes in total, not {size}", cause=Cause.TOO_LONG
        )
    yield from _not_an_object(annotations, path)


def _text_map(value: Json) -> tuple[tuple[Any, Json], ...]:
    return tuple(value.items()) if isinstance(value, Mapping) else ()


def _not_an_object(value: Json, path: Path) -> Iterator[Problem]:
    if value is not None and not isinstance(value, Mapping):
        yield Problem(path, f"must be an object, not {shown(value)}", cause=Cause.TYPE)


def _key(key: Json, path: Path) -> Iterator[Problem]:
    prefix, slash, name = str(key).rpartition("/")
    fits = len(name) <= _LABEL_MAX and _QUALIFIED_NAME.match(name)
    if slash:
        fits = fits and len(prefix) <= _NAME_MAX and _DNS_SUBDOMAIN.match(prefix)
    if not fits:
        yield Problem(
            path,
            f'the key {shown(key)} must be at most 63 letters, digits and "-_.", optionally after a domain and "/"',
        )
