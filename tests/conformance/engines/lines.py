"""Command lines made at random from the flags of a parser, in every spelling that it might take."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

Json = Any


def some(flags: Sequence[Json], seed: int, count: int) -> list[list[str]]:
    """Return command lines, some of which their engine refuses."""
    chance = random.Random(seed)  # noqa: S311 - the same lines every time
    plain = [flag for flag in flags if flag["names"][0] != "--help" and "-h" not in flag["names"] and _value(flag)]
    return [_line(chance, plain) for _ in range(count)]


def _line(chance: random.Random, flags: Sequence[Json]) -> list[str]:
    line = ["a/model"] if chance.random() < 0.3 else []
    for flag in chance.sample(list(flags), chance.randint(1, 4)):
        line.extend(_flag(chance, flag))
        if chance.random() < 0.1:
            line.extend(_flag(chance, flag))
    return line


def _value(flag: Json) -> str:
    """Return a value that the flag takes, empty where only its engine can make one."""
    if flag["nargs"] == 0:
        return "-"
    if flag["choices"]:
        return str(flag["choices"][0])
    by_type = {"int": "3", "float": "0.5", "str": "text", "None": "text", "loads": '{"a": 1}'}
    return by_type.get(flag["type"], "")


def _flag(chance: random.Random, flag: Json) -> list[str]:
    name = _spelt(chance, chance.choice([*flag["names"], *flag["denials"]]))
    if flag["nargs"] == 0:
        return [f"{name}=true"] if chance.random() < 0.05 else [name]
    value = _value(flag)
    form = chance.random()
    if form < 0.35:
        return [f"{name}={value}"]
    if form < 0.4:
        return [name]
    several = [value] * chance.randint(1, 3) if flag["nargs"] in ("+", "*") else [value]
    return [name, *several]


def _spelt(chance: random.Random, name: str) -> str:
    form = chance.random()
    if form < 0.15 and name.startswith("--"):
        return "--" + name[2:].replace("-", "_")
    if form < 0.3 and name.startswith("--"):
        return name[: chance.randint(4, len(name))]
    return name
