"""The law of queues: whoever asks, in whatever order, no more is proposed or admitted than the quota of the queue."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from modelplane import placement
from modelplane.placement import snapshot
from modelplane.placement.decision import Admission
from modelplane.placement.queue_room import QueueRoom
from modelplane.placement.snapshot import Accounting, Pool
from tests.property.test_placement_admission import Row, claim, claims
from tests.support import placements as given_
from tests.support.laws import LAW, pools


@LAW
@given(st.tuples(pools("p0"), pools("p1")), st.sampled_from(list(Accounting)), claims, st.integers(0, 60))
def test_nothing_new_is_admitted_past_the_quota(
    two: tuple[Pool, Pool], accounting: Accounting, rows: list[Row], limit: int
) -> None:
    asked = list({c.key: c for c in map(claim, rows)}.values())
    room = QueueRoom("q", limit, 0)
    account = placement.admit(two, accounting, asked, frozenset(), room)
    assert account == placement.admit(two, accounting, asked[::-1], frozenset(), room)
    by_key = {one.key: one for one in asked}
    admitted = {v.key for v in account.verdicts if v.admission is Admission.ADMITTED}
    before = snapshot.devices_of(h for one in asked if one.holds for h in one.holdings)
    after = snapshot.devices_of(h for key in admitted for h in by_key[key].holdings)
    assert {one.key for one in asked if one.holds} <= admitted, "what is admitted stays"
    assert after <= max(limit, before)
    for verdict in account.verdicts:
        if verdict.admission is Admission.REFUSED and verdict.reason is not None:
            free = placement.admit(two, accounting, asked).verdicts
            if str(verdict.reason) == "QueueQuota":
                assert "queue q has a quota of" in verdict.message
            else:
                assert any(one.key == verdict.key for one in free)


@LAW
@given(
    st.tuples(st.integers(1, 6), st.integers(0, 3)),
    st.tuples(st.integers(0, 40), st.integers(0, 40)),
    st.integers(1, 8),
    st.integers(1, 6),
)
def test_no_deployment_proposes_past_the_quota(
    nodes: tuple[int, int], quota: tuple[int, int], devices: int, replicas: int
) -> None:
    (limit, held), (here, elsewhere) = quota, nodes
    queued = given_.cluster("a", given_.pool(here), queue=QueueRoom("q", limit, held))
    free = given_.cluster("b", given_.pool(elsewhere))
    wants = given_.demand(given_.role(devices))
    plan = given_.plan(given_.fleet(queued, free), given_.intent(replicas), wants)
    assert given_.on(plan).count("a") * devices <= max(0, limit - held)
    without = given_.plan(given_.fleet(replace(queued, queue=None), free), given_.intent(replicas), wants)
    if limit - held >= replicas * devices:
        assert plan == without, "a quota with room changes nothing"
