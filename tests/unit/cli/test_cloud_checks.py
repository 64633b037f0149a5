"""`modelplane validate` and clusters that are created: what the cloud would refuse is said at its field."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import commands, examples

CLOUDS = examples.EXAMPLES / "clouds"


def _validate(folder: Path) -> tuple[int, str]:
    done = commands.run("validate", str(folder))
    return done.code, done.out + done.err


@pytest.mark.parametrize("cloud", ["gke", "eks", "aks"])
def test_the_examples_have_no_problem(cloud: str) -> None:
    code, said = _validate(CLOUDS / cloud)
    assert (code, said.count("no problem")) == (0, 1), said


EDITS = [
    pytest.param("gke", "zones: [us-central1-a]", "zones: [europe-west1-b]", "spec.nodePools[0].zones", id="gke-zone"),
    pytest.param("eks", "[us-east-2a, us-east-2b]", "[us-east-2a]", "spec.cluster.eks.zones", id="eks-one-zone"),
    pytest.param("aks", "minNodeCount: 1", "minNodeCount: 0", "spec.nodePools[0].minNodeCount", id="aks-from-zero"),
    pytest.param("aks", 'kubernetesVersion: "1.35"', 'kubernetesVersion: "1.33"', "kubernetesVersion", id="aks-no-dra"),
    pytest.param("gke", "acceleratorCount: 8", "acceleratorCount: 4", "className", id="gke-devices-and-recipe"),
    pytest.param("eks", "provider: EKS", "provider: AKS", "provisioning", id="eks-recipe-of-another-cloud"),
]


@pytest.mark.parametrize(("cloud", "written", "instead", "field"), EDITS)
def test_it_is_said_at_its_field(tmp_path: Path, cloud: str, written: str, instead: str, field: str) -> None:
    texts = {path.name: path.read_text(encoding="utf-8") for path in (CLOUDS / cloud).glob("*.yaml")}
    assert any(written in text for text in texts.values())
    for name, text in texts.items():
        (tmp_path / name).write_text(text.replace(written, instead), encoding="utf-8")
    code, said = _validate(tmp_path)
    assert code == 2
    assert field in said, said
    assert ".yaml:" in said
