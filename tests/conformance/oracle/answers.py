"""Our own answers to the questions of the oracle, in its shape."""

from __future__ import annotations

import functools
import json
import math
from typing import Any

from modelplane import units
from modelplane.devices import selector
from modelplane.devices.model import Device
from modelplane.errors import InvalidQuantity, InvalidSelector
from modelplane.units import Quantity
from tests.support.selectors import device_from_slice

_RESULTS = {selector.Outcome.MATCH: "true", selector.Outcome.NO_MATCH: "false", selector.Outcome.ABORT: "error"}


def answer(asked: dict[str, Any], minor: int = 36) -> dict[str, Any]:
    """Return our answer to one question, for Kubernetes 1.`minor` with consumable capacity on."""
    if asked["kind"] == "quantity":
        return _quantities(asked["left"], asked["right"])
    if asked["kind"] == "version":
        return _versions(asked["left"], asked["right"])
    return _selector(asked, selector.Profile(minor, list_attributes=asked.get("listAttributes", False)))


@functools.cache
def _device(driver: str, text: str) -> Device:
    return device_from_slice(driver, json.loads(text))


def _selector(asked: dict[str, Any], profile: selector.Profile) -> dict[str, Any]:
    try:
        compiled = selector.compile(asked["expression"], profile, admit=False)
    except InvalidSelector as error:
        return {"result": "compile_error", "apiServerAccepts": False, "error": error.message}
    device = _device(asked["driver"], json.dumps(asked["device"], sort_keys=True))
    verdict, cost = compiled.measure(device)
    plain = compiled.evaluate(device)
    assert plain.outcome == verdict.outcome, f"counted {verdict}, uncounted {plain}: {asked['expression']}"
    reply: dict[str, Any] = {
        "result": _RESULTS[verdict.outcome],
        "apiServerAccepts": compiled.api_server_accepts,
        "estimatedCost": compiled.estimated_cost,
        "actualCost": cost,
    }
    return {**reply, "error": verdict.cause} if verdict.aborts else reply


def _quantities(left: str, right: str) -> dict[str, Any]:
    try:
        first = units.quantity(left)
    except InvalidQuantity as error:
        return {"error": error.message}
    reply = _described("left", first)
    try:
        second = units.quantity(right)
    except InvalidQuantity as error:
        return {**reply, "rightError": error.message}
    return {
        **reply,
        "order": first.compare(second),
        **_described("compared", _compared(first, second)),
        **_described("sum", first.add(second)),
        **_described("difference", first.sub(second)),
    }


def _compared(first: Quantity, second: Quantity) -> Quantity:
    """Return the first as Kubernetes' comparison leaves it: one big operand makes the other big too."""
    return first.promoted() if first.big or second.big else first


def _described(name: str, quantity: Quantity) -> dict[str, Any]:
    reply: dict[str, Any] = {
        f"{name}IsInteger": quantity.is_integer,
        f"{name}Sign": quantity.sign,
        f"{name}Float": _float(quantity.as_approximate_float()),
        f"{name}Text": quantity.canonical(),
    }
    return {**reply, f"{name}Integer": str(quantity.as_integer())} if quantity.is_integer else reply


def _float(value: float) -> str:
    """Return a double as Go's `%x` writes it."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    if value == 0:
        return "0x0p+00"
    mantissa, _, exponent = value.hex().partition("p")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{mantissa}p{exponent[0]}{exponent[1:]:0>2}"


def _versions(left: str, right: str) -> dict[str, Any]:
    try:
        first = units.version(left)
    except InvalidQuantity as error:
        return {"error": error.message}
    try:
        second = units.version(right)
    except InvalidQuantity as error:
        return {"text": str(first), "rightError": error.message}
    return {"text": str(first), "order": first.compare(second)}
