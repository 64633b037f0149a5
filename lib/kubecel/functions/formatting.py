"""`text.format(arguments)`.

Source: ext/formatting.go (the version of strings 2) of cel-go v0.26.0. Known divergence: `%f` and `%e` are
localised there and follow en_US here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from kubecel.check.checker import Checked
from kubecel.functions import arithmetic
from kubecel.syntax import tree
from kubecel.syntax.errors import CompileError
from kubecel.syntax.tree import Call, ListNode, MapNode, Node
from kubecel.values import maps, runtime
from kubecel.values.errors import Err, bounded, no_such_overload
from kubecel.values.runtime import Duration, Timestamp, TypeValue, Uint, Value

_CLAUSE: Final = re.compile(r"%(?:(%)|(\.([0-9]*))?(.))", re.DOTALL)
_DEFAULT_PRECISION: Final = 6
_SPECIAL: Final = frozenset({"NaN", "Infinity", "-Infinity"})


_PRECISION_DIGITS_MAX: Final = 18


class _Bad(Exception):
    pass


def _apply(template: str, clause: Callable[[str, int | None, int], str]) -> tuple[str, int]:
    """Return the text with every clause replaced, and how many there were.

    Raises: _Bad with a reason.
    """
    pieces: list[str] = []
    position, used = 0, 0
    while True:
        start = template.find("%", position)
        if start < 0:
            return "".join(pieces) + template[position:], used
        pieces.append(template[position:start])
        match = _CLAUSE.match(template, start)
        if match is None:
            raise _Bad("unexpected end of string")
        position = match.end()
        if match[1]:
            pieces.append("%")
            continue
        precision: int | None = None
        if match[2] is not None:
            if not match[3]:
                raise _Bad("could not parse formatting clause: error while converting precision to integer")
            if len(match[3]) > _PRECISION_DIGITS_MAX:
                raise _Bad("could not parse formatting clause: error while converting precision to integer")
            precision = int(match[3])
        pieces.append(clause(match[4], precision, used))
        used += 1


def _format(template: Value, args: Value) -> Value:
    if type(template) is not str or not runtime.is_list(args):
        return no_such_overload()
    made = [0]

    def clause(letter: str, precision: int | None, index: int) -> str:
        if index >= len(args):
            raise _Bad(f"index {index} out of range")
        writer = _CLAUSES.get(letter)
        if writer is None:
            raise _Bad(f'could not parse formatting clause: unrecognized formatting clause "{letter}"')
        value = args[index]
        if runtime.is_list(value) or runtime.is_map(value):
            bounded(_parts(value, {}))
        made[0] = bounded(made[0] + (precision or 0))
        text = writer(value, precision)
        made[0] = bounded(made[0] + len(text))
        return text

    try:
        return _apply(template, clause)[0]
    except _Bad as error:
        return Err(str(error))


def _parts(value: Value, known: dict[int, int]) -> int:
    """Return how many values, and characters of texts, writing a list or map comes to.

    Cost: linear in what there is in memory, where the same list can stand in many places.
    """
    if type(value) in (str, bytes):
        return 1 + len(value)
    if not (runtime.is_list(value) or runtime.is_map(value)):
        return 1
    found = known.get(id(value))
    if found is None:
        items = value if runtime.is_list(value) else value.values()
        found = known[id(value)] = 1 + len(value) + sum(_parts(item, known) for item in items)
    return found


# --- writing


def _bad(what: str, value: Value) -> _Bad:
    return _Bad(f"error during formatting: {what}, was given {runtime.type_name(value)}")


def _string(value: Value, _precision: int | None = None) -> str:
    if runtime.is_list(value):
        return "[" + ", ".join(_nested(item) for item in value) + "]"
    if runtime.is_map(value):
        pairs = sorted((_key(maps.value_of(key)), _nested(item)) for key, item in value.items())
        return "{" + ", ".join(f"{key}:{item}" for key, item in pairs) + "}"
    if value is None:
        return "null"
    if type(value) is TypeValue:
        return value.name
    if type(value) in _TEXTUAL:
        text = arithmetic.to_string(value)
        if isinstance(text, Err):
            raise _Bad("could not convert argument to string")
        return str(text)
    raise _bad("string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations,"
               " and timestamps", value)  # fmt: skip


_TEXTUAL: Final = frozenset({int, Uint, float, bool, str, Timestamp, bytes, Duration})


def _nested(value: Value) -> str:
    """Return a value as it stands inside a list or map."""
    kind = type(value)
    if kind is str:
        return _quoted(value)
    if kind is bytes:
        return "b" + _quoted(_string(value))
    if kind is float:
        text = _grouped(value, _DEFAULT_PRECISION, grouped=False)
        return text if math.isfinite(value) else _quoted(text)
    if kind in (Timestamp, Duration):
        name = "timestamp" if kind is Timestamp else "duration"
        return f"{name}({_quoted(_string(value))})"
    if kind in (int, Uint, bool, TypeValue) or value is None or runtime.is_list(value) or runtime.is_map(value):
        return _string(value)
    raise _Bad(f"error during formatting: no formatting function for {runtime.type_name(value)}")


def _key(value: Value) -> str:
    if type(value) is str:
        return _quoted(value)
    if type(value) in (bool, int, Uint):
        return _string(value)
    raise _Bad(f"error during formatting: no formatting function for map key of type {runtime.type_name(value)}")


_GO_ESCAPES: Final = {
    7: r"\a", 8: r"\b", 12: r"\f", 10: r"\n", 13: r"\r", 9: r"\t", 11: r"\v", 92: r"\\", 34: r"\"",
}  # fmt: skip


def _quoted(text: str) -> str:
    """Return the text as Go quotes it."""
    pieces: list[str] = []
    for character in text:
        code = ord(character)
        if code in _GO_ESCAPES:
            pieces.append(_GO_ESCAPES[code])
        elif character.isprintable():
            pieces.append(character)
        elif code < 0x80:
            pieces.append(f"\\x{code:02x}")
        else:
            pieces.append(f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")
    return '"' + "".join(pieces) + '"'


def _decimal(value: Value, _precision: int | None) -> str:
    if type(value) in (int, Uint):
        return str(int(value))
    raise _bad("decimal clause can only be used on integers", value)


def _double(value: Value, what: str) -> float:
    if type(value) is float:
        return value
    if type(value) is str and value in _SPECIAL:
        return float(value)
    raise _bad(f"{what} clause can only be used on doubles", value)


def _fixed(value: Value, precision: int | None) -> str:
    number = _double(value, "fixed-point") or 0.0  # a negative zero is one without a sign here
    return _grouped(number, _DEFAULT_PRECISION if precision is None else precision, grouped=True)


def _grouped(number: float, precision: int, *, grouped: bool) -> str:
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return ("∞" if number > 0 else "-∞") if grouped else ("+Inf" if number > 0 else "-Inf")
    return f"{number:,.{precision}f}" if grouped else f"{number:.{precision}f}"


_SUPERSCRIPT: Final = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def _scientific(value: Value, precision: int | None) -> str:
    number = _double(value, "scientific") or 0.0  # a negative zero is one without a sign here
    if math.isfinite(number):
        mantissa, _, power = f"{number:.{_DEFAULT_PRECISION}e}".partition("e")
        sign = "-" if power.startswith("-") else ""
        text = f"{mantissa}×10{(sign + power[1:]).translate(_SUPERSCRIPT)}"
    else:
        text = _grouped(number, 0, grouped=True)
    # as in the original, the precision is taken for the width
    return text.rjust(_DEFAULT_PRECISION if precision is None else precision)


def _binary(value: Value, _precision: int | None) -> str:
    if type(value) is bool:
        return "1" if value else "0"
    if type(value) in (int, Uint):
        return f"{int(value):b}"
    raise _bad("only integers and bools can be formatted as binary", value)


def _octal(value: Value, _precision: int | None) -> str:
    if type(value) in (int, Uint):
        return f"{int(value):o}"
    raise _bad("octal clause can only be used on integers", value)


def _hexadecimal(*, upper: bool) -> Callable[[Value, int | None], str]:
    def write(value: Value, _precision: int | None) -> str:
        if type(value) in (int, Uint):
            text = f"{int(value):x}"
        elif type(value) is str:
            text = value.encode("utf-8", "surrogatepass").hex()
        elif type(value) is bytes:
            text = value.hex()
        else:
            raise _bad("only integers, byte buffers, and strings can be formatted as hex", value)
        return text.upper() if upper else text

    return write


_CLAUSES: Final[Mapping[str, Callable[[Value, int | None], str]]] = {
    "s": _string,
    "d": _decimal,
    "f": _fixed,
    "e": _scientific,
    "b": _binary,
    "x": _hexadecimal(upper=False),
    "X": _hexadecimal(upper=True),
    "o": _octal,
}


# --- checking


_ALLOWED: Final[Mapping[str, frozenset[str]]] = {
    "d": frozenset({"int", "uint"}),
    "f": frozenset({"double", "string"}),
    "e": frozenset({"double", "string"}),
    "b": frozenset({"int", "uint", "bool"}),
    "x": frozenset({"int", "uint", "string", "bytes"}),
    "X": frozenset({"int", "uint", "string", "bytes"}),
    "o": frozenset({"int", "uint"}),
}
_PRINTABLE: Final = frozenset(
    ["list", "map", "int", "uint", "double", "bool", "string", "timestamp", "bytes", "duration", "type", "null"]
)


def check(node: Call, args: Sequence[Node], checked: Checked) -> None:
    """Refuse a constant format string that the written arguments do not fit.

    Raises: CompileError.
    """
    target = node.target
    assert isinstance(target, tree.Literal)  # noqa: S101 - the caller looked

    def clause(letter: str, _precision: int | None, index: int) -> str:
        if index >= len(args):
            raise _Bad(f"index {index} out of range")
        if letter not in _CLAUSES:
            raise _Bad(f'could not parse formatting clause: unrecognized formatting clause "{letter}"')
        if letter == "s":
            _check_printable(args[index], checked)
        elif not _fits(args[index], _ALLOWED[letter], checked):
            raise CompileError(
                f"error during formatting: clause %{letter} was given {checked.types[args[index].id]}",
                args[index].offset,
            )
        return ""

    try:
        used = _apply(target.value, clause)[1]
    except _Bad as error:
        raise CompileError(str(error), node.offset) from error
    if len(args) > used:
        raise CompileError(
            f"too many arguments supplied to string.format (expected {used}, got {len(args)})", node.offset
        )


def _fits(node: Node, kinds: frozenset[str], checked: Checked) -> bool:
    kind = checked.types[node.id].kind
    return kind == "dyn" or kind in kinds


def _check_printable(node: Node, checked: Checked) -> None:
    if not _fits(node, _PRINTABLE, checked):
        raise CompileError(f"error during formatting: string clause was given {checked.types[node.id]}", node.offset)
    if isinstance(node, ListNode | MapNode):
        for part in tree.children(node):
            _check_printable(part, checked)


FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {"format": _format}
