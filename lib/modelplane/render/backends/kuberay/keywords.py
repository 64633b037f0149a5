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
from modelplane.render.arguments import Given
from modelplane.render.backends.kuberay import flags
from modelplane.render.backends.kuberay.flags import Kind
from modelplane.render.flags import vllm

Json: TypeAlias = Any

_SIZE = re.compile(r"(\d+(?:\.\d+)?)([kKmMgGtT])\Z")
_UNITS = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
# vLLM's parser lowers these and writes "_" for "-".
_LOWERED = frozenset({"moe_backend", "linear_backend"})
_NOTHING = "None"
_UNKNOWN = "is not a flag of vLLM 0.29 that Ray Serve LLM passes on; check the spelling or remove it"
# They say what the route and the topology say already, which is compared before.
_KNOWN_OTHERWISE = frozenset({"host", "port", "data_parallel_size_local"})


@dataclass(frozen=True, slots=True)
class _Word:
    """A flag of the command line: its place, its spelling, its keyword and its values as text."""

    index: int
    spelt: str
    keyword: str
    values: tuple[str, ...] = ()
    negated: bool = False


def of(args: Sequence[str]) -> dict[str, Json]:
    """Return the keyword arguments of a command line, and the model first if it has no flag.

    Raises: InvalidInput with the index of the argument for an unknown flag or an invalid value.
    """
    found: dict[str, Json] = {}
    for word in _words(args):
        if word.keyword in found:
            _refuse(word, "is given twice; remove one of them")
        if word.keyword not in _KNOWN_OTHERWISE:
            found[word.keyword] = _value(word)
    return found


def _words(args: Sequence[str]) -> Iterator[_Word]:
    words = arguments.read(args, vllm.TABLE)
    for index in words.loose:
        if index:
            _refuse(_Word(index, args[index], ""), "does not belong to a flag")
        yield _Word(0, args[0], "model", (args[0],))
    for one in words.given:
        yield _Word(one.index, one.spelt, _keyword(one), one.values, one.negated)


def _keyword(given: Given) -> str:
    """Return the keyword of a flag. Raises: InvalidInput for one that is not passed on."""
    nowhere = _Word(given.index, given.spelt.partition("=")[0], "")
    if given.option is None:
        _refuse(nowhere, _UNKNOWN)
    if given.part:
        _refuse(nowhere, f"is part of a JSON object; write all of {given.option.name} as one object")
    keyword = given.option.name[2:].replace("-", "_")
    why = flags.REFUSED.get(keyword)
    if why is not None:
        _refuse(nowhere, f"cannot be given with KubeRay: {why}")
    if keyword not in flags.KINDS and keyword not in _KNOWN_OTHERWISE:
        _refuse(nowhere, _UNKNOWN)
    return keyword


def _value(word: _Word) -> Json:
    kind = flags.KINDS[word.keyword]
    if any("$(" in value for value in word.values):
        _refuse(word, "refers to a variable, which KubeRay does not expand; write the value")
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
    if unit.isupper():
        return _whole(word, number) * _UNITS[unit]
    size = float(number) * _UNITS[unit]
    if not math.isfinite(size):
        _refuse(word, f"takes a size, not {value}")
    return int(size)


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
