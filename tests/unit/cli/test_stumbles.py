"""Mistakes and questions of somebody new: help, misspelt options, folders of other programs, a cluster that is gone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support import planning as given

Json = Any


def world() -> list[Json]:
    return [given.node_class(), given.cluster("a"), given.cluster("b"), given.deployment(replicas=2, tensor=8)]


def test_help_of_a_command_is_its_help() -> None:
    assert given.run("help", "plan") == given.run("plan", "--help")
    assert "did you mean plan?" in given.run("help", "plam").err


def test_a_misspelt_option_is_corrected() -> None:
    ran = given.run("plan", "--agianst", "x")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.endswith("unrecognized arguments: --agianst; did you mean --against?\n")
    assert given.run("plan", "--zzz", "x").err.endswith("unrecognized arguments: --zzz\n")


def test_a_kind_is_a_kind(tmp_path: Path) -> None:
    wrong = {**given.cluster("a"), "kind": "inference cluster"}
    ran = given.run("plan", given.written(tmp_path, "now", wrong))
    assert "'inference cluster' is not a kind, for example" in ran.err


def test_files_of_kustomize_and_charts_are_skipped_with_a_note(tmp_path: Path) -> None:
    given.written(tmp_path, "now", *world())
    (tmp_path / "kustomization.yaml").write_text("resources: [now.yaml]\n")
    (tmp_path / "chart" / "templates").mkdir(parents=True)
    (tmp_path / "chart" / "Chart.yaml").write_text("apiVersion: v2\nname: x\n")
    (tmp_path / "chart" / "templates" / "x.yaml").write_text("{{- if .Values.x }}\n")
    ran = given.run("plan", str(tmp_path))
    assert ran.code == 0
    chart, kustomization = ran.err.splitlines()
    assert "chart: warning: is a Helm chart and skipped" in chart
    assert "kustomization.yaml: warning: is a file of kustomize and skipped" in kustomization
    alone = given.run("plan", str(tmp_path / "chart"))
    assert alone.code == 2
    assert "holds no documents" in alone.err


def test_a_cluster_that_is_deleted_under_replicas_is_said(tmp_path: Path) -> None:
    there = given.written(tmp_path, "there", *world())
    placed = {
        one["cluster"] for row in given.run("plan", there, "-o", "json").json["deployments"] for one in row["replicas"]
    }
    gone = sorted(placed)[0]
    here = given.written(tmp_path, "here", *(one for one in world() if one["metadata"]["name"] != gone))
    ran = given.run("plan", here, "--against", there)
    assert f"\n! InferenceCluster {gone}: the webhook will refuse its deletion while 1 replica is on it" in ran.out
    (said,) = given.run("plan", here, "--against", there, "-o", "json").json["refused"]
    assert said.startswith(f"InferenceCluster {gone}: ")
    assert given.run("plan", there, "--against", there, "-o", "json").json["refused"] == []


@pytest.mark.parametrize("silent", ["a", "b"])
def test_a_cluster_that_does_not_answer_keeps_what_it_has_and_gets_nothing(tmp_path: Path, silent: str) -> None:
    objects = [given.node_class(), given.cluster("a", nodes=4), given.cluster("b", nodes=4), given.deployment(tensor=8)]
    file = given.written(tmp_path, "now", *objects)
    scaled = ("--unreachable", silent, "--scale", "ml-team/llama=4")
    ran = given.run("simulate", file, *scaled, "-o", "json")
    assert ran.code == 0
    first, second = ran.json["steps"]
    assert first["changes"] == []
    assert {one["to"]["cluster"] for one in second["changes"]} == {"a", "b"} - {silent}
    assert "no InferenceCluster c" in given.run("simulate", file, "--unreachable", "c").err


def test_templates_of_helm_are_told_apart_from_broken_yaml(tmp_path: Path) -> None:
    (tmp_path / "d.yaml").write_text("metadata:\n  name: {{ .Values.name }}\n")
    ran = given.run("plan", str(tmp_path))
    assert ran.code == 2
    assert "d.yaml:2: document 1: a key of a map must be text; it looks like a template of Helm" in ran.err
    (tmp_path / "d.yaml").write_text("metadata:\n  name: {{ }}\n")
    assert "Helm" not in given.run("plan", str(tmp_path)).err


def test_two_objects_without_a_line_between_them_are_told_what_is_missing(tmp_path: Path) -> None:
    one = yaml.safe_dump(given.node_class())
    (tmp_path / "a.yaml").write_text(one + one)
    ran = given.run("validate", str(tmp_path))
    assert ran.code == 2
    assert "'apiVersion' is given twice in one map (first on line 1); write --- between two objects" in ran.out
