"""References to Secrets, which functions never read and cannot check.

A Secret that is not among the documents may exist on the control plane. Its absence is therefore a note and no error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane.api import kinds
from modelplane_cli.simulator.offline import World
from modelplane_cli.simulator.store import Key

Json: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class Missing:
    """A Secret that `about` refers to and that is not among the documents, or lacks the key."""

    about: Key
    secret: Key
    key: str
    purpose: str
    exists: bool

    def __str__(self) -> str:
        """Return the message about the missing Secret or key."""
        what = f"has no key {self.key!r}" if self.exists else "is not among the documents"
        key = f" (key {self.key})" if self.key and not self.exists else ""
        return f"{self.secret}{key} {what}; {self.about} needs it on the control plane for {self.purpose}"


def missing_secrets(world: World) -> list[Missing]:
    """Return the referenced Secrets that are missing, sorted by the referring object."""
    return list(dict.fromkeys(_missing(world)))


def _missing(world: World) -> Iterator[Missing]:
    for about in world.composites():
        resource = world.store.get(about) or {}
        kind = kinds.KINDS.get(about.kind)
        for use in kind.secrets if kind else ():
            for _, reference in kinds.values_at(resource, use.path):
                if isinstance(reference, Mapping) and reference.get("name"):
                    yield from _check(world, about, reference, use.purpose)


def _check(world: World, about: Key, reference: Mapping[str, Json], purpose: str) -> Iterator[Missing]:
    namespace = str(reference.get("namespace") or about.namespace or _gateway_namespace(world, about))
    secret = Key("", "Secret", namespace, str(reference["name"]))
    found = world.store.get(secret)
    key = str(reference.get("key") or "")
    if found is None:
        yield Missing(about, secret, key, purpose, exists=False)
    elif key and key not in {**(found.get("data") or {}), **(found.get("stringData") or {})}:
        yield Missing(about, secret, key, purpose, exists=True)


def _gateway_namespace(world: World, about: Key) -> str:
    spec = (world.store.get(about) or {}).get("spec") or {}
    return str((spec.get("gateway") or {}).get("namespace") or "")
