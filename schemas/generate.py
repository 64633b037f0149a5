"""Regenerates modelplane_schemas/ from apis/: one module of models per kind, and the bundle of all definitions.

Run as `python schemas/generate.py`, with another folder as its only argument to write elsewhere. What is generated
from what is said in sources.toml beside this file. The output depends on nothing but apis/, sources.toml and the
generator's version.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import yaml
from datamodel_code_generator import generate
from datamodel_code_generator.enums import DataModelType, InputFileType
from datamodel_code_generator.format import Formatter, PythonVersion
from datamodel_code_generator.parser import LiteralType
from pydantic.alias_generators import to_camel

from modelplane.structural import crossplane

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PACKAGE = "modelplane_schemas"
HEADER = "# Generated from {source} by schemas/generate.py; do not edit."

# The API server checks values and sets defaults; the models carry names and types. That keeps their import cheap (no
# pattern is compiled), and a field nobody set is None, so that it is left out of the document.
_TYPE_KEYWORDS = frozenset({"type", "properties", "required", "items", "additionalProperties", "enum", "description"})

_WIRE = (HERE / "wire.py").read_text()

# A field up to its alias.
_ALIASED = re.compile(r'(?P<before>^    (?P<name>\w+): (?:[^\n]|\n(?!    \w))*?)alias="(?P<alias>\w+)",?', re.MULTILINE)

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
    version = crossplane.derive(definition)["spec"]["versions"][0]
    root = version["schema"]["openAPIV3Schema"]
    document = {
        "type": "object",
        "description": root["description"],
        "required": ["metadata", "spec"],
        "properties": {
            "apiVersion": {"const": f"{definition['spec']['group']}/{version['name']}"},
            "kind": {"const": kind},
            "metadata": {"customTypePath": f"{PACKAGE}.wire.ObjectMeta", "description": "Name, namespace and labels."},
            "spec": _typed(root["properties"]["spec"]),
            "status": _typed(root["properties"]["status"]),
        },
    }
    text = generate(
        json.dumps(_shared({**document, "title": kind})),
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
    return _formatted(_friendly(str(text), kind))


def _friendly(text: str, kind: str) -> str:
    """Return the module as type checkers and editors understand it.

    They take the name of an argument from `alias` and a default from the keyword alone, so the spelling of documents
    is left to the ancestor wherever it follows from the name.
    """
    text = _ALIASED.sub(_spelled, text)
    text = re.sub(r"Field\(\s*None,?", "Field(default=None,", text)
    text = re.sub(r"Field\(\s*\.\.\.,?\s*", "Field(", text)
    text = re.sub(r" = Field\(\s*default=None,\s*\)", " = None", text)
    text = re.sub(r" = Field\(\)", "", text)
    text = re.sub(r'(\n    (?:api_version|kind): Literal\[("[^"]+")\]) \| None = None\n', r"\1 = \2\n", text)
    text = re.sub(r'(\n    (?:api_version|kind): Literal\[("[^"]+")\]) \| None = None\n', r"\1 = \2\n", text)
    text = re.sub(r"    model_config = ConfigDict\(\s*arbitrary_types_allowed=True,\s*\)\n", "", text)
    text = text.replace("from pydantic import ConfigDict, Field", "from pydantic import Field")
    text = text.replace(f"class {kind}(Wire):", f"class {kind}(Document):")
    return text.replace("import ObjectMeta, Wire\n", "import Document, ObjectMeta, Wire\n")


def _spelled(found: re.Match[str]) -> str:
    name, alias = found["name"], found["alias"]
    differs = to_camel(name) != alias
    return found["before"] + (f'validation_alias="{alias}", serialization_alias="{alias}",' if differs else "")


def _formatted(text: str) -> str:
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", "generated.py", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True, cwd=ROOT)  # noqa: S603 - ours
    return done.stdout


def _typed(schema: Any) -> Any:
    """Return a schema with names and types only; what the API server sets is said in the description."""
    said = _described(schema)
    if schema.get("x-kubernetes-int-or-string"):
        return {"anyOf": [{"type": "integer"}, {"type": "string"}], **said}
    kept: dict[str, Any] = {**{key: value for key, value in schema.items() if key in _TYPE_KEYWORDS}, **said}
    if "properties" in kept:
        kept["properties"] = {name: _typed(value) for name, value in kept["properties"].items()}
        set_by_itself = {name for name, value in schema["properties"].items() if "default" in value}
        kept["required"] = [name for name in schema.get("required", ()) if name not in set_by_itself]
    for key in ("items", "additionalProperties"):
        if isinstance(kept.get(key), dict):
            kept[key] = _typed(kept[key])
    return kept


def _described(schema: Any) -> dict[str, str]:
    text = schema.get("description", "")
    default = schema.get("default")
    if default not in (None, {}, []) and "default" not in text.lower():
        shown = default if isinstance(default, str) else json.dumps(default)
        text = f"{text} Default: {shown}.".strip()
    return {"description": text} if text else {}


def _shared(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document with every object schema below it in `$defs`, under a name of its own.

    The two roles of a deployment have the same shape and share their classes. A class is named after its field, in
    the singular in lists; the one nearest to the top has the short name, others that of their parent before it.
    """
    names: dict[str, str] = {}
    rows: list[tuple[str, Any]] = [("", document)]
    for parent, schema in rows:
        for field, below in _members(schema):
            key = _key(below)
            if key not in names:
                names[key] = _free(parent, field, {document["title"], *names.values()})
                rows.append((names[key], below))

    def replaced(schema: Any) -> Any:
        if isinstance(schema, list):
            return [replaced(item) for item in schema]
        if not isinstance(schema, dict):
            return schema
        return {"$ref": f"#/$defs/{names[_key(schema)]}"} if _is_object(schema) else opened(schema)

    def opened(schema: dict[str, Any]) -> dict[str, Any]:
        return {key: replaced(value) for key, value in schema.items()}

    definitions = {names[_key(schema)]: opened(schema) for _, schema in rows[1:]}
    properties = {name: replaced(value) for name, value in document["properties"].items()}
    return {**document, "properties": properties, "$defs": definitions}


def _members(schema: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the object schemas that an object schema holds directly, in lists or in maps, with their names."""
    for field, below in schema["properties"].items():
        name, inner = field, below
        while isinstance(inner, dict) and not _is_object(inner):
            name, inner = _singular(field), inner.get("items", inner.get("additionalProperties"))
        if _is_object(inner):
            yield name[:1].upper() + name[1:], inner


def _singular(word: str) -> str:
    for ending, instead in (("ies", "y"), ("sses", "ss"), ("ss", "ss"), ("s", "")):
        if word.endswith(ending):
            return word.removesuffix(ending) + instead
    return word


def _free(parent: str, field: str, taken: set[str]) -> str:
    name = field if field not in taken else parent + field
    candidate, number = name, 1
    while candidate in taken:
        number += 1
        candidate = f"{name}{number}"
    return candidate


def _key(schema: Any) -> str:
    return json.dumps(schema, sort_keys=True)


def _is_object(schema: Any) -> bool:
    return isinstance(schema, dict) and isinstance(schema.get("properties"), dict)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
