"""Flags of an argument list, parsed as the engines parse them.

The module knows no engine. A flag is `--flag value` or `--flag=value`, long names have "_" or "-", and the last one
wins. A value with a variable that the kubelet expands (`$(NAME)`) is unknown and never checked.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

Json: TypeAlias = Any

JSON_DEPTH_MAX = 64
"""Collections in one another that a value of a flag may have. No engine's configuration has ten."""

_SHELLS = frozenset({"sh", "bash", "ash", "dash", "ksh", "zsh"})


class Takes(StrEnum):
    """The values that a flag takes."""

    ONE = "one value"
    MANY = "one or more values"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Option:
    """A flag with all its names. Modelplane writes the first."""

    names: tuple[str, ...]
    takes: Takes = Takes.ONE

    @property
    def name(self) -> str:
        """Return the name that Modelplane writes."""
        return self.names[0]


@dataclass(frozen=True, slots=True)
class Given:
    """A flag found in an argument list, with its index, its spelling, and its values (none for a switch)."""

    index: int
    spelt: str
    values: tuple[str, ...] = ()
    negated: bool = False

    @property
    def is_readable(self) -> bool:
        """Return whether every value is literal, without a reference to a variable."""
        return not any("$(" in value for value in self.values)


def find(args: Sequence[str], option: Option) -> Given | None:
    """Return the last occurrence of the option, None if there is none."""
    known = {canonical(name) for name in option.names}
    for index in range(len(args) - 1, -1, -1):
        spelt, equals, value = args[index].partition("=")
        if not spelt.startswith("-"):
            continue
        if canonical(spelt) in known:
            return Given(index, args[index], _values(args, index, option.takes, value if equals else None))
        if option.takes is Takes.NOTHING and _negation_of(spelt) in known:
            return Given(index, args[index], negated=True)
    return None


def is_given_in_parts(args: Sequence[str], option: Option) -> bool:
    """Return whether the option is given as dotted flags (`--flag.key value`), which are not parsed here."""
    return any(canonical(word).startswith(f"{option.name}.") for word in args)


def canonical(name: str) -> str:
    """Return the name of a flag with "-" for "_" in long names, as the parsers of the engines read it."""
    return name.replace("_", "-") if name.startswith("--") else name


def is_shell(command: Sequence[str]) -> bool:
    """Return whether the command is a shell, so that its arguments cannot be parsed."""
    return bool(command) and command[0].rsplit("/", 1)[-1] in _SHELLS


def _negation_of(spelt: str) -> str:
    name = canonical(spelt)
    return f"--{name[5:]}" if name.startswith("--no-") else ""


def _values(args: Sequence[str], index: int, takes: Takes, behind_equals: str | None) -> tuple[str, ...]:
    if takes is Takes.NOTHING:
        return ()
    if behind_equals is not None:
        return (behind_equals,)
    if takes is Takes.ONE:
        return tuple(args[index + 1 : index + 2])
    values: list[str] = []
    for value in args[index + 1 :]:
        if value.startswith("-"):
            break
        values.append(value)
    return tuple(values)


def json_value(text: str, constant: Callable[[str], Json] | None = None) -> Json:
    """Return the JSON value of a text; `constant` answers for NaN and the infinities, as in the standard library.

    Raises: ValueError for a text that is no JSON, or is nested deeper than `JSON_DEPTH_MAX`.
    """
    try:
        found = json.loads(text, parse_constant=constant)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not _is_within(found, JSON_DEPTH_MAX):
        raise ValueError("nested too deeply")
    return found


def _is_within(value: Json, depth: int) -> bool:
    if not isinstance(value, (dict, list)):
        return True
    members = value.values() if isinstance(value, dict) else value
    return depth > 0 and all(_is_within(member, depth - 1) for member in members)
