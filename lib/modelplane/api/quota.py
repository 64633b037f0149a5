"""InferenceQuota, decoded into limits; its status, decoded into what it has published and granted, and encoded.

Shape: the whole resource as plain JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

from modelplane import seen
from modelplane.api import tenants
from modelplane.api.fields import Field
from modelplane.devices import selector
from modelplane.errors import InvalidInput, InvalidSelector
from modelplane.placement.charging import Amounts
from modelplane.placement.granting import Grants, QuotaQuestion
from modelplane.workload import allowance
from modelplane.workload.allowance import Budget, Limit, Measure, Quota

Json: TypeAlias = Any

KIND = "InferenceQuota"
COUNT_MAX = 2**31 - 1
PRIORITY_MAX = 10**9
_AMOUNT = re.compile(r"[0-9]{1,32}(\.[0-9]{1,32})?")


@dataclass(frozen=True, slots=True)
class Use:
    """The use and the grants of one namespace, or of all together, by limit, and the replicas that wait for room."""

    used: Amounts
    granted: Amounts
    replicas: int = 0
    refused: int = 0


# --- spec -------------------------------------------------------------------------------------------------------------


def decode(resource: Mapping[str, Json]) -> Quota:
    """Return the quota. Raises: InvalidInput with the path from the document's root."""
    root = Field(resource)
    spec = root.at("spec")
    priority = spec.at("maxPriority")
    name = root.at("metadata").text_at("name")
    lender = spec.at("borrowing", "from")
    if lender.is_set and lender.text() == name:
        raise lender.wrong("a quota cannot borrow from itself; write the name of one that selects more namespaces")
    return Quota(
        name=name,
        tenants=tenants.decode_block(spec.at("namespaces")),
        limits=_borrowable(tuple(_limits(spec.at("limits"))), spec.at("borrowing", "limit")),
        max_priority=priority.count(least=-PRIORITY_MAX, most=PRIORITY_MAX) if priority.is_set else None,
        lender=lender.text(""),
    )


def readable(resource: Mapping[str, Json]) -> Quota:
    """Return the quota. Of one that cannot be read the namespaces count, and all where these cannot be read either."""
    try:
        return decode(resource)
    except InvalidInput as error:
        name = seen.text(seen.at(resource, "metadata", "name"))
        try:
            selected = tenants.decode_block(Field(resource).at("spec", "namespaces"))
        except InvalidInput:
            selected = None
        return Quota(name, selected, unreadable=str(error))


def _limits(field: Field) -> Iterator[Limit]:
    names: set[str] = set()
    for entry in field.at("devices").items():
        name = entry.text_at("name")
        if name in names or name == Measure.REPLICAS:
            raise entry.at("name").wrong(f'"{name}" is the name of another limit; write another name')
        names.add(name)
        selectors = tuple(_selector(one.at("cel")) for one in entry.at("selectors").items())
        class_name = entry.text_at("className", "")
        if bool(class_name) == bool(selectors):
            raise entry.wrong("either className or selectors must be given")
        most = entry.at("count").count(least=0, most=COUNT_MAX)
        yield Limit(name, Measure.DEVICES, Fraction(most), class_name, selectors)
    replicas, cost = field.at("replicas"), field.at("costPerHour")
    if replicas.is_set:
        yield Limit(str(Measure.REPLICAS), Measure.REPLICAS, Fraction(replicas.count(least=0, most=COUNT_MAX)))
    if cost.is_set:
        amount = _amount(cost.at("amount"))
        yield Limit(str(Measure.COST), Measure.COST, amount, currency=cost.at("currency").text("USD"))


def _borrowable(limits: tuple[Limit, ...], field: Field) -> tuple[Limit, ...]:
    """Return the limits with what may be borrowed beyond them, by their names."""
    names = {limit.name for limit in limits}
    for name in sorted(field.members()):
        if name not in names:
            raise field.at(name).wrong(f"no limit has this name; the limits are {', '.join(sorted(names)) or 'none'}")
    return tuple(
        replace(limit, borrowable=_amount(field.at(limit.name))) if field.at(limit.name).is_set else limit
        for limit in limits
    )


def _selector(field: Field) -> str:
    try:
        selector.written(field.text())
    except InvalidSelector as error:
        raise error.under(*field.path) from None
    return field.text()


def _amount(field: Field) -> Fraction:
    text = field.text()
    if _AMOUNT.fullmatch(text) is None:
        raise field.wrong('must be a plain decimal number in quotes, for example "250.00"')
    return Fraction(text)


# --- status -----------------------------------------------------------------------------------------------------------


def questions(resource: Mapping[str, Json]) -> frozenset[QuotaQuestion]:
    """Return the questions that the quota has granted; an entry that cannot be read grants nothing."""
    entries = seen.objects(seen.at(resource, "status", "grants"))
    return frozenset(found for entry in entries if (found := _question(entry)) is not None)


def refusals(resource: Mapping[str, Json]) -> dict[QuotaQuestion, str]:
    """Return the questions that the quota has refused, with the reason in words."""
    found = {}
    for entry in seen.objects(seen.at(resource, "status", "refused")):
        question = _question(entry)
        if question is not None:
            found[question] = seen.text(entry.get("message"))
    return found


def budget(resource: Mapping[str, Json], quota: Quota) -> Budget:
    """Return the quota with its published use; of a limit without any nothing is used.

    Whether its lender lends is what it has published. Until then it borrows nothing.
    """
    entries = {seen.text(one.get("name")): one for one in seen.objects(seen.at(resource, "status", "limits"))}
    published = [entries.get(limit.name, {}) for limit in quota.limits]
    taken = tuple(_published(one.get("used")) + _published(one.get("granted")) for one in published)
    limits = tuple(
        replace(limit, borrowable=min(limit.borrowable, _published(one.get("borrowable"))))
        for limit, one in zip(quota.limits, published, strict=True)
    )
    granted = frozenset(one.replica for one in questions(resource))
    return Budget(replace(quota, limits=limits), taken, granted)


def _published(value: Json) -> Fraction:
    text = seen.text(value)
    return Fraction(text) if _AMOUNT.fullmatch(text) else Fraction(0)


def _question(entry: Mapping[str, Json]) -> QuotaQuestion | None:
    number = entry.get("number")
    if type(number) is not int:
        return None
    return QuotaQuestion(seen.text(entry.get("cluster")), seen.text(entry.get("replica")), number)


def encode(quota: Quota, total: Use, by_namespace: Mapping[str, Use], grants: Grants) -> dict[str, Json]:
    """Return the complete status."""
    return {
        "summary": _summary(quota, total, len(by_namespace)),
        "limits": [_limit(limit, total, index) for index, limit in enumerate(quota.limits)],
        "namespaces": [_namespace(quota, name, use) for name, use in sorted(by_namespace.items())],
        "grants": [_encode(question) for question in grants.granted],
        "refused": [{**_encode(one.question), "limit": one.limit, "message": one.message} for one in grants.refused],
    }


def over(quota: Quota, total: Use) -> tuple[str, ...]:
    """Return the exceeded limits in words."""
    return tuple(
        f"{limit}: {allowance.written(taken)} of {allowance.written(limit.ceiling)}"
        for limit, taken in zip(quota.limits, _taken(total), strict=True)
        if taken > limit.ceiling
    )


def borrowed(quota: Quota, total: Use) -> tuple[str, ...]:
    """Return the loans in words, by limit."""
    return tuple(
        f"{allowance.written(limit.borrowed(taken))} of {limit}"
        for limit, taken in zip(quota.limits, _taken(total), strict=True)
        if limit.borrowed(taken)
    )


def _taken(use: Use) -> Amounts:
    return tuple(one + more for one, more in zip(use.used, use.granted, strict=True))


def _summary(quota: Quota, total: Use, namespaces: int) -> dict[str, Json]:
    rows = list(zip(quota.limits, _taken(total), strict=True))
    summary: dict[str, Json] = {"namespaces": namespaces, "replicas": total.replicas, "waiting": total.refused}
    if rows:
        limit, taken = max(rows, key=lambda row: row[1] / row[0].most if row[0].most else row[1] + 1)
        summary["fullest"] = f"{limit.name} {allowance.written(taken)}/{allowance.written(limit.most)}"
    exceeded = [limit.name for limit, taken in rows if taken > limit.ceiling]
    borrowed = [(limit.name, limit.borrowed(taken)) for limit, taken in rows]
    loans = [f"{name} {allowance.written(amount)}" for name, amount in borrowed if amount]
    if loans:
        summary["borrowed"] = ",".join(loans)
    return {**summary, "over": ",".join(exceeded)} if exceeded else summary


def _limit(limit: Limit, total: Use, index: int) -> dict[str, Json]:
    used, granted = total.used[index], total.granted[index]
    entry: dict[str, Json] = {
        "name": limit.name,
        "limit": allowance.written(limit.most),
        "used": allowance.written(used),
        "granted": allowance.written(granted),
    }
    if limit.borrowable:
        entry["borrowable"] = allowance.written(limit.borrowable)
        entry["borrowed"] = allowance.written(limit.borrowed(used + granted))
    exceeding = used + granted - limit.ceiling
    return {**entry, "over": allowance.written(exceeding)} if exceeding > 0 else entry


def _namespace(quota: Quota, name: str, use: Use) -> dict[str, Json]:
    entry: dict[str, Json] = {"name": name, "used": _by_limit(quota, use.used)}
    if any(use.granted):
        entry["granted"] = _by_limit(quota, use.granted)
    return {**entry, "refused": use.refused} if use.refused else entry


def _by_limit(quota: Quota, amounts: Amounts) -> dict[str, str]:
    return {limit.name: allowance.written(amount) for limit, amount in zip(quota.limits, amounts, strict=True)}


def _encode(question: QuotaQuestion) -> dict[str, Json]:
    return {"cluster": question.cluster, "replica": question.replica, "number": question.number}
