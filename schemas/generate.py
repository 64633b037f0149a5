"""Regenerates modelplane_schemas/ from apis/: one module of models per kind, and the bundle of all definitions.

Run as `python schemas/generate.py`, with another folder as its only argument to write elsewhere. What is generated
from what is said in sources.toml beside this file. The output depends on nothing but apis/, sources.toml and the
generator's version.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import yaml
from datamodel_code_generator import generate
from datamodel_code_generator.enums import DataModelType, InputFileType
from datamodel_code_generator.format import Formatter, PythonVersion
from datamodel_code_generator.parser import LiteralType

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PACKAGE = "modelplane_schemas"
HEADER = "# Generated from {source} by schemas/generate.py; do not edit."

# What the API server has checked already is not checked a second time: the models carry names and types only. That
# keeps their import cheap (no pattern is compiled) and lets an object that an older, laxer definition accepted still
# be read, so that it can be held.
_TYPE_KEYWORDS = frozenset(
    {"type", "properties", "required", "items", "additionalProperties", "enum", "default", "description"}
)

_WIRE = '''"""Common ancestor of the generated models."""

from pydantic import BaseModel, ConfigDict


class Wire(BaseModel):
    """One object of a document: unknown fields are ignored, validators are built when first used."""

    model_config = ConfigDict(extra="ignore", populate_by_name=True, defer_build=True)
'''

_INIT = '"""Generated from apis/: one module of models per kind, and the bundle of all definitions."""\n'


def main(arguments: list[str]) -> int:
    """Return 0 after everything was generated."""
    write(Path(arguments[0]) if arguments else HERE / PACKAGE)
    return 0


def write(target: Path) -> None:
    """Generate the whole package into the folder `target`."""
    sources = tomllib.loads((HERE / "sources.toml").read_text())
    _check_version(sources["generator"]["datamodel-code-generator"])
    folder = ROOT / sources["definitions"]["folder"]
    target.mkdir(parents=True, exist_ok=True)
    (target / "__init__.py").write_text(_INIT)
    (target / "wire.py").write_text(_WIRE)
    bundle: dict[str, Any] = {}
    for plural in sources["definitions"]["plurals"]:
        definition = yaml.safe_load((folder / plural / "definition.yaml").read_text())
        composition = yaml.safe_load((folder / plural / "composition.yaml").read_text())
        kind = definition["spec"]["names"]["kind"]
        bundle[kind] = {"definition": definition, "composition": composition}
        source = f"{sources['definitions']['folder']}/{plural}/definition.yaml"
        (target / f"{module_name(kind)}.py").write_text(models(definition, source))
    text = json.dumps(bundle, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    (target / sources["bundle"]["file"]).write_text(text)


def _check_version(wanted: str) -> None:
    installed = metadata.version("datamodel-code-generator")
    if installed != wanted:
        raise SystemExit(f"datamodel-code-generator {installed} is installed, sources.toml pins {wanted}")


def module_name(kind: str) -> str:
    """Return the module of a kind: `ModelDeployment` -> `model_deployment`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", kind).lower()


def models(definition: dict[str, Any], source: str) -> str:
    """Return the text of the module of one definition."""
    kind = definition["spec"]["names"]["kind"]
    root = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    document = {
        "title": kind,
        "type": "object",
        "description": root["description"],
        "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object", "additionalProperties": True},
            "spec": _typed(root["properties"]["spec"]),
            "status": _typed(root["properties"]["status"]),
        },
    }
    text = generate(
        json.dumps(_shared(document)),
        input_file_type=InputFileType.JsonSchema,
        output_model_type=DataModelType.PydanticV2BaseModel,
        target_python_version=PythonVersion.PY_311,
        base_class=f"{PACKAGE}.wire.Wire",
        enum_field_as_literal=LiteralType.All,
        snake_case_field=True,
        allow_population_by_field_name=False,
        use_annotated=False,
        use_union_operator=True,
        use_standard_collections=True,
        use_schema_description=True,
        use_double_quotes=True,
        disable_timestamp=True,
        class_name=kind,
        formatters=[Formatter.RUFF_FORMAT],
        custom_file_header=HEADER.format(source=source),
        settings_path=ROOT,
    )
    return str(text)


def _typed(schema: Any) -> Any:
    """Return a schema with names and types only."""
    if schema.get("x-kubernetes-int-or-string"):
        return {"anyOf": [{"type": "integer"}, {"type": "string"}], "description": schema.get("description", "")}
    kept: dict[str, Any] = {key: value for key, value in schema.items() if key in _TYPE_KEYWORDS}
    if "properties" in kept:
        kept["properties"] = {name: _typed(value) for name, value in kept["properties"].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(kept.get(key), dict):
            kept[key] = _typed(kept[key])
    return kept


def _shared(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document with object schemas that occur more than once moved to `$defs`.

    The two roles of a deployment have the same shape; without this every class would exist twice.
    """
    counts = Counter(_key(schema) for _, schema in _objects(document, "") if schema is not document)
    names: dict[str, str] = {}
    for name, schema in _objects(document, ""):
        key = _key(schema)
        if counts[key] > 1 and key not in names:
            names[key] = _free(name[:1].upper() + name[1:], set(names.values()))
    definitions: dict[str, Any] = {}

    def replaced(schema: Any, *, at_top: bool = False) -> Any:
        if isinstance(schema, list):
            return [replaced(item) for item in schema]
        if not isinstance(schema, dict):
            return schema
        if not at_top and _is_object(schema) and (key := _key(schema)) in names:
            name = names[key]
            if name not in definitions:
                definitions[name] = {}
                definitions[name] = replaced({k: v for k, v in schema.items() if k != "default"}, at_top=True)
            reference = {"$ref": f"#/$defs/{name}"}
            return {**reference, "default": schema["default"]} if "default" in schema else reference
        return {key: replaced(value) for key, value in schema.items()}

    result: dict[str, Any] = replaced(document, at_top=True)
    return {**result, "$defs": definitions}


def _free(name: str, taken: set[str]) -> str:
    number = 1
    candidate = name
    while candidate in taken:
        number += 1
        candidate = f"{name}{number}"
    return candidate


def _key(schema: Any) -> str:
    return json.dumps(schema, sort_keys=True)


def _is_object(schema: Any) -> bool:
    return isinstance(schema, dict) and isinstance(schema.get("properties"), dict)


def _objects(schema: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Yield every object schema with properties and the name of the property that holds it, outermost first."""
    if _is_object(schema):
        yield name, schema
        for key, value in schema["properties"].items():
            yield from _objects(value, key)
    for key in ("items", "additionalProperties"):
        if isinstance(schema, dict) and isinstance(schema.get(key), dict):
            yield from _objects(schema[key], name)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
