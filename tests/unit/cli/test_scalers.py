"""Scaling that contradicts itself: two writers of replicas, two scalers of one deployment, a missing gateway."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from modelplane_cli.commands import validate
from tests.support import fleet

Json = Any

WISH: Json = {"max": 6, "target": {"requests": 16}}


def deployment(**fields: Json) -> Json:
    document = fleet.model_deployment()
    document["spec"]["model"]["uri"] = "hf://Qwen/Qwen3-8B"  # which is not gated: another warning is not the question
    del document["spec"]["replicas"], document["metadata"]["uid"]
    document["spec"].update(copy.deepcopy(fields))
    return document


def scaler(kind: str = "ScaledObject", target: str = "llama") -> Json:
    version = {"ScaledObject": "keda.sh/v1alpha1", "HorizontalPodAutoscaler": "autoscaling/v2"}[kind]
    reference = {"apiVersion": "modelplane.ai/v1alpha1", "kind": "ModelDeployment", "name": target}
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": "by-hand", "namespace": "ml-team"},
        "spec": {"scaleTargetRef": reference},
    }


SHORT: Json = {
    "apiVersion": "modelplane.ai/v1alpha1",
    "kind": "LLMInference",
    "metadata": {"name": "llama", "namespace": "ml-team"},
    "spec": {"model": "Qwen/Qwen3-8B", "scaling": WISH},
}

WARNED = [
    pytest.param([deployment(scaling=WISH)], None, id="scaling alone"),
    pytest.param([deployment(replicas=3)], None, id="replicas alone"),
    pytest.param([deployment(replicas=3, scaling=WISH)], "the scaler of spec.scaling writes replicas", id="both"),
    pytest.param(
        [{**deployment(replicas=3, scaling=WISH), "status": {}}], None, id="both in what a control plane has written"
    ),
    pytest.param([deployment(), scaler()], None, id="a scaler of one's own"),
    pytest.param([deployment(scaling=WISH), scaler()], "delete this ScaledObject", id="two scalers"),
    pytest.param(
        [deployment(scaling=WISH), scaler("HorizontalPodAutoscaler")],
        "delete this HorizontalPodAutoscaler",
        id="an HPA",
    ),
    pytest.param([SHORT, scaler()], "LLMInference llama has spec.scaling", id="beside the short form"),
    pytest.param([deployment(scaling=WISH), scaler(target="other")], "other", id="of nothing"),
    pytest.param(
        [
            deployment(scaling={**WISH, "gatewayRef": {"name": "defualt"}}),
            {
                "apiVersion": "modelplane.ai/v1alpha1",
                "kind": "InferenceGateway",
                "metadata": {"name": "default"},
                "spec": {},
            },
        ],
        "defualt",
        id="a gateway that is not there",
    ),
]


@pytest.mark.parametrize(("documents", "says"), WARNED)
def test_it_is_said(
    documents: list[Json], says: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "all.yaml").write_text(yaml.safe_dump_all(documents))
    assert validate.main([str(tmp_path)]) == 0
    said = capsys.readouterr().out
    found = [line for line in said.splitlines() if "scal" in line.lower() or "gatewayRef" in line]
    if says is None:
        assert not found
    else:
        assert len(found) == 1, said
        assert says in found[0]
        assert "warning" in found[0]


REFUSED = [
    pytest.param({"target": {"requests": 1}}, "spec.scaling.max", id="no max"),
    pytest.param({"max": 3}, "write target (a load per replica), schedule, or both", id="no aim"),
    pytest.param({"min": 4, "max": 3, "target": {"requests": 1}}, "max must be at least min", id="max below min"),
    pytest.param(
        {"max": 3, "schedule": [{"start": "0 8 * * *", "end": "0 9 * * *", "replicas": 4}]},
        "replicas of a schedule must be at most max",
        id="schedule above max",
    ),
    pytest.param({"max": 3, "target": {"gpu": 1}}, "gpu", id="another target"),
    pytest.param({"max": 3, "target": {}}, "spec.scaling.target", id="empty target"),
    pytest.param({"max": 3, "target": {"kvCacheUsage": 120}}, "spec.scaling.target.kvCacheUsage", id="120 percent"),
    pytest.param(
        {"max": 3, "schedule": [{"start": "daily", "end": "0 9 * * *", "replicas": 1}]}, "start", id="no cron"
    ),
    pytest.param({"max": 3, "target": {"requests": 1}, "scaleToZero": {"after": "soon"}}, "after", id="no duration"),
]


@pytest.mark.parametrize(("scaling", "says"), REFUSED)
@pytest.mark.parametrize("short", [pytest.param(True, id="short"), pytest.param(False, id="long")])
def test_it_is_refused(
    scaling: Json, says: str, short: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = {**SHORT, "spec": {**SHORT["spec"], "scaling": scaling}} if short else deployment(scaling=scaling)
    (tmp_path / "all.yaml").write_text(yaml.safe_dump(document))
    assert validate.main([str(tmp_path)]) != 0
    assert says in capsys.readouterr().out
