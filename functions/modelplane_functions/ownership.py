"""The check that a name is free, before a child is created under it.

Crossplane refuses to write an object that another composite controls. The error stops the whole reconcile. Crossplane
takes over an object that has no controller: a replica's ModelEndpoint would overwrite one written by hand. Every
child that does not exist yet is therefore looked up by name first. A child whose name belongs to another owner is left
out and reported. All other children are created.

A child whose name is that of an object that is being deleted waits until that is gone, even where it was ours: what is
written to the old object goes with it, and the API server refuses it where a field may not change, which stops the
whole reconcile too.

Source: Crossplane v2.4.0 (composition_functions.go). It applies server-side with force, adds a controller reference,
and observes only objects that no other owner controls.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from modelplane import seen, words
from modelplane_functions.exchange import Child, Condition, Observed, Outcome, Ready, Requirement, Resource, Truth

Json: TypeAlias = Any

CONDITION = "NamesFree"
# Crossplane labels each composed object with its composite. A restore keeps the label and loses the owner reference.
LABEL_COMPOSITE = "crossplane.io/composite"
_KEY = "named/"
_WAITING_SECONDS = 30
_TOLD = 5


@dataclass(frozen=True, slots=True)
class _Taken:
    """A child whose name belongs to another object, and the description of that object."""

    key: str
    about: str
    is_going: bool  # it is ours and being deleted, so that the name is free soon


def checked(observed: Observed, outcome: Outcome) -> Outcome:
    """Return the outcome without the children whose names belong to other owners. The names are required first."""
    if outcome.fatal is not None:
        return outcome
    new = {key: child for key, child in outcome.children.items() if key not in observed.children and _name(child)}
    asked = {**outcome.requirements, **{_KEY + key: _requirement(child) for key, child in new.items()}}
    outcome = replace(outcome, requirements=asked)
    if not asked.keys() <= observed.required.keys():
        return outcome
    taken = list(_taken(observed, new))
    if taken:
        return _refused(outcome, taken)
    if _was_told(observed):
        free = Condition(CONDITION, Truth.TRUE, "Free", "no required name belongs to another owner")
        return replace(outcome, conditions=(*outcome.conditions, free))
    return outcome


def _refused(outcome: Outcome, taken: list[_Taken]) -> Outcome:
    gone = {one.key for one in taken}
    held = [one.about for one in taken if not one.is_going]
    listed = words.first(held or [one.about for one in taken], _TOLD, "; ")
    if held:
        reason = "NameTaken"
        message = f"{listed}; an object of another owner is not overwritten: rename or delete one of the two objects"
    else:
        reason = "NameNotYetFree"
        message = f"{listed}; the next object of the name is created when it is gone"
    return replace(
        outcome,
        children={key: child for key, child in outcome.children.items() if key not in gone},
        conditions=(*outcome.conditions, Condition(CONDITION, Truth.FALSE, reason, message)),
        ready=Ready.FALSE,
        ttl_seconds=min(outcome.ttl_seconds, _WAITING_SECONDS),
    )


def _taken(observed: Observed, new: Mapping[str, Child]) -> Iterator[_Taken]:
    for key, child in sorted(new.items()):
        for found in observed.required[_KEY + key]:
            about = f"{child.resource['kind']} {_full_name(found)}"
            if not is_ours(observed.composite, found):
                yield _Taken(key, f"{about} exists and {_whose(found)}", is_going=False)
            elif found["metadata"].get("deletionTimestamp"):
                yield _Taken(key, f"{about} is being deleted", is_going=True)


def _requirement(child: Child) -> Requirement:
    resource = child.resource
    namespace = resource["metadata"].get("namespace")
    return Requirement(str(resource["apiVersion"]), str(resource["kind"]), name=_name(child), namespace=namespace)


def _name(child: Child) -> str:
    return str((child.resource.get("metadata") or {}).get("name") or "")


def is_ours(composite: Resource, found: Resource) -> bool:
    """Return whether the composite controls an object, or created it before a restore removed its owners."""
    own, metadata = composite["metadata"], found["metadata"]
    owner = _controller(found)
    if owner is None:
        return bool(seen.at(metadata, "labels", LABEL_COMPOSITE) == own["name"])
    if own.get("uid"):
        return bool(owner.get("uid") == own["uid"])
    return (owner.get("kind"), owner.get("name")) == (composite.get("kind"), own["name"])


def _controller(resource: Resource) -> Mapping[str, Json] | None:
    owners = seen.objects(resource["metadata"].get("ownerReferences"))
    return next((owner for owner in owners if owner.get("controller") is True), None)


def _whose(found: Resource) -> str:
    owner = _controller(found)
    if owner is None:
        return "has no controller"
    return f"belongs to {owner.get('kind')} {owner.get('name')}"


def _full_name(resource: Resource) -> str:
    metadata = resource["metadata"]
    return "/".join(filter(None, (metadata.get("namespace"), metadata["name"])))


def _was_told(observed: Observed) -> bool:
    return seen.verdict(seen.condition(observed.status, CONDITION)) is False
