"""Questions for the oracle, made up at random but the same for the same seed."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import Any

from tests.conformance.oracle.expressions import Expressions
from tests.conformance.oracle.vocabulary import DEVICE, DRIVER


def selectors(seed: int, count: int, *, list_attributes: bool = False) -> Iterator[dict[str, Any]]:
    """Yield questions about expressions, with or without the gate for attributes that are lists."""
    made = Expressions(seed)
    for index in range(count):
        yield _selector(f"{seed}-{index}", made.selector(), list_attributes=list_attributes)


def of_expressions(expressions: Iterable[str], *, list_attributes: bool = False) -> Iterator[dict[str, Any]]:
    """Yield one question per expression, about the same device as all others."""
    for index, expression in enumerate(expressions):
        yield _selector(f"x{index}", expression, list_attributes=list_attributes)


def _selector(identifier: str, expression: str, *, list_attributes: bool) -> dict[str, Any]:
    asked = {"id": identifier, "kind": "selector", "expression": expression, "driver": DRIVER, "device": DEVICE}
    return {**asked, "listAttributes": True} if list_attributes else asked


def quantities(seed: int, count: int) -> Iterator[dict[str, Any]]:
    """Yield questions about pairs of quantities."""
    chance = random.Random(seed)  # noqa: S311 - a test, not a secret
    for index in range(count):
        yield {"id": f"q{seed}-{index}", "kind": "quantity", "left": _quantity(chance), "right": _quantity(chance)}


def _quantity(chance: random.Random) -> str:
    digits = "".join(chance.choice("0123456789") for _ in range(chance.choice((0, 1, 1, 2, 3, 5, 12, 17, 18, 19, 25))))
    part = (
        "." + "".join(chance.choice("0123456789") for _ in range(chance.choice((0, 1, 2, 4, 9, 11))))
        if chance.random() < 0.35
        else ""
    )
    suffixes = (
        "",
        "",
        "n",
        "u",
        "m",
        "k",
        "M",
        "G",
        "T",
        "P",
        "E",
        "Ki",
        "Mi",
        "Gi",
        "Ti",
        "Pi",
        "Ei",
        "K",
        "ki",
        "e3",
        "E-3",
        "e+12",
        "e",
        "e40",
        "mi",
    )
    text = (
        chance.choice(("", "", "", "-", "+"))
        + chance.choice(("", "", "0", "00"))
        + digits
        + part
        + chance.choice(suffixes)
    )
    if chance.random() < 0.03:
        text += chance.choice((" ", "x", "1", "-", "."))
    return text


def versions(seed: int, count: int) -> Iterator[dict[str, Any]]:
    """Yield questions about pairs of versions."""
    chance = random.Random(seed)  # noqa: S311 - a test, not a secret
    for index in range(count):
        yield {"id": f"v{seed}-{index}", "kind": "version", "left": _version(chance), "right": _version(chance)}


def _version(chance: random.Random) -> str:
    numbers = ("0", "1", "2", "10", "13", "01", "18446744073709551615", "18446744073709551616", "", "x")
    often = (6, 6, 6, 4, 4, 1, 1, 1, 0.5, 0.5)
    text = ".".join(chance.choices(numbers, often, k=chance.choice((3, 3, 3, 3, 3, 2, 4))))
    words = ("rc", "alpha", "beta", "1", "2", "10", "01", "a-b", "", "é", "rc1")
    weights = (6, 6, 6, 6, 6, 4, 1, 2, 0.5, 0.5, 3)
    if chance.random() < 0.5:
        text += "-" + ".".join(chance.choices(words, weights, k=chance.choice((1, 2, 3))))
    if chance.random() < 0.3:
        text += "+" + ".".join(chance.choices(words, weights, k=chance.choice((1, 2))))
    return text
