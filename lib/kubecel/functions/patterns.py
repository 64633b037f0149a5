"""Regular expressions as Go reads them: RE2 in Go's dialect.

Only this module of the engine imports the library for them. The first pattern loads it.
"""

from __future__ import annotations

import re
from typing import Any, Final

from kubecel import caches
from kubecel.functions.strings import Pattern
from kubecel.values.errors import Err


class _Re2:
    __slots__ = ("_compiled",)

    def __init__(self, compiled: Any) -> None:
        self._compiled = compiled

    @property
    def instructions(self) -> int:
        """The size of the compiled pattern."""
        size: int = self._compiled.programsize
        return size

    def test(self, text: str) -> bool:
        return self._compiled.search(_encodable(text)) is not None

    def find_all(self, text: str, limit: int) -> list[str]:
        """Return the matches as Go finds them: an empty match right after another does not count."""
        found: list[str] = []
        text = _encodable(text)
        position, previous = 0, -1
        while position <= len(text) and (limit < 0 or len(found) < limit):
            match = self._compiled.search(text, position)
            if match is None:
                break
            start, end = match.span()
            if end > start or start != previous:
                found.append(match.group())
            previous = end
            position = end if end > start else end + 1
        return found


_ESCAPES: Final = re.compile(r"\\Q.*?(?:\\E|$)|\\.", re.DOTALL)


def _encodable(text: str) -> str:
    """Return the text as Kubernetes reads it from JSON: a half of a surrogate pair is no character there."""
    return text if text.isascii() else _HALVES.sub("\ufffd", text)


_HALVES: Final = re.compile("[\ud800-\udfff]")


# Go takes patterns that need more than the 8 MiB that RE2 allows by itself; few of those are kept.
_PATTERN_BYTES_MAX: Final = 32 << 20
_SMALL_PATTERN: Final = 2_000
_LARGE: Final = Err("a large pattern is kept apart")


def compile(pattern: str) -> Pattern | Err:  # noqa: A001 - the verb of the domain, as for selectors
    """Return the compiled pattern, or the error of Go."""
    found = _small_pattern(pattern)
    return _large_pattern(pattern) if found is _LARGE else found


@caches.kept(1024)
def _small_pattern(pattern: str) -> Pattern | Err:
    """Return the compiled pattern, an error, or `_LARGE` for one of so many instructions that few may be kept."""
    found = _compiled_pattern(pattern)
    if not isinstance(found, _Re2) or found.instructions <= _SMALL_PATTERN:
        return found
    import re2  # noqa: PLC0415 - a C++ library: loaded by the first pattern

    re2.purge()  # the library keeps the last patterns too, and asks for no size
    return _LARGE


@caches.kept(8)
def _large_pattern(pattern: str) -> Pattern | Err:
    return _compiled_pattern(pattern)


def _compiled_pattern(pattern: str) -> _Re2 | Err:
    import re2  # noqa: PLC0415 - a C++ library: loaded by the first pattern

    if any(escape == r"\C" for escape in _ESCAPES.findall(pattern)):
        # RE2 has it, Go's dialect of RE2 has not
        return Err(r"error parsing regexp: invalid escape sequence: `\C`")
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _PATTERN_BYTES_MAX
    try:
        return _Re2(re2.compile(_encodable(pattern), options))
    except re2.error as error:
        text = error.args[0]
        return Err(f"error parsing regexp: {text.decode() if isinstance(text, bytes) else text}")
