"""Durations and timestamps.

Source: common/types of cel-go v0.26.0 and the parsing and printing of Go's time package.
"""

from __future__ import annotations

import datetime
import re
import zoneinfo
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from kubecel.values.errors import Err, no_such_overload
from kubecel.values.runtime import INT_MAX, INT_MIN, Duration, Timestamp, Value

_SECOND: Final = 10**9
_UNITS: Final = {
    "ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6, "s": _SECOND, "m": 60 * _SECOND, "h": 3600 * _SECOND,
}  # fmt: skip
_DIGITS_MAX: Final = 20
_PART: Final = re.compile(r"([0-9]*)(?:(\.)([0-9]*))?([^0-9.]+)")
_STAMP: Final = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{1,2}):([0-9]{2}):([0-9]{2})(?:[.,]([0-9]+))?"
    r"(?:(Z)|([+-])([0-9]{2}):([0-9]{2}))"
)
_FIRST: Final = -62135596800
_LAST: Final = 253402300799
_EPOCH_DAY: Final = datetime.date(1970, 1, 1).toordinal()
_CYCLE_DAYS: Final = 146097  # of the 400 years after which the calendar repeats


def _duration(nanoseconds: int) -> Value:
    return Duration(nanoseconds) if INT_MIN <= nanoseconds <= INT_MAX else Err("duration overflow")


def _timestamp(nanoseconds: int, offset: int) -> Value:
    if not _FIRST <= nanoseconds // _SECOND <= _LAST:
        return Err("timestamp overflow")
    return Timestamp(nanoseconds, offset)


def add(left: Value, right: Value) -> Value:
    """Return the sum of two durations, or of a duration and a timestamp."""
    if type(left) is Timestamp:
        left, right = right, left
    if type(left) is not Duration:
        return left if type(left) is Err else no_such_overload()
    if type(right) is Duration:
        return _duration(left.nanoseconds + right.nanoseconds)
    if type(right) is Timestamp:
        return _timestamp(left.nanoseconds + right.nanoseconds, right.offset)
    return right if type(right) is Err else no_such_overload()


def subtract(left: Value, right: Value) -> Value:
    """Return the difference of durations, of timestamps, or of a timestamp and a duration."""
    if type(left) is type(right):
        return _duration(left.nanoseconds - right.nanoseconds)
    if type(left) is Timestamp and type(right) is Duration:
        return _timestamp(left.nanoseconds - right.nanoseconds, left.offset)
    return right if type(right) is Err else no_such_overload()


def to_duration(value: Value) -> Value:
    """Return `duration(value)`: text, nanoseconds, or a duration."""
    if type(value) is Duration:
        return value
    if type(value) is not str:
        return (
            no_such_overload()
            if type(value) is not int
            else Err("type conversion error from 'int' to 'google.protobuf.Duration'")
        )
    parsed = _parsed_duration(value)
    if parsed is None:
        return Err("type conversion error from 'string' to 'google.protobuf.Duration'")
    return Duration(parsed)


def _parsed_duration(text: str) -> int | None:
    negative = text.startswith("-")
    body = text[1:] if text[:1] in ("-", "+") else text
    if body == "0":
        return 0
    total, position = 0, 0
    while position < len(body):
        match = _PART.match(body, position)
        if match is None:
            return None
        whole, _, part, unit = match.groups()
        if unit not in _UNITS or not (whole or part):
            return None
        if len(whole.lstrip("0")) > _DIGITS_MAX:
            return None
        total += int(whole.lstrip("0") or "0") * _UNITS[unit]
        if part:
            total += int(_fraction(part, _UNITS[unit]))
        if total > 1 << 63:
            return None
        position = match.end()
    if not body or (total > INT_MAX and not (negative and total == 1 << 63)):
        return None
    return -total if negative else total


def _fraction(digits: str, unit: int) -> float:
    """Return the nanoseconds of a fraction, rounded as Go does: digits beyond 64 bits are dropped."""
    value, scale = 0, 1.0
    for digit in digits:
        following = value * 10 + int(digit)
        if following > 1 << 63:
            break
        value, scale = following, scale * 10
    return float(value) * (float(unit) / scale)


def to_timestamp(value: Value) -> Value:
    """Return `timestamp(value)`: RFC 3339 text, seconds since 1970, or a timestamp."""
    if type(value) is Timestamp:
        return value
    if type(value) is int:
        return _timestamp(value * _SECOND, 0)
    if type(value) is not str:
        return no_such_overload()
    parsed = _parsed_timestamp(value)
    if parsed is None:
        return Err("type conversion error from 'string' to 'google.protobuf.Timestamp'")
    return _timestamp(parsed[0], parsed[1])


def _parsed_timestamp(text: str) -> tuple[int, int] | None:
    match = _STAMP.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    fraction, _utc, sign, offset_hour, offset_minute = match.groups()[6:]
    days = _days(year, month, day)
    if days is None or hour > 23 or minute > 59 or second > 59:
        return None
    offset = 0
    if sign:
        if int(offset_hour) > 24 or int(offset_minute) > 60:
            return None
        offset = int(offset_hour) * 3600 + int(offset_minute) * 60
        offset = -offset if sign == "-" else offset
    seconds = days * 86400 + hour * 3600 + minute * 60 + second - offset
    return seconds * _SECOND + int((fraction or "0")[:9].ljust(9, "0")), offset


@dataclass(frozen=True, slots=True)
class _Local:
    """A date and a time of day. An offset may move the year beyond 9999."""

    year: int
    month: int
    day: int
    second: int

    @classmethod
    def at(cls, stamp: Timestamp, offset: int) -> _Local:
        """Return the date and time of a point in time, `offset` seconds east of UTC."""
        days, second = divmod(stamp.nanoseconds // _SECOND + offset, 86400)
        cycles, ordinal = divmod(days + _EPOCH_DAY - 1, _CYCLE_DAYS)
        date = datetime.date.fromordinal(ordinal + 1)
        return cls(date.year + 400 * cycles, date.month, date.day, second)

    def within_cycle(self) -> datetime.date:
        """Return the same day in the cycle of 400 years that Python's calendar has."""
        return datetime.date((self.year - 1) % 400 + 1, self.month, self.day)


def _days(year: int, month: int, day: int) -> int | None:
    """Return the days since 1970 of a date, None if the date does not exist."""
    try:
        return datetime.date(year or 400, month, day).toordinal() - _EPOCH_DAY - (0 if year else _CYCLE_DAYS)
    except ValueError:
        return None


def text_of(value: Duration | Timestamp) -> str:
    """Return `string(value)`."""
    if isinstance(value, Duration):
        return seconds_text(value.nanoseconds) + "s"
    local = _Local.at(value, value.offset)
    minutes, second = divmod(local.second, 60)
    hour, minute = divmod(minutes, 60)
    text = f"{local.year:04d}-{local.month:02d}-{local.day:02d}T{hour:02d}:{minute:02d}:{second:02d}"
    fraction = f"{value.nanoseconds % _SECOND:09d}".rstrip("0")
    zone = "Z"
    if value.offset:
        minutes = abs(value.offset) // 60
        zone = f"{'-' if value.offset < 0 else '+'}{minutes // 60:02d}:{minutes % 60:02d}"
    return f"{text}{'.' + fraction if fraction else ''}{zone}"


def seconds_text(nanoseconds: int) -> str:
    """Return seconds in the fewest digits, without an exponent."""
    whole, rest = divmod(abs(nanoseconds), _SECOND)
    seconds = float(whole) + float(rest) / 1e9
    text = f"{seconds!r}"
    if "e" in text:
        text = f"{seconds:.20f}".rstrip("0") if seconds < 1 else f"{seconds:.0f}"
    return ("-" if nanoseconds < 0 else "") + text.removesuffix(".0").rstrip(".")


# --- parts


def _offset(stamp: Timestamp, zone: Value) -> int | Err:
    """Return the offset from UTC in seconds of a zone's name or `+hh:mm`."""
    if type(zone) is not str:
        return no_such_overload()
    hours, colon, minutes = zone.partition(":")
    if colon:
        return _written_offset(zone, hours, minutes)
    if zone in ("", "UTC", "Local"):
        return 0
    try:
        info = zoneinfo.ZoneInfo(zone)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return Err(f"unknown time zone {zone}")
    seconds = min(max(stamp.nanoseconds // _SECOND, _FIRST_LOCAL), _LAST_LOCAL)
    moment = datetime.datetime.fromtimestamp(seconds, tz=info)
    delta = moment.utcoffset()
    return 0 if delta is None else int(delta.total_seconds())


# No zone changes within a day of the first and the last date there is, beyond which the time there has no date.
_FIRST_LOCAL: Final = -62135596800 + 86400
_LAST_LOCAL: Final = 253402300799 - 86400


def _written_offset(zone: str, hours: str, minutes: str) -> int | Err:
    """Return the seconds of `hh:mm`; beyond 64 bits they wrap around as the original's do."""
    parts: list[int] = []
    for text in (hours, minutes):
        digits = text.lstrip("+-").lstrip("0")
        if not re.fullmatch("[+-]?[0-9]+", text) or len(digits) > _DIGITS_MAX:
            return Err(f'strconv.Atoi: parsing "{zone}": invalid syntax')
        parts.append(-int(digits or "0") if text.startswith("-") else int(digits or "0"))
        if not -_TWO_63 <= parts[-1] < _TWO_63:
            return Err(f'strconv.Atoi: parsing "{zone}": value out of range')
    total = parts[0] * 60 + (-parts[1] if zone.startswith("-") else parts[1])
    nanoseconds = _wrapped(_wrapped(total) * 60 * _SECOND)
    return -(-nanoseconds // _SECOND) if nanoseconds < 0 else nanoseconds // _SECOND


_TWO_63: Final = 1 << 63


def _wrapped(value: int) -> int:
    return (value + _TWO_63) % (1 << 64) - _TWO_63


def _part(read: Callable[[_Local, int], int], of_duration: Callable[[int], int] | None = None) -> Any:
    def part(value: Value, *zone: Value) -> Value:
        if type(value) is Duration and of_duration is not None and not zone:
            return of_duration(value.nanoseconds)
        if type(value) is not Timestamp:
            return no_such_overload()
        # without a zone the parts are those of UTC
        offset = _offset(value, zone[0]) if zone else 0
        if isinstance(offset, Err):
            return offset
        return read(_Local.at(value, offset), value.nanoseconds % _SECOND)

    return part


def _truncated(unit: int) -> Callable[[int], int]:
    return lambda nanoseconds: -(-nanoseconds // unit) if nanoseconds < 0 else nanoseconds // unit


FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "getFullYear": _part(lambda local, _: local.year),
    "getMonth": _part(lambda local, _: local.month - 1),
    "getDayOfYear": _part(lambda local, _: local.within_cycle().timetuple().tm_yday - 1),
    "getDayOfMonth": _part(lambda local, _: local.day - 1),
    "getDate": _part(lambda local, _: local.day),
    "getDayOfWeek": _part(lambda local, _: local.within_cycle().isoweekday() % 7),
    "getHours": _part(lambda local, _: local.second // 3600, _truncated(3600 * _SECOND)),
    "getMinutes": _part(lambda local, _: local.second // 60 % 60, _truncated(60 * _SECOND)),
    "getSeconds": _part(lambda local, _: local.second % 60, _truncated(_SECOND)),
    "getMilliseconds": _part(lambda _, rest: rest // 10**6, _truncated(10**6)),
}
