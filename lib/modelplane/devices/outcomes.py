"""Outcomes for a device and for a node that may serve a pod. They are the vocabulary of `matching` and its search."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from kubecel import caches, interruption
from modelplane import units
from modelplane.devices import selector, sharing
from modelplane.devices.amounts import nano
from modelplane.devices.hints import advice
from modelplane.devices.model import Device, DeviceTaint, DeviceTaintEffect, Mode, Request
from modelplane.devices.selector import Outcome


@dataclass(frozen=True, slots=True)
class Selected:
    """The outcome of all selectors, and the one that decided it with its error when it is an ABORT."""

    outcome: Outcome
    expression: str = ""
    cause: str = ""


@dataclass(frozen=True, slots=True)
class Pick:
    """One request bound to `count` devices of one kind. A request that several kinds serve has several picks.

    `alternative` names the alternative that serves the request, empty where it has none.
    """

    request: str
    device: str
    count: int
    alternative: str = ""


@dataclass(frozen=True, slots=True)
class Option:
    """One way to serve a pod.

    Picks per request in order, and the devices they count, sorted by name (Synthetic left out). `rank` is the sum of
    the places of the alternatives that serve the requests, 0 where each is served by its first.
    """

    picks: tuple[Pick, ...]
    counted: tuple[tuple[str, int], ...]
    rank: int = 0
    consumed: tuple[tuple[str, int], ...] = ()
    """The capacity of shared devices, in nano by `device/capacity`, sorted."""

    @property
    def takes(self) -> tuple[tuple[tuple[str, int], ...], tuple[tuple[str, int], ...]]:
        """Return the devices and the capacity that a ledger counts."""
        return self.counted, self.consumed


class MissKind(StrEnum):
    """The cause why a node of a class cannot serve a pod even when it is empty."""

    SELECTOR_ERROR = "selector error"
    NO_MATCH = "no match"
    KEPT_AWAY = "kept away"
    """Devices match the selectors, but a taint or a capacity request excludes them."""
    TOO_FEW = "too few"
    UNDECIDED = "undecided"
    UNCLAIMABLE = "unclaimable"
    """Devices match, but the backend cannot claim them in the way that their class declares."""


@dataclass(frozen=True, slots=True)
class Miss:
    """The reason why no option exists. `request` is empty if several requests fail only together."""

    kind: MissKind
    request: str
    detail: str


@dataclass(frozen=True, slots=True)
class Match:
    """The options in the allocator's order, or the reason why there is none."""

    options: tuple[Option, ...]
    miss: Miss | None = None
    steps: int = field(default=0, compare=False)
    """The steps that the search took."""


@caches.kept(65_536)
def answer(selectors: tuple[str, ...], device: Device) -> Selected:
    """Return the answer of the selectors about one device. Cost: once per distinct (selectors, device) and process.

    Raises: InvalidSelector (the author's fault).
    """
    for expression in selectors:
        interruption.checkpoint()
        verdict = selector.written(expression).evaluate(device)
        if verdict.aborts:
            return Selected(Outcome.ABORT, expression, verdict.cause)
        if not verdict.matches:
            return Selected(Outcome.NO_MATCH, expression)
    return Selected(Outcome.MATCH)


def of(request: Request, kind: Device) -> Outcome:
    """Return whether one device serves the request: by its selectors, its capacity and its taints."""
    if kind.unpublished:
        return Outcome.NO_MATCH
    found = answer(request.selectors, kind).outcome
    if found is Outcome.MATCH and kind.is_shared and request.mode is Mode.ALL:
        return Outcome.NO_MATCH
    if found is Outcome.MATCH and (kind.taints or request.capacity or kind.is_shared):
        return Outcome.MATCH if has_capacity(request, kind) and taint(request, kind) is None else Outcome.NO_MATCH
    return found


def is_meant(request: Request, kind: Device) -> bool:
    """Return whether the request is about the device, whatever its taints. Mode ALL takes every such device."""
    if kind.unpublished:
        return False
    return answer(request.selectors, kind).outcome is Outcome.MATCH and has_capacity(request, kind)


def taint(request: Request, kind: Device) -> DeviceTaint | None:
    """Return the first taint that keeps the request from the device, None where none does.

    A taint of effect None, and one of an effect nobody knows, keeps nobody away.
    """
    for one in kind.taints:
        if one.effect is not DeviceTaintEffect.NONE and not any(held.covers(one) for held in request.tolerations):
            return one
    return None


def has_capacity(request: Request, kind: Device) -> bool:
    """Return whether each device has the requested capacity, and gives such a part if pods share it."""
    return _short(request, kind) is None and (not kind.is_shared or sharing.share(request, kind) is not None)


def _short(request: Request, kind: Device) -> tuple[str, str, str] | None:
    """Return the first capacity that is not there, what is asked of it and what there is (empty: nothing)."""
    published = dict(kind.capacity)
    for name, asked in request.capacity:
        has = published.get(name)
        if has is None or nano(units.quantity(has)) < nano(units.quantity(asked)):
            return name, asked, has or ""
    return None


def kept_away(request: Request, kind: Device) -> str:
    """Return the obstacle between the request and a device that its selectors match, empty if there is none."""
    if kind.unpublished:
        return f"{kind.name} {kind.unpublished}"
    short = _short(request, kind)
    if kind.is_shared and request.mode is Mode.ALL:
        return f"pods share {kind.name}, and all of a device that is shared is not offered"
    if short is not None:
        name, asked, has = short
        found = f"publishes {has}" if has else "publishes no capacity of that very name"
        return f"{kind.name} {found}, and capacity {name} of {asked} is asked"
    if kind.is_shared and sharing.share(request, kind) is None:
        asked = ", ".join(f"{name} {amount}" for name, amount in request.capacity) or "the default"
        return f"the policies of {kind.name} give no pod a share of {asked}"
    found_taint = taint(request, kind)
    return (
        "" if found_taint is None else f"{kind.name} has the taint {found_taint}, which the request does not tolerate"
    )


def failure(request: Request, kind: Device) -> Miss:
    """Return that a selector fails on a device."""
    found = answer(request.selectors, kind)
    detail = f'selector of request "{request.name}" fails on {kind.name}: {found.cause}, in {found.expression}'
    meant = advice.of_names((found.expression,), kind)
    if meant:
        detail = f"{detail}; {meant}"
    return Miss(MissKind.SELECTOR_ERROR, request.name, detail)
