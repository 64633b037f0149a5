"""Operators and conversions of the standard library.

Source: common/stdlib and common/types of cel-go v0.26.0.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from kubecel.functions import times
from kubecel.run import comparison
from kubecel.values import runtime
from kubecel.values.errors import Err, no_such_overload
from kubecel.values.runtime import (
    INT_MAX,
    INT_MIN,
    UINT_MAX,
    Duration,
    MutableList,
    Opaque,
    Timestamp,
    TypeValue,
    Uint,
    Value,
)

_WHOLE: Final = re.compile("[+-]?[0-9]+")
_DIGITS: Final = re.compile("[0-9]+")
# what Go's ParseFloat takes, and Python's float() does not, are hexadecimal floats
_DIGITS_APART: Final = "[0-9](?:_?[0-9])*"
_FLOAT: Final = re.compile(
    rf"nan|[+-]?(?:inf(?:inity)?|(?:{_DIGITS_APART}(?:\.(?:{_DIGITS_APART})?)?|\.{_DIGITS_APART})(?:e[+-]?{_DIGITS_APART})?)",
    re.IGNORECASE,
)
_HEX_APART: Final = "[0-9a-f](?:_?[0-9a-f])*"
_HEX_FLOAT: Final = re.compile(
    rf"[+-]?0x(?:_?{_HEX_APART}(?:\.(?:{_HEX_APART})?)?|\.{_HEX_APART})p[+-]?{_DIGITS_APART}", re.IGNORECASE
)


def _int(value: int) -> Value:
    return value if INT_MIN <= value <= INT_MAX else Err("integer overflow")


def _uint(value: int) -> Value:
    return Uint(value) if 0 <= value <= UINT_MAX else Err("unsigned integer overflow")


def _mismatch(other: Value) -> Err:
    return other if type(other) is Err else no_such_overload()


def add(left: Value, right: Value) -> Value:
    """Return `left + right`."""
    kind = type(left)
    if kind is MutableList and runtime.is_list(right):
        left.extend(right)
        return left
    if runtime.is_list(left) and runtime.is_list(right):
        return [*left, *right]
    if kind in (Duration, Timestamp):
        return times.add(left, right)
    if kind is not type(right):
        return _mismatch(right)
    if kind is int:
        return _int(left + right)
    if kind is Uint:
        return _uint(int(left) + int(right))
    if kind in (float, str, bytes):
        return left + right
    return no_such_overload()


def subtract(left: Value, right: Value) -> Value:
    """Return `left - right`."""
    kind = type(left)
    if kind in (Duration, Timestamp):
        return times.subtract(left, right)
    if kind is not type(right):
        return _mismatch(right)
    if kind is int:
        return _int(left - right)
    if kind is Uint:
        return _uint(int(left) - int(right))
    return left - right if kind is float else no_such_overload()


def multiply(left: Value, right: Value) -> Value:
    """Return `left * right`."""
    kind = type(left)
    if kind is not type(right):
        return _mismatch(right)
    if kind is int:
        return _int(left * right)
    if kind is Uint:
        return _uint(int(left) * int(right))
    return left * right if kind is float else no_such_overload()


def divide(left: Value, right: Value) -> Value:
    """Return `left / right`, truncated towards zero for whole numbers."""
    kind = type(left)
    if kind is not type(right):
        return _mismatch(right)
    if kind is float:
        return _divide_floats(left, right)
    if kind not in (int, Uint):
        return no_such_overload()
    if right == 0:
        return Err("division by zero")
    quotient = abs(int(left)) // abs(int(right))
    return _int(quotient if (left < 0) == (right < 0) else -quotient) if kind is int else Uint(quotient)


def _divide_floats(left: float, right: float) -> float:
    if right != 0:
        return left / right
    if left == 0 or math.isnan(left):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def modulo(left: Value, right: Value) -> Value:
    """Return `left % right` with the sign of `left`."""
    kind = type(left)
    if kind not in (int, Uint) or kind is not type(right):
        return _mismatch(right)
    if right == 0:
        return Err("modulus by zero")
    if kind is int and left == INT_MIN and right == -1:
        return Err("integer overflow")
    rest = abs(int(left)) % abs(int(right))
    return (-rest if left < 0 else rest) if kind is int else Uint(rest)


def negate(value: Value) -> Value:
    """Return `-value`."""
    kind = type(value)
    if kind is int:
        return _int(-value)
    if kind is float:
        return -value
    return Duration(-value.nanoseconds) if kind is Duration else no_such_overload()


def _not(value: Value) -> Value:
    return not value if type(value) is bool else _mismatch(value)


def _ordered(holds: Callable[[int], bool]) -> Callable[[Value, Value], Value]:
    def relation(left: Value, right: Value) -> Value:
        if not comparison.is_comparable(left):
            return no_such_overload()
        order = comparison.compare(left, right)
        return order if isinstance(order, Err) else holds(order)

    return relation


def _in(value: Value, container: Value) -> Value:
    return comparison.contains(container, value)


def _size(value: Value) -> Value:
    size = runtime.size_of(value)
    return no_such_overload() if size is None or type(value) is Opaque else size


def _not_strictly_false(value: Value) -> Value:
    return value if type(value) is bool else True


# --- conversions


def failed(value: Value, wanted: str) -> Err:
    """Return the error of a conversion that is not possible."""
    return Err(f"type conversion error from '{runtime.type_name(value)}' to '{wanted}'")


def whole(text: str) -> int | None:
    """Return the number that a sign and digits write, None for one far beyond 64 bits."""
    digits = text.lstrip("+-").lstrip("0")
    if len(digits) > _DIGITS_MAX:
        return None
    return -int(digits or "0") if text.startswith("-") else int(digits or "0")


_DIGITS_MAX: Final = 20


def to_int(value: Value) -> Value:
    """Return `int(value)`."""
    kind = type(value)
    if kind is int:
        return value
    if kind is Uint:
        return _int(int(value))
    if kind is float:
        # as in the original, the largest doubles below 2**63 are refused too
        return int(value) if -9.223372036854775808e18 < value < 9.223372036854775808e18 else Err("integer overflow")
    if kind is str:
        number = whole(value) if _WHOLE.fullmatch(value) else None
        return failed(value, "int") if number is None or not INT_MIN <= number <= INT_MAX else number
    if kind is Duration:
        return value.nanoseconds
    return value.nanoseconds // 10**9 if kind is Timestamp else no_such_overload()


def to_uint(value: Value) -> Value:
    """Return `uint(value)`."""
    kind = type(value)
    if kind is Uint:
        return value
    if kind is int:
        return _uint(value)
    if kind is float:
        return Uint(int(value)) if 0 <= value < 18446744073709551616.0 else Err("unsigned integer overflow")
    if kind is str:
        number = whole(value) if _DIGITS.fullmatch(value) else None
        return failed(value, "uint") if number is None or number > UINT_MAX else Uint(number)
    return no_such_overload()


def to_double(value: Value) -> Value:
    """Return `double(value)`."""
    kind = type(value)
    if kind in (float, int, Uint):
        return float(value)
    if kind is not str:
        return no_such_overload()
    if _HEX_FLOAT.fullmatch(value):
        try:
            number = float.fromhex(value.replace("_", ""))
        except OverflowError:
            number = math.inf
    elif _FLOAT.fullmatch(value):
        number = float(value)
    else:
        return failed(value, "double")
    overflowed = math.isinf(number) and "i" not in value.lower()
    return failed(value, "double") if overflowed else number


def to_bool(value: Value) -> Value:
    """Return `bool(value)`."""
    if type(value) is bool:
        return value
    if type(value) is not str:
        return no_such_overload()
    known = _BOOLS.get(value)
    return failed(value, "bool") if known is None else known


_BOOLS: Final[Mapping[str, bool]] = {
    **dict.fromkeys(("1", "t", "T", "true", "TRUE", "True"), True),
    **dict.fromkeys(("0", "f", "F", "false", "FALSE", "False"), False),
}


def to_bytes(value: Value) -> Value:
    """Return `bytes(value)`."""
    if type(value) is bytes:
        return value
    return value.encode("utf-8", "surrogatepass") if type(value) is str else no_such_overload()


def to_string(value: Value) -> Value:
    """Return `string(value)`."""
    kind = type(value)
    if kind is str:
        return value
    if kind is bool:
        return "true" if value else "false"
    if kind in (int, Uint):
        return str(int(value))
    if kind is float:
        return general(value)
    if kind is bytes:
        try:
            return value.decode()
        except UnicodeDecodeError:
            return Err("invalid UTF-8 in bytes, cannot convert to string")
    if kind in (Duration, Timestamp):
        return times.text_of(value)
    return str(value.value) if kind is Opaque and value.type_name in ("net.IP", "net.CIDR") else no_such_overload()


def general(value: float) -> str:
    """Return a double the way Go's `%g` writes it."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    digits, exponent = shortest(value)
    sign = "-" if math.copysign(1.0, value) < 0 else ""
    if -4 <= exponent - 1 < 6:
        return sign + plain(digits, exponent)
    tail = f".{digits[1:]}" if len(digits) > 1 else ""
    power = exponent - 1
    return f"{sign}{digits[0]}{tail}e{'-' if power < 0 else '+'}{abs(power):02d}"


def shortest(value: float) -> tuple[str, int]:
    """Return the fewest digits that read back as `value`, and where the point is among them."""
    mantissa, _, power = f"{abs(value)!r}".partition("e")
    whole, _, part = mantissa.partition(".")
    digits = (whole + part).lstrip("0")
    exponent = len(whole) + int(power or 0) - (len(whole + part) - len(digits) if whole.strip("0") == "" else 0)
    digits = digits.rstrip("0")
    return (digits or "0", exponent if digits else 1)


def plain(digits: str, exponent: int) -> str:
    """Return digits with the point put in, no exponent."""
    if exponent <= 0:
        return "0." + "0" * -exponent + digits
    if len(digits) <= exponent:
        return digits + "0" * (exponent - len(digits))
    return f"{digits[:exponent]}.{digits[exponent:]}"


def to_type(value: Value) -> Value:
    """Return `type(value)`."""
    return TypeValue(runtime.type_name(value))


FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "_+_": add,
    "_-_": subtract,
    "_*_": multiply,
    "_/_": divide,
    "_%_": modulo,
    "-_": negate,
    "!_": _not,
    "_<_": _ordered(lambda order: order < 0),
    "_<=_": _ordered(lambda order: order <= 0),
    "_>_": _ordered(lambda order: order > 0),
    "_>=_": _ordered(lambda order: order >= 0),
    "@in": _in,
    "@not_strictly_false": _not_strictly_false,
    "size": _size,
    "int": to_int,
    "uint": to_uint,
    "double": to_double,
    "bool": to_bool,
    "bytes": to_bytes,
    "string": to_string,
    "type": to_type,
    "dyn": lambda value: value,
    "duration": times.to_duration,
    "timestamp": times.to_timestamp,
}
