"""The evidence that pods of a replica run: the Objects of its workload, whose names or labels its own name gives."""

from __future__ import annotations

from collections.abc import Iterator

from modelplane import names, seen
from modelplane.api import admissions
from modelplane.api.admissions import Record
from modelplane.render import objects
from modelplane.render.manifest import Purpose
from modelplane_functions import ownership
from modelplane_functions.exchange import Observed, Requirement, Resource

_WORKLOAD, _OBJECTS = "workload/", "objects/"
_WORKLOAD_KEY = "workload"


def by_name(api_version: str, kind: str, key: str) -> Requirement:
    """Return the requirement for one object by its key (`namespace/name`)."""
    namespace, _, name = key.partition("/")
    return Requirement(api_version, kind, name=name, namespace=namespace)


def requirements(key: str) -> dict[str, Requirement]:
    """Return the Objects that may show a replica's workload: KServe's has one name, those of other backends many."""
    namespace, _, name = key.partition("/")
    named = by_name(objects.API_VERSION, objects.KIND, f"{namespace}/{objects.name_of(name, _WORKLOAD_KEY)}")
    labels = {ownership.LABEL_COMPOSITE: name}
    composed = Requirement(objects.API_VERSION, objects.KIND, labels=labels, namespace=namespace)
    return {_WORKLOAD + key: named, _OBJECTS + key: composed}


def is_there(observed: Observed, key: str, uid: str) -> bool:
    """Return whether an Object of the workload exists and the replica of this uid controls it."""
    return next(_workloads(observed, key, uid), None) is not None


def differs(observed: Observed, key: str, record: Record) -> bool:
    """Return whether the workload was rendered from another spec. An earlier version did not note from which."""
    noted = {
        seen.text(seen.at(one, "metadata", "annotations", names.ANNOTATION_RENDERED_FROM))
        for one in _workloads(observed, key, record.uid)
    } - {""}
    return bool(noted) and record.digest not in noted


def is_applied(observed: Observed, key: str, record: Record) -> bool:
    """Return whether the workload was rendered from the admitted spec, and its cluster has it."""
    found = list(_workloads(observed, key, record.uid))
    return bool(found) and all(
        objects.is_current(one)
        and seen.at(one, "metadata", "annotations", names.ANNOTATION_RENDERED_FROM) == record.digest
        for one in found
    )


def _workloads(observed: Observed, key: str, uid: str) -> Iterator[Resource]:
    """Yield the Objects of the workload that the replica of this uid controls."""
    composed = (one for one in observed.required.get(_OBJECTS + key, ()) if _runs_pods(one))
    for found in (*observed.required.get(_WORKLOAD + key, ()), *composed):
        references = seen.objects(seen.at(found, "metadata", "ownerReferences"))
        if any(
            one.get("controller") is True and admissions.uid_digest(str(one.get("uid"))) == uid for one in references
        ):
            yield found


def _runs_pods(wrapped: Resource) -> bool:
    return bool(seen.at(wrapped, "metadata", "annotations", names.ANNOTATION_PURPOSE) == str(Purpose.WORKLOAD))
