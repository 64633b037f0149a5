"""`status.admissions` of an InferenceCluster: what it admitted each replica with.

Shape: one entry for all replicas that are written alike, since those of one deployment on one pool are, with the
replicas by `namespace/name` and the digest of each one's uid. So an entry grows by some forty bytes with a replica.
"""

from __future__ import annotations

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
"""A server chooses uids, so nobody can try until two share so many digits."""


@dataclass(frozen=True, slots=True)
class Record:
    """What one replica was admitted with: the object by its uid, its spec by a digest, and what that takes."""

    uid: str
    digest: str
    holdings: tuple[Holding, ...]


def uid_of(resource: Mapping[str, Json]) -> str:
    """Return by what an object is told from an earlier one of its name."""
    return uid_digest(Field(resource).at("metadata", "uid").text(""))


def uid_digest(uid: str) -> str:
    """Return what stands for a uid."""
    return names.digest(uid, digits=_UID_DIGITS)


def encode(records: Mapping[str, Record]) -> list[dict[str, Json]]:
    """Return status.admissions of the replicas by `namespace/name`, in an order that their contents give."""
    groups: dict[tuple[str, tuple[Holding, ...]], dict[str, str]] = {}
    for key, record in sorted(records.items()):
        groups.setdefault((record.digest, record.holdings), {})[key] = record.uid
    return [
        {"digest": digest, "holdings": [_encode_holding(one) for one in holdings], "replicas": replicas}
        for (digest, holdings), replicas in sorted(groups.items(), key=lambda group: (group[0][0], min(group[1])))
    ]


def decode(status: Field) -> dict[str, Record]:
    """Return the records of a cluster by `namespace/name`; an entry that cannot be read is as if it were not there."""
    found: dict[str, Record] = {}
    for entry in _entries(status):
        try:
            digest, holdings = entry.text_at("digest"), _holdings(entry)
            uids = entry.at("replicas")
            found.update({key: Record(uids.text_at(key), digest, holdings) for key in uids.members()})
        except InvalidInput:
            continue
    return found


def find(status: Field, key: str) -> Record | None:
    """Return what one replica was admitted with, None where the cluster has written nothing down of it."""
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
