"""Accounts of processor time by namespace."""

from __future__ import annotations

import itertools

import pytest

from modelplane_functions import accounts
from modelplane_functions.accounts import CREDIT_SECONDS, GRAIN_SECONDS, Accounts


@pytest.fixture
def charged() -> Accounts:
    """Return accounts in which one namespace has computed for long."""
    made = Accounts()
    made.charge("greedy", 100.0)
    return made


def test_the_namespace_that_has_computed_least_is_next(charged: Accounts) -> None:
    assert charged.next(["greedy", "modest"]) == "modest"
    assert charged.next(["b", "a"]) == "b", "the first of those that are equal"
    assert charged.next([]) is None


def test_a_namespace_goes_on_until_it_is_ahead_by_a_grain(charged: Accounts) -> None:
    assert charged.kept(["greedy", "modest"], "greedy") == "modest"
    charged.charge("a", GRAIN_SECONDS / 2)
    assert charged.kept(["a", "b"], "a") == "a"
    charged.charge("a", GRAIN_SECONDS)
    assert charged.kept(["a", "b"], "a") == "b"
    assert charged.kept(["a"], "b") == "a"
    assert charged.kept([], "b") is None


def test_nobody_saves_time_while_it_asks_nothing(charged: Accounts) -> None:
    charged.charge("modest", CREDIT_SECONDS)
    assert charged.kept(["greedy", "modest"], "greedy") == "greedy"
    charged.charge("modest", 2 * GRAIN_SECONDS)
    assert charged.kept(["greedy", "modest"], "modest") == "greedy"


def test_namespaces_without_end_are_remembered_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accounts, "TENANTS_MAX", 3)
    made = Accounts()
    for number in range(100):
        made.charge(str(number), GRAIN_SECONDS)
    assert len(made._spent) == 3


@pytest.mark.parametrize("sizes", list(itertools.permutations((0.001, 0.004, 0.013))))
def test_namespaces_that_always_ask_share_equally_whatever_the_size_of_their_calls(sizes: tuple[float, ...]) -> None:
    made, current, used = Accounts(), None, dict.fromkeys("abc", 0.0)
    of = dict(zip("abc", sizes, strict=True))
    while sum(used.values()) < 10:
        current = made.kept("abc", current)
        assert current is not None
        made.charge(current, of[current])
        used[current] += of[current]
    assert max(used.values()) - min(used.values()) <= 2 * CREDIT_SECONDS
