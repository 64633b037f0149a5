"""Summaries of a workload cluster in any state of repair: refused or read, never more than declared, never an error."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from modelplane.api import inference_class, observation
from modelplane.devices import sightings
from modelplane.errors import InvalidInput
from modelplane.placement.snapshot import NodeCounts
from tests.support import fleet
from tests.support.laws import LAW
from tests.support.observed_nodes import Watched, node, whole

Json = Any
Path = tuple[str | int, ...]
ODD = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False)
    | st.text(max_size=8)
    | st.sampled_from(["Ready", "1e999999999", "9" * 400, "gpu", "$(HOME)", "\x1b[31m", "80Gi", "\ud800", "x" * 9000]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=4,
)
NODE_CLASS = inference_class.decode(fleet.inference_class())


def _valid() -> Json:
    watched = Watched()
    watched.nodes[0] = node("n0", cordoned=True)
    watched.slices[1] = whole("n1", 7, memory="80Gi", taints=[{"key": "a", "effect": "NoSchedule"}])
    return json.loads(watched.look())


VALID = _valid()


def _paths(value: Json, path: Path = ()) -> Iterator[Path]:
    yield path
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in entries:
        yield from _paths(below, (*path, key))


PATHS = list(_paths(VALID))[1:]


@LAW
@given(st.lists(st.tuples(st.sampled_from(PATHS), ODD), min_size=1, max_size=3))
def test_any_summary_is_read_or_refused_and_adds_nothing(changes: list[tuple[Path, Json]]) -> None:
    found = copy.deepcopy(VALID)
    for path, value in changes:
        parent = found
        try:
            for key in path[:-1]:
                parent = parent[key]
            parent[path[-1]] = value
        except (KeyError, IndexError, TypeError):
            continue  # another change took it away
    try:
        pools = observation.decode(json.dumps(found)).pools
    except InvalidInput as error:
        assert len(str(error)) < 2000
        return
    for sighting in pools.values():
        seen = sightings.judge(sighting, NODE_CLASS)
        assert 0 <= seen.allocatable <= seen.ready <= seen.observed <= observation.NODES_MAX
        assert all(0 <= one.allocatable <= one.observed < 2**31 for one in seen.devices)
        assert all(text.isprintable() and len(text) < 2000 for text in (*seen.differs, *seen.lacks))
        counts = NodeCounts(2, observed=seen.observed, allocatable=seen.allocatable)
        assert 0 <= counts.present <= 2 >= counts.usable


@LAW
@given(st.text(max_size=200) | st.binary(max_size=100).map(lambda raw: raw.decode("latin-1")))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        observation.decode(text)
    except InvalidInput:
        return
