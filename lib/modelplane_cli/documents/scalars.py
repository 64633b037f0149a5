"""Plain scalars of YAML 1.1 as goyaml v2 resolves them, and numbers as JSON means them.

Source: sigs.k8s.io/yaml.
"""

from __future__ import annotations

import re
from typing import Any, TypeAlias

from modelplane_functions import numbers

Json: TypeAlias = Any

_WORDS: dict[str, Json] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON", "y", "Y"), True),
    **dict.fromkeys(("false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF", "n", "N"), False),
}
DIGITS_MAX = 308
"""Digits of the largest double: no reader of JSON holds more."""
_NUMBER_START = frozenset("0123456789+-.")
_INTEGER = re.compile(r"[-+]?(?:0[0-7]*|[1-9][0-9]*|0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+)")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")


def resolve(text: str) -> Json:
    """Return the value of a plain (unquoted) scalar.

    Raises: ValueError for infinity and not-a-number, which JSON does not have.
    """
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMBER_START:
        return text
    plain = text.replace("_", "")
    if _INTEGER.fullmatch(plain):
        return integer(plain)
    if _FLOAT.fullmatch(plain):
        found = float(plain)
        if found in (float("inf"), float("-inf")):
            raise ValueError(f"{text} is too large for a number")
        return numbers.number(found)
    if _NOT_FINITE.fullmatch(text):
        raise ValueError(f"{text} is not a JSON number; quote it if it is text")
    return text


def integer(plain: str) -> int:
    """Return a whole number. Raises: ValueError for one past any that JSON's readers hold."""
    if len(plain) > DIGITS_MAX:
        raise ValueError(f"{plain[:8]}... has {len(plain)} digits, too large for a number; quote it if it is text")
    sign = -1 if plain[0] == "-" else 1
    digits = plain.lstrip("+-")
    if len(digits) > 1 and digits[0] == "0" and digits[1].isdigit():
        return sign * int(digits, 8)
    return sign * int(digits, 0)


def whole(value: Json) -> Json:
    """Return `value` with integral floats as int, as JSON numbers mean (1.0 is 1)."""
    if isinstance(value, dict):
        return {key: whole(item) for key, item in value.items()}
    if isinstance(value, list):
        return [whole(item) for item in value]
    return numbers.number(value) if isinstance(value, float) else value
