"""InferenceClass: the validation of the hardware description that placement relies on.

Reads: the class itself. Emits: nothing. Reports: the number of claimable devices of a node, and warnings; conditions
Accepted (the values can be used) and MemoryAsPublished.

An older definition may have accepted values that the API server refuses today. Those are checked again here, because
every reader of the class relies on them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, TypeAlias

from modelplane.api import inference_class
from modelplane.api.fields import Field
from modelplane.devices import partitions, physical, published
from modelplane.devices.model import Claim, Device, NodeClass
from modelplane.errors import InvalidInput
from modelplane_functions.exchange import Condition, Event, Observed, Outcome, Ready, Severity, Truth

Json: TypeAlias = Any

ACCEPTED = "Accepted"
MEMORY_AS_PUBLISHED = "MemoryAsPublished"

_SETTLED_SECONDS = 3600

# resource.k8s.io QualifiedName: a C identifier of at most 32 characters, optionally after a domain of at most 63.
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,31}\Z")
_DOMAIN = re.compile(r"(?=.{1,63}\Z)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\Z")
# Reserved by the CEL language: device.attributes["domain"].namespace does not parse.
_RESERVED = frozenset(
    (
        *("as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in", "let", "loop"),
        *("namespace", "null", "package", "return", "true", "var", "void", "while"),
    )
)


def compose(observed: Observed) -> Outcome:
    """Return whether the class is accepted, and why not."""
    problems = tuple(_problems(observed))
    if not problems:
        try:
            return _accepted(observed, inference_class.decode(observed.composite))
        except InvalidInput as error:
            problems = (error,)
    message = "; ".join(str(problem) for problem in problems)
    return Outcome(
        conditions=(Condition(ACCEPTED, Truth.FALSE, problems[0].reason, message),),
        fatal=f"InferenceClass {observed.name}: {message}; everything that uses the class is kept as it is",
        ready=Ready.FALSE,
    )


def _accepted(observed: Observed, node_class: NodeClass) -> Outcome:
    nominal = tuple(_nominal(node_class))
    warnings = (*nominal, *_awkward_names(node_class))
    claimable = _claimable(node_class)
    status: dict[str, Json] = {"devices": claimable}
    if warnings:
        status["warnings"] = list(warnings)
    return Outcome(
        status=status,
        conditions=(
            Condition(ACCEPTED, Truth.TRUE, "Valid", f"each node has {claimable} claimable devices"),
            _memory(nominal),
        ),
        events=_events(observed, warnings),
        ready=Ready.TRUE,
        ttl_seconds=_SETTLED_SECONDS,
    )


def _claimable(node_class: NodeClass) -> int:
    """Return how many devices pods can hold at the same time. Parts of one physical device exclude each other."""
    families = physical.of(node_class)
    parts = {kind for family in families for kind in family.kinds}
    whole = (d.count for i, d in enumerate(node_class.devices) if i not in parts and d.claim is not Claim.SYNTHETIC)
    return sum(whole) + sum(partitions.most_at_once(family) for family in families)


def _problems(observed: Observed) -> Iterator[InvalidInput]:
    """Yield the problems of names. Values are checked when the class is decoded."""
    seen: set[str] = set()
    for index, device in enumerate(observed.spec.get("devices") or ()):
        path = ("spec", "devices", index)
        name = str(device.get("name", ""))
        if name in seen:
            yield InvalidInput(f"duplicate device name {name}; each device needs a unique name", path=path)
        seen.add(name)
        for kind in ("attributes", "capacity"):
            for problem in _keys(device.get(kind) or {}, str(device.get("driver", ""))):
                yield problem.under(*path, kind)


def _keys(entries: dict[str, Json], driver: str) -> Iterator[InvalidInput]:
    for key in sorted(entries):
        domain, slash, name = key.rpartition("/")
        if not _IDENTIFIER.match(name) or (slash and not _DOMAIN.match(domain)):
            yield InvalidInput(
                'must consist of at most 32 letters, digits and "_" and must not start with a digit, optionally '
                'preceded by a domain and "/"; otherwise no selector can refer to it',
                path=(key,),
            )
        elif slash and domain == driver and name in entries:
            yield InvalidInput(f"duplicates {name}, which already has the domain {driver}; remove one", path=(key,))


def _nominal(node_class: NodeClass) -> Iterator[str]:
    for device in node_class.devices:
        found = published.nominal_memory(device)
        if found is not None:
            yield (
                f"device {device.name} declares the nominal memory {found.declared}, but the driver publishes "
                f"{found.publishes} for {found.product}; write {found.publishes}"
            )


def _awkward_names(node_class: NodeClass) -> Iterator[str]:
    for device in node_class.devices:
        for name in _names(device):
            if name in _RESERVED:
                yield (
                    f"device {device.name} uses the name {name}, which is a reserved word of CEL; selectors must "
                    f'write ["{name}"] instead of .{name}'
                )


def _names(device: Device) -> tuple[str, ...]:
    entries = (*(name for name, _ in device.attributes), *(name for name, _ in device.capacity))
    return tuple(entry.rpartition("/")[2] for entry in entries)


def _memory(nominal: tuple[str, ...]) -> Condition:
    if nominal:
        return Condition(MEMORY_AS_PUBLISHED, Truth.FALSE, "NominalMemory", "; ".join(nominal))
    return Condition(MEMORY_AS_PUBLISHED, Truth.TRUE, "NoNominalSizes", "no device declares a nominal memory size")


def _events(observed: Observed, warnings: tuple[str, ...]) -> tuple[Event, ...]:
    """Return an event for each new warning."""
    known = {entry.value for entry in Field(observed.status).at("warnings").items() if isinstance(entry.value, str)}
    return tuple(Event(Severity.WARNING, "Implausible", text) for text in warnings if text not in known)
