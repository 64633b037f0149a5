"""The arguments of an engine, read as the engine reads them.

A value with a variable that the kubelet expands (`$(NAME)`) is unknown and never checked. A flag that no table knows is
left alone: a newer engine may have it.
Source: CPython 3.12 argparse (_parse_optional, _get_option_tuples, _match_argument); vLLM 0.33 (utils/argparse_utils:
FlexibleArgumentParser); click 8 (parser); llama.cpp b11434 (common/arg.cpp: common_params_parse_ex).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

from modelplane.errors import InvalidInput
from modelplane.render.flags.table import Option, Reading, Table, Takes

Json: TypeAlias = Any

JSON_DEPTH_MAX = 64
"""Collections in one another that a value of a flag may have. No engine's configuration has ten."""

_SHELLS = frozenset({"sh", "bash", "ash", "dash", "ksh", "zsh"})
_NEGATIVE = re.compile(r"-\d+$|-\d*\.\d+$")
# Behind a key, it adds to the list that is there: --object.key+ a --object.key+ b.
_MORE = "+"
_LEVEL = "-O"
_LEVEL_FLAG = "--optimization-level"


@dataclass(frozen=True, slots=True)
class Given:
    """A flag of an argument list, with its index, its spelling, and its values (none for a switch).

    `option` is None for a flag that the table does not know. `part` is the key behind the dot of `--flag.key`.
    `words` is the number of arguments that the flag and its values are.
    """

    index: int
    spelt: str
    option: Option | None
    values: tuple[str, ...] = ()
    negated: bool = False
    part: str = ""
    words: int = 1

    @property
    def is_readable(self) -> bool:
        """Return whether every value is literal, without a reference to a variable."""
        return not any("$(" in value for value in self.values)


@dataclass(frozen=True, slots=True)
class Words:
    """An argument list as its engine reads it: the flags, and the indices of the words that belong to none."""

    given: tuple[Given, ...] = ()
    loose: tuple[int, ...] = ()

    def all_of(self, name: str) -> tuple[Given, ...]:
        """Return every occurrence of the flag with this name."""
        return tuple(one for one in self.given if one.option is not None and name in one.option.names)


@dataclass(frozen=True, slots=True)
class _Name:
    """The name in a word: its flag, whether it denies it, and the value in the same word, None if there is none."""

    option: Option
    negated: bool
    value: str | None = None
    part: str = ""


def read(args: Sequence[str], table: Table) -> Words:
    """Return the flags of an argument list.

    Raises: InvalidInput with the index of a word that the engine would refuse, if that is sure for every version.
    """
    given: list[Given] = []
    loose: list[int] = []
    index = 0
    while index < len(args):
        word = args[index]
        if word == "--" and table.reading is not Reading.EXACT:
            loose.extend(range(index + 1, len(args)))
            break
        if not _looks_like_flag(word, table):
            # What follows an unknown flag is its engine's to understand.
            if not given or given[-1].option is not None:
                loose.append(index)
            index += 1
            continue
        name = _name(word, index, table)
        if name is None:
            given.append(Given(index, word, None))
            index += 1
            continue
        values, used = _values(args, index, name, table)
        given.append(Given(index, word, name.option, values, name.negated, name.part, 1 + used))
        index += 1 + used
    return Words(tuple(given), tuple(loose))


def stated_twice(words: Words) -> Iterator[tuple[Given, Given]]:
    """Yield each flag that stands a second time, behind its first. Parts of an object differ by their key."""
    first: dict[tuple[str, ...], dict[str, Given]] = {}
    for one in words.given:
        if one.option is None or one.option.repeats:
            continue
        before = first.setdefault(one.option.names, {})
        same = None if one.part.endswith(_MORE) else before.get(one.part)
        clash = same or before.get("") or (next(iter(before.values()), None) if not one.part else None)
        if clash is not None:
            yield clash, one
        before.setdefault(one.part, one)


def is_shell(command: Sequence[str]) -> bool:
    """Return whether the command is a shell, so that its arguments cannot be parsed."""
    return bool(command) and command[0].rsplit("/", 1)[-1] in _SHELLS


def _looks_like_flag(word: str, table: Table) -> bool:
    if len(word) < 2 or not word.startswith("-"):
        return False
    return table.reading is Reading.EXACT or _NEGATIVE.match(word) is None


def _name(word: str, index: int, table: Table) -> _Name | None:
    """Return the flag that a word names, None for one that the table does not know."""
    if table.reading is Reading.FLEXIBLE:
        return _flexible(word, index, table)
    if table.reading is Reading.EXACT:
        spelt = word.replace("_", "-") if word.startswith("--") else word
        found = table.known.get(spelt)
        if found is None:
            _refuse_spelling(word, index, table)
        return None if found is None else _known(found)
    name, equals, value = word.partition("=")
    found = table.known.get(name)
    if found is not None:
        return _known(found, value if equals else None)
    shortened = _shortened(word, index, table) if table.reading.abbreviates else None
    if shortened is None:
        _refuse_spelling(word, index, table)
    return shortened


def _known(found: tuple[Option, bool], value: str | None = None) -> _Name:
    return _Name(*found, value)


def _flexible(word: str, index: int, table: Table) -> _Name | None:
    """Return the flag as vLLM reads it: `--a_b`, `-O3` and `--object.key` are rewritten before argparse sees them."""
    if word.startswith(_LEVEL) and not word.startswith("--"):
        value = word[2:].removeprefix("=")
        return _known(table.known[_LEVEL_FLAG], value or None)
    name, equals, value = word.partition("=")
    front, dot, part = name.partition(".")
    front = f"--{front[2:].replace('_', '-')}" if front.startswith("--") else front
    found = table.known.get(front)
    named = _known(found) if found is not None else _shortened(front + word[len(front) :], index, table)
    if named is None or named.value is not None:
        return named
    return _Name(named.option, named.negated, value if equals else None, part if dot else "")


def _shortened(word: str, index: int, table: Table) -> _Name | None:
    """Return the one flag whose name begins as the word does. Raises: InvalidInput if several do."""
    name, equals, value = word.partition("=")
    name = name.partition(".")[0] if table.reading is Reading.FLEXIBLE else name
    if not word.startswith("--") and word[:2] in table.known:
        # One dash and one letter take what stands behind them: -n2.
        return _known(table.known[word[:2]], word[2:].removeprefix("="))
    names = sorted(known for known in table.known if known.startswith(name))
    found = {table.known[known][0].names: table.known[known] for known in names}
    if len(found) > 1:
        _refuse(index, f"{name} is short for {' and '.join(names[:4])}; write one of them in full")
    return _known(next(iter(found.values())), value if equals else None) if found else None


def _refuse_spelling(word: str, index: int, table: Table) -> None:
    """Raise InvalidInput for a flag that the engine spells differently."""
    name, equals, value = word.partition("=")
    if equals and table.reading is Reading.EXACT and name.replace("_", "-") in table.known:
        _refuse(index, f'{table.engine} takes a value as an argument of its own: write "{name}", "{value}"')
    for other in (f"--{name[2:].replace('_', '-')}", f"--{name[2:].replace('-', '_')}"):
        if name.startswith("--") and other in table.known:
            _refuse(index, f"{name} is no flag of {table.engine}; write {other}")


def _values(args: Sequence[str], index: int, name: _Name, table: Table) -> tuple[tuple[str, ...], int]:
    """Return the values of a flag, and the number of words behind it that they are."""
    takes = Takes.ONE if name.part else name.option.takes
    if name.negated or takes is Takes.NOTHING:
        if name.value is not None:
            _refuse(index, f"{args[index].partition('=')[0]} takes no value; remove ={name.value}")
        return (), 0
    if name.value is not None:
        return (name.value,), 0
    rest = args[index + 1 :]
    most = {Takes.ONE: 1, Takes.TWO: 2, Takes.MAYBE: 1}.get(takes, len(rest))
    if table.reading.abbreviates and not name.part:
        ends = next((number for number, word in enumerate(rest) if _is_end(word, table)), len(rest))
        most = min(most, ends)
    found = tuple(rest[:most])
    if not found and takes in (Takes.ONE, Takes.TWO, Takes.MANY):
        _refuse(index, f"{args[index]} needs {takes} behind it")
    return found, len(found)


def _is_end(word: str, table: Table) -> bool:
    """Return whether argparse takes a word for a flag: one with a space is a value, unless its name is known."""
    if not _looks_like_flag(word, table):
        return False
    return " " not in word or word.partition("=")[0] in table.known


def _refuse(index: int, why: str) -> NoReturn:
    raise InvalidInput(why, path=("args", index))


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
