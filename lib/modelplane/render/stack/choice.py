"""Choice of the mode of each component: what its author says, else what is found on the cluster.

A component that is found there and was not installed here is External and never written. A choice that was published
stays, so that a cluster which cannot be read for a moment changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from modelplane.render import routing
from modelplane.render.stack import front_door, judge, profile, releases
from modelplane.render.stack.part import Sign, Unit
from modelplane.workload.stack import Component, Mode, Stack

Json: TypeAlias = Any
Resource: TypeAlias = Mapping[str, Json]
Children: TypeAlias = Mapping[str, Resource]

_LOOKING = "waiting until the cluster has answered whether it is there already"


@dataclass(frozen=True, slots=True)
class Chosen:
    """A component with its mode, None while that is not decided; `conflict` says why it is not, empty without one.

    One that is not `asked` for was installed before, and stays as it is. `looks` are what the cluster is asked for.
    """

    unit: Unit
    component: Component
    mode: Mode | None
    looks: tuple[Sign, ...] = ()
    conflict: str = ""
    waiting: str = ""
    is_asked: bool = True


def choose(stack: Stack, children: Children) -> tuple[Chosen, ...]:
    """Return the components that are asked for, and those that are installed although nobody asks for them any more."""
    asked = {unit.name: (unit, component) for component in stack.components for unit in _units(component)}
    chosen = [_choose(stack, children, unit, component) for unit, component in asked.values()]
    standing = [unit for name, unit in profile.UNITS.items() if name not in asked and is_installed(unit, children)]
    return (*chosen, *(Chosen(unit, Component(unit.component), Mode.MANAGED, is_asked=False) for unit in standing))


def key_of(look: Sign) -> str:
    """Return the composition key of a look."""
    return f"{releases.LOOK}{look.name.lower()}"


def is_installed(unit: Unit, children: Children) -> bool:
    """Return whether anything of the component was composed."""
    if any(f"{releases.RELEASE}{part.key}" in children for part in unit.parts):
        return True
    return unit.has_gateway and any(key in children for key in front_door.KEYS)


def looks_of(stack: Stack, unit: Unit) -> tuple[Sign, ...]:
    """Return the signs that somebody else's component is there: of the gateway, the Gateway itself."""
    if not unit.has_gateway:
        return unit.looks
    return (Sign(routing.GATEWAY_API_VERSION, "Gateway", stack.gateway_name, stack.gateway_namespace),)


def _units(component: Component) -> Iterator[Unit]:
    """Yield the units of a component: one for each variant, if it has any."""
    for variant in component.variants or ("",):
        yield profile.unit(component.name, variant)


def _choose(stack: Stack, children: Children, unit: Unit, component: Component) -> Chosen:
    before = stack.modes.get(unit.name)
    mode = component.mode or (Mode.MANAGED if is_installed(unit, children) else before)
    if not unit.parts and mode is not Mode.DISABLED:
        mode = Mode.EXTERNAL
    if mode is Mode.EXTERNAL:
        return Chosen(unit, component, mode, looks_of(stack, unit))
    if mode is not None:
        return Chosen(unit, component, mode)
    return _found(stack, children, Chosen(unit, component, None, unit.looks))


def _found(stack: Stack, children: Children, open_: Chosen) -> Chosen:
    """Return the choice by what is found. Nothing is decided before every look has its answer."""
    unit = open_.unit
    answers = [judge.found(children.get(key_of(look))) for look in unit.looks]
    if True in answers:
        return replace(open_, mode=Mode.EXTERNAL, looks=looks_of(stack, unit))
    blockers = [(look, why, judge.found(children.get(key_of(look)))) for look, why in unit.blockers]
    open_ = replace(open_, looks=(*unit.looks, *(look for look, _, _ in blockers)))
    if None in answers or any(answer is None for _, _, answer in blockers):
        unread = (judge.unread(children.get(key_of(look))) for look in open_.looks)
        return replace(open_, waiting=next(filter(None, unread), _LOOKING))
    why = next((why for _, why, answer in blockers if answer), "")
    if not why:
        return replace(open_, mode=Mode.MANAGED, looks=())
    return _blocked(stack, children, open_, why)


def _blocked(stack: Stack, children: Children, open_: Chosen, why: str) -> Chosen:
    """Return the choice where something stands in the way: the gateway of another controller may be there."""
    own = looks_of(stack, open_.unit)
    answers = [judge.found(children.get(key_of(look))) for look in own]
    if True in answers:
        return replace(open_, mode=Mode.EXTERNAL, looks=own)
    return replace(open_, looks=(*open_.looks, *own), conflict=why)
