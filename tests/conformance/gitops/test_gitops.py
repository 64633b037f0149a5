"""The examples for Argo CD, Flux and GitHub, read by the code of those programs.

kustomize builds both folders. The scripts run in the interpreter of Argo CD and the expressions in the evaluator of
Flux, on objects as our functions leave them, and both have to agree. actionlint reads the workflow.
"""

from __future__ import annotations

import copy
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conformance.gitops import program
from tests.support import examples, live
from tests.support import planning as given

Json = Any
FOLDER = examples.EXAMPLES / "gitops"
SUITE = "gitops"
# The words of Flux for those of Argo CD.
WORDS = {"Healthy": "Current", "Degraded": "Failed", "Progressing": "InProgress"}
COMPOSED = {"CloudCluster", "CloudNetwork", "CloudNodePool", "ModelCacheCopy", "ModelReplica", "ServingStack"}
"""Kinds that nobody has in Git, so that Flux never sees one."""

KINDS = {
    yaml.safe_load(path.read_text())["spec"]["names"]["kind"]
    for path in (examples.EXAMPLES.parent / "apis").glob("*/definition.yaml")
}


@pytest.fixture(scope="module", autouse=True)
def go() -> None:
    live.needs(SUITE, "go")


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the ConfigMap of an Argo CD with our component, as kustomize builds it."""
    folder = tmp_path_factory.mktemp("argocd")
    shutil.copytree(FOLDER / "argocd", folder / "modelplane")
    own = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "argocd-cm", "namespace": "argocd"}}
    (folder / "own.yaml").write_text(yaml.safe_dump({**own, "data": {"url": "https://argocd.example"}}))
    build = {"resources": ["own.yaml"], "components": ["modelplane"]}
    (folder / "kustomization.yaml").write_text(yaml.safe_dump(build))
    done = program.ask("build", folder)
    assert done.returncode == 0, done.stderr
    built = yaml.safe_load(done.stdout)
    assert built["metadata"]["name"] == "argocd-cm"
    assert built["data"].pop("url") == "https://argocd.example"
    path = folder / "built.yaml"
    path.write_text(yaml.safe_dump({"data": built["data"]}))
    return path


@pytest.fixture(scope="module")
def kustomization(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the Kustomization of Flux as kustomize builds it, which is how Flux itself would be given it."""
    done = program.ask("build", FOLDER / "flux")
    assert done.returncode == 0, done.stderr
    path = tmp_path_factory.mktemp("flux") / "built.yaml"
    path.write_text(done.stdout)
    return path


def rendered(*arguments: str) -> list[Json]:
    """Return the objects of ours that the functions leave."""
    items = given.run("render", *arguments, "-o", "json").json["items"]
    return [one for one in items if one["apiVersion"].startswith("modelplane.ai/")]


def health(settings: Path, kustomization: Path, objects: list[Json]) -> list[tuple[str, str, str]]:
    """Return kind, health and message of each object, after both programs have agreed on it."""
    argocd = program.ask("argocd", settings, objects)
    flux = program.ask("flux", kustomization, objects)
    assert (argocd.returncode, flux.returncode) == (0, 0), argocd.stderr + flux.stderr
    found = []
    for one, theirs, others in zip(objects, json.loads(argocd.stdout), json.loads(flux.stdout), strict=True):
        assert "error" not in theirs, theirs
        if one["kind"] not in COMPOSED:
            assert others["status"] == WORDS[theirs["status"]], (one["kind"], theirs, others)
        found.append((one["kind"], theirs["status"], theirs.get("message", "")))
    return found


def test_every_kind_has_a_script_and_every_authored_kind_expressions(settings: Path, kustomization: Path) -> None:
    scripts = yaml.safe_load(settings.read_text())["data"]
    assert {key.rpartition("_")[2] for key in scripts} == KINDS
    expressions = yaml.safe_load(kustomization.read_text())["spec"]["healthCheckExprs"]
    assert {one["kind"] for one in expressions} == KINDS - COMPOSED


@pytest.mark.parametrize("folder", ["quickstart", "canary", "simple", "backends/native"])
def test_what_is_ready_is_healthy(settings: Path, kustomization: Path, folder: str) -> None:
    found = health(settings, kustomization, rendered(str(examples.EXAMPLES / folder)))
    assert len(found) > 3
    assert {status for _, status, _ in found} == {"Healthy"}


def test_what_comes_up_is_progressing(settings: Path, kustomization: Path) -> None:
    objects = rendered(str(examples.EXAMPLES / "quickstart"), "--assume", "nothing")
    found = {kind: (status, said) for kind, status, said in health(settings, kustomization, objects)}
    assert found["InferenceClass"][0] == "Healthy"
    assert found["ModelDeployment"][0] in ("Progressing", "Degraded")
    assert found["ModelService"][0] == "Progressing"
    assert all(said for status, said in found.values() if status != "Healthy")


def test_what_has_no_place_is_degraded_and_says_why(settings: Path, kustomization: Path, tmp_path: Path) -> None:
    path = given.written(
        tmp_path, "now", given.node_class(), given.cluster("a"), given.deployment(replicas=9, tensor=8)
    )
    found = {kind: (status, said) for kind, status, said in health(settings, kustomization, rendered(path))}
    status, said = found["ModelDeployment"]
    assert status == "Degraded"
    assert "not enough devices" in said


READY = {"type": "Ready", "status": "True"}


@pytest.mark.parametrize(
    ("generation", "conditions", "expected"),
    [
        pytest.param(1, [], "Progressing", id="nobody has looked at it"),
        pytest.param(1, [READY], "Healthy", id="ready"),
        pytest.param(2, [{**READY, "observedGeneration": 1}], "Progressing", id="ready before its last change"),
        pytest.param(2, [{**READY, "observedGeneration": 2}], "Healthy", id="ready after it"),
        pytest.param(
            1, [READY, {"type": "Synced", "status": "False", "message": "x"}], "Degraded", id="refused while it runs"
        ),
        pytest.param(
            2,
            [{"type": "Synced", "status": "False", "observedGeneration": 1}],
            "Progressing",
            id="what was refused is corrected and not looked at yet",
        ),
        pytest.param(1, [{"type": "Accepted", "status": "False", "reason": "Invalid"}], "Degraded", id="not accepted"),
        pytest.param(1, [{"type": "Ready", "status": "False", "message": "x"}], "Progressing", id="not ready"),
        pytest.param(
            1, [READY, {"type": "StackReady", "status": "Unknown"}], "Healthy", id="a condition that is unknown"
        ),
    ],
)
def test_a_state(settings: Path, kustomization: Path, generation: int, conditions: list[Json], expected: str) -> None:
    metadata = {"name": "a", "namespace": "b", "generation": generation}
    objects = [
        {
            "apiVersion": "modelplane.ai/v1alpha1",
            "kind": kind,
            "metadata": metadata,
            "status": {"conditions": conditions},
        }
        for kind in sorted(KINDS)
    ]
    found = health(settings, kustomization, copy.deepcopy(objects))
    assert {status for _, status, _ in found} == {expected}


def test_an_object_without_a_status_is_not_ready_yet(settings: Path, kustomization: Path) -> None:
    """Flux cannot evaluate the expressions, takes the state for unknown, and asks again until its timeout."""
    new = {"apiVersion": "modelplane.ai/v1alpha1", "kind": "ModelService", "metadata": {"name": "a", "generation": 1}}
    (theirs,) = json.loads(program.ask("argocd", settings, [new]).stdout)
    assert (theirs["status"], theirs["message"]) == ("Progressing", "its functions have not run yet")
    (others,) = json.loads(program.ask("flux", kustomization, [new]).stdout)
    assert "no such attribute" in others["error"]


def test_actionlint_finds_nothing_in_the_workflow(tmp_path: Path) -> None:
    path = examples.EXAMPLES / "ci" / "github.yml"
    done = program.ask("workflow", path)
    assert done.returncode == 0, done.stdout + done.stderr
    wrong = tmp_path / "wrong.yml"
    wrong.write_text(path.read_text().replace("needs.plan.outputs.comment", "needs.plan.outputs.coment"))
    assert 'property "coment" is not defined' in program.ask("workflow", wrong).stdout
