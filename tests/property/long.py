"""The laws in the long run: `hatch run laws`, which is `python -m tests.property.long [--seed NUMBER]`.

Each law about placing is asked of `--fleets` random fleets of its own (21 laws, so 14,700 fleets), laws that
draw something else in proportion, and selectors are `--bad-inputs` texts that nobody should have to think of. A
sixtieth of all fields of all inputs is asked in every way (`test_fields.py`). Each run asks other questions: its seed
is printed first and last, and `--seed` asks the same again. What a law found is printed by hypothesis, made as small as
can be; the last line counts what was asked.

Left to other runs: laws over the examples, of which there is a fixed number (`hatch run test`), and interleavings,
which have a long run of their own (`hatch run slow`).

Asked for by pytest as a plugin (`-p tests.property.long`), so that the processes beside each other count as well.
"""

# pytest and its workers call the hooks by these names; a line per law is what a long run is watched by.
# ruff: noqa: T201

from __future__ import annotations

import argparse
import itertools
import os
import secrets
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

FOLDER = Path(__file__).parent
FLEETS, BAD_INPUTS = 700, 100_000
SEED = "MODELPLANE_SEED"
_LAWS = (
    "test_placement_laws.py",
    "test_placement_keys.py",
    "test_placement_admission.py",
    "test_placement_promises.py",
    "test_grammar_fleets.py",
    "test_arrival_laws.py",
    "test_priority_laws.py",
    "test_move_laws.py",
    "test_rebalance_laws.py",
    "test_bad_input.py",
    "test_partition_laws.py",
    "test_inventory_laws.py",
    "test_inventory_input.py",
    "test_allocation_laws.py",
    "test_request_laws.py",
    "test_share_laws.py",
    "test_occupancy_laws.py",
    "test_cel_laws.py",
    "test_routing_laws.py",
    "test_routing_hold.py",
    "test_backend_laws.py",
    "test_fields.py",
    "test_sizing_laws.py",
)
_FLEETS = ("tests/property/test_placement", "tests/property/test_grammar_fleets")
"""Where a random case is a random fleet."""
_CASES, _STATISTICS = "cases", "hypothesis_statistics"


class Progress:
    """A line for each law that has been asked, and the sums at the end. Lives where the reports come together."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._asked: Counter[str] = Counter()
        self._laws: Counter[str] = Counter()
        self._failed: list[str] = []
        self._reported = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Print what became of one law."""
        self._reported = True
        if report.failed:
            self._failed.append(report.nodeid)
        if report.when != "call":
            return
        cases = dict(report.user_properties).get(_CASES, 0)
        assert isinstance(cases, int)
        kind = "fleets" if report.nodeid.startswith(_FLEETS) else "cases"
        if cases:
            self._asked[kind] += cases
            self._laws[kind] += 1
        seconds = time.monotonic() - self._begun
        what = f"{cases:6} {kind}" if cases else " " * (7 + len(kind))
        law = report.nodeid.removeprefix("tests/property/")
        print(f"\n{seconds:5.0f}s {report.outcome:7} {what}  {law}", end="", flush=True)

    def pytest_terminal_summary(self) -> None:
        """Print the sums, or that no law has such a name."""
        if not self._reported:
            print("laws: no law was asked, because -k selects none")
            return
        print(
            f"\nlaws: {self._laws['fleets']} laws over {self._asked['fleets']} random fleets, "
            f"{self._laws['cases']} over {self._asked['cases']} other random cases, "
            f"{os.environ['MODELPLANE_BAD_INPUTS']} bad inputs; "
            f"{len(self._failed)} broken, {time.monotonic() - self._begun:.0f} s; "
            f"`hatch run laws --seed {os.environ[SEED]}` asks the same again"
        )


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Tell with the report how many random cases the test really saw."""
    statistics = getattr(item, _STATISTICS, "")
    if call.when == "call" and statistics:
        item.user_properties.append((_CASES, _passing(str(statistics))))
    yield


def _passing(statistics: str) -> int:
    """Return the cases that hypothesis counts as passing, which leaves out those a law does not apply to."""
    words = statistics.replace(",", " ").split()
    return sum(int(before) for before, word in itertools.pairwise(words) if word == "passing")


def pytest_configure(config: pytest.Config) -> None:
    """Raise the number of cases of laws that name none, and watch where reports come together."""
    settings.register_profile(
        "long", settings.get_profile("fixed"), derandomize=False, max_examples=int(os.environ["MODELPLANE_EXAMPLES"])
    )
    settings.load_profile("long")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Progress(), "progress of laws")


def main() -> int:
    """Return what pytest returns: 0 when every law held."""
    parser = argparse.ArgumentParser(prog="python -m tests.property.long", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--fleets", type=int, default=FLEETS, help="random fleets for each law about placing")
    parser.add_argument("--bad-inputs", type=int, default=BAD_INPUTS, help="texts no selector should be")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**8), help="what decides the random questions")
    parser.add_argument("-k", dest="only", default="", help="laws whose names pytest's expression selects")
    cores = min(8, os.cpu_count() or 1)
    parser.add_argument("-n", dest="processes", type=int, default=cores, help="laws asked at once")
    options = parser.parse_args()
    print(f"laws: seed {options.seed}", flush=True)
    os.environ[SEED] = str(options.seed)
    os.environ["MODELPLANE_EXAMPLES"] = str(options.fleets)
    os.environ["MODELPLANE_BAD_INPUTS"] = str(options.bad_inputs)
    plugin = [
        "-p",
        "tests.property.long",
        f"--hypothesis-seed={options.seed}",
        "-n",
        str(options.processes),
        "--dist",
        "worksteal",
        *(("-k", options.only) if options.only else ()),
    ]
    files = [str(FOLDER / name) for name in _LAWS]
    return int(pytest.main([*plugin, "-q", "-q", "-p", "no:warnings", "--show-capture=no", "-m", "not slow", *files]))


if __name__ == "__main__":
    sys.exit(main())
