"""Calls that wait by namespace: whose call is next, and what is dropped, turned away and left behind."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError

import pytest

from kubecel import interruption
from modelplane_functions import accounts, turns
from modelplane_functions.turns import BusyError, Turns
from tests.support import computing


@pytest.fixture
def eight() -> Iterator[Turns]:
    """Yield turns of eight threads, two for each tenant."""
    made = Turns(8)
    yield made
    made.close(computing.SOON)


def test_what_is_computed_is_returned_and_what_is_raised_is_raised(eight: Turns) -> None:
    assert eight.submit("a", lambda: 42).result.result(computing.SOON) == 42
    with pytest.raises(ZeroDivisionError):
        eight.submit("a", lambda: 1 // 0).result.result(computing.SOON)


def test_a_tenant_has_one_short_call_under_way_and_another_is_not_kept_waiting(
    eight: Turns, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "SILENT_SECONDS", computing.SOON)
    gate = computing.Gate()
    calls = [eight.submit("greedy", gate) for _ in range(20)]
    assert gate.began.acquire(timeout=computing.SOON)
    assert computing.asked(eight, "modest", lambda: "answered") == "answered"
    assert not gate.began.acquire(blocking=False)
    gate.go_on.set()
    assert [call.result.result(computing.SOON) for call in calls] == ["done"] * 20


def test_a_call_in_a_step_without_a_checkpoint_does_not_hold_up_its_own_tenant(eight: Turns) -> None:
    gate = computing.Gate()
    stuck = eight.submit("greedy", gate)
    assert gate.began.acquire(timeout=computing.SOON)
    assert computing.asked(eight, "greedy", lambda: "answered") == "answered"
    gate.go_on.set()
    assert stuck.result.result(computing.SOON) == "done"


def test_threads_that_wait_for_any_call_look_when_a_second_one_may_begin(eight: Turns) -> None:
    for _ in range(8):
        computing.asked(eight, "modest", lambda: None)  # a thread for each of them
    threads = [thread for thread in threading.enumerate() if thread.name.startswith("compute-")]
    assert len(threads) >= 8
    time.sleep(turns.SILENT_SECONDS * 3)  # all wait without a limit, since nothing is queued
    gate = computing.Gate()
    stuck = eight.submit("greedy", gate)
    assert gate.began.acquire(timeout=computing.SOON)
    assert eight.submit("greedy", lambda: "answered").result.result(computing.SOON / 2) == "answered"
    gate.go_on.set()
    assert stuck.result.result(computing.SOON) == "done"


def test_tenants_take_turns_where_none_has_computed_a_grain_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accounts, "GRAIN_SECONDS", computing.SOON)  # a busy machine charges for more than the work
    one = Turns(1)
    gate = computing.Gate()
    first = one.submit("x", gate)
    assert gate.began.acquire(timeout=computing.SOON)
    order: list[str] = []
    calls = [one.submit(tenant, lambda tenant=tenant: order.append(tenant)) for tenant in "aaabbc"]  # type: ignore[misc]
    gate.go_on.set()
    assert first.result.result(computing.SOON) == "done"
    for call in calls:
        call.result.result(computing.SOON)
    assert "".join(order) == "abcaba"
    one.close(computing.SOON)


def test_a_call_that_waits_and_is_dropped_is_never_computed() -> None:
    one = Turns(1)
    gate = computing.Gate()
    first = one.submit("a", gate)
    assert gate.began.acquire(timeout=computing.SOON)
    computed: list[int] = []
    dropped = one.submit("a", lambda: computed.append(1))
    kept = one.submit("a", lambda: computed.append(2))
    one.drop(dropped)
    gate.go_on.set()
    kept.result.result(computing.SOON)
    first.result.result(computing.SOON)
    assert computed == [2]
    with pytest.raises(CancelledError):
        dropped.result.result(computing.SOON)
    one.close(computing.SOON)


def test_a_call_under_way_that_is_dropped_stops_at_its_next_checkpoint(eight: Turns) -> None:
    call = eight.submit("a", computing.endless)
    eight.drop(call)
    with pytest.raises((interruption.Interrupted, CancelledError)):
        call.result.result(computing.SOON)
    assert eight.close(computing.SOON)


def test_a_call_of_a_tenant_that_has_computed_little_goes_first(eight: Turns, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two are short and under way. The one of the tenant that asks without end does not move meanwhile."""
    for name in ("SHORT_SECONDS", "STUCK_SECONDS"):
        monkeypatch.setattr(turns, name, 60 * computing.SOON)
    computing.asked(eight, "greedy", lambda: computing.compute_until(2 * accounts.CREDIT_SECONDS))
    passed, stop = 0, threading.Event()

    def greedy() -> None:
        nonlocal passed
        while not stop.is_set():
            interruption.checkpoint()
            passed += 1

    call = eight.submit("greedy", greedy)
    until = time.monotonic() + computing.SOON
    while not passed and time.monotonic() < until:
        time.sleep(0.001)

    def modest() -> int:
        while not call.is_paused and time.monotonic() < until:
            time.sleep(0.001)
        before = passed
        computing.compute_until(accounts.GRAIN_SECONDS)
        return passed - before

    assert computing.asked(eight, "modest", modest) == 0
    assert not call.is_long
    before = passed
    while passed == before and time.monotonic() < until:
        time.sleep(0.001)
    stop.set()
    call.result.result(computing.SOON)
    assert passed > before


def test_short_calls_of_two_tenants_that_ask_without_end_share_equally(
    eight: Turns, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One asks for calls that are five times as long, and gets as much processor time."""
    for name in ("SHORT_SECONDS", "STUCK_SECONDS", "SILENT_SECONDS"):
        monkeypatch.setattr(turns, name, 60 * computing.SOON)
    used = {"small": 0.0, "large": 0.0}

    def work(tenant: str, seconds: float) -> None:
        used[tenant] += computing.compute_until(seconds)

    sizes = {"small": 0.003, "large": 0.015}
    calls = [eight.submit(tenant, lambda t=tenant: work(t, sizes[t])) for _ in range(60) for tenant in sizes]  # type: ignore[misc]
    until = time.monotonic() + 3 * computing.SOON
    while used["small"] < 50 * sizes["small"] and time.monotonic() < until:
        for call in calls:
            if call.result.done():
                eight.answered(call)
        time.sleep(0.001)
    small, large = used["small"], used["large"]
    for call in calls:
        eight.drop(call)
    assert 0.4 < small / large < 2.5, "by calls it would be 0.2"


def test_a_short_call_beside_one_in_a_step_without_a_checkpoint_is_not_kept_waiting(eight: Turns) -> None:
    computing.asked(eight, "greedy", lambda: computing.compute_until(0.001))
    gate = computing.Gate()
    stuck = eight.submit("modest", gate)
    assert gate.began.acquire(timeout=computing.SOON)
    assert computing.asked(eight, "greedy", lambda: computing.compute_until(0.01)) >= 0.01
    gate.go_on.set()
    assert stuck.result.result(computing.SOON) == "done"


def test_a_call_that_was_cancelled_as_it_began_takes_no_thread_with_it() -> None:
    one = Turns(1)
    gate = computing.Gate()
    first = one.submit("a", gate)
    assert gate.began.acquire(timeout=computing.SOON)
    second = one.submit("a", lambda: "computed")
    second.result.cancel()
    second.is_unwanted = True
    gate.go_on.set()
    assert first.result.result(computing.SOON) == "done"
    assert one.submit("b", lambda: "answered").result.result(computing.SOON) == "answered"
    one.close(computing.SOON)


def test_closing_drops_what_waits_and_stops_what_is_under_way() -> None:
    one = Turns(1)
    under_way, waits = one.submit("a", computing.endless), one.submit("a", computing.endless)
    assert one.close(computing.SOON)
    for call in (under_way, waits):
        with pytest.raises((interruption.Interrupted, CancelledError)):
            call.result.result(computing.SOON)
    with pytest.raises(BusyError):
        one.submit("a", computing.endless)


def test_closing_says_when_something_cannot_be_stopped() -> None:
    one = Turns(1)
    gate = computing.Gate()
    one.submit("a", gate)
    assert gate.began.acquire(timeout=computing.SOON)
    assert not one.close(0.01)
    gate.go_on.set()
    assert one.close(computing.SOON)


def test_a_tenant_is_turned_away_before_its_calls_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "WAITING_MAX", 3)
    one = Turns(1)
    gate = computing.Gate()
    one.submit("a", gate)
    assert gate.began.acquire(timeout=computing.SOON)
    for _ in range(3):
        one.submit("a", gate)
    with pytest.raises(BusyError, match="3 calls of a are already queued"):
        one.submit("a", gate)
    one.submit("b", gate)
    gate.go_on.set()
    one.close(computing.SOON)


def test_nothing_of_a_call_stays_behind(eight: Turns) -> None:
    class Large:
        """Stands for a request."""

    gone = threading.Event()

    def submit() -> Callable[[], object]:
        large = Large()
        weakref.finalize(large, gone.set)
        return lambda: len([large])

    computing.asked(eight, "a", submit())
    assert gone.wait(computing.SOON)
