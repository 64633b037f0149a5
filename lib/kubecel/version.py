"""Semantic versions, exact as DRA compares them.

Source: Semantic Versioning 2.0.0, with the bounds of the Go library Kubernetes uses (components are 64-bit
unsigned) and the normalisation of its CEL library (k8s.io/apiserver v0.36.2).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import total_ordering
from typing import Final

from kubecel.errors import InvalidQuantity

_UINT64_MAX: Final = (1 << 64) - 1
_NUMBER: Final = re.compile("0|[1-9][0-9]*")
_WORD: Final = re.compile("[0-9A-Za-z-]+")
_DIGITS: Final = re.compile("[0-9]+")


@total_ordering
@dataclass(frozen=True, slots=True, eq=False)
class Version:
    """A version. Equality, order and hash ignore the build metadata."""

    major: int
    minor: int
    patch: int
    pre: tuple[int | str, ...] = ()
    build: tuple[str, ...] = ()

    def compare(self, other: Version) -> int:
        """Return -1, 0 or 1. Build metadata is ignored."""
        left, right = self._key(), other._key()
        return (left > right) - (left < right)

    def _key(self) -> tuple[int, int, int, int, tuple[tuple[int, int, str], ...]]:
        pre = tuple((0, part, "") if isinstance(part, int) else (1, 0, part) for part in self.pre)
        return (self.major, self.minor, self.patch, 0 if self.pre else 1, pre)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Version) and self._key() == other._key()

    def __lt__(self, other: Version) -> bool:
        return self._key() < other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __str__(self) -> str:
        pre = "-" + ".".join(str(part) for part in self.pre) if self.pre else ""
        build = "+" + ".".join(self.build) if self.build else ""
        return f"{self.major}.{self.minor}.{self.patch}{pre}{build}"


def parse(text: str, *, normalize: bool = False) -> Version:
    """Return the version written as `text`.

    `normalize` first strips one leading `v`, adds missing parts up to three, and strips leading zeros.
    Raises: InvalidQuantity, the author's fault.
    """
    if not text and not normalize:
        raise InvalidQuantity("Version string empty")
    parts = (_normalized(text) if normalize else text).split(".", 2)
    if len(parts) != 3:
        raise InvalidQuantity("No Major.Minor.Patch elements found")
    rest, plus, build = parts[2].partition("+")
    patch, minus, pre = rest.partition("-")
    return Version(
        _component("major", parts[0]),
        _component("minor", parts[1]),
        _component("patch", patch),
        tuple(_prerelease(part) for part in pre.split(".")) if minus else (),
        tuple(_build(part) for part in build.split(".")) if plus else (),
    )


def _component(name: str, text: str) -> int:
    if not _DIGITS.fullmatch(text):
        raise InvalidQuantity(f'Invalid character(s) found in {name} number "{text}"')
    if not _NUMBER.fullmatch(text):
        raise InvalidQuantity(f'{name.capitalize()} number must not contain leading zeroes "{text}"')
    return _bounded(text)


def _bounded(text: str) -> int:
    if len(text) > 20 or int(text) > _UINT64_MAX:
        raise InvalidQuantity(f'strconv.ParseUint: parsing "{text}": value out of range')
    return int(text)


def _prerelease(text: str) -> int | str:
    if not text:
        raise InvalidQuantity("Prerelease is empty")
    if _DIGITS.fullmatch(text):
        if not _NUMBER.fullmatch(text):
            raise InvalidQuantity(f'Numeric PreRelease version must not contain leading zeroes "{text}"')
        return _bounded(text)
    if not _WORD.fullmatch(text):
        raise InvalidQuantity(f'Invalid character(s) found in prerelease "{text}"')
    return text


def _build(text: str) -> str:
    if not text:
        raise InvalidQuantity("Build meta data is empty")
    if not _WORD.fullmatch(text):
        raise InvalidQuantity(f'Invalid character(s) found in build meta data "{text}"')
    return text


def _normalized(text: str) -> str:
    parts = [_without_zeros(part) for part in text.removeprefix("v").split(".", 2)]
    if len(parts) < 3 and any(sign in parts[-1] for sign in "+-"):
        raise InvalidQuantity("short version cannot contain PreRelease/Build meta data")
    return ".".join(parts + ["0"] * (3 - len(parts)))


def _without_zeros(part: str) -> str:
    if len(part) < 2:
        return part
    stripped = part.lstrip("0")
    return stripped if stripped[:1] in set("0123456789") else "0" + stripped
