"""Judgement of what is observed: whether a look has found something, and how far a Release is.

Source: provider-helm v1.4.0. Ready is True when Helm's state is `deployed` and chart and values are those of the spec.
A failed revision is undone and tried again until `status.failed` has reached the limit; then nothing more is done until
the spec changes. An Object that only reads keeps the last state while its cluster is not reached.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane import seen
from modelplane.render import objects
from modelplane.render.stack.part import Part, Sign
from modelplane.workload.stack import Phase

Json: TypeAlias = Any
Resource: TypeAlias = Mapping[str, Json]

_ABSENT = "external resource does not exist"
_MOST = 400


@dataclass(frozen=True, slots=True)
class Judgement:
    """The phase of a part, with a message about it."""

    phase: Phase
    message: str = ""

    @property
    def works(self) -> bool:
        """Return whether the part is seen to work."""
        return self.phase is Phase.READY


def found(child: Resource | None) -> bool | None:
    """Return whether the object of a look is on the cluster, None while that is not known."""
    if child is None:
        return None
    synced = objects.condition(child, "Synced")
    if seen.verdict(synced) is False and seen.text(synced.get("message")).endswith(_ABSENT):
        return False
    return True if objects.observed(child) is not None else None


def works(child: Resource | None, look: Sign) -> bool:
    """Return whether the object of a look is on the cluster and says that it works."""
    if child is None or found(child) is not True:
        return False
    if not look.condition:
        return True
    status = seen.at(objects.observed(child), "status")
    return seen.verdict(seen.condition(status, look.condition)) is True


def unread(child: Resource | None) -> str:
    """Return the error of an Object that could not be read or written, empty if it could."""
    synced = {} if child is None else objects.condition(child, "Synced")
    message = seen.text(synced.get("message"))
    return "" if seen.verdict(synced) is not False or message.endswith(_ABSENT) else _cut(message)


def part(made: Part, release: Resource | None, proof: Resource | None) -> Judgement:
    """Return the phase of a part, from its Release and the object that shows that it works."""
    if release is None:
        return Judgement(Phase.PENDING)
    told = _release(release)
    if not told.works or works(proof, made.proof):
        return told
    why = unread(proof) or f"{made.proof.words} is not {'ready' if made.proof.condition else 'there'} yet"
    return Judgement(Phase.INSTALLING, f"the chart is applied; {why}")


def version(release: Resource | None) -> str:
    """Return the version that is deployed, else the one that is to be; empty without a Release."""
    deployed = seen.text(seen.at(release, "status", "atProvider", "version"))
    return deployed or seen.text(seen.at(release, "spec", "forProvider", "chart", "version"))


def _release(child: Resource) -> Judgement:
    synced, ready = objects.condition(child, "Synced"), objects.condition(child, "Ready")
    state = seen.text(seen.at(child, "status", "atProvider", "state"))
    if _is_current(child, ready):
        if seen.verdict(ready) is True and seen.verdict(synced) is not False:
            return Judgement(Phase.READY)
        if seen.verdict(synced) is False:
            return Judgement(Phase.FAILED, _tried(child, seen.text(synced.get("message")) or "no message"))
        if state == "failed" or (state.startswith("pending-") and _is_spent(child)):
            said = seen.text(seen.at(child, "status", "atProvider", "releaseDescription")) or f"Helm's state is {state}"
            return Judgement(Phase.FAILED, _tried(child, said))
    return Judgement(Phase.INSTALLING, f"Helm's state is {state}" if state else "Helm has not begun")


def _is_current(child: Resource, ready: Resource) -> bool:
    """Return whether what is said is about the Release as it is now, as far as versions and generations tell."""
    generation = seen.count(seen.at(child, "metadata", "generation"))
    looked = seen.count(objects.condition(child, "Synced").get("observedGeneration"))
    if generation is not None and looked is not None and looked != generation:
        return False
    wanted = seen.text(seen.at(child, "spec", "forProvider", "chart", "version"))
    deployed = seen.text(seen.at(child, "status", "atProvider", "version"))
    is_other = bool(wanted and deployed) and wanted.removeprefix("v") != deployed.removeprefix("v")
    return not (is_other and seen.verdict(ready) is True)


def _tried(child: Resource, message: str) -> str:
    attempts, limit = _attempts(child)
    if not attempts:
        return _cut(message)
    if limit is not None and attempts >= limit:
        return (
            f"{_cut(message)} (failed {attempts} times; it is not tried again until something of it changes: correct "
            "the cause, then set another version in spec.stack.versions, or the component to Disabled and back)"
        )
    return f"{_cut(message)} (attempt {attempts} of {limit})" if limit else _cut(message)


def _is_spent(child: Resource) -> bool:
    attempts, limit = _attempts(child)
    return limit is not None and attempts >= limit


def _attempts(child: Resource) -> tuple[int, int | None]:
    return seen.count(seen.at(child, "status", "failed")) or 0, seen.count(seen.at(child, "spec", "rollbackLimit"))


def _cut(message: str) -> str:
    flat = " ".join(message.split())
    return flat if len(flat) <= _MOST else f"{flat[:_MOST]}..."
