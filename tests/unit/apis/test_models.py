"""The generated models as people use them who write documents in Python."""

from __future__ import annotations

import importlib
import re
import runpy
import string
from pathlib import Path
from typing import Any

import pydantic
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from modelplane_cli.documents import yamltext
from modelplane_schemas import model_deployment, wire
from modelplane_schemas.llm_inference import LLMInference
from modelplane_schemas.model_deployment import ModelDeployment
from tests.support import planning
from tests.unit.apis.test_schemas import generator

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = sorted((ROOT / "examples").rglob("*.yaml"))
PROGRAM = ROOT / "examples" / "python" / "quickstart.py"


def ours(path: Path) -> list[dict[str, Any]]:
    """Return the documents of a file that have models."""
    documents = yaml.safe_load_all(path.read_text())
    return [one for one in documents if one and str(one.get("apiVersion", "")).startswith("modelplane.ai/")]


def model(kind: str) -> type[wire.Document]:
    module = importlib.import_module(f"modelplane_schemas.{generator().module_name(kind)}")
    found: type[wire.Document] = getattr(module, kind)
    return found


@pytest.mark.parametrize("path", [path for path in EXAMPLES if ours(path)], ids=lambda path: path.parent.name)
def test_a_document_read_and_written_is_the_same(path: Path) -> None:
    for document in ours(path):
        read = model(document["kind"]).model_validate(document)
        assert read.to_dict() == document
        assert [parsed.value for parsed in yamltext.read(read.to_yaml())] == [document]


def test_every_kind_has_an_example_or_is_composed() -> None:
    seen = {document["kind"] for path in EXAMPLES for document in ours(path)}
    assert {"ModelDeployment", "ModelService", "ModelEndpoint", "InferenceClass", "InferenceCluster"} <= seen
    assert {"InferenceGateway", "LLMInference"} <= seen


@pytest.mark.parametrize("example", ["quickstart", "disaggregated"])
def test_what_the_functions_write_can_be_read(example: str) -> None:
    items = planning.run("render", str(ROOT / "examples" / example), "-o", "json").json["items"]
    read = [model(one["kind"]).model_validate(one) for one in items if one["apiVersion"].startswith("modelplane.ai/")]
    assert {one.kind for one in read if isinstance(one, ModelDeployment)} == {"ModelDeployment"}
    kept = [one for one in items if one["apiVersion"].startswith("modelplane.ai/")]
    assert [one.to_dict() for one in read] == kept


def test_the_program_of_the_examples_writes_what_validate_takes(tmp_path: Path) -> None:
    written = tmp_path / "models.yaml"
    written.write_text(wire.to_yaml(runpy.run_path(str(PROGRAM))["documents"]()))
    checked = planning.run("validate", str(ROOT / "examples" / "quickstart"), "-o", "json")
    assert (checked.code, checked.json["problems"]) == (0, [])
    others = [str(ROOT / "examples" / "quickstart" / f"{name}.yaml") for name in ("classes", "clusters", "gateway")]
    checked = planning.run("validate", str(written), *others, "-o", "json")
    assert (checked.code, checked.json["problems"]) == (0, [])
    (small, large) = planning.run("plan", str(written), *others, "-o", "json").json["deployments"]
    assert [(row["name"], row["wanted"], row["placed"]) for row in (small, large)] == [
        ("qwen3-4b", 1, 1),
        ("qwen3-8b", 2, 2),
    ]


def test_the_program_says_what_the_quickstart_says() -> None:
    (deployment, service) = ours(ROOT / "examples" / "quickstart" / "model.yaml")
    written = [one.to_dict() for one in runpy.run_path(str(PROGRAM))["documents"]()]
    assert written[2:] == [deployment, service]


def test_the_programs_of_the_documentation_run(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "python.md").read_text(), re.DOTALL)
    text = planning.run("plan", str(ROOT / "examples" / "quickstart"), "-o", "json").out
    outs = []
    for block in blocks:
        exec(block, {"text": text})  # noqa: S102 - a block of our own page
        outs.append(capsys.readouterr().out)
    (tmp_path / "printed.yaml").write_text(outs[0])
    checked = planning.run("validate", str(tmp_path / "printed.yaml"), "-o", "json")
    assert (checked.code, checked.json["problems"], outs[1:]) == (0, [], ["None\n"])


def inference(**fields: Any) -> LLMInference:
    return LLMInference.model_validate(
        {"metadata": {"name": "a", "namespace": "b"}, "spec": {"model": "c/d", **fields}}
    )


def test_what_nobody_set_is_left_out() -> None:
    assert inference().to_dict() == {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "LLMInference",
        "metadata": {"name": "a", "namespace": "b"},
        "spec": {"model": "c/d"},
    }


def test_what_is_set_later_is_written() -> None:
    """A field below one that nobody set must not get lost."""
    one = inference()
    one.spec.gpu = 4
    assert one.to_dict()["spec"] == {"model": "c/d", "gpu": 4}
    one.spec.gpu = None
    assert one.to_dict()["spec"] == {"model": "c/d"}


@pytest.mark.parametrize(
    ("fields", "where"),
    [
        pytest.param({"gpus": 1}, ("spec", "gpus"), id="unknown"),
        pytest.param({"gpu": "many"}, ("spec", "gpu"), id="of another type"),
        pytest.param({"clusterSelector": {"matchLabel": {}}}, ("spec", "clusterSelector", "matchLabel"), id="below"),
    ],
)
def test_a_mistake_is_refused_at_its_field(fields: dict[str, Any], where: tuple[str, ...]) -> None:
    with pytest.raises(pydantic.ValidationError) as refused:
        inference(**fields)
    assert [error["loc"] for error in refused.value.errors()] == [where]


def test_a_mistake_in_an_assignment_is_refused() -> None:
    with pytest.raises(pydantic.ValidationError):
        inference().spec.gpu = "many"  # type: ignore[assignment]  # the mistake


def test_names_of_python_and_of_documents_are_the_same_field() -> None:
    python = model_deployment.Source(downward_api=model_deployment.DownwardAPI(items=[]))
    document: dict[str, Any] = {"downwardAPI": {"items": []}}
    assert python.model_dump(by_alias=True, exclude_none=True) == document
    assert model_deployment.Source.model_validate(document) == python


TEXTS = [
    *("", " ", "yes", "No", "ON", "null", "~", "true", "1", "1.5", "1e3", "0x1f", "0o7", "1_000", "12:30", ".inf"),
    *(
        "a: b",
        "a #b",
        "- a",
        "[a]",
        "{a}",
        "&a",
        "*a",
        "!a",
        "|",
        ">",
        "%",
        "@",
        "`",
        "a\nb",
        "a\n b\n",
        " a\nb",
        "\na",
    ),
    *(
        "a \nb",
        "a\tb",
        "a\n\n",
        "\n",
        "é",
        "\u2028",
        "\x85",
        "\x7f",
        "\U0001f600",
        '"',
        "'",
        "\\",
        "2026-01-01",
        "=",
        "<<",
    ),
]


@pytest.mark.parametrize("text", TEXTS, ids=repr)
def test_text_stays_text(text: str) -> None:
    one = inference(image=text)
    assert yaml.safe_load(one.to_yaml()) == one.to_dict()
    assert [parsed.value for parsed in yamltext.read(one.to_yaml())] == [one.to_dict()]


@given(st.text(st.sampled_from(string.printable + "é\u2028"), max_size=12), st.text("abcyesno:#-?\n ", max_size=8))
def test_any_text_stays_text(key: str, value: str) -> None:
    meta = wire.ObjectMeta(labels={key: value})
    one = LLMInference.model_validate({"metadata": meta.model_dump(exclude_none=True), "spec": {"model": value}})
    assert [parsed.value for parsed in yamltext.read(one.to_yaml())] == [one.to_dict()]
