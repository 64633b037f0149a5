"""Needs of a cluster: the components without which what it offers cannot run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from modelplane.errors import InvalidInput
from modelplane.placement.snapshot import ANY_BACKEND
from modelplane.render.backends.llmd import images
from modelplane.render.backends.selection import BACKENDS
from modelplane.render.stack import profile
from modelplane.workload.stack import Component, Mode

_VERSION = re.compile(r"v?[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?")
_GANGS = ("gateway", "leaderWorkerSet")

OF_BACKENDS: Mapping[str, tuple[str, ...]] = {
    "KServe": ("certManager", *_GANGS, "kserve"),
    "LLMD": _GANGS,
    "Native": _GANGS,
}
"""The components that a backend needs. Every other one needs the gateway, and its own operator."""

_NO_SCHEDULER = "None"


def of(
    backends: Sequence[str],
    drivers: Iterable[str],
    scheduler: str,
    *,
    has_monitors: bool,
    has_certificates: bool = False,
) -> tuple[Component, ...]:
    """Return the components that a cluster needs, by name.

    `drivers` are those of the devices of its classes that are claimed by DRA. A gateway that `has_certificates` needs
    whoever issues them.
    """
    offered = tuple(OF_BACKENDS) if ANY_BACKEND in backends else tuple(backends)
    needed = {name for backend in offered for name in OF_BACKENDS.get(backend, ("gateway",))}
    variants: dict[str, tuple[str, ...]] = {}
    operators = tuple(sorted(name for name in offered if name in BACKENDS and name not in OF_BACKENDS))
    if operators:
        variants[profile.OPERATOR] = operators
    if listed := tuple(sorted(set(drivers))):
        variants["dra"] = listed
    if scheduler != _NO_SCHEDULER:
        variants["queue"] = (scheduler,)
    if has_monitors:
        needed.add("metrics")
    if has_certificates:
        needed.add("certManager")
    return tuple(Component(name, variants=variants.get(name, ())) for name in sorted(needed | variants.keys()))


def decided(
    needed: Iterable[Component],
    standing: Iterable[Component],
    modes: Mapping[str, Mode],
    versions: Mapping[str, str],
) -> tuple[Component, ...]:
    """Return the components with what the author says of them.

    What a cluster needed before (`standing`) it still needs, so that a class which is missing for a moment removes
    nothing. A variant that nothing is known to install is only looked for, and goes with whoever named it, as a driver
    that was mistyped in a class. What its author says is managed is needed too.
    """
    found = {one.name: one for one in needed}
    for one in standing:
        before = found.get(one.name, replace(one, variants=()))
        made = {variant for variant in one.variants if profile.unit(one.name, variant).parts}
        found[one.name] = replace(before, variants=tuple(sorted({*before.variants, *made})))
    for name, mode in modes.items():
        if mode is not Mode.DISABLED:
            found.setdefault(name, Component(name))
    told = (replace(one, mode=modes.get(name), version=versions.get(name, "")) for name, one in sorted(found.items()))
    return tuple(one for one in told if one.variants or one.name not in profile.WITH_VARIANTS)


def check(versions: Mapping[str, str]) -> None:
    """Check the versions that an author names. Raises: InvalidInput with what is known, and what a version is."""
    known = (*profile.COMPONENTS, images.COMPONENT)
    for name, version in versions.items():
        path = ("spec", "stack", "versions", name)
        if name not in known:
            raise InvalidInput(f"is no component; the known ones are {', '.join(known)}", path=path)
        if name != images.COMPONENT and not _VERSION.fullmatch(version):
            raise InvalidInput(f"{version!r} is not a version of a chart; write for example v1.2.3", path=path)
