"""status.admissions: what is written is read again, and what cannot be read loses no admission."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane.api import admissions
from modelplane.api.admissions import Record
from modelplane.api.fields import Field
from modelplane.placement.snapshot import Holding, PodShape
from modelplane.workload.claimed import Claimed
from modelplane.workload.model import Role

SHAPE = PodShape((("gpu", 2),))
ROLES = (Holding(Role.DECODE, "a", 2, SHAPE, 2), Holding(Role.PREFILL, "b", 1, SHAPE))


def record(uid: str, *nodes: tuple[int, ...], holdings: tuple[Holding, ...] = ROLES) -> Record:
    return Record(uid, "digest", holdings, nodes)


def test_nodes_are_listed_in_the_order_of_the_replicas() -> None:
    records = {"ns/b": record("1", (0, 1), (4,)), "ns/a": record("2", (0, 2), ())}
    (entry,) = admissions.encode(records)
    assert entry["nodes"] == [0, 2, -1, 0, 1, 4]
    assert admissions.decode(Field({"admissions": [entry]})) == records


def test_nothing_is_listed_where_no_node_is_known() -> None:
    (entry,) = admissions.encode({"ns/a": record("1", (), ())})
    assert "nodes" not in entry
    crowd = (Holding(Role.DECODE, "a", 2_000_000_000, SHAPE), ROLES[1])
    (entry,) = admissions.encode({"ns/a": record("1", (), (4,), holdings=crowd)})
    assert "nodes" not in entry, "two thousand million of them would be unknown"


@pytest.mark.parametrize("nodes", ["1", {}, [1, 2], [0, 1, "4"], [0, 1, -2], [0, 1, True], [0, 1, 1 << 31], None])
def test_a_list_that_is_wrong_says_nothing(nodes: Any) -> None:
    (entry,) = admissions.encode({"ns/a": record("1", (0, 1), (4,))})
    found = admissions.decode(Field({"admissions": [{**entry, "nodes": nodes}]}))
    assert found == {"ns/a": record("1")}


def test_what_counts_after_a_change_is_written_and_read_with_its_nodes() -> None:
    more = (Holding(Role.DECODE, "a", 3, SHAPE, 2), *ROLES)
    claimed = (Claimed(Role.DECODE, ("0123456789", "01234")), Claimed(Role.PREFILL, (), (("example.com/gpu", "2"),)))
    records = {
        "ns/a": Record("1", "digest", ROLES, ((0, 1, 2), (4, 5), (6,)), more, claimed),
        "ns/b": record("2", (0, 2), (7,)),
    }
    first, second = admissions.encode(records)
    assert (len(first["counted"]), "counted" in second) == (3, False)
    assert (first["nodes"], first["holdings"]) == ([0, 1, 2, 4, 5, 6], second["holdings"])
    status = Field({"admissions": [first, second]})
    assert admissions.decode(status) == records
    found = admissions.find(status, "ns/a")
    assert found is not None
    assert (found.holdings, found.held) == (ROLES, more)
