"""Who is kept and who is shed; one case each, with its reason."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane.labels import LabelSelector
from modelplane.placement.snapshot import (
    Cluster,
    Fleet,
    SpreadConstraint,
)
from tests.support.placements import (
    CORDON,
    DEPLOYMENT,
    cluster,
    current,
    fleet,
    gpu,
    intent,
    node_class,
    note,
    plan,
    pool,
    replica,
    used,
    where,
)

# --- retain and shed --------------------------------------------------------------------------------------------------

HELD = [
    ("the cluster is not ready", cluster("a", ready=False)),
    ("it has no address", cluster("a", address_known=False)),
    ("it lost its labels", cluster("a", labels={})),
    ("it was cordoned", cluster("a", taints=(CORDON,))),
    ("it offers the backend no more", cluster("a", backends=("Native",))),
    ("it got a queue that nothing renders for", cluster("a", scheduler="Kueue")),
    ("its pool shrank", cluster("a", pool(0, used=[used(1)]), admitted=frozenset({f"ml-team/{DEPLOYMENT}-0"}))),
    ("its class is gone", cluster("a", pool(1, None))),
    ("its class no longer matches", cluster("a", pool(1, node_class(gpu(2))))),
    ("its status is gone", cluster("a", capacity_known=False)),
]


@pytest.mark.parametrize(("reason", "one"), HELD, ids=[row[0] for row in HELD])
def test_retain(reason: str, one: Cluster) -> None:
    """Nothing that runs is touched, though another cluster would take it."""
    wants = intent(1, selector=LabelSelector((("modelplane.ai/cluster", "b"),)))
    result = plan(fleet(one, cluster("b")), wants, have=current(replica(0, "a", bound=True)))
    assert where(result) == {f"{DEPLOYMENT}-0": "a"}, reason
    assert not result.shed
    assert not result.composed[0].rewrite
    assert result.shortfall is None


SHEDS: list[tuple[str, Fleet, Any, list[Any], list[int]]] = [
    (
        "refused first",
        fleet(cluster("a", refused={f"ml-team/{DEPLOYMENT}-0": note()}), cluster("b")),
        intent(1),
        [replica(0, "a", ready=False), replica(1, "b", ready=False)],
        [0],
    ),
    ("then not ready", fleet(cluster("a")), intent(1), [replica(0, "a", ready=False), replica(1, "a")], [0]),
    (
        "first of all those that were never rendered, also where they are older",
        fleet(cluster("a")),
        intent(1),
        [replica(0, "a", ready=False), replica(1, "a", ready=False, bound=True)],
        [0],
    ),
    (
        "then where it is tainted",
        fleet(cluster("a", taints=(CORDON,)), cluster("b")),
        intent(1),
        [replica(0, "a"), replica(1, "b")],
        [0],
    ),
    (
        "or over-committed",
        fleet(cluster("a", pool(1, used=[used(2)]), admitted=frozenset({f"ml-team/{DEPLOYMENT}-0"})), cluster("b")),
        intent(1),
        [replica(0, "a"), replica(1, "b")],
        [0],
    ),
    (
        "then from the most loaded cluster, the newest",
        fleet(cluster("a"), cluster("b")),
        intent(2),
        [replica(0, "a"), replica(1, "a"), replica(2, "b")],
        [1],
    ),
    (
        "and spread group",
        fleet(
            cluster("a", labels={"region": "eu"}),
            cluster("b", labels={"region": "eu"}),
            cluster("c", labels={"region": "us"}),
        ),
        intent(2, spread=(SpreadConstraint("region"),)),
        [replica(0, "a"), replica(1, "b"), replica(2, "c")],
        [1],
    ),
    (
        "the newest by creation, then by number",
        fleet(cluster("a")),
        intent(1),
        [
            replica(0, "a", created="2026-02-01"),
            replica(10, "a", created="2026-01-01"),
            replica(9, "a", created="2026-01-01"),
        ],
        [0, 10],
    ),
    ("to zero", fleet(cluster("a")), intent(0), [replica(0, "a"), replica(1, "a")], [0, 1]),
]


@pytest.mark.parametrize(("reason", "of", "wants", "have", "gone"), SHEDS, ids=[row[0] for row in SHEDS])
def test_shed(reason: str, of: Fleet, wants: Any, have: list[Any], gone: list[int]) -> None:
    result = plan(of, wants, have=current(*have))
    assert sorted(one.name for one in result.shed) == sorted(f"{DEPLOYMENT}-{n}" for n in gone), reason
    assert all(one.note for one in result.shed)
