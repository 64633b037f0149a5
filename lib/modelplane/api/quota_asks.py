"""Questions of an InferenceCluster to the quotas of its replicas (`status.quotas`).

A question has a number that its cluster uses once. A cluster takes a question back by leaving it out, and asks again
under another number, so a grant of an earlier question admits nobody.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane import seen
from modelplane.api import admissions
from modelplane.api.fields import Field
from modelplane.errors import InvalidInput
from modelplane.placement.snapshot import Holding

Json: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class Asked:
    """One question: the replica with this uid and this spec, and the quota that is to answer next."""

    number: int
    uid: str
    digest: str
    holdings: tuple[Holding, ...]
    priority: int = 0
    created: str = ""
    waits_for: str = ""
    borrows: bool = False
    """It is beyond the own limits of a quota that borrows, as that had published its use."""


def encode(last: int, asks: Mapping[str, Asked]) -> dict[str, Json]:
    """Return status.quotas for the questions by replica, and the number of the last question."""
    block: dict[str, Json] = {"asked": last}
    if asks:
        block["asks"] = [_encode(key, one) for key, one in sorted(asks.items())]
    return block


def decode(status: Mapping[str, Json]) -> tuple[int, dict[str, Asked]]:
    """Return the number of the last question and the open ones by replica; an unreadable entry is ignored."""
    block = seen.at(status, "quotas")
    last = seen.count(seen.at(block, "asked")) or 0
    found: dict[str, Asked] = {}
    for entry in seen.objects(seen.at(block, "asks")):
        try:
            root = Field(entry)
            found[root.text_at("replica")] = one = _decode(root)
        except InvalidInput:
            continue
        last = max(last, one.number)
    return last, found


def unread(status: Mapping[str, Json], asks: Mapping[str, Asked]) -> frozenset[str] | None:
    """Return the namespaces of open questions that are not among `asks`, None where anybody's may be missing."""
    block = status.get("quotas")
    listed = seen.at(block, "asks")
    if not isinstance(block or {}, Mapping) or not isinstance(listed or [], list):
        return None
    keys = [seen.at(entry, "replica") for entry in listed or ()]
    if not all(isinstance(key, str) for key in keys):
        return None
    return frozenset(key.partition("/")[0] for key in keys if key not in asks)


def _encode(key: str, one: Asked) -> dict[str, Json]:
    entry: dict[str, Json] = {
        "replica": key,
        "number": one.number,
        "uid": one.uid,
        "digest": one.digest,
        "priority": one.priority,
        "holdings": [admissions.encode_holding(holding) for holding in one.holdings],
    }
    if one.created:
        entry["created"] = one.created
    if one.borrows:
        entry["borrows"] = True
    return {**entry, "waitsFor": one.waits_for} if one.waits_for else entry


def _decode(entry: Field) -> Asked:
    return Asked(
        number=entry.at("number").integer(),
        uid=entry.text_at("uid"),
        digest=entry.text_at("digest"),
        holdings=tuple(admissions.decode_holding(one) for one in entry.at("holdings").items()),
        priority=entry.integer_at("priority", 0),
        created=entry.text_at("created", ""),
        waits_for=entry.text_at("waitsFor", ""),
        borrows=entry.at("borrows").flag(default=False),
    )
