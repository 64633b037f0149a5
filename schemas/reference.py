"""Regenerates docs/reference/ from apis/: one page per kind with every field, its type, bounds, default and rules.

Run as `python schemas/reference.py`, with another folder as its only argument to write elsewhere. The pages depend on
nothing but apis/.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
HEADER = "<!-- Generated from {source} by schemas/reference.py; do not edit. -->"
# In the order in which a reader meets them; a kind that is missing here comes last.
_ORDER = (
    "LLMInference",
    "ModelDeployment",
    "ModelService",
    "ModelEndpoint",
    "ModelReplica",
    "ModelCache",
    "ModelCacheCopy",
    "InferenceClass",
    "InferenceCluster",
    "ServingStack",
    "InferenceGateway",
    "InferenceQuota",
    "BackendRules",
)
_BOUNDS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "minLength": "{} characters or more",
    "maxLength": "{} characters or fewer",
    "minItems": "{} items or more",
    "maxItems": "{} items or fewer",
    "maxProperties": "{} keys or fewer",
    "pattern": "matches `{}`",
    "format": "format {}",
}

Schema = Mapping[str, Any]


def main(arguments: list[str]) -> int:
    """Return 0 after every page was written."""
    write(Path(arguments[0]) if arguments else ROOT / "docs" / "reference")
    return 0


def write(target: Path) -> None:
    """Write a page per kind and their index into the folder `target`; pages of kinds that are gone are removed."""
    target.mkdir(parents=True, exist_ok=True)
    pages = {definition["spec"]["names"]["kind"]: page(definition, source) for definition, source in _definitions()}
    for stale in target.glob("*.md"):
        stale.unlink()
    for kind, text in pages.items():
        (target / f"{kind.lower()}.md").write_text(text, encoding="utf-8")
    (target / "index.md").write_text(_index(), encoding="utf-8")


def _definitions() -> Iterator[tuple[dict[str, Any], str]]:
    found = []
    for path in sorted((ROOT / "apis").glob("*/definition.yaml")):
        found.append((yaml.safe_load(path.read_text(encoding="utf-8")), str(path.relative_to(ROOT))))
    kinds = {kind: position for position, kind in enumerate(_ORDER)}
    yield from sorted(found, key=lambda one: (kinds.get(one[0]["spec"]["names"]["kind"], len(kinds)), one[1]))


def _index() -> str:
    lines = [
        HEADER.format(source="apis/"),
        "# API reference",
        "",
        "All kinds are of group `modelplane.ai`, version `v1alpha1`; `kubectl explain` says the same.",
        "",
        "| kind | short | scope | purpose |",
        "|---|---|---|---|",
    ]
    for definition, _ in _definitions():
        spec = definition["spec"]
        names, root = spec["names"], _root(definition)
        short = ", ".join(names.get("shortNames", ()))
        purpose = root["description"].split(". ")[0].rstrip(".")
        link = f"[{names['kind']}]({names['kind'].lower()}.md)"
        lines.append(f"| {link} | {short} | {spec['scope']} | {_cell(purpose)} |")
    return "\n".join(lines) + "\n"


def page(definition: Mapping[str, Any], source: str) -> str:
    """Return the page of one kind."""
    spec = definition["spec"]
    root = _root(definition)
    names = spec["names"]
    lines = [
        HEADER.format(source=source),
        f"# {names['kind']}",
        "",
        root["description"],
        "",
        f"Scope: {spec['scope']}. Short name: `{', '.join(names.get('shortNames', ()))}`. Plural: `{names['plural']}`.",
        "",
    ]
    rules = list(_rules(root))
    if rules:
        lines += ["The API server refuses, with these words:", "", *(f"- {rule}" for rule in rules), ""]
    for part, title in (("spec", "Spec"), ("status", "Status")):
        rows = list(_rows(root["properties"].get(part, {}), part))
        if rows:
            lines += [f"## {title}", "", "| field | type | meaning |", "|---|---|---|", *rows, ""]
    return "\n".join(lines)


def _root(definition: Mapping[str, Any]) -> Schema:
    root: Schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    return root


def _rows(schema: Schema, path: str) -> Iterator[str]:
    """Yield a row per field below `path`, depth first, in the order of the definition."""
    required = set(schema.get("required", ()))
    for name, field in schema.get("properties", {}).items():
        own = f"{path}.{name}"
        yield f"| `{own}` | {_type(field)} | {_cell(' '.join(_meaning(field, is_required=name in required)))} |"
        yield from _below(field, own)


def _below(field: Schema, path: str) -> Iterator[str]:
    yield from _rows(field, path)
    if isinstance(field.get("items"), Mapping):
        yield from _below(field["items"], f"{path}[]")
    if isinstance(field.get("additionalProperties"), Mapping):
        yield from _below(field["additionalProperties"], f"{path}.*")


def _type(field: Schema) -> str:
    if "enum" in field:
        return " \\| ".join(f"`{value}`" for value in field["enum"])
    if field.get("x-kubernetes-int-or-string"):
        return "integer or string"
    kind = field.get("type", "any")
    if kind == "array":
        return f"list of {_type(field['items'])}"
    if kind == "object" and isinstance(field.get("additionalProperties"), Mapping):
        return f"map of {_type(field['additionalProperties'])}"
    return str(kind)


def _meaning(field: Schema, *, is_required: bool) -> Iterator[str]:
    if is_required:
        yield "Required."
    if field.get("description"):
        yield field["description"].rstrip()
    if "default" in field and field["default"] not in ({}, [], ""):
        yield f"Default `{_literal(field['default'])}`."
    bounds = [text.format(field[key]) for key, text in _BOUNDS.items() if key in field]
    if bounds:
        yield f"({'; '.join(bounds)})"
    yield from (f"Rule: {rule}." for rule in _rules(field))


def _rules(schema: Schema) -> Iterator[str]:
    for rule in schema.get("x-kubernetes-validations", ()):
        yield str(rule.get("message") or f"`{rule['rule']}`")


def _literal(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
