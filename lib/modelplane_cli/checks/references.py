"""References to Secrets, which functions never read and cannot check.

A Secret that is not among the documents may exist on the control plane. Its absence is therefore a note and no error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane.api import kinds
from modelplane_cli.documents.yamltext import Path
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


@dataclass(frozen=True, slots=True)
class Use:
    """A reference to a Secret at `path`, and to a `key` of it; an empty key is none in particular."""

    path: Path
    secret: Key
    key: str
    purpose: str

    def is_lacking(self, secret: Mapping[str, Json]) -> bool:
        """Return whether the Secret lacks the key."""
        return bool(self.key) and self.key not in {**(secret.get("data") or {}), **(secret.get("stringData") or {})}


def missing_secrets(world: World) -> list[Missing]:
    """Return the referenced Secrets that are missing, sorted by the referring object."""
    return list(dict.fromkeys(_missing(world)))


def _missing(world: World) -> Iterator[Missing]:
    for about in world.composites():
        for use in uses(about, world.store.get(about) or {}):
            found = world.store.get(use.secret)
            if found is None:
                yield Missing(about, use.secret, use.key, use.purpose, exists=False)
            elif use.is_lacking(found):
                yield Missing(about, use.secret, use.key, use.purpose, exists=True)


def uses(about: Key, resource: Mapping[str, Json]) -> Iterator[Use]:
    """Yield the references of an object of this API to Secrets."""
    kind = kinds.KINDS.get(about.kind)
    for use in kind.secrets if kind else ():
        for path, reference in kinds.values_at(resource, use.path):
            if isinstance(reference, Mapping) and reference.get("name"):
                namespace = str(reference.get("namespace") or about.namespace or _gateway_namespace(resource))
                secret = Key("", "Secret", namespace, str(reference["name"]))
                yield Use(path, secret, str(reference.get("key") or ""), use.purpose)


def _gateway_namespace(resource: Mapping[str, Json]) -> str:
    return str(((resource.get("spec") or {}).get("gateway") or {}).get("namespace") or "")
