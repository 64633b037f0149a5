"""The package's lock and metadata say what the project says."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

REPOSITORY = Path(__file__).resolve().parents[3]
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
LOCKED = dict(
    re.findall(r"^([A-Za-z0-9_.-]+)==([^ \\]+)", (REPOSITORY / "functions/package/requirements.txt").read_text(), re.M)
)


@pytest.mark.parametrize("text", PROJECT["dependencies"])
def test_the_image_has_what_the_project_asks_for(text: str) -> None:
    asked = Requirement(text)
    assert asked.name in LOCKED, "renew functions/package/requirements.txt (see its README)"
    assert asked.specifier.contains(LOCKED[asked.name]), "renew functions/package/requirements.txt (see its README)"


def test_every_locked_file_has_a_hash() -> None:
    text = (REPOSITORY / "functions/package/requirements.txt").read_text()
    entries = re.split(r"\n(?=\S)", text.strip())
    assert len(entries) == len(LOCKED)
    assert all("--hash=sha256:" in entry for entry in entries)


def test_the_configuration_asks_for_what_it_relies_on() -> None:
    spec = yaml.safe_load((REPOSITORY / "crossplane.yaml").read_text())["spec"]
    # Required resources are watched, and an XRD may have a scale subresource, from v2.4 and v2.3 on.
    assert spec["crossplane"]["version"] == ">=v2.4.0-0"
    assert [(one["kind"], one["package"].split("/")[-1]) for one in spec["dependsOn"]] == [
        ("Function", "function-modelplane"),
        ("Provider", "provider-kubernetes"),
        ("Provider", "provider-helm"),
    ]
    assert all(one["apiVersion"] == "pkg.crossplane.io/v1" for one in spec["dependsOn"])
