"""YAML text of plain data, for fields of Kubernetes objects that hold a document as a string.

The text means the same to YAML 1.1 and 1.2: every string is quoted, and whatever a parser might refuse is escaped.
Source: YAML 1.2.2, 5.1 (printable characters) and 7.3.1 (double-quoted style); Go's yaml refuses a lone surrogate.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

Json: TypeAlias = Any

_STEP = 2
# Words that no version of YAML reads as anything but text.
_PLAIN_KEY = re.compile(r"(?!(?:y|n|yes|no|on|off|true|false|null)\Z)[a-z][a-z0-9_]*\Z", re.IGNORECASE)
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")


def of(data: Json) -> str:
    """Return the data as YAML in block style, its keys in their order. Raises: ValueError if a number is not finite."""
    return "\n".join(_lines(data)) + "\n"


def _lines(data: Json) -> Iterator[str]:
    if isinstance(data, Mapping) and data:
        for key, value in data.items():
            yield from _under(f"{_key(str(key))}:", value)
    elif isinstance(data, (list, tuple)) and data:
        for value in data:
            inner = list(_lines(value))
            yield f"- {inner[0]}"
            yield from (f"{' ' * _STEP}{line}" for line in inner[1:])
    else:
        yield _flow(data)


def _under(head: str, value: Json) -> Iterator[str]:
    if isinstance(value, (Mapping, list, tuple)) and value:
        yield head
        yield from (f"{' ' * _STEP}{line}" for line in _lines(value))
    else:
        yield f"{head} {_flow(value)}"


def _key(key: str) -> str:
    return key if _PLAIN_KEY.match(key) else _quoted(key)


def _flow(value: Json) -> str:
    """Return a scalar, or a collection without members."""
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, (Mapping, list, tuple)):
        return "{}" if isinstance(value, Mapping) else "[]"
    text = json.dumps(value, allow_nan=False)
    # YAML 1.1 reads a number with an exponent and no point as text.
    return text.replace("e", ".0e", 1) if isinstance(value, float) and "e" in text and "." not in text else text


def _quoted(text: str) -> str:
    """Return the text as JSON writes it, which YAML takes, with what YAML calls unprintable escaped."""
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found.group()):04x}", json.dumps(text, ensure_ascii=False))
