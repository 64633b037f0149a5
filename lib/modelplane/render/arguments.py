"""Reading flags in an argument list the way the engines' own parsers do.

Nothing here knows an engine. A flag may be written `--flag value` or `--flag=value`, long names with "_" or "-", and
the last one wins. A value that is filled in by the kubelet (`$(NAME)`) is not known here and is never judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

_SHELLS = frozenset({"sh", "bash", "ash", "dash", "ksh", "zsh"})


class Takes(StrEnum):
    """What stands behind a flag."""

    ONE = "one value"
    MANY = "one or more values"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Option:
    """One flag under all its names; the first is the one we write."""

    names: tuple[str, ...]
    takes: Takes = Takes.ONE

    @property
    def name(self) -> str:
        """Return the name we write."""
        return self.names[0]


@dataclass(frozen=True, slots=True)
class Given:
    """A flag found in an argument list: where, how it was spelt, and its values (none for a switch)."""

    index: int
    spelt: str
    values: tuple[str, ...] = ()
    negated: bool = False

    @property
    def is_readable(self) -> bool:
        """Return whether every value stands there, rather than a reference to a variable."""
        return not any("$(" in value for value in self.values)


def find(args: Sequence[str], option: Option) -> Given | None:
    """Return the last occurrence of the option, None when it was left out."""
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
    """Return whether the option's value is built from dotted flags (`--flag.key value`), which are not read here."""
    return any(canonical(word).startswith(f"{option.name}.") for word in args)


def canonical(name: str) -> str:
    """Return a flag's name with "-" for "_" in long names, as argument parsers of the engines understand it."""
    return name.replace("_", "-") if name.startswith("--") else name


def is_shell(command: Sequence[str]) -> bool:
    """Return whether the command hands its text to a shell, so that it cannot be read without one."""
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
