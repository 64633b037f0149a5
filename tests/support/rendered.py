"""Documents rendered in this process: the whole settled world, and the bare manifests by where they go."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from modelplane.api import catalogue
from modelplane_cli.checks import acceptance
from modelplane_cli.documents import reading
from modelplane_cli.simulator import definitions, offline, remote
from modelplane_cli.simulator.definitions import Definitions
from modelplane_cli.simulator.offline import Assume, World
from modelplane_cli.simulator.store import Key, key_of
from modelplane_functions import responder
from tests.support import examples

Document = dict[str, Any]

CONTROL_PLANE = "control-plane"
# Only the server says these.
_SERVERS = ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "ownerReferences")


def folder(path: Path) -> World:
    """Return the world that the documents of a folder lead to. Raises: AssertionError for bad input."""
    kinds = definitions.builtin()
    return offline.build(written(path, kinds), kinds, responder.answer, Assume.READY)


def written(path: Path, kinds: Definitions) -> Mapping[Key, Mapping[str, Any]]:
    """Return the objects of a folder. Raises: AssertionError for bad input."""
    given = reading.read([str(path)])
    checked = acceptance.check(given.documents, kinds, "default")
    problems = [*given.problems, *checked.problems]
    assert not reading.has_errors(problems), [str(problem) for problem in problems]
    return checked.objects


def world(objects: Sequence[Mapping[str, Any]]) -> World:
    """Return the world that plain documents lead to, with defaults as an API server fills them in."""
    keyed: dict[Key, Mapping[str, Any]] = {key_of(one): stored(one) for one in objects}
    return offline.build(keyed, definitions.builtin(), responder.answer, Assume.READY)


def quickstart(**clusters: Any) -> World:
    """Return the world of the quickstart with these fields in the spec of each of its clusters."""
    documents = [one.data for one in reading.read([str(examples.EXAMPLES / "quickstart")]).documents]
    changed = [
        {**one, "spec": {**one["spec"], **clusters}} if one["kind"] == "InferenceCluster" else one for one in documents
    ]
    return world(changed)


def stored(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a document with the defaults that an API server fills in."""
    if document["kind"] not in catalogue.kinds():
        return document
    stored: Mapping[str, Any] = catalogue.structural_kind(document["kind"]).stored(document)
    return stored


def placed(settled: World) -> Iterator[tuple[str, Document]]:
    """Yield each object with where it stands: on the control plane, or (what an Object carries) on a cluster."""
    for found in settled.objects():
        yield CONTROL_PLANE, bare(found)
        if _is_written(found):
            yield _carried(settled, found)


def workloads(settled: World) -> Iterator[tuple[str, Document]]:
    """Yield what is kept on clusters but for the parts of their serving stacks, which stand before them."""
    for found in settled.objects():
        owners = {one["kind"] for one in found["metadata"].get("ownerReferences", ())}
        if _is_written(found) and "ServingStack" not in owners:
            yield _carried(settled, found)


def _is_written(found: Mapping[str, Any]) -> bool:
    is_object = (found["kind"], found["apiVersion"].split("/")[0]) == ("Object", remote.KUBERNETES)
    return is_object and found["spec"].get("managementPolicies") != ["Observe"]


def _carried(settled: World, found: Mapping[str, Any]) -> tuple[str, Document]:
    return remote.cluster_of(found, settled.store), bare(remote.manifest_of(found))


def bare(document: Mapping[str, Any]) -> Document:
    """Return a document without what a server would add."""
    metadata = {key: value for key, value in document["metadata"].items() if key not in _SERVERS}
    return {**document, "metadata": metadata}
