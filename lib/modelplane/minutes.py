"""Times in whole minutes since 1970 (UTC), as the edge of a program hands them in, and as they are written.

Nothing here reads a clock.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_FORMAT = "%Y-%m-%dT%H:%M:00Z"
_START = datetime(1970, 1, 1, tzinfo=UTC)
_HOUR = 60


def written(minute: int) -> str:
    """Return the time as text, for example 2026-01-31T09:05:00Z."""
    return (_START + timedelta(minutes=minute)).strftime(_FORMAT)


def read(text: str) -> int | None:
    """Return the minute of a text that `written` has made, None for any other text."""
    try:
        found = datetime.strptime(text, _FORMAT).replace(tzinfo=UTC)
    except ValueError:
        return None
    return int((found - _START) // timedelta(minutes=1))


def duration(text: str) -> int | None:
    """Return the minutes of `30m` or `2h`, None for another text."""
    number, unit = text[:-1], text[-1:]
    if not number.isascii() or not number.isdecimal() or len(number) > 4 or unit not in ("m", "h"):
        return None
    return int(number) * (_HOUR if unit == "h" else 1)
