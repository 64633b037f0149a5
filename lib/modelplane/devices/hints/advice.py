"""Advice about a selector that compiles but probably does not match, because of a nominal size or a misspelt name.

An "80GB" H100 publishes 81559Mi, so `>= 80Gi` never selects it. Advice is never a refusal.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from kubecel import caches, syntax
from kubecel.environment import Environment
from kubecel.errors import InvalidExpression
from kubecel.syntax import Call, Ident, Literal, Node, Select
from modelplane import units
from modelplane.devices.model import Attribute, AttributeKind, Device
from modelplane.errors import InvalidQuantity

# a device that offers at least this share of what is asked is taken for the one that was meant
_NEARLY: Final = (9, 10)
_CLOSE: Final = 0.75
_LANGUAGE: Final = Environment()
_AT_LEAST: Final = frozenset({("_>=_", 0), ("_>_", 0), ("_>_", -1), ("_==_", 0), ("_==_", 1)})
_MIB: Final = 1 << 20
_GIB: Final = 1 << 30


@dataclass(frozen=True, slots=True)
class Advice:
    """A remark: the written text, the text that would work, and a message with both."""

    written: str
    better: str
    message: str


@dataclass(frozen=True, slots=True)
class _Field:
    """A field of a domain that an expression reads."""

    map: str
    domain: str
    name: str


def selector_advice(expression: str, device: Device) -> tuple[Advice, ...]:
    """Return the probable mistakes of a selector, compared with one device; none for a selector that does not parse.

    Order: names first, then types and sizes, each as written.
    """
    root = _tree(expression)
    if root is None:
        return ()
    names = {advice: None for field in _fields(root, device) for advice in _misspelt(field, device)}
    kinds = {advice: None for node in syntax.walk(root) for advice in _of_another_kind(node, device)}
    sizes = {advice: None for field, wanted in _least_sizes(root, device) for advice in _nominal(field, wanted, device)}
    return (*names, *kinds, *sizes)


@caches.kept(4096)
def of_names(selectors: tuple[str, ...], device: Device) -> str:
    """Return the message about the first name or type in the selectors that the device does not have, else empty."""
    for expression in selectors:
        root = _tree(expression)
        if root is not None:
            wrong = [advice for field in _fields(root, device) for advice in _misspelt(field, device)]
            wrong += [advice for node in syntax.walk(root) for advice in _of_another_kind(node, device)]
            if wrong:
                return wrong[0].message
    return ""


@caches.kept(4096)
def told(selectors: tuple[str, ...], devices: tuple[Device, ...]) -> str:
    """Return the attributes of devices that do not match, preceded by a similar name if there is one."""
    meant = next((found for device in devices if (found := of_names(selectors, device))), "")
    has = f"it has {'; '.join(_told(device) for device in devices) or 'no devices'}"
    return f"{meant}{' ' if meant.endswith('?') else '; '}{has}" if meant else has


def _told(device: Device) -> str:
    values = [f"{name} {json.dumps(one.value)}" for name, one in device.attributes]
    values += [f"{name} {amount}" for name, amount in device.capacity]
    return f"{device.name} of {device.driver}" + (f" ({', '.join(values)})" if values else "")


@caches.kept(1024)
def _tree(expression: str) -> Node | None:
    try:
        return _LANGUAGE.parse(expression)
    except InvalidExpression:
        return None


# --- names


def _fields(root: Node, device: Device) -> Iterator[_Field]:
    for node in syntax.walk(root):
        field = _field(node, device)
        if field is not None:
            yield field


def _field(node: Node, device: Device) -> _Field | None:
    """Return the field that `device.attributes["domain"].name` or its like reads."""
    operand, name = _step(node)
    outer, domain = _step(operand) if operand is not None else (None, None)
    if isinstance(operand, Call) and operand.args and domain is None and _is_driver(operand.args[-1]):
        outer, domain = operand.args[0], device.driver
    if name is None or domain is None or not isinstance(outer, Select):
        return None
    if (
        isinstance(outer.operand, Ident)
        and outer.operand.name == "device"
        and outer.field in ("attributes", "capacity")
    ):
        return _Field(outer.field, domain, name)
    return None


def _step(node: Node) -> tuple[Node | None, str | None]:
    """Return operand and name of a field access, written with a dot or with brackets."""
    if isinstance(node, Select):
        return node.operand, node.field
    if isinstance(node, Call) and node.function in ("_[_]", "_[?_]", "_?._"):
        key = node.args[1]
        return node.args[0], key.value if isinstance(key, Literal) and isinstance(key.value, str) else None
    return None, None


def _is_driver(node: Node) -> bool:
    return (
        isinstance(node, Select)
        and node.field == "driver"
        and isinstance(node.operand, Ident)
        and node.operand.name == "device"
    )


def _names(device: Device, kind: str) -> dict[str, list[str]]:
    """Return the names a device has, by domain."""
    found: dict[str, list[str]] = {}
    for name, _ in device.attributes if kind == "attributes" else device.capacity:
        domain, identifier = device.qualified(name)
        found.setdefault(domain, []).append(identifier)
    return found


def _misspelt(field: _Field, device: Device) -> Iterator[Advice]:
    names = _names(device, field.map)
    if field.domain not in names:
        known = sorted({*names, device.driver})
        yield from _closest(field.domain, known, f"device {device.name!r} has no {field.map} in domain")
    elif field.name not in names[field.domain]:
        other = "capacity" if field.map == "attributes" else "attributes"
        if field.name in _names(device, other).get(field.domain, ()):
            better = f'device.{other}["{field.domain}"].{field.name}'
            yield Advice(field.name, better, f"device {device.name!r} has {field.name!r} in {other}; write {better}")
            return
        what = "attribute" if field.map == "attributes" else "capacity"
        yield from _closest(field.name, sorted(names[field.domain]), f"device {device.name!r} has no {what}")


def _closest(written: str, known: list[str], complaint: str) -> Iterator[Advice]:
    folded = {name.lower(): name for name in known}
    for match in difflib.get_close_matches(written.lower(), list(folded), n=1, cutoff=_CLOSE):
        yield Advice(written, folded[match], f"{complaint} {written!r}; did you mean {folded[match]!r}?")


# --- kinds


_COMPARISONS: Final = frozenset({"_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_"})


def _of_another_kind(node: Node, device: Device) -> Iterator[Advice]:
    """Yield what is wrong with a comparison of an attribute and a literal, or with a literal that is no quantity."""
    if not isinstance(node, Call):
        return
    if node.function in _COMPARISONS and isinstance(node.args[1], Literal):
        field = _field(node.args[0], device)
        attribute = device.attribute(f"{field.domain}/{field.name}") if field and field.map == "attributes" else None
        if field is not None and attribute is not None:
            yield from _compared(field, attribute, node)
    elif node.function in ("quantity", "semver") and node.target is None and len(node.args) == 1:
        argument = node.args[0]
        if isinstance(argument, Literal) and isinstance(argument.value, str):
            yield from _unreadable(node.function, argument.value)


def _compared(field: _Field, attribute: Attribute, node: Call) -> Iterator[Advice]:
    literal = node.args[1]
    assert isinstance(literal, Literal)  # noqa: S101 - the caller looked
    value, operator = literal.value, node.function.strip("_")
    if attribute.kind is AttributeKind.VERSION:
        better = f'.compareTo(semver("{attribute.value}")) {operator} 0'
        yield Advice(str(value), better, f"{field.name!r} is a version, {attribute.value}; compare it with {better}")
        return
    kind = {bool: AttributeKind.BOOL, int: AttributeKind.INT, str: AttributeKind.STRING}.get(type(value))
    if kind is not None and kind is attribute.kind.element and attribute.kind.is_list:
        better = f".includes({json.dumps(value)})"
        yield Advice(str(value), better, f"{field.name!r} is a list, {json.dumps(attribute.value)}; ask it {better}")
        return
    if kind is not None and kind is not attribute.kind:
        text = json.dumps(attribute.value)
        yield Advice(
            str(value),
            text,
            f"{field.name!r} is of type {attribute.kind}, for example {text}; it never equals a {kind}",
        )


def _unreadable(function: str, text: str) -> Iterator[Advice]:
    try:
        units.quantity(text) if function == "quantity" else units.version(text)
    except InvalidQuantity:
        better = _readable(function, text)
        if better:
            yield Advice(text, better, f'{function}("{text}") cannot be read; did you mean {function}("{better}")?')


def _readable(function: str, text: str) -> str:
    """Return the nearest text that can be read, empty where none is near."""
    if function == "semver":
        numbers = text.lstrip("vV").split(".")
        return ".".join([*numbers, "0", "0"][:3]) if all(one.isdecimal() for one in numbers) else ""
    match = re.fullmatch(r"\s*([0-9.]+)\s*([EPTGMkK]?i?)[bB]?\s*", text)
    better = f"{match[1]}{'k' if match[2] == 'K' else match[2]}" if match else ""
    return better if better != text else ""


# --- sizes


def _least_sizes(root: Node, device: Device) -> Iterator[tuple[_Field, str]]:
    """Yield each capacity that is asked to be at least, or exactly, a literal quantity."""
    for node in syntax.walk(root):
        if not isinstance(node, Call):
            continue
        call = node.args[0] if (node.function, _whole(node)) in _AT_LEAST else node
        if not (isinstance(call, Call) and call.target is not None and len(call.args) == 1):
            continue
        compared = call.function == "compareTo" and call is not node
        if not compared and call.function not in ("isGreaterThan", "isLessThan"):
            continue
        field, wanted = _field(call.target, device), _quantity(call.args[0])
        if field is not None and wanted is not None and field.map == "capacity":
            yield field, wanted


def _whole(node: Call) -> int | None:
    value = node.args[1].value if len(node.args) == 2 and isinstance(node.args[1], Literal) else None
    return value if type(value) is int else None


def _quantity(node: Node) -> str | None:
    if isinstance(node, Call) and node.function == "quantity" and len(node.args) == 1:
        argument = node.args[0]
        if isinstance(argument, Literal) and isinstance(argument.value, str):
            return argument.value
    return None


def _nominal(field: _Field, wanted: str, device: Device) -> Iterator[Advice]:
    for name, published in device.capacity:
        if device.qualified(name) != (field.domain, field.name) or not _is_nominal(wanted, published):
            continue
        better = _works(published)
        yield Advice(
            wanted,
            better,
            f"{wanted} is a nominal size: device {device.name!r} has {field.name} {published}, which is less;"
            f" write {better}",
        )


def _is_nominal(wanted: str, published: str) -> bool:
    """Return whether `published` misses `wanted` by little."""
    try:
        asked, has = units.quantity(wanted), units.quantity(published)
    except InvalidQuantity:
        return False
    least, of = _NEARLY
    return has < asked and has.ceil() * of >= asked.ceil() * least


def _works(published: str) -> str:
    """Return the largest round size that `published` still satisfies: whole Gi, else whole Mi, else itself."""
    quantity = units.quantity(published)
    whole = quantity.ceil() if quantity.is_integer else 0
    if whole >= _GIB:
        return f"{whole // _GIB}Gi"
    return f"{whole // _MIB}Mi" if whole >= _MIB else published
