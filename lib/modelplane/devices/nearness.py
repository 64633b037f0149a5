"""Nearness of a device to a match with a selector.

The gap is found by trial: the literals of the selector are set as values of the device, and the matcher evaluates the
result. A device that matches with its memory set to `quantity("140Gi")` misses by exactly that. No reported gap is
guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

from kubecel import caches
from modelplane import units
from modelplane.devices import matching
from modelplane.devices.model import Attribute, AttributeKind, Device
from modelplane.devices.selector import Outcome
from modelplane.errors import InvalidQuantity, ModelplaneError
from modelplane.units import Quantity

TRIALS_MAX = 600
"""Limit of the trials for one answer. A miss by more than two values is reported without numbers."""

_LITERAL = re.compile(
    r"""(?P<call>quantity|semver)?\(?\s*(?P<quote>["'])(?P<text>[^"'\\]*)(?P=quote)|(?<![\w.])(?P<number>-?\d+)(?![\w.])"""
)


@dataclass(frozen=True, slots=True)
class Gap:
    """A value of the device that the selector does not accept.

    `wants` is a literal with the comparison that holds for it. `ratio` is the quotient of the two numbers, 1 or more;
    for other kinds it is 1.
    """

    name: str
    has: str
    wants: str
    ratio: float = 1.0


@dataclass(frozen=True, slots=True)
class Near:
    """The gaps between a device and a match, the device that would match, and the selectors that would match it.

    `selectors` is None if no change of the literals makes them accept the device as it is.
    """

    gaps: tuple[Gap, ...]
    device: Device
    selectors: tuple[str, ...] | None

    @property
    def distance(self) -> tuple[int, float]:
        """Return the sort key of misses: the number of values, then the sum of their ratios."""
        return (len(self.gaps), sum(gap.ratio for gap in self.gaps))


@dataclass(frozen=True, slots=True)
class _Literal:
    selector: int
    start: int
    end: int
    text: str
    kind: str


@dataclass(frozen=True, slots=True)
class _Trial:
    """A value of the device, set to a literal."""

    name: str
    has: str
    value: str | int | bool
    literal: _Literal | None = None
    is_capacity: bool = False


@caches.kept(8192)
def nearest(selectors: tuple[str, ...], device: Device) -> Near | None:
    """Return the smallest set of at most two values that separates the device from a match, None if none is found.

    Raises: InvalidSelector (the author's fault).
    """
    if _matches(selectors, device):
        return None
    literals = tuple(_literals(selectors))
    trials = tuple(_trials(literals, device))
    budget = TRIALS_MAX
    for size in (1, 2):
        found: list[Near] = []
        for chosen in combinations(trials, size):
            budget -= 1
            if budget < 0:
                break
            if len({trial.name for trial in chosen}) < size:
                continue
            changed = _with(device, chosen)
            if _matches(selectors, changed):
                found.append(_near(selectors, device, chosen, changed))
        if found:
            return min(found, key=lambda near: (near.selectors is None, near.distance, near.gaps[0].name))
    return None


def misses(selectors: tuple[str, ...], device: Device) -> bool:
    """Return whether the selectors do not select the device."""
    return not _matches(selectors, device)


def _matches(selectors: tuple[str, ...], device: Device) -> bool:
    return matching.answer(selectors, device).outcome is Outcome.MATCH


def _literals(selectors: tuple[str, ...]) -> Iterator[_Literal]:
    for index, selector in enumerate(selectors):
        for found in _LITERAL.finditer(selector):
            if found["number"] is not None:
                yield _Literal(index, found.start("number"), found.end("number"), found["number"], "number")
            else:
                yield _Literal(index, found.start("text"), found.end("text"), found["text"], found["call"] or "string")


def _trials(literals: tuple[_Literal, ...], device: Device) -> Iterator[_Trial]:
    for name, has in device.capacity:
        for literal in literals:
            if literal.kind in ("quantity", "number") and _quantity(literal.text) is not None:
                yield _Trial(name, has, literal.text, literal, is_capacity=True)
                yield _Trial(name, has, _next(literal.text), is_capacity=True)
    for name, attribute in device.attributes:
        yield from _attribute_trials(name, attribute, literals)


def _attribute_trials(name: str, attribute: Attribute, literals: tuple[_Literal, ...]) -> Iterator[_Trial]:
    """Yield the values that a literal names for the attribute; a list is not changed on trial."""
    if attribute.kind.is_list:
        return
    has = str(attribute.value).lower() if attribute.kind is AttributeKind.BOOL else str(attribute.value)
    if attribute.kind is AttributeKind.BOOL:
        yield _Trial(name, has, not attribute.value)
        return
    kinds = {
        AttributeKind.STRING: ("string",),
        AttributeKind.VERSION: ("semver", "string"),
        AttributeKind.INT: ("number",),
    }[attribute.kind]
    for literal in literals:
        if literal.kind in kinds:
            value = int(literal.text) if attribute.kind is AttributeKind.INT else literal.text
            yield _Trial(name, has, value, literal)


def _with(device: Device, trials: tuple[_Trial, ...]) -> Device:
    capacity, attributes = dict(device.capacity), dict(device.attributes)
    for trial in trials:
        if trial.is_capacity:
            capacity[trial.name] = str(trial.value)
        else:
            attributes[trial.name] = Attribute(attributes[trial.name].kind, trial.value)
    return replace(device, capacity=tuple(sorted(capacity.items())), attributes=tuple(sorted(attributes.items())))


def _near(selectors: tuple[str, ...], device: Device, chosen: tuple[_Trial, ...], changed: Device) -> Near:
    gaps = tuple(_gap(selectors, trial, changed) for trial in chosen)
    return Near(gaps, changed, _edited(selectors, device, chosen))


def _edited(selectors: tuple[str, ...], device: Device, chosen: tuple[_Trial, ...]) -> tuple[str, ...] | None:
    """Return the selectors with the device's own values for the literals, if they then match it."""
    edits = sorted(
        ((trial.literal, trial.has) for trial in chosen if trial.literal is not None),
        key=lambda edit: (edit[0].selector, -edit[0].start),
    )
    if len(edits) < len(chosen):
        return None
    texts = list(selectors)
    for literal, has in edits:
        text = texts[literal.selector]
        texts[literal.selector] = f"{text[: literal.start]}{has}{text[literal.end :]}"
    try:
        return tuple(texts) if _matches(tuple(texts), device) else None
    except ModelplaneError:
        return None


def _gap(selectors: tuple[str, ...], trial: _Trial, changed: Device) -> Gap:
    """Return the gap with the comparison found by moving the value up and down from where it matches."""
    text = str(trial.value).lower() if isinstance(trial.value, bool) else str(trial.value)
    if not (trial.is_capacity or isinstance(trial.value, int)) or isinstance(trial.value, bool):
        return Gap(trial.name, trial.has, text)
    value, has = _quantity(text), _quantity(trial.has)
    if value is None or has is None:
        return Gap(trial.name, trial.has, text)
    whole = value.ceil()
    more = _matches(selectors, _with(changed, (_moved(trial, 2 * abs(whole) + 1),)))
    less = _matches(selectors, _with(changed, (_moved(trial, -2 * abs(whole) - 1),)))
    sign = ">= " if more and not less else "<= " if less and not more else ""
    low, high = sorted((abs(whole), abs(has.ceil())))
    return Gap(trial.name, trial.has, f"{sign}{text}", high / max(1, low))


def _moved(trial: _Trial, value: int) -> _Trial:
    return replace(trial, value=str(value) if trial.is_capacity else value)


def _quantity(text: str) -> Quantity | None:
    try:
        return units.quantity(text)
    except InvalidQuantity:
        return None


def _next(text: str) -> str:
    """Return the amount that is larger by one, for selectors that ask for more than a literal."""
    return units.quantity(text).add(Quantity.of(1)).canonical()
