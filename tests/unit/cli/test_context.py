"""A live control plane as a source: what is asked of kubectl, and files applied onto what is there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from modelplane_cli.documents import live
from tests.support import planning

Json = Any


def listed(*objects: Json) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})


@pytest.fixture
def fleet(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Put a fleet of one cluster and one deployment, as a settled control plane holds them, behind a context."""
    wanted = planning.written(
        tmp_path, "wanted", planning.node_class(), planning.cluster("a"), planning.deployment("llama", replicas=1)
    )
    settled = json.loads(planning.run("render", wanted, "-o", "json").out)
    monkeypatch.setattr(live, "text", lambda context: listed(*settled["items"]))
    return tmp_path


def test_a_settled_control_plane_is_at_rest(fleet: Path) -> None:
    ran = planning.run("plan", "--context", "prod", "-o", "json")
    assert ran.code == 0, ran.err
    assert ran.json["changes"] == []
    assert [one["name"] for one in ran.json["deployments"]] == ["llama"]


def test_files_are_applied_onto_what_is_there(fleet: Path) -> None:
    more = planning.written(fleet, "more", planning.deployment("llama", replicas=2))
    ran = planning.run("plan", more, "--context", "prod", "-o", "json")
    assert ran.code == 0, ran.err
    (change,) = ran.json["changes"]
    assert "llama-1" in json.dumps(change)
    (deployment,) = ran.json["deployments"]
    assert {one["name"]: one["state"] for one in deployment["replicas"]} == {"llama-0": "retained", "llama-1": "new"}


def test_nothing_to_read_is_said() -> None:
    ran = planning.run("plan")
    assert ran.code == 2
    assert "--context" in ran.err


def test_without_kubectl_it_is_said_what_helps(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    ran = planning.run("explain", "md/llama", "--context", "prod")
    assert ran.code == 2
    assert "needs kubectl on PATH" in ran.err
    assert "Traceback" not in ran.err
