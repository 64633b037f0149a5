"""What is generated under schemas/ is what apis/ says, and reads our documents."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from modelplane.api import catalogue
from modelplane_schemas.inference_class import InferenceClass
from modelplane_schemas.model_deployment import ModelDeployment

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = ROOT / "schemas" / "modelplane_schemas"


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "schemas" / "generate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def files(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(folder.iterdir()) if path.is_file()}


def test_generating_again_changes_nothing(tmp_path: Path) -> None:
    generator().write(tmp_path)
    ours, fresh = files(PACKAGE), files(tmp_path)
    assert sorted(ours) == sorted(fresh)
    changed = [name for name in ours if ours[name] != fresh[name]]
    assert changed == [], "run `hatch run generate` and commit what it writes"


@pytest.mark.parametrize(
    ("kind", "module"),
    [
        ("ModelDeployment", "model_deployment"),
        ("LLMInference", "llm_inference"),
        ("InferenceClass", "inference_class"),
    ],
)
def test_module_names(kind: str, module: str) -> None:
    assert generator().module_name(kind) == module


def test_models_leave_defaults_to_the_api_server_and_say_them() -> None:
    read = ModelDeployment.model_validate(
        {
            "metadata": {"name": "a"},
            "spec": {
                "nodeSelector": {"cel": "true"},
                "workers": {"template": {"spec": {"containers": [{"name": "engine", "image": "b"}]}}},
            },
        }
    )
    assert (read.api_version, read.kind) == ("modelplane.ai/v1alpha1", "ModelDeployment")
    assert (read.spec.replicas, read.spec.workers.topology) == (None, None)
    assert str(type(read.spec).model_fields["replicas"].description).endswith("Default: 1.")


def test_numbers_stay_whole_and_amounts_stay_as_written() -> None:
    read = InferenceClass.model_validate(
        {
            "metadata": {"name": "a"},
            "spec": {
                "devices": [
                    {
                        "name": "gpu",
                        "driver": "d",
                        "count": 8,
                        "attributes": {"a": {"int": 3}, "b": {"bool": True}},
                        "capacity": {"memory": {"value": "1Gi"}, "cores": {"value": 4}},
                    }
                ]
            },
        }
    )
    (device,) = read.spec.devices
    assert device.count == 8 and device.attributes is not None and device.capacity is not None
    assert device.attributes["a"].model_dump(by_alias=True, exclude_none=True) == {"int": 3}
    assert (device.capacity["memory"].value, device.capacity["cores"].value) == ("1Gi", 4)


def test_bundle_is_read_from_the_installed_package(tmp_path: Path) -> None:
    """From a folder that has nothing of the checkout, as in a wheel."""
    code = "from modelplane.api import catalogue; print(*catalogue.kinds())"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == list(catalogue.kinds())


def test_catalogue_loads_no_models() -> None:
    """A cold command must not wait for classes it does not use."""
    code = (
        "import sys; from modelplane.api import catalogue; catalogue.structural_kind('ModelDeployment'); "
        "print([name for name in sys.modules if name.startswith(('pydantic', 'yaml', 'modelplane_schemas.m'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
