"""Replicas that are read from a control plane have times of creation, and what the command adds is younger than they.

Without a time a successor counted as the oldest replica: it was shed, placed again under another name, and so on.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from modelplane_cli.simulator import creation
from modelplane_cli.simulator.store import Store
from tests.support import examples
from tests.support import planning as given

Json = Any
QUICKSTART = str(examples.EXAMPLES / "quickstart")


def world(folder: str, tmp_path: Path, *times: str) -> str:
    """Return a file with the objects to which a folder leads; its replicas have these times, in turn."""
    items = given.run("render", folder, "-o", "json").json["items"]
    number = 0
    for one in items:
        if times and one["kind"] == "ModelReplica":
            one["metadata"]["creationTimestamp"] = times[number % len(times)]
            number += 1
    assert number or not times
    path = tmp_path / f"world-{len(times)}.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    return str(path)


def essence(answer: Json) -> list[Json]:
    """Return what happens in each step, and when."""
    return [(one["event"], one["fits"], one["changes"], one["stages"]) for one in answer["steps"]]


SAME = "2026-11-25T10:09:10Z"
TIMES = [
    pytest.param((SAME,), id="all at once"),
    pytest.param((SAME, "2026-11-25T10:09:11Z"), id="one after the other"),
    pytest.param(("2026-11-25T10:09:11Z", "2020-01-01T00:00:00+02:00"), id="in no order"),
]
EVENTS = [
    pytest.param(QUICKSTART, ("--drain", "gke-us"), id="a drain"),
    pytest.param(QUICKSTART, ("--drain", "eks-eu"), id="a drain of the other"),
    pytest.param(QUICKSTART, ("--scale", "ml-team/qwen3-8b=4", "--drain", "gke-us"), id="grows, then a drain"),
    pytest.param(QUICKSTART, ("--lose", "gke-us"), id="a loss"),
    pytest.param(QUICKSTART, ("--drain", "gke-us", "--scale", "ml-team/qwen3-8b=3"), id="a drain, then it grows"),
]


@pytest.mark.parametrize("times", TIMES)
@pytest.mark.parametrize(("folder", "events"), EVENTS)
def test_what_happens_to_a_live_fleet_is_what_happens_to_its_documents(
    folder: str, events: tuple[str, ...], times: tuple[str, ...], tmp_path: Path
) -> None:
    told = given.run("simulate", world(folder, tmp_path), *events, "-o", "json")
    live = given.run("simulate", world(folder, tmp_path, *times), *events, "-o", "json")
    assert (live.code, live.err) == (told.code, told.err)
    assert "bug:" not in live.err
    assert essence(live.json) == essence(told.json)


@pytest.mark.parametrize("times", TIMES[:2])
def test_an_edit_of_a_live_fleet_moves_what_it_moves_in_documents(times: tuple[str, ...], tmp_path: Path) -> None:
    """The older replica moves first, so the times are in the order of the names, as they are without any."""

    def edited(*given_times: str) -> str:
        path = Path(world(QUICKSTART, tmp_path, *given_times))
        listed = json.loads(path.read_text())
        (model,) = (one for one in listed["items"] if one["kind"] == "ModelDeployment")
        model["spec"]["workers"]["template"]["spec"]["containers"][0]["args"] = ["--max-model-len=8192"]
        path.write_text(json.dumps(listed))
        return str(path)

    told = given.run("plan", edited(), "-o", "json")
    live = given.run("plan", edited(*times), "-o", "json")
    assert (live.code, live.err) == (told.code, told.err)
    assert live.json["changes"] == told.json["changes"]
    assert live.json["changes"], "the edit moves something"


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        pytest.param((), None, id="no replica"),
        pytest.param(("",), None, id="none has a time"),
        pytest.param((SAME, "", "2026-11-25T10:09:12Z"), "2026-11-25T10:09:13Z", id="after the newest"),
        pytest.param(("2026-11-25T12:00:00+02:00",), "2026-11-25T10:00:01Z", id="another zone"),
        pytest.param(("yesterday", "2026-11-25"), None, id="what no server writes"),
        pytest.param(("2026-11-25T10:00:00",), None, id="a time of no zone"),
        pytest.param(("9999-12-31T23:59:59Z",), None, id="the end of time"),
        pytest.param((7, None, {}), None, id="no text"),
    ],
)
def test_the_time_of_what_is_created(texts: tuple[Json, ...], expected: str | None) -> None:
    store = Store()
    for number, text in enumerate(texts):
        metadata = {"namespace": "n", "name": f"r-{number}", "creationTimestamp": text}
        store.put({"apiVersion": "modelplane.ai/v1alpha1", "kind": "ModelReplica", "metadata": metadata})
    assert creation.time_after(store) == expected
