"""Calls that wait by namespace, and long ones that give way."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError

import pytest

from modelplane import interruption
from modelplane_functions import turns
from modelplane_functions.turns import BusyError, Turns

SOON = 10


@pytest.fixture
def eight() -> Iterator[Turns]:
    """Yield turns of eight threads, two for each tenant."""
    made = Turns(8)
    yield made
    made.close(SOON)


class Gate:
    """Work that says when it began and goes on when it is let."""

    def __init__(self) -> None:
        self.began = threading.Semaphore(0)
        self.go_on = threading.Event()

    def __call__(self) -> str:
        self.began.release()
        assert self.go_on.wait(SOON)
        return "done"


def endless() -> None:
    while True:
        interruption.checkpoint()


def test_what_is_computed_is_returned_and_what_is_raised_is_raised(eight: Turns) -> None:
    assert eight.submit("a", lambda: 42).result.result(SOON) == 42
    with pytest.raises(ZeroDivisionError):
        eight.submit("a", lambda: 1 // 0).result.result(SOON)


def test_a_tenant_has_at_most_a_quarter_under_way_and_another_is_not_kept_waiting(eight: Turns) -> None:
    gate = Gate()
    calls = [eight.submit("greedy", gate) for _ in range(20)]
    for _ in range(eight.most_of_one):
        assert gate.began.acquire(timeout=SOON)
    assert eight.submit("modest", lambda: "answered").result.result(SOON) == "answered"
    assert not gate.began.acquire(blocking=False)
    gate.go_on.set()
    assert [call.result.result(SOON) for call in calls] == ["done"] * 20


def test_tenants_take_turns() -> None:
    one = Turns(1)
    gate = Gate()
    first = one.submit("x", gate)
    assert gate.began.acquire(timeout=SOON)
    order: list[str] = []
    calls = [one.submit(tenant, lambda tenant=tenant: order.append(tenant)) for tenant in "aaabbc"]  # type: ignore[misc]
    gate.go_on.set()
    assert first.result.result(SOON) == "done"
    for call in calls:
        call.result.result(SOON)
    assert "".join(order) == "abcaba"
    one.close(SOON)


def test_a_call_that_waits_and_is_dropped_is_never_computed() -> None:
    one = Turns(1)
    gate = Gate()
    first = one.submit("a", gate)
    assert gate.began.acquire(timeout=SOON)
    computed: list[int] = []
    dropped = one.submit("a", lambda: computed.append(1))
    kept = one.submit("a", lambda: computed.append(2))
    one.drop(dropped)
    gate.go_on.set()
    kept.result.result(SOON)
    first.result.result(SOON)
    assert computed == [2]
    with pytest.raises(CancelledError):
        dropped.result.result(SOON)
    one.close(SOON)


def test_a_call_under_way_that_is_dropped_stops_at_its_next_checkpoint(eight: Turns) -> None:
    call = eight.submit("a", endless)
    eight.drop(call)
    with pytest.raises((interruption.Interrupted, CancelledError)):
        call.result.result(SOON)
    assert eight.close(SOON)


def test_a_long_call_gives_way_to_a_short_one_and_ends(eight: Turns) -> None:
    """The short call ends while the long one does not move; a long one alone is never held up."""
    passed = 0
    stop = threading.Event()

    def long() -> None:
        nonlocal passed
        while not stop.is_set():
            interruption.checkpoint()
            passed += 1

    call = eight.submit("greedy", long)
    until = time.monotonic() + SOON
    while not call.is_long and time.monotonic() < until:
        time.sleep(0.01)
    assert call.is_long

    def short() -> int:
        time.sleep(0.02)  # the long one comes to a checkpoint
        before = passed
        time.sleep(turns.GIVE_WAY_SECONDS / 4)
        return passed - before

    moved = eight.submit("modest", short).result.result(SOON)
    before = passed
    assert moved == 0
    while passed == before and time.monotonic() < until:
        time.sleep(0.01)
    assert passed > before
    stop.set()
    call.result.result(SOON)


def test_long_calls_take_turns_and_all_of_them_end(eight: Turns) -> None:
    def long() -> float:
        began, until = time.thread_time(), time.thread_time() + 3 * turns.SHORT_SECONDS
        while time.thread_time() < until:
            interruption.checkpoint()
        return time.thread_time() - began

    calls = [eight.submit(tenant, long) for tenant in "aabbccdd"]
    assert all(call.result.result(6 * SOON) >= 3 * turns.SHORT_SECONDS for call in calls)
    assert eight.submit("e", lambda: 1).result.result(SOON) == 1


def test_closing_drops_what_waits_and_stops_what_is_under_way() -> None:
    one = Turns(1)
    under_way, waits = one.submit("a", endless), one.submit("a", endless)
    assert one.close(SOON)
    for call in (under_way, waits):
        with pytest.raises((interruption.Interrupted, CancelledError)):
            call.result.result(SOON)
    with pytest.raises(BusyError):
        one.submit("a", endless)


def test_closing_says_when_something_cannot_be_stopped() -> None:
    one = Turns(1)
    gate = Gate()
    one.submit("a", gate)
    assert gate.began.acquire(timeout=SOON)
    assert not one.close(0.01)
    gate.go_on.set()
    assert one.close(SOON)


def test_a_tenant_is_turned_away_before_its_calls_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "WAITING_MAX", 3)
    one = Turns(1)
    gate = Gate()
    one.submit("a", gate)
    assert gate.began.acquire(timeout=SOON)
    for _ in range(3):
        one.submit("a", gate)
    with pytest.raises(BusyError, match="3 calls of a are already queued"):
        one.submit("a", gate)
    one.submit("b", gate)
    gate.go_on.set()
    one.close(SOON)


def test_nothing_of_a_call_stays_behind(eight: Turns) -> None:
    class Large:
        """Stands for a request."""

    gone = threading.Event()

    def submit() -> Callable[[], object]:
        large = Large()
        weakref.finalize(large, gone.set)
        return lambda: len([large])

    eight.submit("a", submit()).result.result(SOON)
    assert gone.wait(SOON)
