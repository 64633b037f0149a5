"""`modelplane validate` and clusters that are created: what the cloud would refuse is said at its field."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import commands, examples

CLOUDS = examples.EXAMPLES / "clouds"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> commands.Run:
    monkeypatch.chdir(tmp_path)
    return commands.runner(capsys, tmp_path)


@pytest.mark.parametrize("cloud", ["gke", "eks", "aks"])
def test_the_examples_have_no_problem(run: commands.Run, cloud: str) -> None:
    done = run("validate", str(CLOUDS / cloud))
    assert (done.code, (done.out + done.err).count("no problem")) == (0, 1), done


EDITS = [
    pytest.param("gke", "zones: [us-central1-a]", "zones: [europe-west1-b]", "spec.nodePools[0].zones", id="gke-zone"),
    pytest.param("eks", "[us-east-2a, us-east-2b]", "[us-east-2a]", "spec.cluster.eks.zones", id="eks-one-zone"),
    pytest.param("aks", "minNodeCount: 1", "minNodeCount: 0", "spec.nodePools[0].minNodeCount", id="aks-from-zero"),
    pytest.param("aks", 'kubernetesVersion: "1.35"', 'kubernetesVersion: "1.33"', "kubernetesVersion", id="aks-no-dra"),
    pytest.param("gke", "acceleratorCount: 8", "acceleratorCount: 4", "Count 4 is not the 8", id="gke-devices"),
    pytest.param("eks", "provider: EKS", "provider: AKS", "provisioning", id="eks-recipe-of-another-cloud"),
]


@pytest.mark.parametrize(("cloud", "written", "instead", "field"), EDITS)
def test_it_is_said_at_its_field(run: commands.Run, cloud: str, written: str, instead: str, field: str) -> None:
    texts = {path.name: path.read_text(encoding="utf-8") for path in (CLOUDS / cloud).glob("*.yaml")}
    assert any(written in text for text in texts.values())
    done = run("validate", ".", files={name: text.replace(written, instead) for name, text in texts.items()})
    said = done.out + done.err
    assert done.code == 2
    assert field in said, said
    assert ".yaml:" in said
