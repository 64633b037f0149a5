"""Strings and regular expressions.

Source: ext/strings.go (version 2) and common/types of cel-go v0.26.0, pkg/cel/library/regex.go of
k8s.io/apiserver v0.36.2. `patterns` compiles regular expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from kubecel.values import runtime
from kubecel.values.errors import Err, bounded, no_such_overload
from kubecel.values.runtime import Value


class Pattern(Protocol):
    """A compiled regular expression."""

    def test(self, text: str) -> bool:
        """Return whether the pattern matches in `text`."""
        ...

    def find_all(self, text: str, limit: int) -> list[str]:
        """Return the matches, at most `limit` of them if it is not negative."""
        ...


Compile = Callable[[str], Pattern | Err]

# what Go's strings.TrimSpace takes off
_SPACE: Final = (
    "\t\n\v\f\r \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
)
_UPPER: Final = {code: code - 32 for code in range(ord("a"), ord("z") + 1)}
_LOWER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_QUOTED: Final = str.maketrans({
    "\a": r"\a", "\b": r"\b", "\f": r"\f", "\n": r"\n", "\r": r"\r", "\t": r"\t", "\v": r"\v", "\\": r"\\", '"': r"\"",
})  # fmt: skip


def _typed(*kinds: type) -> Callable[[Callable[..., Value]], Callable[..., Value]]:
    """Return a guard: the function sees arguments of exactly these types, trailing ones may be missing."""

    def guard(function: Callable[..., Value]) -> Callable[..., Value]:
        def guarded(*args: Value) -> Value:
            for arg, kind in zip(args, kinds, strict=False):
                if type(arg) is not kind:
                    return no_such_overload()
            return function(*args)

        return guarded

    return guard


def _out_of_range(index: int) -> Err:
    return Err(f"index out of range: {index}")


@_typed(str, int)
def _char_at(text: str, index: int) -> Value:
    if not 0 <= index <= len(text):
        return _out_of_range(index)
    return text[index : index + 1]


@_typed(str, str, int)
def _index_of(text: str, part: str, offset: int = 0) -> Value:
    if not part:
        return offset
    if offset < 0:
        return _out_of_range(offset)
    return text.find(part, offset)


@_typed(str, str, int)
def _last_index_of(text: str, part: str, offset: int | None = None) -> Value:
    if not part:
        return len(text) if offset is None else offset
    if offset is None:
        return text.rfind(part)
    if offset < 0:
        return _out_of_range(offset)
    return -1 if offset >= len(text) else text.rfind(part, 0, offset + len(part))


@_typed(str, str, str, int)
def _replace(text: str, old: str, new: str, count: int = -1) -> Value:
    if len(new) > len(old):
        found = text.count(old)
        bounded(len(text) + (found if count < 0 else min(found, count)) * (len(new) - len(old)))
    return text.replace(old, new, count if count >= 0 else -1)


@_typed(str, str, int)
def _split(text: str, separator: str, count: int = -1) -> Value:
    if count == 0:
        return []
    if separator:
        return text.split(separator, count - 1 if count > 0 else -1)
    if 0 < count < len(text):
        return [*text[: count - 1], text[count - 1 :]]
    return list(text)


@_typed(str, int, int)
def _substring(text: str, start: int, end: int | None = None) -> Value:
    if end is None:
        end = len(text)
    elif start > end:
        return Err(f"invalid substring range. start: {start}, end: {end}")
    if not 0 <= start <= len(text):
        return _out_of_range(start)
    return text[start:end] if 0 <= end <= len(text) else _out_of_range(end)


def _join(parts: Value, separator: Value = "") -> Value:
    if not runtime.is_list(parts) or type(separator) is not str:
        return no_such_overload()
    for part in parts:
        if type(part) is not str:
            return Err(f"join: invalid input: {part}")
    bounded(sum(map(len, parts)) + len(separator) * len(parts))
    return separator.join(parts)


def patterns(compile_: Compile) -> Mapping[str, Callable[..., Any]]:
    """Return the functions that take a regular expression."""

    @_typed(str, str)
    def matches(text: str, pattern: str) -> Value:
        compiled = compile_(pattern)
        return compiled if isinstance(compiled, Err) else compiled.test(text)

    @_typed(str, str)
    def find(text: str, pattern: str) -> Value:
        compiled = compile_(pattern)
        if isinstance(compiled, Err):
            return Err(f"Illegal regex: {compiled.message}")
        return next(iter(compiled.find_all(text, 1)), "")

    @_typed(str, str, int)
    def find_all(text: str, pattern: str, limit: int = -1) -> Value:
        compiled = compile_(pattern)
        return (
            Err(f"Illegal regex: {compiled.message}") if isinstance(compiled, Err) else compiled.find_all(text, limit)
        )

    return {"matches": matches, "find": find, "findAll": find_all}


FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "startsWith": _typed(str, str)(lambda text, part: text.startswith(part)),
    "endsWith": _typed(str, str)(lambda text, part: text.endswith(part)),
    "contains": _typed(str, str)(lambda text, part: part in text),
    "charAt": _char_at,
    "indexOf": _index_of,
    "lastIndexOf": _last_index_of,
    "lowerAscii": _typed(str)(lambda text: text.translate(_LOWER)),
    "upperAscii": _typed(str)(lambda text: text.translate(_UPPER)),
    "replace": _replace,
    "split": _split,
    "substring": _substring,
    "trim": _typed(str)(lambda text: text.strip(_SPACE)),
    "join": _join,
    "strings.quote": _typed(str)(lambda text: f'"{text.translate(_QUOTED)}"'),
}
