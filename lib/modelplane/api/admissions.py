"""Admissions of an InferenceCluster (`status.admissions`): the spec and holdings that each replica was admitted with.

Shape: one entry for all replicas with equal specs, such as those of one deployment on one pool. The entry lists the
replicas by `namespace/name` with a digest of the uid, so it grows by about forty bytes per replica.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane import names
from modelplane.api import inference_cluster
from modelplane.api.fields import Field
from modelplane.errors import InvalidInput
from modelplane.placement.snapshot import Allocation, Holding
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
    """The record of one admission: digests of the uid and the spec, the holdings, and the nodes of each holding.

    The nodes are those that the ledger counts the pods on, by numbers of its own. They are empty where it keeps none.
    """

    uid: str
    digest: str
    holdings: tuple[Holding, ...]
    nodes: tuple[tuple[int, ...], ...] = ()


def uid_of(resource: Mapping[str, Json]) -> str:
    """Return the digest that tells an object from an earlier one with the same name."""
    return uid_digest(Field(resource).at("metadata", "uid").text(""))


def uid_digest(uid: str) -> str:
    """Return the digest of a uid."""
    return names.digest(uid, digits=_UID_DIGITS)


def encode(records: Mapping[str, Record]) -> list[dict[str, Json]]:
    """Return status.admissions for records by `namespace/name`, in an order that depends only on their content."""
    groups: dict[tuple[str, tuple[Holding, ...]], dict[str, Record]] = {}
    for key, record in sorted(records.items()):
        groups.setdefault((record.digest, record.holdings), {})[key] = record
    return [
        _encode_entry(digest, holdings, found)
        for (digest, holdings), found in sorted(groups.items(), key=lambda group: (group[0][0], min(group[1])))
    ]


def _encode_entry(digest: str, holdings: tuple[Holding, ...], records: Mapping[str, Record]) -> dict[str, Json]:
    entry: dict[str, Json] = {"digest": digest, "holdings": [_encode_holding(one) for one in holdings]}
    entry["replicas"] = {key: record.uid for key, record in records.items()}
    known = any(places for record in records.values() for places in record.nodes)
    if known and sum(holding.pods for holding in holdings) <= PODS_MAX:
        entry["nodes"] = [node for _, record in sorted(records.items()) for node in _listed(record)]
    return entry


def _listed(record: Record) -> Iterator[int]:
    """Yield a number for each pod of a replica, holding by holding."""
    nodes = record.nodes or [()] * len(record.holdings)
    for holding, places in zip(record.holdings, nodes, strict=True):
        yield from places or itertools.repeat(UNKNOWN, holding.pods)


def decode(status: Field) -> dict[str, Record]:
    """Return the records of a cluster by `namespace/name`; an invalid entry is ignored."""
    found: dict[str, Record] = {}
    for entry in _entries(status):
        try:
            digest, holdings = entry.text_at("digest"), _holdings(entry)
            uids = entry.at("replicas")
            nodes = _nodes(entry.at("nodes").value, sorted(uids.members()), holdings)
            read = {key: Record(uids.text_at(key), digest, holdings, nodes.get(key, ())) for key in uids.members()}
            found.update(read)
        except InvalidInput:
            continue
    return found


def find(status: Field, key: str) -> Record | None:
    """Return the record of one replica, None if the cluster has none."""
    for entry in _entries(status):
        try:
            if key in entry.at("replicas").members():
                return Record(entry.at("replicas").text_at(key), entry.text_at("digest"), _holdings(entry))
        except InvalidInput:
            continue
    return None


def _entries(status: Field) -> Iterator[Field]:
    try:
        yield from status.at("admissions").items()
    except InvalidInput:
        return


def _holdings(entry: Field) -> tuple[Holding, ...]:
    return tuple(_decode_holding(one) for one in entry.at("holdings").items())


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


def _encode_holding(holding: Holding) -> dict[str, Json]:
    taken = inference_cluster.encode_allocation(Allocation(holding.shape, holding.pods, holding.nodes_per_worker))
    return {"role": str(holding.role), "pool": holding.pool, **taken}


def _decode_holding(entry: Field) -> Holding:
    taken = inference_cluster.decode_allocation(entry)
    return Holding(
        role=entry.at("role").choice(Role),
        pool=entry.text_at("pool"),
        pods=taken.pods,
        shape=taken.shape,
        nodes_per_worker=taken.nodes_per_worker,
    )
