"""The package's lock and metadata say what the project says."""

from __future__ import annotations

import importlib
import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

REPOSITORY = Path(__file__).resolve().parents[3]
DOCUMENT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
PROJECT = DOCUMENT["project"]
IMAGE, BUILD = "requirements.txt", "build-requirements.txt"
ASKED = [(IMAGE, one) for one in (*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["tracing"])] + [
    (BUILD, one) for one in DOCUMENT["build-system"]["requires"]
]


def text_of(lock: str) -> str:
    return (REPOSITORY / "functions" / "package" / lock).read_text()


def locked(lock: str) -> dict[str, str]:
    """Return the version of each name in a lock."""
    return dict(re.findall(r"^([A-Za-z0-9_.-]+)==([^ \\]+)", text_of(lock), re.M))


@pytest.mark.parametrize(("lock", "text"), ASKED)
def test_the_image_and_its_build_have_what_the_project_asks_for(lock: str, text: str) -> None:
    asked, found = Requirement(text), locked(lock)
    assert asked.name in found, f"renew functions/package/{lock} (see its README)"
    assert asked.specifier.contains(found[asked.name]), f"renew functions/package/{lock} (see its README)"


@pytest.mark.parametrize("lock", [IMAGE, BUILD])
def test_every_locked_file_has_a_hash(lock: str) -> None:
    entries = re.split(r"\n(?=\S)", text_of(lock).strip())
    assert len(entries) == len(locked(lock))
    assert all("--hash=sha256:" in entry for entry in entries)


def test_our_wheel_is_built_by_what_is_locked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without isolation: pip would download what `build-system.requires` names, without a version or a hash."""
    monkeypatch.syspath_prepend(str(REPOSITORY / "functions" / "package"))
    runtime = importlib.import_module("runtime")
    commands: list[tuple[str, ...]] = []
    monkeypatch.setattr(runtime, "_run", lambda *command: commands.append(command))
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    (wheels / "modelplane-0.0.0-py3-none-any.whl").touch()
    assert runtime._wheel(REPOSITORY, tmp_path, wheels, "python").parent == wheels
    install, build = commands
    assert {"--require-hashes", f"--requirement={REPOSITORY / 'functions' / 'package' / BUILD}"} <= set(install)
    assert {"wheel", "--no-build-isolation", "--no-deps"} <= set(build)


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
