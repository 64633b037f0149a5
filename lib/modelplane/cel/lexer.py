"""Tokens of a CEL expression.

Source: the CEL language definition and the grammar of cel-go v0.26.0.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from modelplane.cel.errors import CompileError

# possessive: what was taken for space is never tried again in another division
_SPACE: Final = r"(?:[\t \r\n\f]++|//[^\n]*+)*+"
_ESCAPE: Final = r"(?:\\[abfnrtv\"'\\?`]|\\[0-3][0-7][0-7]|\\[xX][0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8})"
_STRING: Final = (
    r"[rR]\"\"\"[\s\S]*?\"\"\"|[rR]'''[\s\S]*?'''"
    rf"|\"\"\"(?:{_ESCAPE}|[^\\])*?\"\"\"|'''(?:{_ESCAPE}|[^\\])*?'''"
    r"|[rR]\"[^\"\n\r]*\"|[rR]'[^'\n\r]*'"
    rf"|\"(?:{_ESCAPE}|[^\\\"\n\r])*\"|'(?:{_ESCAPE}|[^\\'\n\r])*'"
)
# One match for the space and the token after it, the commonest tokens first: names that begin no string, operators
# that begin no number. A name that begins a string nobody ended is a name all the same (`word`).
_TOKEN: Final = re.compile(
    rf"{_SPACE}(?:"
    r"(?P<ident>(?![bB]?[rR]?[\"'])[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<op>==|!=|<=|>=|&&|\|\||\.(?![0-9])|[-<>\[\]{}(),!?:+*/%])"
    rf"|(?P<string>{_STRING})|(?P<bytes>[bB](?:{_STRING}))"
    r"|(?P<float>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<uint>(?:0x[0-9A-Fa-f]+|[0-9]+)[uU])"
    r"|(?P<int>0x[0-9A-Fa-f]+|[0-9]+)"
    r"|(?P<word>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<end>\Z))"
)
_SIMPLE: Final = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "`": "`", "?": "?",
}  # fmt: skip
_ESCAPED: Final = re.compile(
    r"\\(?:([xX])([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([0-3][0-7]{2})|(.))", re.S
)

_BLANK: Final = re.compile(_SPACE)
KEYWORDS: Final = frozenset({"true", "false", "null", "in"})
_OWN_KIND: Final = KEYWORDS | frozenset(["==", "!=", "<=", ">=", "&&", "||"]) | frozenset("-<>[]{}().,!?:+*/%")
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


class Token(NamedTuple):
    """One token; `kind` is a group name of the grammar, an operator's own text, a keyword, or `end`."""

    kind: str
    text: str
    offset: int


def tokens(text: str) -> list[Token]:
    """Return the tokens of `text`, the last of kind `end`.

    Raises: CompileError at the first character that begins no token.
    """
    found: list[Token] = []
    position = 0
    scan, append, new, own_kind = _TOKEN.match, found.append, tuple.__new__, _OWN_KIND
    while True:
        match = scan(text, position)
        if match is None:
            blank = _BLANK.match(text, position)
            position = position if blank is None else blank.end()
            raise CompileError(f"Syntax error: token recognition error at: '{text[position]}'", position)
        kind = match.lastgroup or ""
        start, position = match.span(kind)
        value = text[start:position]
        if value in own_kind:
            kind = value
        elif kind == "word":
            kind = "ident"
        elif kind == "end":
            append(Token("end", "<EOF>", len(text)))
            return found
        append(new(Token, (kind, value, start)))


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
        return body.encode("utf-8", "surrogatepass")
    pieces: list[bytes] = []
    last = 0
    for match in _ESCAPED.finditer(body):
        pieces.append(body[last : match.start()].encode("utf-8", "surrogatepass"))
        last = match.end()
        _, hexadecimal, short, long, octal, simple = match.groups()
        if short or long:
            raise CompileError("unable to unescape string", token.offset)
        pieces.append(
            _SIMPLE[simple].encode()
            if simple is not None
            else bytes([int(octal, 8) if octal else int(hexadecimal, 16)])
        )
    pieces.append(body[last:].encode("utf-8", "surrogatepass"))
    return b"".join(pieces)


def _body(text: str) -> tuple[str, bool]:
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    raw = text[0] in "rR"
    if raw:
        text = text[1:]
    triple = len(text) >= 6 and text[:3] in ("'''", '"""')
    return (text[3:-3] if triple else text[1:-1]), raw
