"""The caches of the process: each has a bound, and none answers differently from no cache."""

from __future__ import annotations

import copy
import random
import sys
from collections.abc import Callable
from typing import Any

import pytest

from kubecel import caches
from kubecel.caches import CACHES, Answers
from modelplane.api import allocations, replica
from modelplane.api.fields import Field
from modelplane.errors import InvalidInput
from modelplane_functions import replicas
from modelplane_functions.memory import fragments, resources, structs
from tests.bench import caches as bench
from tests.bench import works
from tests.support import mutations
from tests.support import replicas as build

Json = Any

bench.everything()
TABLES = {name: cache for name, cache in CACHES.items() if isinstance(cache, Answers)}
FUNCTIONS = {name: cache for name, cache in CACHES.items() if name not in TABLES}


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_each_cache_of_a_function_has_a_bound(name: str) -> None:
    assert 0 < FUNCTIONS[name].cache_parameters()["maxsize"] <= 65_536
    assert not FUNCTIONS[name].cache_parameters()["typed"]


@pytest.mark.parametrize("name", sorted(TABLES))
def test_each_table_holds_its_bound(name: str) -> None:
    table = Answers[str, int](TABLES[name].entries, longest=TABLES[name].longest)
    for number in range(2 * table.entries + 1):
        table.keep(str(number), number)
        assert len(table) <= table.entries
    assert table.longest, "its keys are texts, so they have a bound as well"
    assert table.keep("x" * (table.longest + 1), 1) == 1
    assert "x" * (table.longest + 1) not in table


def test_each_cache_has_a_row_in_the_bench_that_defends_it() -> None:
    memories = {
        f"{module.__name__}.{name}"
        for module in list(sys.modules.values())
        if module.__name__.startswith("modelplane_functions")
        for name, value in vars(module).items()
        if isinstance(value, fragments.Fragments | resources.Memory | structs.Structs)
    }
    assert set(bench.ROWS) == set(CACHES) | memories
    assert set(bench.MEMORIES) == set(bench.EMPTY) == memories


@pytest.mark.parametrize("label", sorted(set(bench.ROWS.values()) - {"slices"}))
def test_each_cache_answers_in_the_work_of_its_row(label: str) -> None:
    used = bench._used(works.all_of_them()[label])
    names = [name for name, row in bench.ROWS.items() if row == label and name not in bench.MEMORIES]
    assert [name for name in names if not used.get(name, (0, 0))[0]] == []


def test_a_function_forgets_what_was_asked_least_recently() -> None:
    asked: list[int] = []

    def double(number: int) -> int:
        asked.append(number)
        return 2 * number

    kept = caches.bounded(double, 2)
    assert [kept(number) for number in (1, 2, 1, 3, 1, 2)] == [2, 4, 2, 6, 2, 4]
    assert asked == [1, 2, 3, 2]


def test_a_table_of_no_entries_keeps_nothing() -> None:
    table = Answers[str, int](0)
    assert table.keep("a", 1) == 1
    assert table.get("a") is None


def test_an_error_is_no_answer() -> None:
    asked: list[int] = []

    def refuse(number: int) -> int:
        asked.append(number)
        raise InvalidInput("no")

    kept = caches.bounded(refuse, 2)
    for _ in range(2):
        with pytest.raises(InvalidInput):
            kept(1)
    assert asked == [1, 1]


def _entry() -> Json:
    return {"pods": 3, "devices": {"h100": 2, "nic": 1}, "cpu": "8", "memory": "64Gi", "nodesPerWorker": 2}


def _allocations(document: Json) -> object:
    return allocations.decode_all(Field([document], ("allocations",)))


def _replica() -> Json:
    return replica.encode(build.replica(build.role(workers=2)))


def _asked(spec: Json) -> object:
    """Of a replica the spec alone is asked for: names differ from one replica of a deployment to the next."""
    return replicas._asked({**_replica(), "spec": spec})


def _spec() -> Json:
    return _replica()["spec"]


@pytest.mark.parametrize(
    ("make", "read"),
    [
        pytest.param(_entry, _allocations, id="allocations"),
        pytest.param(_spec, _asked, id="asked"),
    ],
)
def test_a_value_that_is_changed_after_it_was_read_is_another_question(
    make: Callable[[], Json], read: Callable[[Json], object]
) -> None:
    """The same object is read, changed in place, and read again; the answer is that of an empty cache."""
    draw = random.Random(1)  # noqa: S311 - the same draws every time
    places = sorted(mutations.paths(make()), key=str)
    for place in places:
        document = make()
        _outcome(read, document)
        holder = document
        for step in place[:-1]:
            holder = holder[step]
        holder[place[-1]] = draw.choice([7, "7", True, [], {}, None, 7.5, copy.deepcopy(holder)])
        warm = _outcome(read, document)
        bench.clear()
        assert warm == _outcome(read, document), place


def _outcome(read: Callable[[Json], object], document: Json) -> str:
    try:
        return repr(read(document))
    except (InvalidInput, TypeError, AttributeError, KeyError) as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize(
    "name", ["selectors", "placement", "deployment", pytest.param("examples", marks=pytest.mark.slow)]
)
def test_no_cache_answers_differently_from_none(name: str) -> None:
    """Warm caches, empty caches and no caches give the same answers to whole programs.

    What is built once per version stays: it is a constant, and building it for each question takes minutes.
    """
    work = works.all_of_them()[name]
    warm = [repr(work()) for _ in range(2)]
    bench.clear()
    assert repr(work()) == warm[0] == warm[1]
    asked = {name for name, cache in FUNCTIONS.items() if cache.cache_parameters()["maxsize"] > caches.VERSIONS_MAX}
    with bench.without(*asked, *TABLES):
        assert repr(work()) == warm[0]
