"""Reports of a serving stack: the state of each component, and of all of them together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from modelplane import words
from modelplane.render.stack import choice, judge, plan, profile, releases, turn
from modelplane.render.stack.choice import Chosen
from modelplane.render.stack.part import Part
from modelplane.render.stack.plan import Situation
from modelplane.workload.stack import Mode, Phase, Report

WAITING, CONFLICT, FAILED, MISSING, INSTALLING, READY = (
    "WaitingForCluster",
    "Conflict",
    "InstallFailed",
    "ComponentMissing",
    "Installing",
    "Ready",
)
ABANDONED = "Abandoned"
_TOLD = 3


@dataclass(frozen=True, slots=True)
class Verdict:
    """The state of a stack. `is_ready` is None while the cluster was not read."""

    is_ready: bool | None
    reason: str
    message: str


def reports(here: Situation, upgrading: str) -> tuple[Report, ...]:
    """Return the report of each component, by name."""
    return tuple(sorted((_report(here, one, upgrading) for one in here.chosen), key=lambda one: one.name))


def verdict(here: Situation, told: Sequence[Report]) -> Verdict:
    """Return the state of the stack. What no model waits for is told and changes nothing."""
    if here.stack.is_abandoned:
        return Verdict(
            is_ready=False,
            reason=ABANDONED,
            message="nothing is written to the cluster any more, and what is there stays there",
        )
    if not here.is_reached:
        why = judge.unread(here.children.get(releases.REACH)) or "it was not read yet"
        return Verdict(None, WAITING, f"nothing is installed before cluster {here.stack.cluster} is read: {why}")
    needed = [one for one in told if one.required]
    for reason in (CONFLICT, FAILED, MISSING, INSTALLING, WAITING):
        about = [one for one in needed if one.reason == reason]
        if about:
            message = words.first([f"{one.name}: {one.message}" for one in about], _TOLD, "; ")
            return Verdict(is_ready=False, reason=reason, message=message)
    rest = [f"{one.name}: {one.message}" for one in told if not one.required and one.reason and one.reason != READY]
    counted = len([one for one in needed if one.phase is not Phase.DISABLED])
    message = f"{counted} {'component is' if counted == 1 else 'components are'} ready"
    return Verdict(is_ready=True, reason=READY, message="; ".join([message, *rest[:_TOLD]]))


def _report(here: Situation, one: Chosen, upgrading: str) -> Report:
    required = one.unit.required
    if one.mode is Mode.DISABLED:
        standing = [part for part in one.unit.parts if here.release(part.key) is not None]
        return Report(one.unit.name, one.mode, Phase.DISABLED, message=_going(here, standing), required=required)
    if one.mode is Mode.EXTERNAL:
        return _external(here, one)
    if one.mode is None:
        reason, message = (CONFLICT, one.conflict) if one.conflict else (WAITING, one.waiting)
        return Report(one.unit.name, None, Phase.PENDING, reason=reason, message=message, required=required)
    phase, reason, message = _managed(here, one, upgrading)
    version = judge.version(here.release(one.unit.parts[0].key))
    return Report(one.unit.name, one.mode, phase, version, reason, message, required)


def _going(here: Situation, standing: Sequence[Part]) -> str:
    held = [(part.key, plan.needed_by(here, part)) for part in standing]
    told = [f"{key} is uninstalled after {', '.join(others)}" for key, others in held if others]
    return "; ".join(told) if told else ("it is being uninstalled" if standing else "")


def _external(here: Situation, one: Chosen) -> Report:
    name, mode = one.unit.name, Mode.EXTERNAL
    if here.is_found(one):
        message = "it is on the cluster already, and it is left to whoever installed it"
        if not one.unit.parts:
            message = "Modelplane does not install it"
        return Report(name, mode, Phase.EXTERNAL, reason=READY, message=message, required=one.unit.required)
    looked = " or ".join(look.words for look in choice.looks_of(here.stack, one.unit))
    unread = (judge.unread(here.children.get(choice.key_of(look))) for look in choice.looks_of(here.stack, one.unit))
    why = next(filter(None, unread), "")
    message = f"it is External, and the cluster does not have {looked}" + (f" ({why})" if why else "")
    advice = f"install it, or set spec.stack.components.{one.unit.component} to Managed"
    return Report(
        name, mode, Phase.EXTERNAL, reason=MISSING, message=f"{message}; {advice}", required=one.unit.required
    )


def _managed(here: Situation, one: Chosen, upgrading: str) -> tuple[Phase, str, str]:
    judged = [(part, here.judged[part.key]) for part in one.unit.parts]
    for part, told in judged:
        if told.phase is Phase.FAILED:
            return Phase.FAILED, FAILED, f"{part.key}: {told.message}"
    for part, told in judged:
        if told.works:
            continue
        if told.phase is not Phase.PENDING:
            return Phase.INSTALLING, INSTALLING, f"{part.key}: {told.message}"
        before = here.waits_for(part)
        waiting = f"{part.key} waits for {', '.join(before)}" if before else f"{part.key} is installed next"
        is_begun = any(other.phase is not Phase.PENDING for _, other in judged)
        return (Phase.INSTALLING if is_begun else Phase.PENDING), INSTALLING, waiting
    if one.unit.has_gateway:
        phase, message = plan.front_door_phase(here)
        if phase is not Phase.READY:
            return phase, INSTALLING, message
    return Phase.READY, READY, _next(here, one, upgrading)


def _next(here: Situation, one: Chosen, upgrading: str) -> str:
    """Return a message about a change of a component that waits for its turn, empty if there is none."""
    if not one.is_asked:
        return "nobody needs it any more; it stays until its component is set to Disabled"
    waiting = [
        part.key
        for part in one.unit.parts
        if part.key != upgrading
        and turn.differs(here.release(part.key) or {}, releases.release(here.stack, part, plan.version_of(part, one)))
    ]
    if not waiting:
        return ""
    return f"another version waits for its turn, after {profile.parts()[upgrading].key}" if upgrading else ""
