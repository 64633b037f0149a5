"""Kubernetes quantities, exact.

Source: k8s.io/apimachinery v0.36.2, pkg/api/resource. A quantity there lives in one of two internal forms, a 64-bit
mantissa with a decimal scale ("small") or an unbounded decimal ("big"). The form is visible: `is_integer` and
`as_integer` depend on it, and a comparison with a big quantity turns a small one big. Both forms are modelled here. A
value never changes; callers that need the mutation use `promoted()`.

Known divergence: an exponent beyond +-2048 is refused. Kubernetes accepts it, and may then compute for hours.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from enum import Enum
from functools import total_ordering
from typing import Final

from kubecel.errors import InvalidQuantity

_INT64_MAX: Final = (1 << 63) - 1
_INT64_MIN: Final = -(1 << 63)
_NANO: Final = -9
_SMALL_DIGITS: Final = 18
_EXPONENT_LIMIT: Final = 2048
_DIGITS_LIMIT: Final = 2000


class Format(Enum):
    """The notation in which a quantity is written back."""

    DECIMAL_SI = "DecimalSI"
    BINARY_SI = "BinarySI"
    DECIMAL_EXPONENT = "DecimalExponent"


_DECIMAL_SUFFIXES: Final = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY_SUFFIXES: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_NAMES: Final = {exponent: name for name, exponent in _DECIMAL_SUFFIXES.items()}
_BINARY_NAMES: Final = {exponent: name for name, exponent in _BINARY_SUFFIXES.items()} | {0: ""}

# Sign, digits, an optional point with digits, letters of any suffix, and the digits of an exponent. Without
# digits before the point or the suffix the number is 0 (small form) or not a number (big form), as in the
# original. Digits are ASCII.
_GRAMMAR: Final = re.compile(
    r"(?P<value>(?P<sign>[+-]?)0*(?P<whole>[0-9]*)(?:\.(?P<part>[0-9]*))?)(?P<suffix>[eEinumkKMGTP]*[+-]?[0-9]*)"
)
# A sign and zeros only end the scan of the original before it looks for anything else.
_ZEROS: Final = re.compile(r"[+-]?0*")

FORMAT_ERROR: Final = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
NUMBER_ERROR: Final = "unable to parse numeric part of quantity"
SUFFIX_ERROR: Final = "unable to parse quantity's suffix"


@total_ordering
@dataclass(frozen=True, slots=True, eq=False)
class Quantity:
    """An exact quantity: `unscaled * 10 ** exponent`, in the small or the big form.

    Equality, order and hash are by value: `1Gi == 1024Mi`.
    """

    unscaled: int
    exponent: int = 0
    format: Format = Format.DECIMAL_SI
    big: bool = False
    text: str = ""

    @classmethod
    def of(cls, value: int, format: Format = Format.DECIMAL_SI) -> Quantity:  # noqa: A002 - the field's own name
        """Return the quantity of a whole number, small when it fits 64 bits."""
        return cls(value, 0, format, not _INT64_MIN <= value <= _INT64_MAX)

    def promoted(self) -> Quantity:
        """Return the same value in the big form."""
        return self if self.big else Quantity(self.unscaled, self.exponent, self.format, big=True, text=self.text)

    def compare(self, other: Quantity) -> int:
        """Return -1, 0 or 1."""
        left, right = _aligned(self, other)
        return (left > right) - (left < right)

    def add(self, other: Quantity) -> Quantity:
        """Return the sum. Zero takes the format of the other side."""
        return self._plus(other, negate=False)

    def sub(self, other: Quantity) -> Quantity:
        """Return the difference. Zero takes the format of the other side."""
        return self._plus(other, negate=True)

    def _plus(self, other: Quantity, *, negate: bool) -> Quantity:
        form = other.format if self.unscaled == 0 else self.format
        if not self.big and not other.big:
            small = _small_sum(self, other, -1 if negate else 1)
            if small is not None:
                return Quantity(small[0], small[1], form)
        exponent = min(self.exponent, other.exponent)
        left, right = _aligned(self, other)
        return Quantity(left - right if negate else left + right, exponent, form, big=True)

    @property
    def sign(self) -> int:
        """The sign of the value: -1, 0 or 1."""
        return (self.unscaled > 0) - (self.unscaled < 0)

    @property
    def is_integer(self) -> bool:
        """True when `as_integer` returns a value. The big form never does, whatever its value."""
        return self._small_integer() is not None

    def as_integer(self) -> int:
        """Return the value as a 64-bit integer.

        Raises: InvalidQuantity when `is_integer` is false.
        """
        value = self._small_integer()
        if value is None:
            raise InvalidQuantity("cannot convert value to integer")
        return value

    def _small_integer(self) -> int | None:
        if self.big or self.exponent < 0:
            return None
        value: int = self.unscaled * 10**self.exponent
        return value if _INT64_MIN <= value <= _INT64_MAX else None

    def as_approximate_float(self) -> float:
        """Return the nearest double of the mantissa times the double of the power of ten."""
        base = _float(self.unscaled)
        return base if self.exponent == 0 else base * _power_of_ten(self.exponent)

    def ceil(self) -> int:
        """Return the exact value rounded up to an integer, in either form, as a node counts it."""
        if self.exponent >= 0:
            value: int = self.unscaled * 10**self.exponent
            return value
        divisor: int = 10**-self.exponent
        return -(-self.unscaled // divisor)

    def canonical(self) -> str:
        """Return the text that Kubernetes writes. A text that Kubernetes would keep is returned as it was written."""
        if self.text:
            return self.text
        if self.unscaled == 0:
            return "0"
        form, value = self.format, self.unscaled * 10**self.exponent if self.exponent >= 0 else None
        if value is None:
            whole, rest = divmod(self.unscaled, 10**-self.exponent)
            value = whole if rest == 0 else None
        if form is Format.BINARY_SI and (value is None or -1024 < value < 1024):
            form = Format.DECIMAL_SI
        if form is Format.BINARY_SI and value is not None:
            return _binary_text(value)
        return _decimal_text(self.unscaled, self.exponent, form)

    def __str__(self) -> str:
        return self.canonical()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantity) and self.compare(other) == 0

    def __lt__(self, other: Quantity) -> bool:
        return self.compare(other) < 0

    def __hash__(self) -> int:
        unscaled, exponent = self.unscaled, self.exponent
        while unscaled and unscaled % 10 == 0:
            unscaled, exponent = unscaled // 10, exponent + 1
        return hash((unscaled, exponent if unscaled else 0))


def parse(text: str) -> Quantity:
    """Return the quantity written as `text`.

    Raises: InvalidQuantity with the message of Kubernetes (the author's fault).
    """
    if not text:
        raise InvalidQuantity(FORMAT_ERROR)
    if _ZEROS.fullmatch(text):
        return Quantity(0, text="0" if text == "0" else "")
    match = _GRAMMAR.fullmatch(text)
    if match is None:
        raise InvalidQuantity(FORMAT_ERROR)
    base, exponent, form = _suffix(match["suffix"])
    number = _Number(match["value"], match["sign"] == "-", match["whole"] or "0", match["part"] or "")
    small = _small(number, exponent, form, text)
    return small if small is not None else _big(number, base, exponent, form)


@dataclass(frozen=True, slots=True)
class _Number:
    value: str
    negative: bool
    whole: str
    part: str


def _suffix(suffix: str) -> tuple[int, int, Format]:
    if suffix in _DECIMAL_SUFFIXES:
        return 10, _DECIMAL_SUFFIXES[suffix], Format.DECIMAL_SI
    if suffix in _BINARY_SUFFIXES:
        return 2, _BINARY_SUFFIXES[suffix], Format.BINARY_SI
    if len(suffix) > 1 and suffix[0] in "eE" and re.fullmatch("[+-]?[0-9]+", suffix[1:]):
        if len(suffix) > _DIGITS_LIMIT:
            raise InvalidQuantity(f"the exponent of the quantity is beyond +-{_EXPONENT_LIMIT}")
        exponent = int(suffix[1:])
        if abs(exponent) > _EXPONENT_LIMIT:
            raise InvalidQuantity(f"the exponent {exponent} of the quantity is beyond +-{_EXPONENT_LIMIT}")
        return 10, exponent, Format.DECIMAL_EXPONENT
    raise InvalidQuantity(SUFFIX_ERROR)


def _small(number: _Number, exponent: int, form: Format, text: str) -> Quantity | None:
    """Return the small form, or None where Kubernetes takes the big one."""
    mantissa, scale = 1, 0
    if form is not Format.BINARY_SI:
        scale = exponent
        precision = _SMALL_DIGITS - len(number.whole) - len(number.part)
    elif not number.part:
        mantissa = 1 << exponent
        precision = 15 - len(number.whole) - exponent * 3 // 10 - 1
    else:
        return None
    scale -= len(number.part)
    if precision < 0 or scale < _NANO:
        return None
    digits = number.whole + number.part
    value = int(digits)
    result = value * mantissa
    if result > _INT64_MAX:
        return None
    if form is Format.BINARY_SI:
        keep = exponent % 10 == 0 and value & 7 != 0
    else:
        keep = scale % 3 == 0 and not digits.endswith("000") and digits[0] != "0"
    return Quantity(-result if number.negative else result, scale, form, text=text if keep else "")


def _big(number: _Number, base: int, exponent: int, form: Format) -> Quantity:
    digits = number.value.lstrip("+-").replace(".", "")
    if not digits:
        raise InvalidQuantity(NUMBER_ERROR)
    if len(digits) > _DIGITS_LIMIT:
        raise InvalidQuantity(f"the quantity has {len(digits)} digits, {_DIGITS_LIMIT} are the most that is read")
    unscaled, scale = int(digits), -len(number.part)
    if base == 10:
        scale += exponent
    else:
        unscaled <<= exponent
    if unscaled:
        if scale < _NANO:
            unscaled = -(-unscaled // 10 ** (_NANO - scale))
        else:
            unscaled *= 10 ** (scale - _NANO)
        scale = _NANO
    if form is Format.BINARY_SI:
        if unscaled > _INT64_MAX * 10**-scale:
            unscaled, scale = _INT64_MAX, 0
        elif 0 < unscaled < 10**-scale:
            form = Format.DECIMAL_SI
    return Quantity(-unscaled if number.negative else unscaled, scale, form, big=True)


def _small_sum(left: Quantity, right: Quantity, sign: int) -> tuple[int, int] | None:
    """Return the mantissa and scale of the sum of two small quantities, or None when 64 bits do not hold it."""
    addend = right.unscaled * sign
    if addend > _INT64_MAX:
        addend = _INT64_MIN  # the one number whose negative 64 bits do not hold; the original wraps around
    if addend == 0:
        return left.unscaled, left.exponent
    if left.unscaled == 0:
        return addend, right.exponent
    exponent = min(left.exponent, right.exponent)
    first = left.unscaled * 10 ** (left.exponent - exponent)
    second = addend * 10 ** (right.exponent - exponent)
    total: int = first + second
    if all(_INT64_MIN <= value <= _INT64_MAX for value in (first, second, total)):
        return total, exponent
    return None


def _aligned(left: Quantity, right: Quantity) -> tuple[int, int]:
    if left.exponent == right.exponent:
        return left.unscaled, right.unscaled
    exponent = min(left.exponent, right.exponent)
    return left.unscaled * 10 ** (left.exponent - exponent), right.unscaled * 10 ** (right.exponent - exponent)


def _float(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _power_of_ten(exponent: int) -> float:
    """Return ten to a power the way Go's math.Pow10 rounds it: from two tables."""
    if exponent > 308:
        return math.inf
    if exponent < -323:
        return 0.0
    high, low = divmod(abs(exponent), 32)
    if exponent >= 0:
        return float(f"1e{high * 32}") * float(f"1e{low}")
    return float(f"1e-{high * 32}") / float(f"1e{low}")


def _decimal_text(unscaled: int, exponent: int, form: Format) -> str:
    while unscaled % 10 == 0:
        unscaled, exponent = unscaled // 10, exponent + 1
    while exponent % 3:
        unscaled, exponent = unscaled * 10, exponent - 1
    if form is not Format.DECIMAL_SI:
        return f"{unscaled}e{exponent}" if exponent else f"{unscaled}"
    # Beyond the named suffixes (1000E) the original writes none at all and so loses the magnitude; so do we, since the
    # text is compared with what the API server stores.
    return f"{unscaled}{_DECIMAL_NAMES.get(exponent, '')}"


def _binary_text(value: int) -> str:
    times = 0
    while abs(value) >= 1024 and value % 1024 == 0:
        value, times = value // 1024, times + 1
    while times > 6:
        value, times = value * 1024, times - 1
    return f"{value}{_BINARY_NAMES[times * 10]}"
