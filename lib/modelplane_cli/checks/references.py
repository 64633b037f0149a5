"""References of our kinds that no function can check: Secrets, which are referenced and never read.

A Secret that is not among the documents may well be on the control plane, so its absence is a note and not a mistake.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane_cli.simulator.offline import World
from modelplane_cli.simulator.store import Key

Json: TypeAlias = Any
Steps: TypeAlias = tuple[str, ...]

# Kind, path to the reference ("*" is every item of a list), and what the Secret is for.
_SECRETS: tuple[tuple[str, Steps, str], ...] = (
    ("InferenceCluster", ("spec", "cluster", "existing", "secretRef"), "the kubeconfig of the cluster"),
    ("InferenceGateway", ("spec", "gateway", "tls", "certificateRefs", "*"), "the certificate of the gateway"),
    ("ModelEndpoint", ("spec", "auth", "secretRef"), "the credential of the endpoint"),
    ("ModelService", ("spec", "auth", "apiKeys", "secretRef"), "the keys of its callers"),
)


@dataclass(frozen=True, slots=True)
class Missing:
    """A Secret that `about` refers to and that is not among the documents, or lacks the key."""

    about: Key
    secret: Key
    key: str
    purpose: str
    exists: bool

    def __str__(self) -> str:
        """Return one line that says what is missing and what it is for."""
        what = f"has no key {self.key!r}" if self.exists else "is not among the documents"
        key = f" (key {self.key})" if self.key and not self.exists else ""
        return f"{self.secret}{key} {what}; {self.about} needs it on the control plane for {self.purpose}"


def missing_secrets(world: World) -> list[Missing]:
    """Return the Secrets that are referred to and not given, sorted by who refers to them."""
    return list(dict.fromkeys(_missing(world)))


def _missing(world: World) -> Iterator[Missing]:
    for about in world.composites():
        resource = world.store.get(about) or {}
        for kind, steps, purpose in _SECRETS:
            if about.kind != kind:
                continue
            for reference in _at(resource, steps):
                if isinstance(reference, Mapping) and reference.get("name"):
                    yield from _check(world, about, reference, purpose)


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


def _at(value: Json, steps: Steps) -> Iterator[Json]:
    if not steps:
        yield value
    elif steps[0] == "*":
        for item in value if isinstance(value, list) else ():
            yield from _at(item, steps[1:])
    elif isinstance(value, Mapping) and steps[0] in value:
        yield from _at(value[steps[0]], steps[1:])
