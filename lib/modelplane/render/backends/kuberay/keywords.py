"""An author's command line for vLLM as the keyword arguments that Ray Serve LLM starts it with.

Ray never sees the command line: each flag becomes data, parsed as vLLM's own parser would parse it.
Source: vLLM 0.29.0 (utils/argparse_utils.py: FlexibleArgumentParser, human_readable_int).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

from modelplane.errors import InvalidInput
from modelplane.render import arguments
from modelplane.render.backends.kuberay import flags
from modelplane.render.backends.kuberay.flags import Kind

Json: TypeAlias = Any

_SIZE = re.compile(r"(\d+(?:\.\d+)?)([kKmMgGtT])\Z")
_NEGATIVE = re.compile(r"-\d+(\.\d+)?\Z")
_UNITS = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
# vLLM's parser lowers these and writes "_" for "-".
_LOWERED = frozenset({"moe_backend", "linear_backend"})
_NOTHING = "None"
# They say what the route and the topology say already, which is compared before.
_KNOWN_OTHERWISE = frozenset({"host", "port", "data_parallel_size_local"})


@dataclass(frozen=True, slots=True)
class _Word:
    """A flag of the command line: its place, its spelling, its keyword and its values as text."""

    index: int
    spelt: str
    keyword: str
    values: tuple[str, ...]
    negated: bool = False


def of(args: Sequence[str]) -> dict[str, Json]:
    """Return the keyword arguments of a command line, its model first if that stands without a flag.

    Raises: InvalidInput with the index of the argument for a flag that is unknown, or whose value is.
    """
    found: dict[str, Json] = {}
    for word in _words(args):
        if word.keyword in found:
            _refuse(word, "is given twice; leave one of them out")
        if word.keyword not in _KNOWN_OTHERWISE:
            found[word.keyword] = _value(word)
    return found


def _words(args: Sequence[str]) -> Iterator[_Word]:
    index = 0
    if args and not args[0].startswith("-"):
        yield _Word(0, args[0], "model", (args[0],))
        index = 1
    while index < len(args):
        word = _word(args, index)
        yield word
        index += 1 if "=" in word.spelt else 1 + len(word.values)


def _word(args: Sequence[str], index: int) -> _Word:
    spelt = args[index]
    name, equals, value = spelt.partition("=")
    if not name.startswith("-"):
        _refuse(_Word(index, spelt, "", ()), "belongs to no flag")
    keyword, negated = _keyword(index, name)
    if equals:
        return _Word(index, spelt, keyword, (value,), negated)
    rest = args[index + 1 :]
    size = next((number for number, word in enumerate(rest) if _is_flag(word)), len(rest))
    kind = flags.KINDS.get(keyword)
    if negated or kind is Kind.SWITCH:
        return _Word(index, spelt, keyword, (), negated)
    return _Word(index, spelt, keyword, tuple(rest[: size if kind in (Kind.TEXTS, Kind.COUNTS) else min(size, 1)]))


def _is_flag(word: str) -> bool:
    return word.startswith("-") and len(word) > 1 and _NEGATIVE.match(word) is None


def _keyword(index: int, name: str) -> tuple[str, bool]:
    """Return the keyword of a flag, and whether the flag denies it."""
    nowhere = _Word(index, name, "", ())
    if "." in name:
        _refuse(nowhere, f"is part of a JSON object; write all of {name.partition('.')[0]} as one object")
    keyword = flags.SHORT.get(name) or (
        arguments.canonical(name)[2:].replace("-", "_") if name.startswith("--") else name
    )
    positive = keyword.removeprefix("no_")
    why = flags.REFUSED.get(keyword) or flags.REFUSED.get(positive)
    if why is not None:
        _refuse(nowhere, f"cannot be given with KubeRay: {why}")
    if keyword in flags.KINDS or keyword in _KNOWN_OTHERWISE:
        return keyword, False
    if keyword == positive or flags.KINDS.get(positive) is not Kind.SWITCH:
        _refuse(nowhere, "is no flag of vLLM 0.29 that Ray Serve LLM passes on; check its spelling, or leave it out")
    return positive, True


def _value(word: _Word) -> Json:
    kind = flags.KINDS[word.keyword]
    if any("$(" in value for value in word.values):
        _refuse(word, "refers to a variable, which nothing expands with KubeRay; write the value")
    if kind is Kind.SWITCH:
        if word.values:
            _refuse(word, "takes no value")
        return not word.negated
    if not word.values or word.negated:
        _refuse(word, f"takes {kind}")
    if kind is Kind.TEXTS:
        return list(word.values)
    if kind is Kind.COUNTS:
        return [_whole(word, value) for value in word.values]
    return _single(word, kind, word.values[0])


def _single(word: _Word, kind: Kind, value: str) -> Json:
    if value == _NOTHING:
        return None
    if kind is Kind.COUNT:
        return _whole(word, value)
    if kind is Kind.SIZE:
        return -1 if word.keyword == "max_model_len" and value.lower() == "auto" else _size(word, value)
    if kind is Kind.NUMBER:
        return _number(word, value)
    if kind is Kind.OBJECT or (kind is Kind.EITHER and value.lstrip().startswith("{")):
        return _object(word, value)
    return value.lower().replace("-", "_") if word.keyword in _LOWERED else value


def _whole(word: _Word, value: str) -> int:
    try:
        return int(value)
    except ValueError:
        _refuse(word, f"takes a whole number, not {value}")


def _size(word: _Word, value: str) -> int:
    """Return a size as vLLM reads it: 1k is 1,000 and 1K is 1,024, and the latter takes no decimals."""
    found = _SIZE.match(value.strip())
    if found is None:
        return _whole(word, value)
    number, unit = found.groups()
    return _whole(word, number) * _UNITS[unit] if unit.isupper() else int(float(number) * _UNITS[unit])


def _number(word: _Word, value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        _refuse(word, f"takes a number, not {value}")
    return number


def _object(word: _Word, value: str) -> Json:
    try:
        found = arguments.json_value(value, lambda constant: _refuse(word, f"cannot hold {constant}"))
    except ValueError:
        found = None
    if not isinstance(found, dict):
        _refuse(word, "takes a JSON object")
    return found


def _refuse(word: _Word, why: str) -> NoReturn:
    raise InvalidInput(f"{word.spelt.partition('=')[0]} {why}", path=("args", word.index))
