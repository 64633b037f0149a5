"""Tokens of a CEL expression.

Source: the CEL language definition and the grammar of cel-go v0.26.0.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from modelplane.cel.errors import CompileError

_SPACE: Final = re.compile(r"(?:[\t \r\n\f]+|//[^\n]*)+")
_ESCAPE: Final = r"(?:\\[abfnrtv\"'\\?`]|\\[0-3][0-7][0-7]|\\[xX][0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8})"
_STRING: Final = (
    r"[rR]\"\"\"[\s\S]*?\"\"\"|[rR]'''[\s\S]*?'''"
    rf"|\"\"\"(?:{_ESCAPE}|[^\\])*?\"\"\"|'''(?:{_ESCAPE}|[^\\])*?'''"
    r"|[rR]\"[^\"\n\r]*\"|[rR]'[^'\n\r]*'"
    rf"|\"(?:{_ESCAPE}|[^\\\"\n\r])*\"|'(?:{_ESCAPE}|[^\\'\n\r])*'"
)
_TOKEN: Final = re.compile(
    rf"(?P<bytes>[bB](?:{_STRING}))|(?P<string>{_STRING})"
    r"|(?P<float>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<uint>(?:0x[0-9A-Fa-f]+|[0-9]+)[uU])"
    r"|(?P<int>0x[0-9A-Fa-f]+|[0-9]+)"
    r"|(?P<ident>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<op>==|!=|<=|>=|&&|\|\||[-<>\[\]{}().,!?:+*/%])"
)
_SIMPLE: Final = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "`": "`", "?": "?",
}  # fmt: skip
_ESCAPED: Final = re.compile(
    r"\\(?:([xX])([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([0-3][0-7]{2})|(.))", re.S
)

KEYWORDS: Final = frozenset({"true", "false", "null", "in"})
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


@dataclass(frozen=True, slots=True)
class Token:
    """One token; `kind` is a group name of the grammar, an operator's own text, a keyword, or `end`."""

    kind: str
    text: str
    offset: int


def tokens(text: str) -> list[Token]:
    """Return the tokens of `text`, the last of kind `end`.

    Raises: CompileError at the first character that begins no token.
    """
    found: list[Token] = []
    position, end = 0, len(text)
    space, scan, append = _SPACE.match, _TOKEN.match, found.append
    while True:
        blank = space(text, position)
        if blank:
            position = blank.end()
        if position >= end:
            append(Token("end", "<EOF>", end))
            return found
        match = scan(text, position)
        if match is None:
            raise CompileError(f"Syntax error: token recognition error at: '{text[position]}'", position)
        kind, value = match.lastgroup or "", match.group()
        if kind == "op" or (kind == "ident" and value in KEYWORDS):
            kind = value
        append(Token(kind, value, position))
        position = match.end()


def text_of(token: Token) -> str:
    """Return the text a string token stands for.

    Raises: CompileError for an escape that names no character.
    """
    body, raw = _body(token.text)
    if raw or "\\" not in body:
        return body

    def character(match: re.Match[str]) -> str:
        _, hexadecimal, short, long, octal, simple = match.groups()
        if simple is not None:
            return _SIMPLE[simple]
        code = int(octal, 8) if octal else int(hexadecimal or short or long, 16)
        if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            raise CompileError("invalid unicode code point", token.offset)
        return chr(code)

    return _ESCAPED.sub(character, body)


def bytes_of(token: Token) -> bytes:
    """Return the bytes a bytes token stands for; numeric escapes are bytes, text is UTF-8.

    Raises: CompileError for a Unicode escape.
    """
    body, raw = _body(token.text[1:])
    if raw:
        return body.encode()
    pieces: list[bytes] = []
    last = 0
    for match in _ESCAPED.finditer(body):
        pieces.append(body[last : match.start()].encode())
        last = match.end()
        _, hexadecimal, short, long, octal, simple = match.groups()
        if short or long:
            raise CompileError("unable to unescape string", token.offset)
        pieces.append(
            _SIMPLE[simple].encode()
            if simple is not None
            else bytes([int(octal, 8) if octal else int(hexadecimal, 16)])
        )
    pieces.append(body[last:].encode())
    return b"".join(pieces)


def _body(text: str) -> tuple[str, bool]:
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    raw = text[0] in "rR"
    if raw:
        text = text[1:]
    triple = len(text) >= 6 and text[:3] in ("'''", '"""')
    return (text[3:-3] if triple else text[1:-1]), raw
