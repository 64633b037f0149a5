"""Documents of a cluster with one value broken: read or refused with a field, and never a traceback."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support import commands
from tests.support import driver_slices as drivers
from tests.unit.inventory.test_drivers import POOL, cluster

Json = Any
Path_ = tuple[str | int, ...]

DOCUMENTS: list[Json] = [
    *cluster(drivers.nvidia_gpu, nodes=1, count=2),
    *drivers.nvidia_mig("mig", 1),
    drivers.node("mig", POOL, taints=[{"key": "a", "value": "b", "effect": "NoSchedule"}]),
    drivers.slice_(drivers.NET, "node-0", [drivers.nic("node-0", number) for number in range(2)]),
    drivers.slice_(drivers.AMD, "amd", drivers.amd_partitions(0), of=2),
    drivers.node("plugin", drivers.GFD_LABELS, resources={"nvidia.com/gpu": "4"}),
]


def _places(value: Json, at: Path_ = ()) -> Iterator[Path_]:
    yield at
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in entries:
        yield from _places(one, (*at, key))


PLACES = [place for place in _places(DOCUMENTS) if len(place) > 1]


def broken(place: Path_, value: Json) -> list[Json]:
    """Return the documents with another value at a place."""
    made = copy.deepcopy(DOCUMENTS)
    holder: Json = made
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = value
    return made


values: st.SearchStrategy[Json] = st.sampled_from(
    [
        *(None, True, 0, -1, 1025, 10**30, 1.5),
        *("", "x" * 300, "-", "a b", "../x", "$(id)", "\u00fc", "1e999", "NaN"),
        *([], {}, [[]], [{}], {"": {}}, {"string": "a", "int": 1}, {"ints": []}),
    ]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(PLACES), values, st.booleans())
def test_a_broken_value_is_read_or_refused(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    place: Path_,
    value: Json,
    by_place: bool,  # noqa: FBT001 - drawn
) -> None:
    file = tmp_path / "seen.json"
    file.write_text(json.dumps(drivers.listed(broken(place, value))))
    run = commands.runner(capsys, tmp_path)
    done = run("class", "from-cluster", str(file), *(["--by-place"] if by_place else []))
    assert done.code in (0, 1, 2), done.err
    assert "Traceback" not in done.err
    assert "internal error" not in done.err
    assert bool(done.out) == (done.code == 0), done.err
    if done.code == 2:
        assert done.err.strip(), place
