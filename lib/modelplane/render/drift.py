"""Changes that others make to rendered objects on a cluster, seen by what the cluster notes about the objects.

provider-kubernetes puts a changed field back within seconds, so the change itself is never seen. It leaves a higher
generation of the object and a later time of the provider's own entry in managedFields, while the Object is the same.
Times count seconds: what is put back within one is told once.
A field that is put back again and again belongs to a controller. That is a conflict: the field is left to the other
and reported, because two controllers that write one field restart pods for ever.

Source: provider-kubernetes v1.2 (server-side apply with force, manager `provider-kubernetes/<Object>`),
Kubernetes v1.36 (managedFields).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeAlias

from modelplane import seen, words
from modelplane.render import objects

Json: TypeAlias = Any
Resource: TypeAlias = Mapping[str, Json]

_MANAGER = "provider-kubernetes/"
_REVERTS_MAX = 3
_WITHIN = timedelta(minutes=10)
_FIELDS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Applied:
    """The state in which an object was last seen as applied.

    `source` is the generation of its Object, `generation` that of the object on the cluster, `uid` the identity of that
    object. `time` is when the provider last wrote it, and `reverts` are the times at which it put the object back.
    """

    source: int
    generation: int
    uid: str
    time: str
    reverts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Drift:
    """The drift of an object between two looks. `is_reverted` is True if it was put back since the look before.

    `conflict` is a message about the fields that another owner keeps writing, empty without one.
    """

    applied: Applied | None
    is_reverted: bool = False
    conflict: str = ""


def look(child: Resource, before: Applied | None) -> Drift:
    """Return the look at the object of an Object, given the `before` one. What is not seen now is as it was."""
    remote = objects.observed(child)
    source = seen.count(seen.at(child, "metadata", "generation"))
    generation = seen.count(seen.at(remote, "metadata", "generation"))
    if objects.is_yielded(child):
        return Drift(before, conflict=_conflict(child, remote) or _pause(before, generation))
    if remote is None or source is None or generation is None or not objects.is_current(child):
        return Drift(before)
    now = Applied(source, generation, seen.text(seen.at(remote, "metadata", "uid")), _written(remote))
    if before is None or (before.source, before.uid) != (now.source, now.uid):
        return Drift(now)
    is_reverted = now.generation > before.generation and now.time > before.time
    reverts = (*before.reverts, now.time)[-_REVERTS_MAX:] if is_reverted else before.reverts
    applied = Applied(now.source, now.generation, now.uid, now.time, reverts)
    return Drift(applied, is_reverted, _fight(reverts) if is_reverted else "")


def _written(remote: Resource) -> str:
    """Return the time of the provider's last write, empty if it is not noted. Times are of one form, which sorts."""
    entries = seen.objects(seen.at(remote, "metadata", "managedFields"))
    ours = (one for one in entries if seen.text(one.get("manager")).startswith(_MANAGER))
    return max((seen.text(one.get("time")) for one in ours), default="")


def _fight(reverts: tuple[str, ...]) -> str:
    if len(reverts) < _REVERTS_MAX:
        return ""
    try:
        first, last = (datetime.fromisoformat(one) for one in (reverts[0], reverts[-1]))
        took = last - first
    except (ValueError, TypeError):  # whoever edits the status may write no time, or one without a zone
        return ""
    if took > _WITHIN:
        return ""
    return f"another client changed it {_REVERTS_MAX} times within {_WITHIN.seconds // 60} minutes"


def _pause(before: Applied | None, generation: int | None) -> str:
    """Return a message while nobody wrote since the fields were left; the other client may only not have acted yet."""
    if before is None or generation is None or generation > before.generation:
        return ""
    return _fight(before.reverts)


def _conflict(child: Resource, remote: Resource | None) -> str:
    """Return a message about the rendered fields that differ on the cluster, with those who own other fields there."""
    if remote is None:
        return "the object has not been observed"
    found = list(_differences(objects.unwrap(child), remote, ()))
    if not found:
        return ""
    return f"{words.first(found, _FIELDS_SHOWN)} written by {_owners(remote)}"


def _owners(remote: Resource) -> str:
    entries = seen.objects(seen.at(remote, "metadata", "managedFields"))
    found = {
        seen.text(one.get("manager"))
        for one in entries
        if not one.get("subresource") and not seen.text(one.get("manager")).startswith(_MANAGER)
    }
    return " or ".join(sorted(found - {""})) or "another client"


def _differences(rendered: Json, found: Json, path: tuple[str, ...]) -> Iterator[str]:
    """Yield the fields of the rendered object that have another value; what others added is no difference."""
    if isinstance(rendered, Mapping) and isinstance(found, Mapping):
        for key, value in rendered.items():
            yield from _differences(value, found.get(key), (*path, str(key)))
    elif isinstance(rendered, list) and isinstance(found, list) and len(rendered) == len(found):
        for index, (value, other) in enumerate(zip(rendered, found, strict=True)):
            yield from _differences(value, other, (*path, str(index)))
    elif rendered != found:
        yield ".".join(path)
