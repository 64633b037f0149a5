"""The line by which an editor checks a document of the examples: each has its own, and its schema accepts it.

yaml-language-server reads the first such line of a document, for that document alone, and takes a path as one from the
file (seen with 1.19.2 and 1.25.0: of two documents with one line the second is neither checked nor completed).
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from modelplane import names

Json = Any

ROOT = Path(__file__).resolve().parents[3]
COMMAND = "modelplane schema --directory .schemas"
_MODELINE = re.compile(r"^#\s+yaml-language-server\s*:.*\$schema=(\S+)", re.MULTILINE)
"""Source: modelineUtil of yaml-language-server 1.25.0."""
_MARKER = re.compile(r"^---(?:[ \t].*)?$", re.MULTILINE)


@dataclass(frozen=True)
class Part:
    """One document of an example, as text and as data."""

    file: Path
    number: int
    text: str
    data: Json

    def __str__(self) -> str:
        return f"{self.file.relative_to(ROOT)}#{self.number}"


def _parts() -> Iterator[Part]:
    """Yield the documents of modelplane.ai of all examples."""
    for file in sorted([*(ROOT / "examples").rglob("*.yaml"), *(ROOT / "examples").rglob("*.yml")]):
        for number, text in enumerate(_MARKER.split(file.read_text(encoding="utf-8")), 1):
            data = yaml.safe_load(text)
            if isinstance(data, dict) and str(data.get("apiVersion")).startswith(f"{names.GROUP}/"):
                yield Part(file, number, text, data)


PARTS = tuple(_parts())


@pytest.fixture(scope="module")
def schemas(tmp_path_factory: pytest.TempPathFactory) -> dict[str, jsonschema.protocols.Validator]:
    """Return what the documented command writes, by file."""
    from modelplane_cli.__main__ import main  # noqa: PLC0415 - the command, as a person runs it

    assert COMMAND in (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    folder = tmp_path_factory.mktemp("schemas")
    assert main(["schema", "--directory", str(folder)]) == 0
    found = {one.name: json.loads(one.read_text(encoding="utf-8")) for one in folder.iterdir()}
    return {name: jsonschema.validators.validator_for(schema)(schema) for name, schema in found.items()}


def test_the_examples_are_found() -> None:
    assert len(PARTS) > 200
    assert {part.data["kind"] for part in PARTS} >= {
        "ModelDeployment",
        "InferenceCluster",
        "LLMInference",
        "ModelCache",
    }


@pytest.mark.parametrize("part", PARTS, ids=str)
def test_a_document_names_a_schema_that_accepts_it(
    schemas: dict[str, jsonschema.protocols.Validator], part: Part
) -> None:
    found = _MODELINE.findall(part.text)
    up = "../" * len(part.file.relative_to(ROOT).parent.parts)
    line = f"# yaml-language-server: $schema={up}.schemas/modelplane.json"
    assert found, f"{part} has no modeline; write above its apiVersion: {line}"
    target = (part.file.parent / found[0]).resolve()
    assert target.parent == ROOT / ".schemas", f"{part}: write {line}; `{COMMAND}` at the root writes no {target}"
    errors = [error.message for error in schemas[target.name].iter_errors(part.data)]
    assert errors == [], f"{part}: {errors}"


def _unknown(data: Json) -> None:
    data["spec"]["replicaz"] = 1


def _mistyped(data: Json) -> None:
    data["metadata"]["name"] = 7


@pytest.mark.parametrize("change", [_unknown, _mistyped], ids=["an unknown field", "a name that is a number"])
@pytest.mark.parametrize("kind", sorted({part.data["kind"] for part in PARTS}))
def test_the_schema_of_the_line_refuses_a_mistake_in_each_kind(
    schemas: dict[str, jsonschema.protocols.Validator], kind: str, change: Callable[[Json], None]
) -> None:
    data = copy.deepcopy(next(part.data for part in PARTS if part.data["kind"] == kind and "spec" in part.data))
    change(data)
    assert not schemas["modelplane.json"].is_valid(data)
