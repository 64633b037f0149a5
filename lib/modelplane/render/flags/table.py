"""The table of an engine's flags: their names, the values they take, and the way the engine reads its arguments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum


class Takes(StrEnum):
    """The values that a flag takes."""

    NOTHING = "nothing"
    ONE = "one value"
    TWO = "two values"
    MAYBE = "a value or nothing"
    MANY = "one or more values"
    ANY = "any number of values"


class Form(StrEnum):
    """The flags of a table that are alike. A toggle can be denied, a repeated flag adds to what it says before."""

    SWITCH = "switch"
    TOGGLE = "toggle"
    ONE = "one"
    REPEATED = "repeated"
    TWO = "two"
    MAYBE = "maybe"
    MANY = "many"
    ANY = "any"


class Reading(StrEnum):
    """The way an engine reads its arguments.

    ARGPARSE is Python's: a name may be shortened as far as it stays clear. FLEXIBLE is vLLM's: the same, with "_" for
    "-" and parts of an object (`--flag.key value`). CLICK takes the whole name and the next word, whatever that is.
    EXACT is llama.cpp's: the same, with "_" for "-" and without `--flag=value`.
    """

    ARGPARSE = "argparse"
    FLEXIBLE = "argparse of vLLM"
    CLICK = "click"
    EXACT = "exact"

    @property
    def abbreviates(self) -> bool:
        """Return whether a name may be shortened."""
        return self in (Reading.ARGPARSE, Reading.FLEXIBLE)


@dataclass(frozen=True, slots=True)
class Option:
    """A flag with all its names, those that deny it apart. A flag that `repeats` may be given many times."""

    names: tuple[str, ...]
    takes: Takes
    denials: tuple[str, ...] = ()
    repeats: bool = False

    @property
    def name(self) -> str:
        """Return the name by which the flag is told of."""
        return self.names[0]


@dataclass(frozen=True, slots=True)
class Table:
    """The flags of an engine in a range of versions, the oldest and the newest included.

    `known` has the flag of every name, and whether that name denies it.
    """

    engine: str
    versions: tuple[str, str]
    reading: Reading
    options: tuple[Option, ...]
    known: Mapping[str, tuple[Option, bool]]


_TAKES = {
    Form.SWITCH: Takes.NOTHING,
    Form.TOGGLE: Takes.NOTHING,
    Form.ONE: Takes.ONE,
    Form.REPEATED: Takes.ONE,
    Form.TWO: Takes.TWO,
    Form.MAYBE: Takes.MAYBE,
    Form.MANY: Takes.MANY,
    Form.ANY: Takes.ANY,
}
_PAIRS = {"--enable-": "--disable-", "--disable-": "--enable-"}


def of(engine: str, versions: tuple[str, str], reading: Reading, groups: Mapping[Form, str]) -> Table:
    """Return the table from its text: flags apart by spaces, names of one flag by commas, without "--".

    A name behind "!" denies the flag.
    """
    options = tuple(
        _option(group, entry.split(","), reading) for group, text in groups.items() for entry in text.split()
    )
    known: dict[str, tuple[Option, bool]] = {}
    for option in options:
        known.update((name, (option, True)) for name in option.denials)
        known.update((name, (option, False)) for name in option.names)
    return Table(engine, versions, reading, options, known)


def _option(group: Form, words: list[str], reading: Reading) -> Option:
    names = tuple(_full(word) for word in words if not word.startswith("!"))
    denials = [_full(word[1:]) for word in words if word.startswith("!")]
    if group is Form.TOGGLE:
        denials.extend(_denials(names, reading))
    return Option(names, _TAKES[group], tuple(denials), repeats=group is Form.REPEATED)


def _full(word: str) -> str:
    return word if word.startswith("-") else f"--{word}"


def _denials(names: tuple[str, ...], reading: Reading) -> Iterator[str]:
    """Yield the names that deny a toggle: vLLM also pairs --enable-x with --disable-x (from 0.30)."""
    for name in names:
        if name.startswith("--"):
            yield f"--no-{name[2:]}"
            for front, other in _PAIRS.items():
                if reading is Reading.FLEXIBLE and name.startswith(front):
                    yield other + name.removeprefix(front)
