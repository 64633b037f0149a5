"""The checks of an API server on each document, and the check for duplicates.

A document with an error must never enter the world. An error must never hide another.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane import names
from modelplane_cli.checks import foreign, misplaced
from modelplane_cli.documents import reading
from modelplane_cli.documents.reading import Document, Problem
from modelplane_cli.simulator.definitions import Definition, Definitions
from modelplane_cli.simulator.store import CLUSTER_SCOPED, Key, group_of, key_of

Json: TypeAlias = Any

# Files of tools, not objects of a cluster: kubectl would not apply them either.
_NOT_OBJECTS = frozenset({"kustomize.config.k8s.io", "skaffold", "helm.cattle.io"})


@dataclass(frozen=True, slots=True)
class Checked:
    """The objects that an API server would store, by identity, each with its source document."""

    objects: Mapping[Key, Mapping[str, Json]]
    sources: Mapping[Key, Document]
    problems: tuple[Problem, ...]


def check(given: Sequence[Document], definitions: Definitions, namespace: str) -> Checked:
    """Return the documents as objects, defaulted and in `namespace` where they name none, with all problems."""
    objects: dict[Key, Mapping[str, Json]] = {}
    sources: dict[Key, Document] = {}
    problems: list[Problem] = []
    for document in given:
        if group_of(str(document.data.get("apiVersion") or "")) in _NOT_OBJECTS:
            continue
        found = list(_identity(document)) or list(_unknown_kind(document, definitions))
        problems.extend(found)
        if found:
            continue
        resource, refused = _admitted(document, definitions, namespace)
        problems.extend(refused)
        key = key_of(resource)
        if key in sources and resource == objects[key]:
            continue  # kubectl applies it twice and nobody notices
        if key in sources:
            first = sources[key]
            problems.append(
                document.problem(f"is given twice, first in {first.file}:{first.lines().of(first.inside)}; keep one")
            )
        else:
            objects[key], sources[key] = resource, document
    return Checked(objects, sources, tuple(problems))


def _identity(document: Document) -> Iterable[Problem]:
    """Yield the reasons why the document is not a Kubernetes object."""
    data = document.data
    for field, noun, pattern, example in (
        ("apiVersion", "an apiVersion", reading.API_VERSION, names.API_VERSION),
        ("kind", "a kind", reading.KIND, "ModelDeployment"),
    ):
        value = data.get(field)
        if value is None:
            yield document.problem(f"is required, for example {example}", (field,))
        elif not isinstance(value, str) or not pattern.fullmatch(value):
            yield document.problem(f"{_shown(value)} is not {noun}, for example {example}", (field,))
    metadata = data.get("metadata")
    if not isinstance(metadata, dict):
        yield document.problem("is required: a map with a name", ("metadata",))
        return
    yield from _metadata(document, metadata)


def _metadata(document: Document, metadata: Mapping[str, Json]) -> Iterable[Problem]:
    name = metadata.get("name")
    if name is None and metadata.get("generateName"):
        yield document.problem("is required offline; only a server resolves generateName", ("metadata", "name"))
    elif name is None:
        yield document.problem("is required", ("metadata", "name"))
    else:
        yield from _path_segment(document, name, "name")
    if metadata.get("namespace") is not None:
        yield from _path_segment(document, metadata["namespace"], "namespace")
    for field in ("labels", "annotations"):
        entries = metadata.get(field)
        if entries is None:
            continue
        if not isinstance(entries, dict):
            yield document.problem("must be a map of strings", ("metadata", field))
            continue
        for key, value in entries.items():
            if not isinstance(value, str):
                yield document.problem(f"must be text; {_in_quotes(value)}", ("metadata", field, key))
    owners = metadata.get("ownerReferences")
    if owners is not None and not (isinstance(owners, list) and all(isinstance(owner, dict) for owner in owners)):
        yield document.problem("must be a list of references", ("metadata", "ownerReferences"))


def _path_segment(document: Document, value: Json, field: str) -> Iterable[Problem]:
    if not isinstance(value, str):
        yield document.problem(f"must be text; {_in_quotes(value)}", ("metadata", field))
    elif not reading.NAME.fullmatch(value):
        yield document.problem(f"{_shown(value)} is not a {field}", ("metadata", field))


def _unknown_kind(document: Document, definitions: Definitions) -> Iterable[Problem]:
    """Yield the problems of an apiVersion or kind that resembles one of modelplane.ai."""
    api_version, kind = str(document.data["apiVersion"]), str(document.data["kind"])
    group = group_of(api_version)
    ours = {definition.kind: definition for definition in definitions}
    if group == names.GROUP:
        definition = ours.get(kind)
        if definition is None:
            yield document.problem(f"{names.GROUP} has no kind {kind}{_did_you_mean(kind, sorted(ours))}", ("kind",))
        elif definition.api_version != api_version:
            yield document.problem(f"{kind} is served as {definition.api_version}", ("apiVersion",))
    elif kind in ours and difflib.get_close_matches(group, [names.GROUP], cutoff=0.7):
        yield document.problem(f"{api_version} is not known; write {ours[kind].api_version}", ("apiVersion",))


def _admitted(document: Document, definitions: Definitions, namespace: str) -> tuple[dict[str, Json], list[Problem]]:
    """Return the object as a server would store it, and the problems that the server would report."""
    key = key_of(document.data)
    definition = definitions.find(key.group, key.kind)
    resource: dict[str, Json] = dict(document.data) if definition else foreign.without_nulls(document.data)
    if _is_namespaced(key, definition) and not key.namespace:
        resource["metadata"] = {**resource["metadata"], "namespace": namespace}
    elif not _is_namespaced(key, definition) and definition is None and key.namespace:
        resource["metadata"] = {k: v for k, v in resource["metadata"].items() if k != "namespace"}
    if definition is None:
        return resource, [document.problem(entry.message, entry.path) for entry in foreign.problems(resource)]
    stored, problems = definition.served.judged(resource)
    found = misplaced.placed(definition.kind, problems)
    return stored, [document.problem(entry.message, entry.path, entry.severity.value) for entry in found]


def _is_namespaced(key: Key, definition: Definition | None) -> bool:
    return definition.is_namespaced if definition else (key.group, key.kind) not in CLUSTER_SCOPED


def _did_you_mean(word: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    return f"; did you mean {close[0]}?" if close else f"; it has {', '.join(known)}"


def _shown(value: Json) -> str:
    text = str(value)
    return repr(text if len(text) <= 60 else f"{text[:57]}...")


def _in_quotes(value: Json) -> str:
    """Return the correction of a value that YAML did not read as text."""
    if isinstance(value, bool):
        return "put it in quotes, because YAML takes an unquoted yes, no, on, off, y or n for true or false"
    return f'write "{value}"' if isinstance(value, int | float) else "write text"
