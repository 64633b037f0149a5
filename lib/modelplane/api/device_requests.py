"""The device requests of one pod, both ways: `decode(encode(request)) == request` for every request.

Shape: entries of `nodeSelector.devices` and `constraints` of ModelDeployment and ModelReplica, in the words of
resource.k8s.io/v1 (DeviceRequest, DeviceSubRequest, DeviceConstraint).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from modelplane import units
from modelplane.api.fields import Field
from modelplane.devices.model import (
    Constraint,
    DeviceTaint,
    DeviceTaintEffect,
    DeviceToleration,
    Mode,
    Relation,
    Request,
)
from modelplane.errors import InvalidInput

Json: TypeAlias = Any

DEVICES_MAX = 4096
ALTERNATIVES_MAX = 8
"""Alternatives of one request, as DRA has them."""
_NOT_WITH_ALTERNATIVES = ("count", "selectors", "allocationMode", "tolerations", "capacity")
_EXISTS, _EQUAL = "Exists", "Equal"


def decode(entry: Field, *, default_count: int) -> Request:
    """Return one request of a pod.

    Raises: InvalidInput with the path from the document's root (the author's fault).
    """
    alternatives = tuple(entry.at("firstAvailable").items())
    if not alternatives:
        return _exact(entry, default_count=default_count)
    _refuse_admin(entry)
    for field in _NOT_WITH_ALTERNATIVES:
        if entry.at(field).is_set:
            raise entry.at(field).wrong("must be set in the alternatives of firstAvailable, each of which has its own")
    if len(alternatives) > ALTERNATIVES_MAX:
        raise entry.at("firstAvailable").wrong(
            f"has {len(alternatives)} alternatives, and DRA supports at most {ALTERNATIVES_MAX}; remove some"
        )
    each = tuple(_exact(one, default_count=default_count) for one in alternatives)
    _check_names(alternatives, [one.name for one in each], "alternative")
    return Request(entry.at("name").text(), max(one.count for one in each), alternatives=each)


def decode_all(listed: tuple[Field, ...], *, accelerators: int) -> tuple[Request, ...]:
    """Return the requests of a pod; the first asks for `accelerators` where it says no count, every other for one."""
    requests = tuple(
        decode(entry, default_count=accelerators if index == 0 else 1) for index, entry in enumerate(listed)
    )
    _check_names(listed, [request.name for request in requests], "request")
    return requests


def decode_constraints(field: Field, requests: tuple[Request, ...]) -> tuple[Constraint, ...]:
    """Return constraints over the requests."""
    known = list(_referred(requests))
    return tuple(_constraint(entry, known) for entry in field.items())


def decode_selectors(field: Field) -> tuple[str, ...]:
    """Return the CEL texts of a list of selectors."""
    return tuple(entry.at("cel").text() for entry in field.items())


def decode_taint(entry: Field) -> DeviceTaint:
    """Return one taint of a device."""
    return DeviceTaint(entry.at("key").text(), entry.at("effect").choice(DeviceTaintEffect), entry.at("value").text(""))


def decode_amounts(amounts: Field) -> tuple[tuple[str, str], ...]:
    """Return the sorted quantities, none of which is negative, by name."""
    return tuple((name, _amount(amounts.at(name))) for name in sorted(amounts.members()))


def selectors(entry: Field) -> Iterator[Field]:
    """Yield the fields of a request that hold a device selector, as they stand in the document."""
    for one in (entry, *entry.at("firstAvailable").items()):
        yield from (selector.at("cel") for selector in one.at("selectors").items())


def encode(request: Request) -> dict[str, Json]:
    """Return one entry of `nodeSelector.devices`."""
    if request.alternatives:
        return {"name": request.name, "firstAvailable": [encode(one) for one in request.alternatives]}
    encoded: dict[str, Json] = {"name": request.name}
    if request.mode is Mode.ALL:
        encoded["allocationMode"] = str(request.mode)
    else:
        encoded["count"] = request.count
    if request.selectors:
        encoded["selectors"] = [{"cel": text} for text in request.selectors]
    if request.tolerations:
        encoded["tolerations"] = [one.as_written() for one in request.tolerations]
    if request.capacity:
        encoded["capacity"] = {"requests": dict(request.capacity)}
    return encoded


def encode_constraint(constraint: Constraint) -> dict[str, Json]:
    """Return one entry of `constraints`."""
    encoded: dict[str, Json] = {str(constraint.relation): constraint.attribute}
    if constraint.requests:
        encoded["requests"] = list(constraint.requests)
    return encoded


def _exact(entry: Field, *, default_count: int) -> Request:
    _refuse_admin(entry)
    mode = entry.at("allocationMode").choice(Mode, Mode.EXACT_COUNT)
    count = entry.at("count")
    if mode is Mode.ALL and count.is_set:
        raise count.wrong('"allocationMode: All" takes every device that matches; remove count')
    return Request(
        name=entry.at("name").text(),
        count=count.count(default_count, least=1, most=DEVICES_MAX),
        selectors=decode_selectors(entry.at("selectors")),
        mode=mode,
        tolerations=tuple(_toleration(one) for one in entry.at("tolerations").items()),
        capacity=decode_amounts(entry.at("capacity", "requests")),
    )


def _refuse_admin(entry: Field) -> None:
    if entry.at("adminAccess").flag(default=False):
        raise entry.at("adminAccess").wrong(
            "is not offered, because it gives a pod devices that others hold, past what is counted; remove it"
        )


def _check_names(entries: tuple[Field, ...], names: list[str], noun: str) -> None:
    for index, name in enumerate(names):
        if name in names[:index]:
            raise entries[index].at("name").wrong(f'"{name}" is used twice; {noun} names must be unique')


def _toleration(entry: Field) -> DeviceToleration:
    key, value = entry.at("key").text(""), entry.at("value").text("")
    operator = entry.at("operator").text(_EQUAL)
    if operator not in (_EQUAL, _EXISTS):
        raise entry.at("operator").wrong(f'"{operator}" is neither {_EQUAL} nor {_EXISTS}')
    if operator == _EXISTS and value:
        raise entry.at("value").wrong(f'goes with "operator: {_EQUAL}"; remove it or change operator')
    if operator == _EQUAL and not key:
        raise entry.at("key").wrong(f'is required; with "operator: {_EXISTS}" it may be left out for every taint')
    effect = entry.at("effect")
    return DeviceToleration(key, operator == _EQUAL, value, effect.choice(DeviceTaintEffect) if effect.is_set else None)


def _amount(field: Field) -> str:
    text = field.quantity()
    if units.quantity(text).sign < 0:
        raise field.wrong(f"must be at least 0, not {text}")
    return text


def _referred(requests: tuple[Request, ...]) -> Iterator[str]:
    """Yield the names by which constraints speak of requests and alternatives."""
    for request in requests:
        yield request.name
        yield from (f"{request.name}/{one.name}" for one in request.alternatives)


def _constraint(entry: Field, known: list[str]) -> Constraint:
    requests = tuple(item.text() for item in entry.at("requests").items())
    for index, name in enumerate(requests):
        if name not in known:
            raise InvalidInput(
                f'no request is named "{name}"; the requests are {", ".join(known)}',
                path=(*entry.path, "requests", index),
            )
    given: Mapping[Relation, Field] = {one: entry.at(str(one)) for one in Relation if entry.at(str(one)).is_set}
    if len(given) > 1:
        raise entry.wrong(f"exactly one of {' and '.join(Relation)} must be given, found both")
    (relation,) = given or (Relation.MATCH,)
    return Constraint(entry.at(str(relation)).text(), requests, relation)
