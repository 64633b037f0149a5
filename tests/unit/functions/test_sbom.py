"""The bill of materials refuses a licence that is not listed, one that is not said, and an image that says nothing."""

from __future__ import annotations

import gzip
import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.support import archives

SCRIPT = Path(__file__).resolve().parents[3] / "functions" / "package" / "sbom.py"
SITE = "usr/local/lib/python3.11/dist-packages"
RECORD = "Package: zlib1g\nVersion: 1:1.2\nArchitecture: amd64\n"


@pytest.fixture(scope="module")
def sbom() -> ModuleType:
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("sbom", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["sbom"] = module
    spec.loader.exec_module(module)
    return module


def image(folder: Path, *, metadata: str | None, record: str | None = RECORD) -> Path:
    """Return an image with one Python package and one of Debian's, or without one of them."""
    files = {}
    if metadata is not None:
        files[f"{SITE}/thing-1.dist-info/METADATA"] = (
            f"Name: thing\nVersion: 1\n{metadata}\n\nLicense: in the text".encode()
        )
    if record is not None:
        files["./var/lib/dpkg/status.d/a"] = record.encode()
    target = folder / "a.tar"
    manifest = json.dumps([{"Config": "c", "Layers": ["l"]}]).encode()
    target.write_bytes(archives.tar({"manifest.json": manifest, "l": gzip.compress(archives.tar(files))}))
    return target


@pytest.mark.parametrize(
    ("metadata", "code"),
    [
        pytest.param("License-Expression: MIT", 0, id="expression"),
        pytest.param("License-Expression: MIT OR Apache-2.0", 0, id="choice"),
        pytest.param("License: 3-Clause BSD License", 0, id="older-field"),
        pytest.param("Classifier: License :: OSI Approved :: MIT License", 0, id="classifier"),
        pytest.param("License-Expression: AGPL-3.0-only", 1, id="not-listed"),
        pytest.param("License-Expression: MIT AND GPL-3.0-or-later", 1, id="one-of-two-not-listed"),
        pytest.param("License: as is", 1, id="unknown-words"),
        pytest.param("Summary: no licence", 1, id="nothing-said"),
    ],
)
def test_licence_of_a_python_package(sbom: ModuleType, tmp_path: Path, metadata: str, code: int) -> None:
    assert sbom.main([str(image(tmp_path, metadata=metadata))]) == code


def test_a_debian_package_that_is_not_listed_is_refused(
    sbom: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = RECORD.replace("zlib1g", "netcat")
    assert sbom.main([str(image(tmp_path, metadata="License-Expression: MIT", record=record))]) == 1
    assert "netcat" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("metadata", "record"),
    [pytest.param(None, RECORD, id="no-python"), pytest.param("License-Expression: MIT", None, id="no-records")],
)
def test_an_image_that_does_not_say_what_is_in_it_has_no_bill(
    sbom: ModuleType, tmp_path: Path, metadata: str | None, record: str | None
) -> None:
    with pytest.raises(SystemExit, match="no list of its packages"):
        sbom.main([str(image(tmp_path, metadata=metadata, record=record))])


def test_the_bill_names_packages_as_advisories_do(sbom: ModuleType, tmp_path: Path) -> None:
    assert sbom.main([str(image(tmp_path, metadata="License-Expression: MIT"))]) == 0
    components = json.loads((tmp_path / "a.cdx.json").read_text())["components"]
    assert {one["purl"] for one in components} == {
        "pkg:deb/debian/zlib1g@1:1.2?arch=amd64&distro=bookworm",
        "pkg:pypi/thing@1",
    }
