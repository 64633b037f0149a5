"""Tokens of a CEL expression.

Source: the CEL language definition and the grammar of cel-go v0.26.0.
"""

from __future__ import annotations

import itertools
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from kubecel.syntax.errors import CompileError
from kubecel.values.runtime import Uint

# Possessive throughout: what was taken for space, for a name or for text is never tried again in another division.
_SPACE: Final = r"[\t \r\n\f]*+(?://[^\n]*+[\t \r\n\f]*+)*+"
_ESCAPE: Final = r"(?:\\[abfnrtv\"'\\?`]|\\[0-3][0-7][0-7]|\\[xX][0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8})"
_STRING: Final = (
    r"[rR]\"\"\"[\s\S]*?\"\"\"|[rR]'''[\s\S]*?'''"
    rf"|\"\"\"(?:{_ESCAPE}|[^\\])*?\"\"\"|'''(?:{_ESCAPE}|[^\\])*?'''"
    r"|[rR]\"[^\"\n\r]*\"|[rR]'[^'\n\r]*'"
    rf"|\"[^\\\"\n\r]*+(?:{_ESCAPE}[^\\\"\n\r]*+)*+\"|'[^\\'\n\r]*+(?:{_ESCAPE}[^\\'\n\r]*+)*+'"
)
_FLOAT: Final = r"[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?"
_UINT: Final = r"(?:0x[0-9A-Fa-f]+|[0-9]+)[uU]"
# One match for the space and the token after it, the commonest tokens first: names that begin no string, operators
# that begin no number. A name that could begin a string and does not comes after the strings; a character that begins
# nothing, and the end, last, so that every match joins the one before.
_TOKEN: Final = re.compile(
    rf"({_SPACE}("
    r"[AC-QS-Zac-qs-z_][A-Za-z0-9_]*+"
    r"|\.(?![0-9])|[\[\](){},?:+*/%-]|==|[!<>]=?|&&|\|\|"
    rf"|{_STRING}|[bB](?:{_STRING})|{_FLOAT}|{_UINT}|0x[0-9A-Fa-f]+|[0-9]+"
    r"|[BRbr][A-Za-z0-9_]*+"
    r"|[\s\S]|\Z))"
)
_NUMBER: Final = re.compile(rf"(?P<float>{_FLOAT})|(?P<uint>{_UINT})|(?P<int>0x[0-9A-Fa-f]+|[0-9]+)")
_SIMPLE: Final = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "`": "`", "?": "?",
}  # fmt: skip
_ESCAPED: Final = re.compile(
    r"\\(?:([xX])([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([0-3][0-7]{2})|(.))", re.S
)

KEYWORDS: Final = frozenset({"true", "false", "null", "in"})
_OWN_KIND: Final = {
    text: text for text in (*KEYWORDS, "==", "!=", "<=", ">=", "&&", "||", *"-<>[]{}().,!?:+*/%")
}  # fmt: skip
_LETTERS: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_")
RESERVED: Final = frozenset(
    [
        "as",
        "break",
        "const",
        "continue",
        "else",
        "false",
        "for",
        "function",
        "if",
        "import",
        "in",
        "let",
        "loop",
        "package",
        "namespace",
        "null",
        "return",
        "true",
        "var",
        "void",
        "while",
    ]
)


class Tokens(NamedTuple):
    """The tokens of an expression, as three lists for speed. The last token has the kind `end`.

    A kind is its name in the grammar (ident, string, bytes, float, uint, int), or the text of an operator or keyword.
    """

    kinds: list[str]
    texts: list[str]
    offsets: list[int]


def tokens(text: str) -> Tokens:
    """Return the tokens of `text`.

    Raises: CompileError at the first character that cannot begin a token.
    """
    found = _TOKEN.findall(text)
    if len(found) > 1 and not found[-2][1]:
        del found[-1]  # space at the end made a match of its own, before that of the end
    pieces, words = zip(*found, strict=True)
    offsets = list(map(operator.sub, itertools.accumulate(map(len, pieces)), map(len, words)))
    texts = list(words)
    texts.pop()
    own_kind = _OWN_KIND.get
    kinds = [own_kind(word) or _kind(word) for word in texts]
    if "" in kinds:
        at = kinds.index("")
        raise CompileError(f"Syntax error: token recognition error at: '{texts[at]}'", offsets[at])
    kinds.append("end")
    texts.append("<EOF>")
    return Tokens(kinds, texts, offsets)


def _kind(word: str) -> str:
    """Return the kind of what is neither operator nor keyword, empty for a character that begins no token."""
    if word[-1] in "\"'":
        return "" if len(word) == 1 else "bytes" if word[0] in "bB" else "string"
    if word[0] in _LETTERS:
        return "ident"
    number = _NUMBER.fullmatch(word)
    return "" if number is None else number.lastgroup or ""


def text_of(word: str, offset: int) -> str:
    """Return the text of a string token at `offset`.

    Raises: CompileError for an escape of an invalid character.
    """
    body, raw = _body(word)
    if raw or "\\" not in body:
        return body

    def character(match: re.Match[str]) -> str:
        _, hexadecimal, short, long, octal, simple = match.groups()
        if simple is not None:
            return _SIMPLE[simple]
        code = int(octal, 8) if octal else int(hexadecimal or short or long, 16)
        if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            raise CompileError("invalid unicode code point", offset)
        return chr(code)

    return _ESCAPED.sub(character, body)


def bytes_of(word: str, offset: int) -> bytes:
    """Return the bytes of a bytes token at `offset`. Numeric escapes are bytes, and text is UTF-8.

    Raises: CompileError for a Unicode escape.
    """
    body, raw = _body(word[1:])
    if raw:
        return body.encode("utf-8", "surrogatepass")
    pieces: list[bytes] = []
    last = 0
    for match in _ESCAPED.finditer(body):
        pieces.append(body[last : match.start()].encode("utf-8", "surrogatepass"))
        last = match.end()
        _, hexadecimal, short, long, octal, simple = match.groups()
        if short or long:
            raise CompileError("unable to unescape string", offset)
        pieces.append(
            _SIMPLE[simple].encode()
            if simple is not None
            else bytes([int(octal, 8) if octal else int(hexadecimal, 16)])
        )
    pieces.append(body[last:].encode("utf-8", "surrogatepass"))
    return b"".join(pieces)


def _body(text: str) -> tuple[str, bool]:
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    raw = text[0] in "rR"
    if raw:
        text = text[1:]
    triple = len(text) >= 6 and text[:3] in ("'''", '"""')
    return (text[3:-3] if triple else text[1:-1]), raw


def _int(text: str, sign: str, offset: int) -> int:
    value = _whole(text)
    if value is None or not -(1 << 63) <= (value := -value if sign else value) < 1 << 63:
        raise CompileError("invalid int literal", offset)
    return value


def _uint(text: str, _sign: str, offset: int) -> Uint:
    value = _whole(text[:-1])
    if value is None or value >= 1 << 64:
        raise CompileError("invalid uint literal", offset)
    return Uint(value)


def _whole(text: str) -> int | None:
    """Return the number that digits write, None for one far beyond 64 bits, which Python would not read at all."""
    if text.startswith("0x"):
        return int(text, 16)
    if len(text) > _DIGITS_MAX:
        text = text.lstrip("0") or "0"
    return int(text) if len(text) <= _DIGITS_MAX else None


_DIGITS_MAX: Final = 20


def _float(text: str, sign: str, offset: int) -> float:
    value = float(sign + text)
    if value in (float("inf"), float("-inf")):
        raise CompileError("invalid double literal", offset)
    return value


LITERALS: Final[Mapping[str, Callable[[str, str, int], Any]]] = {
    "int": _int,
    "uint": _uint,
    "float": _float,
    "string": lambda text, _sign, offset: text_of(text, offset),
    "bytes": lambda text, _sign, offset: bytes_of(text, offset),
    "true": lambda _text, _sign, _offset: True,
    "false": lambda _text, _sign, _offset: False,
    "null": lambda _text, _sign, _offset: None,
}
"""By kind, what the text of a token with a sign before it, at an offset, stands for."""
