"""Whether a device is one that a request means: selectors of its class, its own, then the node of the device.

Selectors run in order up to the first that is false, on a device only when the search reaches it. An error in one is
no answer but the end of the allocation.
"""

from __future__ import annotations

from functools import lru_cache

from modelplane.devices import selector
from modelplane.devices.model import Device
from modelplane.devices.selector import Outcome
from modelplane.devices.selector_language import Profile as Language
from modelplane.errors import InvalidSelector
from tests.support.allocator.verdicts import Aborted, AbortKind


@lru_cache(maxsize=65536)
def _answer(selectors: tuple[str, ...], device: Device, language: Language) -> tuple[Outcome, AbortKind, int, str]:
    """Return what the selectors say, and of an abort its kind, the place of the selector and the cause."""
    for position, expression in enumerate(selectors):
        try:
            compiled = selector.compile(expression, language, admit=False)
        except InvalidSelector as error:
            return Outcome.ABORT, AbortKind.SELECTOR_SYNTAX, position, error.message
        verdict = compiled.evaluate(device)
        if verdict.aborts:
            return Outcome.ABORT, AbortKind.SELECTOR_ERROR, position, verdict.cause
        if not verdict.matches:
            return Outcome.NO_MATCH, AbortKind.SELECTOR_ERROR, position, ""
    return Outcome.MATCH, AbortKind.SELECTOR_ERROR, 0, ""


def selected(owner: str, selectors: tuple[str, ...], device: Device, language: Language) -> bool:
    """Return whether the selectors of `owner` (a class or a claim, for the message) all hold of the device.

    Cost: once per distinct (selectors, device) and process. Raises: Aborted.
    """
    outcome, kind, position, cause = _answer(selectors, device, language)
    if outcome is Outcome.ABORT:
        raise Aborted(kind, f"{owner}: selector {position} on a device of {device.driver}: {cause}")
    return outcome is Outcome.MATCH
