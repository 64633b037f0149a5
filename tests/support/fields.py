"""Every field of every input of every composer, one by one: nothing here is drawn.

A field is asked once where many situations have it. Two fields are one when they are of the same composer (and, of a
replica, of the same backend), of an input of the same name, at the same path, and hold a value of the same type. The
fields of a replica itself are asked in each of its shapes and states, those of its cluster in each of its states. Of a
list with more than a few items of one shape the first, a middle and the last item are asked. Fields that a document
lacks are those of its definition. Documents that the composer does not require are left out: it never sees them.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from modelplane import seen
from modelplane.render import objects, pod_collection
from tests.support import samples, shapes, situations, unrest
from tests.support.mutations import SERVERS, Mutation, Path, at, is_typed
from tests.support.situations import CHILD, COMPOSITE, OTHER, Input, Situation

Json = Any
_ITEMS = 4
"""The most items of a list of one shape that are all asked."""
# The server writes these.
_WRITTEN = frozenset(("metadata", part) for part in ("uid", "generation"))
# Crossplane tells children by these: a child of which they are wrong is no child, and nobody sees it.
NOT_SEEN = frozenset(("metadata", part) for part in ("ownerReferences", "annotations"))
_CROSSPLANES = "crossplane.io/"
# A replica's cluster and deployment never change: its definition says so to every client.
_OF_REPLICAS = (("clusterName",), ("deploymentRef",), ("deploymentRef", "name"))
# Nor does what a part of a created cluster is called in its cloud, and where it is. The definition of the part says
# the first to every client, and that of InferenceCluster, from which the settings are copied, the rest.
_OF_PARTS = (
    *(("clusterName",), ("provider",), ("externalName",), ("pool", "name")),
    *(
        ("settings", name)
        for name in (
            *("project", "region", "location", "network", "subnetwork", "resourceGroup", "subnetId", "identityId"),
            *("subnetIds", "zones", "cidrBlock", "serviceCidrBlock", "roleArn", "nodeRoleArn", "networkCidr"),
            *("nodeCidr", "podCidr", "serviceCidr", "podRangeName", "serviceRangeName"),
        )
    ),
)
NEVER_CHANGES = frozenset(
    [("ModelReplica", ("spec", *path)) for path in _OF_REPLICAS]
    + [(kind, ("spec", *path)) for kind in ("CloudNetwork", "CloudCluster", "CloudNodePool") for path in _OF_PARTS]
)


@dataclass(frozen=True, slots=True)
class Field:
    """One field of one input of a situation."""

    start: Situation
    input: Input
    path: Path
    input_name: str
    """The words for the input that other situations of its composer share."""
    samples: tuple[Json, ...] = ()
    """What it may be where its document lacks it, by its definition."""


def is_mutable(document: Json, path: Path, role: str) -> bool:
    """Return whether a client can make the field wrong while a composer sees the object.

    What a composer requires is found by its name and labels, so that anything else of it may be wrong.
    """
    if path in SERVERS or path[:2] in _WRITTEN or (document["kind"], path) in NEVER_CHANGES:
        return False
    if role == OTHER or path[:2] not in NOT_SEEN:
        return True
    # The other annotations of a child are ours, and a client may write them.
    return role == CHILD and path[1:2] == ("annotations",) and len(path) > 2 and _CROSSPLANES not in str(path[2])


def is_possible(document: Json, mutation: Mutation) -> bool:
    """Return whether an API server can hold the document with the mutation, as far as it reads metadata into types."""
    return mutation.path[:2] not in NOT_SEEN or is_typed(mutation.applied(document))


@functools.cache
def every() -> tuple[Field, ...]:
    """Return every field of the composites of the examples, of the replicas of every backend in every state, and of
    what is not at rest.
    """
    return tuple(_distinct((*shapes.situations(), *situations.running(), *unrest.every())))


def _distinct(starts: tuple[Situation, ...]) -> Iterator[Field]:
    known = set()
    for start in starts:
        for one in start.inputs:
            for found, label in _of(start, one):
                key = (start.kind, _about(start, one, found), found.input_name, label)
                if key not in known:
                    known.add(key)
                    yield found


def _of(start: Situation, one: Input) -> Iterator[tuple[Field, Json]]:
    """Yield the fields of one input, each with what tells it from another: those it has, and those it lacks."""
    document, name = one.document(start), _named(one, start)
    for path, label in _paths(document):
        if is_mutable(document, path, one.role):
            yield Field(start, one, path, name), (label, type(at(document, path)))
    for path, schema in samples.absent(document):
        label = tuple("[]" if isinstance(step, int) else step for step in path)
        yield Field(start, one, path, name, samples.of(schema)), (label, None)


def _about(start: Situation, one: Input, found: Field) -> Json:
    """Return what makes the fields of one composer others: what a replica is rendered by, and its state."""
    if start.kind != "ModelReplica":
        return ()
    backend = start.composite["spec"]["backend"]
    if one.role == CHILD:
        return backend
    return (backend, start.state, start.shape if one.role == COMPOSITE and not found.samples else "")


def _named(one: Input, start: Situation) -> str:
    document = one.document(start)
    if one.role == COMPOSITE:
        return "itself"
    if one.role == OTHER:
        labels = seen.at(document, "metadata", "labels")
        is_member = isinstance(labels, Mapping) and bool(pod_collection.membership("").keys() & labels.keys())
        return f"member {document['kind']}" if is_member else str(document["kind"])
    if objects.is_object(document):
        return f"child {objects.unwrap(document).get('kind')} ({objects.purpose(document)})"
    return f"child {document['kind']}"


def _paths(value: Json, path: Path = (), label: tuple[str, ...] = ()) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Yield the path of every field, and the label under which others of its kind have it."""
    for key, name, inside in _entries(value):
        yield (*path, key), (*label, name)
        yield from _paths(inside, (*path, key), (*label, name))


def _entries(value: Json) -> list[tuple[str | int, str, Json]]:
    if isinstance(value, Mapping):
        return [(key, key, value[key]) for key in sorted(value)]
    if not isinstance(value, list):
        return []
    places = list(range(len(value)))
    if len(value) > _ITEMS and len({_shape(one) for one in value}) == 1:
        places = [0, len(value) // 2, len(value) - 1]
    return [(place, _item(value[place], number), value[place]) for number, place in enumerate(places)]


def _item(value: Json, number: int) -> str:
    """Return the label of an item of a list: conditions are told by their type, and others by their place."""
    told = value.get("type") if isinstance(value, Mapping) else None
    return f"[{told}]" if isinstance(told, str) else f"[{number}]"


def _shape(value: Json) -> str:
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{key}:{_shape(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(sorted({_shape(one) for one in value})) + "]"
    return type(value).__name__
