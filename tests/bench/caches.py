"""Prints what each cache of the process saves: without one, the same work must take longer.

Each row of `ROWS` is a cache and the work that defends it: how often it answers there, what a hit and a miss cost
(median), the memory of as many answers as it may hold (what those of the work take, scaled up), and the processor time
of the work without the cache over that with it. The work is done twice from empty caches, as a server sees a fleet
first and again. Times are the least of some interleaved rounds, so run it on a quiet machine; a ratio below 1.02 is
noise there. A cache has a row, and one whose ratio stays near 1 goes (`tests/unit/kubecel/test_caches.py` compares).
"""

from __future__ import annotations

import gc
import importlib
import pkgutil
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, TypeAlias

import kubecel
import modelplane
import modelplane_functions
from kubecel.caches import CACHES, Answers
from kubecel.errors import KubecelError
from modelplane.devices.partitions import Undecided
from modelplane.errors import ModelplaneError
from modelplane_functions import wire
from modelplane_functions.memory import fragments, resources, structs
from tests.bench import arguments, works
from tests.bench.works import Work

Json = Any
Question: TypeAlias = tuple[tuple[Any, ...], tuple[tuple[str, Any], ...]]
"""The arguments of one call, by position and by name."""
SAMPLES = 64

MEMORIES: dict[str, Callable[[], object]] = {
    "modelplane_functions.wire._COMPOSITES": lambda: resources.Memory(0),
    "modelplane_functions.wire._FRAGMENTS": lambda: fragments.Fragments(parts=0),
    "modelplane_functions.wire._MEMORY": lambda: resources.Memory(0),
    "modelplane_functions.wire._STRUCTS": lambda: structs.Structs(0),
}
"""The caches of the server that are no functions, each with an equal one that keeps nothing."""

EMPTY: dict[str, Callable[[], object]] = {
    "modelplane_functions.wire._COMPOSITES": lambda: resources.Memory(wire.COMPOSITE_BYTES),
    "modelplane_functions.wire._FRAGMENTS": fragments.Fragments,
    "modelplane_functions.wire._MEMORY": lambda: resources.Memory(wire.REMEMBERED_BYTES),
    "modelplane_functions.wire._STRUCTS": lambda: structs.Structs(wire.WRITTEN_BYTES),
}
"""The same, as they are when the server starts."""

ROWS = {
    "kubecel.check.signatures.functions": "versions",
    "kubecel.functions.patterns._large_pattern": "large",
    "kubecel.functions.patterns._small_pattern": "patterns",
    "kubecel.functions.quantities._parsed": "selectors",
    "kubecel.rules._environment": "rules",
    "kubecel.rules.compile": "rules",
    "modelplane.api.catalogue._bundle": "documents",
    "modelplane.api.catalogue.structural_kind": "documents",
    "modelplane.api.allocations.known": "clusters",
    "modelplane.devices.hints.advice._tree": "selectors",
    "modelplane.devices.hints.advice.of_names": "selectors",
    "modelplane.devices.hints.advice.told": "selectors",
    "modelplane.devices.locality.on_cluster": "tainted",
    "modelplane.devices.locality.without_nodes": "queued",
    "modelplane.devices.matching.match": "alike",
    "modelplane.devices.nearness.nearest": "placement",
    "modelplane.devices.outcomes.answer": "regions",
    "modelplane.devices.partitions._holds": "slices",
    "modelplane.devices.partitions._in_the_way": "slices",
    "modelplane.devices.partitions._loads": "slices",
    "modelplane.devices.selector._compiled": "selectors",
    "modelplane.devices.selector._prepared": "selectors",
    "modelplane.devices.selector_language.admission": "authors",
    "modelplane.devices.selector_language.environment": "authors",
    "modelplane.placement.capacity.dimensions.of": "admissions",
    "modelplane.placement.capacity.ledger._in_any_order": "slices",
    "modelplane.placement.capacity.ledger._packed": "fleet",
    "modelplane.sizing.catalogue._repositories": "models",
    "modelplane.sizing.verdict._need": "models",
    "modelplane_functions.replicas.asked": "replicas",
    "modelplane_functions.wire._COMPOSITES": "composites",
    "modelplane_functions.wire._FRAGMENTS": "requests",
    "modelplane_functions.wire._MEMORY": "requests",
    "modelplane_functions.wire._STRUCTS": "answers",
}
"""The work that defends each cache of the process."""


def main(given: Sequence[str] | None = None) -> int:
    """Print the table, called with `given` or as it is; return 0."""
    made = arguments.parser("caches", __doc__, example="--rounds 5 matching")
    made.add_argument("only", nargs="*", metavar="WORD", help="only caches with one of the words in their name")
    made.add_argument("--rounds", type=arguments.positive, default=3, help="(%(default)s)")
    options = made.parse_args(given)
    everything()
    _row("cache", "work", "hits", "misses", "hit us", "miss us", "MB at max", "ratio")
    found = works.all_of_them()
    for name, label in sorted(ROWS.items()):
        if options.only and not any(word in name for word in options.only):
            continue
        work = found[label]
        numbers = ("", "", "", "", "") if name in MEMORIES else (*_used(work)[name], *_costs(name, work))
        _row(name, label, *numbers, f"{_ratio(name, work, options.rounds):.2f}")
    return 0


def everything() -> None:
    """Import all modules, so that every cache is known."""
    for package in (kubecel, modelplane, modelplane_functions):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not found.name.endswith("__main__"):
                importlib.import_module(found.name)


def clear() -> None:
    """Empty every cache."""
    for cache in CACHES.values():
        _clear(cache)
    for name, empty in EMPTY.items():
        _put(name, empty())


def _put(name: str, memory: object) -> None:
    module, _, attribute = name.rpartition(".")
    setattr(sys.modules[module], attribute, memory)


def _clear(cache: Any) -> None:
    cache.clear() if isinstance(cache, Answers) else cache.cache_clear()


def _used(work: Work) -> dict[str, tuple[int, int]]:
    """Return the hits and misses of the caches that answer something in the work."""
    clear()
    with _counted() as counted:
        work()
        work()
        tables = counted()
    found = {name: (cache.cache_info().hits, cache.cache_info().misses) for name, cache in _functions().items()}
    return {name: both for name, both in {**found, **tables}.items() if any(both)}


def _functions() -> dict[str, Any]:
    return {name: cache for name, cache in CACHES.items() if not isinstance(cache, Answers)}


@contextmanager
def _counted() -> Iterator[Callable[[], dict[str, tuple[int, int]]]]:
    """Count what is asked of tables: those that were put in were missed."""
    tables = {name: cache for name, cache in CACHES.items() if isinstance(cache, Answers)}
    asked: dict[str, int] = dict.fromkeys(tables, 0)

    class Counting(Answers[Any, Any]):
        name = ""

        def get(self, key: Any, default: Any = None) -> Any:
            asked[self.name] += 1
            return super().get(key, default)

    places = {name: _place_of(table) for name, table in tables.items()}
    for name, (module, attribute) in places.items():
        counting = Counting(tables[name].entries, longest=tables[name].longest)
        counting.name = name
        setattr(module, attribute, counting)
    yield lambda: {
        name: (asked[name] - len(getattr(module, attribute)), len(getattr(module, attribute)))
        for name, (module, attribute) in places.items()
    }
    for name, (module, attribute) in places.items():
        setattr(module, attribute, tables[name])


def _place_of(cache: Any) -> tuple[Any, str]:
    """Return the module and the name under which a cache is looked up."""
    name = next(name for name, one in CACHES.items() if one is cache)
    parts = name.split(".")
    return next(
        (sys.modules[found], attribute)
        for end in range(len(parts) - 1, 0, -1)
        if (found := ".".join(parts[:end])) in sys.modules
        for attribute, value in vars(sys.modules[found]).items()
        if value is cache
    )


@contextmanager
def without(*names: str) -> Iterator[None]:
    """Do without some caches for a while."""
    with ExitStack() as stack:
        for name in names:
            stack.enter_context(_without(name))
        yield


@contextmanager
def _without(name: str) -> Iterator[None]:
    cache = CACHES[name]
    if isinstance(cache, Answers):
        before, cache.entries = cache.entries, 0
        cache.clear()
        yield
        cache.entries = before
        return
    module, attribute = _place_of(cache)
    setattr(module, attribute, cache.__wrapped__)
    yield
    setattr(module, attribute, cache)


def _ratio(name: str, work: Work, rounds: int) -> float:
    """Return the time of the work without the cache over that with it."""
    having, lacking = [], []
    for _ in range(rounds):
        clear()
        having.append(_seconds(work))
        clear()
        if name in MEMORIES:
            _put(name, MEMORIES[name]())
            lacking.append(_seconds(work))
        else:
            with without(name):
                lacking.append(_seconds(work))
    return min(lacking) / min(having)


def _seconds(work: Work) -> float:
    gc.collect()
    start = time.process_time()
    work()
    work()
    return time.process_time() - start


def _costs(name: str, work: Work) -> tuple[str, str, str]:
    """Return the microseconds of a hit and of a miss, and the megabytes of as many answers as it may hold."""
    cache = CACHES[name]
    if isinstance(cache, Answers):
        return "", "", ""
    questions = list(_questions(name, work))[:SAMPLES]
    for question in questions:
        _answered(cache, question)
    hit = statistics.median(_microseconds(cache, question) for question in questions)
    miss = statistics.median(_microseconds(cache.__wrapped__, question) for question in questions)
    cache.cache_clear()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for question in questions:
        _answered(cache, question)
    taken = (tracemalloc.get_traced_memory()[0] - before) / max(1, cache.cache_info().currsize)
    tracemalloc.stop()
    return f"{hit:.1f}", f"{miss:.1f}", f"{taken * cache.cache_info().maxsize / 1e6:.1f}"


def _questions(name: str, work: Work) -> Iterator[Question]:
    """Yield the different arguments that the work calls the function with."""
    cache = CACHES[name]
    seen: dict[Question, None] = {}
    module, attribute = _place_of(cache)

    def noted(*given: Any, **named: Any) -> Any:
        seen.setdefault((given, tuple(sorted(named.items()))), None)
        return cache(*given, **named)

    setattr(module, attribute, noted)
    clear()
    work()
    setattr(module, attribute, cache)
    yield from seen


def _answered(function: Any, question: Question) -> None:
    with suppress(ModelplaneError, KubecelError, Undecided):  # a refusal is an answer, and is not cached
        function(*question[0], **dict(question[1]))


def _microseconds(function: Any, question: Question) -> float:
    start = time.perf_counter()
    _answered(function, question)
    return (time.perf_counter() - start) * 1e6


def _row(*cells: object) -> None:
    name, work, *numbers = cells
    print(f"{name!s:<58} {work!s:<11}" + "".join(f"{number!s:>10}" for number in numbers), flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
