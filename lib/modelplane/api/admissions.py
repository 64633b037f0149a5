"""Admissions of an InferenceCluster (`status.admissions`): the spec and holdings that each replica was admitted with.

Shape: one entry for all replicas with equal specs, such as those of one deployment on one pool. The entry lists the
replicas by `namespace/name` with a digest of the uid, so it grows by about forty bytes per replica.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from modelplane import names, seen
from modelplane.api import allocations
from modelplane.api.fields import Field
from modelplane.errors import InvalidInput
from modelplane.placement.snapshot import Allocation, Holding
from modelplane.workload.claimed import Claimed
from modelplane.workload.model import Role

Json: TypeAlias = Any

_UID_DIGITS = 8
"""The digits of a uid digest. They suffice because the server chooses uids, so nobody can search for a collision."""

NODES_MAX = 1 << 31
"""A bound of the numbers of nodes, those of an int32."""
PODS_MAX = 2048
"""The most pods of one replica whose nodes are listed."""
UNKNOWN = -1
"""The number of the node of a pod of which no node is recorded."""


@dataclass(frozen=True, slots=True)
class Record:
    """The record of one admission: digests of the uid and the spec, the holdings, and the nodes of what counts.

    After a change more may count than the holdings, until the pods from before have ended: `counted`, empty where it is
    the holdings. Until then `claimed` says by what the pods of the spec are known. The nodes are those that the ledger
    counts the pods on, by numbers of its own. They are empty where it keeps none. `workload` is the digest of what the
    deployment says of the spec (`replica.workload_digest`), empty in a record of an earlier version.
    """

    uid: str
    digest: str
    holdings: tuple[Holding, ...]
    nodes: tuple[tuple[int, ...], ...] = ()
    counted: tuple[Holding, ...] = ()
    claimed: tuple[Claimed, ...] = ()
    workload: str = ""

    @property
    def held(self) -> tuple[Holding, ...]:
        """Return the holdings that count."""
        return self.counted or self.holdings


def uid_of(resource: Mapping[str, Json]) -> str:
    """Return the digest that tells an object from an earlier one with the same name."""
    return uid_digest(Field(resource).at("metadata", "uid").text(""))


def uid_digest(uid: str) -> str:
    """Return the digest of a uid."""
    return names.digest(uid, digits=_UID_DIGITS)


def encode(records: Mapping[str, Record]) -> list[dict[str, Json]]:
    """Return status.admissions for records by `namespace/name`, in an order that depends only on their content."""
    groups: dict[Record, dict[str, Record]] = {}
    for key, record in sorted(records.items()):
        groups.setdefault(replace(record, uid="", nodes=()), {})[key] = record
    ordered = sorted(groups.items(), key=lambda group: (group[0].digest, min(group[1])))
    return [_encode_entry(one, found) for one, found in ordered]


def _encode_entry(one: Record, records: Mapping[str, Record]) -> dict[str, Json]:
    """Return the entry of records that are as `one`, except for their uids and nodes."""
    entry: dict[str, Json] = {"digest": one.digest, "holdings": [encode_holding(held) for held in one.holdings]}
    if one.workload:
        entry["workload"] = one.workload
    if one.counted:
        entry["counted"] = [encode_holding(held) for held in one.counted]
        entry["claimed"] = [_encode_claimed(role) for role in one.claimed]
    entry["replicas"] = {key: record.uid for key, record in records.items()}
    known = any(places for record in records.values() for places in record.nodes)
    if known and sum(holding.pods for holding in one.held) <= PODS_MAX:
        entry["nodes"] = [node for _, record in sorted(records.items()) for node in _listed(record)]
    return entry


def _listed(record: Record) -> Iterator[int]:
    """Yield a number for each pod of a replica, holding by holding."""
    nodes = record.nodes or [()] * len(record.held)
    for holding, places in zip(record.held, nodes, strict=True):
        yield from places or itertools.repeat(UNKNOWN, holding.pods)


def decode(status: Field) -> dict[str, Record]:
    """Return the records of a cluster by `namespace/name`; an invalid entry is ignored."""
    found: dict[str, Record] = {}
    for entry in _entries(status):
        try:
            one, uids = _record(entry, ""), entry.at("replicas")
            nodes = _nodes(entry.at("nodes").value, sorted(uids.members()), one.held)
            read = {key: replace(one, uid=uids.text_at(key), nodes=nodes.get(key, ())) for key in uids.members()}
            found.update(read)
        except InvalidInput:
            continue
    return found


def unread(status: Field, records: Mapping[str, Record]) -> frozenset[str] | None:
    """Return the namespaces of admissions that are not among `records`, None where anybody's may be missing.

    An entry that cannot be read is not, nor a replica that was admitted by a version without records.
    """
    listed, admitted = status.at("admissions").value, status.at("admitted").value
    if not isinstance(listed or [], list) or not isinstance(admitted or [], list):
        return None
    told = [seen.at(entry, "replicas") for entry in listed or ()]
    if not all(isinstance(one, Mapping) for one in told):
        return None
    keys = [*(admitted or ()), *(key for one in told for key in one)]
    if not all(isinstance(key, str) for key in keys):
        return None
    return frozenset(key.partition("/")[0] for key in keys if key not in records)


def find(status: Field, key: str) -> Record | None:
    """Return the record of one replica, None if the cluster has none."""
    for entry in _entries(status):
        try:
            if key in entry.at("replicas").members():
                return _record(entry, entry.at("replicas").text_at(key))
        except InvalidInput:
            continue
    return None


def _entries(status: Field) -> Iterator[Field]:
    try:
        yield from status.at("admissions").items()
    except InvalidInput:
        return


def _record(entry: Field, uid: str) -> Record:
    """Return the record of one replica of the entry, without its nodes."""
    holdings, counted = (tuple(decode_holding(one) for one in entry.at(key).items()) for key in ("holdings", "counted"))
    claimed = tuple(_decode_claimed(one) for one in entry.at("claimed").items())
    told = entry.at("workload").text("")
    return Record(uid, entry.text_at("digest"), holdings, counted=counted, claimed=claimed, workload=told)


def _nodes(listed: Json, keys: list[str], holdings: tuple[Holding, ...]) -> dict[str, tuple[tuple[int, ...], ...]]:
    """Return the nodes of each replica's holdings. What cannot be read is not known: the ledger chooses anew."""
    pods = sum(holding.pods for holding in holdings)
    if not isinstance(listed, list) or len(listed) != pods * len(keys):
        return {}
    if any(type(node) is not int or not UNKNOWN <= node < NODES_MAX for node in listed):
        return {}
    numbers = iter(listed)
    return {key: tuple([_places(numbers, holding.pods) for holding in holdings]) for key in keys}


def _places(numbers: Iterator[int], pods: int) -> tuple[int, ...]:
    found = tuple(sorted(itertools.islice(numbers, pods)))
    return () if UNKNOWN in found else found


def _encode_claimed(claimed: Claimed) -> dict[str, Json]:
    return {"role": str(claimed.role), "templates": list(claimed.templates), "limits": dict(claimed.limits)}


def _decode_claimed(entry: Field) -> Claimed:
    limits = entry.at("limits")
    return Claimed(
        role=entry.at("role").choice(Role),
        templates=tuple(one.text() for one in entry.at("templates").items()),
        limits=tuple((name, limits.text_at(name)) for name in sorted(limits.members())),
    )


def encode_holding(holding: Holding) -> dict[str, Json]:
    """Return the entry of one holding."""
    taken = allocations.encode(Allocation(holding.shape, holding.pods, holding.nodes_per_worker))
    return {"role": str(holding.role), "pool": holding.pool, **taken}


def decode_holding(entry: Field) -> Holding:
    """Return one holding. Raises: InvalidInput for an entry that cannot be read."""
    taken = allocations.decode(entry)
    return Holding(
        role=entry.at("role").choice(Role),
        pool=entry.text_at("pool"),
        pods=taken.pods,
        shape=taken.shape,
        nodes_per_worker=taken.nodes_per_worker,
    )
