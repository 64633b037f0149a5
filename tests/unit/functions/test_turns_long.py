"""Long calls: they give way to short ones, take turns, leave threads free, and all of them end."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError, wait

import pytest

from kubecel import interruption
from modelplane_functions import turns
from modelplane_functions.turns import Turns
from tests.support import computing


@pytest.fixture
def eight() -> Iterator[Turns]:
    """Yield turns of eight threads, two for each tenant."""
    made = Turns(8)
    yield made
    made.close(computing.SOON)


class Held:
    """Long work that says when it has become long and goes on when it is let; it counts how often it began."""

    def __init__(self) -> None:
        self.gate = computing.Gate()
        self.begun = 0

    def __call__(self) -> str:
        self.begun += 1
        computing.compute_until(turns.SHORT_SECONDS * 2)
        return self.gate()


def all_long(among: Turns, count: int) -> list[tuple[Held, turns.Call[str]]]:
    """Return long calls of as many tenants, of which as many hold a thread as long calls may."""
    held = [Held() for _ in range(count)]
    calls = [(one, among.submit(f"greedy-{number}", one)) for number, one in enumerate(held)]
    until = time.monotonic() + 3 * computing.SOON
    while not _all_tried(among, held) and time.monotonic() < until:
        time.sleep(0.005)
    assert _all_tried(among, held)
    return calls


def _all_tried(among: Turns, held: list[Held]) -> bool:
    holding = sum(one.gate.began._value for one in held)
    return all(one.begun for one in held) and holding >= min(len(held), among.most_long)


def test_a_tenant_has_a_quarter_of_the_threads_for_long_calls_at_most(eight: Turns) -> None:
    gate = computing.Gate()

    def long() -> str:
        computing.compute_until(turns.SHORT_SECONDS * 2)
        return gate()

    calls = [eight.submit("greedy", long) for _ in range(20)]
    for _ in range(eight.most_of_one):
        assert gate.began.acquire(timeout=computing.SOON)
        computing.asked(
            eight, "modest", lambda: computing.compute_until(0.001)
        )  # two are under way, so that one is found to be long
    assert not gate.began.acquire(timeout=0.1)
    gate.go_on.set()
    assert [call.result.result(computing.SOON) for call in calls] == ["done"] * 20


@pytest.mark.parametrize("tenants", [8, 20])
def test_long_calls_of_many_tenants_leave_room_for_a_short_one_and_all_end(eight: Turns, tenants: int) -> None:
    calls = all_long(eight, tenants)
    for _ in range(3):
        assert computing.asked(eight, "modest", lambda: "answered") == "answered"
    for one, _ in calls:
        one.gate.go_on.set()
    assert [call.result.result(6 * computing.SOON) for _, call in calls] == ["done"] * tenants
    assert max(one.begun for one, _ in calls) <= 2, "each is postponed once at most"


def test_a_tenant_with_a_postponed_call_tries_no_other(eight: Turns, monkeypatch: pytest.MonkeyPatch) -> None:
    # On a busy machine a call may come to no checkpoint for so long that another one begins.
    monkeypatch.setattr(turns, "SILENT_SECONDS", 6 * computing.SOON)
    calls = all_long(eight, eight.most_long)
    first, second = Held(), Held()
    tried = [eight.submit("late", first), eight.submit("late", second)]
    until = time.monotonic() + computing.SOON
    while not tried[0].is_long and time.monotonic() < until:
        time.sleep(0.005)
    for _ in range(5):
        computing.asked(eight, "modest", lambda: computing.compute_until(0.001))
    assert (first.begun, second.begun) == (1, 0)
    for one in (first, second, *(held for held, _ in calls)):
        one.gate.go_on.set()
    assert [call.result.result(3 * computing.SOON) for call in tried] == ["done"] * 2


def test_a_call_that_was_postponed_and_dropped_is_not_computed_again(eight: Turns) -> None:
    calls = all_long(eight, 20)
    until = time.monotonic() + computing.SOON
    while not all(call.is_long for _, call in calls) and time.monotonic() < until:
        time.sleep(0.01)
    postponed = [(one, call) for one, call in calls if call.is_long and not one.gate.began._value]
    assert len(postponed) == 20 - eight.most_long
    for _, call in postponed:
        eight.drop(call)
    for one, call in calls:
        one.gate.go_on.set()
        if (one, call) in postponed:
            with pytest.raises((interruption.Interrupted, CancelledError)):
                call.result.result(computing.SOON)
    assert computing.asked(eight, "modest", lambda: "answered") == "answered"
    assert [one.begun for one, _ in postponed] == [1] * len(postponed)


def test_closing_gives_up_what_was_postponed() -> None:
    among = Turns(8)
    calls = all_long(among, 12)
    for one, _ in calls:
        one.gate.go_on.set()
    assert among.close(computing.SOON)
    assert not wait([call.result for _, call in calls], computing.SOON).not_done


def test_a_long_call_gives_way_to_a_short_one_and_ends(eight: Turns, monkeypatch: pytest.MonkeyPatch) -> None:
    """The short call ends while the long one does not move; a long one alone is never held up."""
    # On a busy machine any time may pass between two steps, so that a long call would be overdue.
    monkeypatch.setattr(turns, "GIVE_WAY_SECONDS", 60 * computing.SOON)
    passed = 0
    stop = threading.Event()

    def long() -> None:
        nonlocal passed
        while not stop.is_set():
            interruption.checkpoint()
            passed += 1

    call = eight.submit("greedy", long)
    until = time.monotonic() + 6 * computing.SOON

    def short() -> int:
        while not call.is_long and time.monotonic() < until:
            time.sleep(0.001)  # the long one comes to a checkpoint, having computed for long
        before = passed
        time.sleep(0.05)
        return passed - before

    moved = computing.asked(eight, "modest", short)
    before = passed
    assert moved == 0
    while passed == before and time.monotonic() < until:
        time.sleep(0.01)
    assert passed > before
    stop.set()
    call.result.result(computing.SOON)


def test_long_calls_take_turns_and_all_of_them_end(eight: Turns) -> None:
    def long() -> float:
        return computing.compute_until(3 * turns.SHORT_SECONDS)

    calls = [eight.submit(tenant, long) for tenant in "aabbccdd"]
    assert all(call.result.result(6 * computing.SOON) >= 3 * turns.SHORT_SECONDS for call in calls)
    assert computing.asked(eight, "e", lambda: 1) == 1


def test_a_long_call_ends_beside_short_ones_that_never_do(eight: Turns) -> None:
    long = eight.submit("greedy", lambda: computing.compute_until(2 * turns.SLICE_SECONDS))
    until, answered = time.monotonic() + 3 * computing.SOON, 0
    while not long.result.done() and time.monotonic() < until:
        waits = [eight.submit(tenant, lambda: computing.compute_until(0.005)) for tenant in "ab"]
        for call in waits:
            call.result.result(computing.SOON)
        more = [eight.submit(tenant, lambda: computing.compute_until(0.005)) for tenant in "ab"]
        for call in waits:  # so that one is always under way
            eight.answered(call)
        for call in more:
            call.result.result(computing.SOON)
            eight.answered(call)
        answered += 4
    assert long.result.done(), f"{answered} short calls were answered meanwhile"


def test_long_calls_pause_until_the_answer_of_a_short_one_is_sent(
    eight: Turns, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "GIVE_WAY_SECONDS", 60 * computing.SOON)
    passed, stop = 0, threading.Event()

    def long() -> None:
        nonlocal passed
        while not stop.is_set():
            interruption.checkpoint()
            passed += 1

    endless_one = eight.submit("greedy", long)
    until = time.monotonic() + computing.SOON

    def wait_until_it_is_long() -> None:
        while not endless_one.is_long and time.monotonic() < until:
            time.sleep(0.001)

    short = eight.submit("modest", wait_until_it_is_long)
    short.result.result(computing.SOON)
    before = passed
    time.sleep(3 * turns.STUCK_SECONDS)
    assert passed == before
    eight.answered(short)
    until = time.monotonic() + computing.SOON
    while passed == before and time.monotonic() < until:
        time.sleep(0.01)
    assert passed > before
    stop.set()
    endless_one.result.result(computing.SOON)
