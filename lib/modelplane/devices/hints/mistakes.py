"""Hints for a selector that does not compile, about mistakes that come from other languages.

A hint is added to the error message of Kubernetes. `advice` is about selectors that compile.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from typing import Final, TypeAlias

from kubecel.environment import Environment
from modelplane.devices import selector
from modelplane.devices.selector import Profile, Selector
from modelplane.errors import InvalidSelector

_LANGUAGE: Final = Environment()
_WORDS: Final = {
    "True": "true",
    "False": "false",
    "None": "null",
    "nil": "null",
    "Device": "device",
    "len": "size",
    "AND": "&&",
    "OR": "||",
    "NOT": "!",
}
_OPERATORS: Final = {"=": "==", "&": "&&", "|": "||", "and": "&&", "or": "||"}
_TYPOGRAPHIC: Final = "\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u00ab\u00bb"
_MAKERS: Final = {"Quantity": ("quantity", "80Gi"), "Semver": ("semver", "9.0.0")}


class _Mistake:
    """A selector that does not compile: its text before and after the error, and the driver of the devices."""

    def __init__(self, expression: str, error: InvalidSelector, driver: str) -> None:
        lines = expression.split("\n")
        line, column = error.line or 1, error.column or 1
        offset = sum(len(one) + 1 for one in lines[: line - 1]) + column - 1
        self.before, self.rest, self.driver = expression[:offset], expression[offset:], driver


_Hint: TypeAlias = Callable[[re.Match[str], _Mistake], str]


def compile(  # noqa: A001 - the verb of the domain, as for selectors
    expression: str, driver: str, profile: Profile | None = None, *, admit: bool = True
) -> Selector:
    """Return the compiled selector, without a profile as its author may have meant it.

    Raises: InvalidSelector, as `selector.compile`, with a hint for devices of `driver` if one is known.
    """
    try:
        return selector.written(expression) if profile is None else selector.compile(expression, profile, admit=admit)
    except InvalidSelector as error:
        error.hint = _hint(expression, error, driver)
        raise


def _hint(expression: str, error: InvalidSelector, driver: str) -> str:
    """Return what to write instead, empty where nothing is known."""
    mistake = _Mistake(expression, error, driver)
    for pattern, make in _HINTS:
        match = pattern.search(error.message.split("\n")[0])
        if match is not None:
            return make(match, mistake)
    return ""


def _unknown_character(match: re.Match[str], mistake: _Mistake) -> str:
    found = match[1]
    if found in _OPERATORS:
        return f"write {_OPERATORS[found]} for {found}"
    if found in _TYPOGRAPHIC:
        return f"{found} is a typographic quote; strings use straight quotes: \" or '"
    if found in "\"'":
        return f"the string that starts with {found} is not terminated; add a closing {found}"
    return ""


def _unexpected(match: re.Match[str], mistake: _Mistake) -> str:
    found, before = match[1], mistake.before
    if found in _OPERATORS:
        return f"write {_OPERATORS[found]} for {found}"
    if re.search(r"\bnot\s+$", before):
        return "write ! for not"
    number = re.search(r"[0-9]+(\.[0-9]+)?$", before)
    if number is not None and re.match("[EPTGMk]i?B?$", found):
        return f'write a size as quantity("{number[0]}{found.rstrip("B")}")'
    if number is not None and found.startswith("."):
        return f'write a version as semver("{number[0]}{found}"), and compare it with .compareTo(...) >= 0'
    opened = before.count("(") - before.count(")")
    if found == "<EOF>" and opened > 0:
        return f"{opened} opening bracket{'s are' if opened > 1 else ' is'} not closed; add {')' * opened}"
    return ""


def _operator(match: re.Match[str], _mistake: _Mistake) -> str:
    name, example = _MAKERS[match[2]]
    operator = {"_==_": "==", "_!=_": "!="}.get(match[1], match[1].strip("_"))
    if operator not in ("==", "!=", "<", "<=", ">", ">="):
        return ""
    return f'compare with a method: .compareTo({name}("{example}")) {operator} 0'


def _argument(match: re.Match[str], _mistake: _Mistake) -> str:
    name, example = _MAKERS[match[2]]
    return f'{match[1]}() takes a {match[2]}, which {name}() returns: .{match[1]}({name}("{example}"))'


def _domain(_match: re.Match[str], mistake: _Mistake) -> str:
    return f'attributes and capacity are grouped by domain: device.attributes["{mistake.driver}"].name'


def _field(match: re.Match[str], mistake: _Mistake) -> str:
    return (
        f"device has driver, attributes, capacity and allowMultipleAllocations; what the driver publishes is grouped by"
        f' domain: device.attributes["{mistake.driver}"].{match[1]}, device.capacity["{mistake.driver}"].{match[1]}'
    )


def _reference(match: re.Match[str], mistake: _Mistake) -> str:
    name = match[1]
    if name in _WORDS:
        return f"write {_WORDS[name]} for {name}"
    if mistake.before.endswith("["):
        key = re.match(r"[^\]]*", mistake.rest)
        return f'a domain is a string: write ["{key[0] if key else name}"]'
    if mistake.rest.startswith((".", "(")):
        known = {function.lower(): function for function in _LANGUAGE.functions if function.isidentifier()}
        for close in difflib.get_close_matches(name.lower(), list(known), n=1, cutoff=0.75):
            return f"there is no function {name}; did you mean {known[close]}?"
        return ""
    return f'a string needs quotes: "{name}"'


def _has(_match: re.Match[str], mistake: _Mistake) -> str:
    domain = f'device.attributes["{mistake.driver}"]'
    return f'has() takes a field selection: has({domain}.name); for a name in quotes write "name" in {domain}'


def _pattern(_match: re.Match[str], _mistake: _Mistake) -> str:
    return 'the regular expression is invalid; "*" repeats the preceding character, and ".*" matches anything'


def _contains(_match: re.Match[str], _mistake: _Mistake) -> str:
    return '"in" tests lists and maps; for a part of a string write text.contains("part")'


def _result(match: re.Match[str], _mistake: _Mistake) -> str:
    return f"a selector must return a bool, but this one returns {match[1]}; compare it with a value"


_HINTS: Final[tuple[tuple[re.Pattern[str], _Hint], ...]] = (
    (re.compile(r"token recognition error at: '(.)"), _unknown_character),
    (re.compile(r"mismatched input '([^']*)'"), _unexpected),
    (re.compile(r"no matching overload for '(_[<>=!]+_)' applied to '\(kubernetes\.(Quantity|Semver), "), _operator),
    (
        re.compile(r"no matching overload for '(_[<>=!]+_)' applied to '\(.*, kubernetes\.(Quantity|Semver)\)"),
        _operator,
    ),
    (re.compile(r"no matching overload for '(\w+)' applied to 'kubernetes\.(Quantity|Semver)\.\("), _argument),
    (re.compile(r"no matching overload for .* applied to '\(?map\(string, "), _domain),
    (re.compile(r"no matching overload for '@in' applied to '\(.*, string\)"), _contains),
    (re.compile(r"undefined field '([^']*)'"), _field),
    (re.compile(r"undeclared reference to '([^']*)'"), _reference),
    (re.compile(r"invalid argument to has\(\) macro"), _has),
    (re.compile(r"invalid matches argument"), _pattern),
    (re.compile(r"must evaluate to bool or the unknown type, not (.*)"), _result),
)
