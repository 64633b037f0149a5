"""The Kubernetes version that an author asks a cloud for: a minor that the cloud completes, or one that is pinned."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from modelplane import words
from modelplane.errors import InvalidInput
from modelplane.render.provisioning import Given, PoolSpec

LEAST_MINOR_FOR_DRA = 34
"""The minor version from which resource.k8s.io/v1 is served by default. Source: Kubernetes 1.34 release notes."""

_VERSION = re.compile(r"v?1\.(0|[1-9][0-9]{0,2})(\.[0-9]+[-+.0-9A-Za-z]*)?")


@dataclass(frozen=True, slots=True)
class AskedVersion:
    """A version without a leading "v", its minor, and whether it names a patch."""

    text: str
    minor: int
    is_exact: bool


def read(field: Given) -> AskedVersion | None:
    """Return the version of a field, None if it is absent. Raises: InvalidInput for a text that is no version."""
    text = field.text("")
    if not text:
        return None
    found = _VERSION.fullmatch(text)
    if found is None:
        raise field.wrong(f"{text} is no version of Kubernetes; write a minor like 1.35, or the complete version")
    return AskedVersion(text.removeprefix("v"), int(found[1]), found[2] is not None)


def too_old(field: Given, pools: tuple[PoolSpec, ...]) -> Iterator[InvalidInput]:
    """Yield an error if pools have devices of DRA and the version does not serve them."""
    asked = read(field)
    claimed = sorted(pool.name for pool in pools if pool.drivers)
    if asked is not None and asked.minor < LEAST_MINOR_FOR_DRA and claimed:
        which = words.first(claimed, 3)
        yield field.wrong(
            f"{asked.text} does not serve resource.k8s.io/v1, by which devices of pool {which} are claimed; write "
            f"1.{LEAST_MINOR_FOR_DRA} or newer"
        )
