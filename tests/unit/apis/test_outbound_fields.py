"""Every field that a tenant writes has a row in docs/security.md that says where it ends and what holds it."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from modelplane.api import catalogue

Json = Any

DOCUMENT = Path(__file__).parents[3] / "docs" / "security.md"
KINDS = {
    "md": "ModelDeployment",
    "ms": "ModelService",
    "me": "ModelEndpoint",
    "llm": "LLMInference",
    "mc": "ModelCache",
}
ALIASES = {"T.": ["R.workers.template."], "R.": ["spec.", "spec.prefill."]}
_GROUP = re.compile(r"\{([^{}]*)\}")


def fields_of(schema: Mapping[str, Json], path: str = "") -> Iterator[str]:
    """Yield the paths of all fields that hold a value; `KEY` and `VALUE` stand for the entries of a map."""
    if schema.get("properties"):
        for key, below in schema["properties"].items():
            yield from fields_of(below, f"{path}.{key}" if path else key)
    elif schema.get("items"):
        yield from fields_of(schema["items"], f"{path}[]")
    elif isinstance(schema.get("additionalProperties"), Mapping):
        yield f"{path}.KEY"
        yield from fields_of(schema["additionalProperties"], f"{path}.VALUE")
    else:
        yield path


def written_by_tenants() -> set[str]:
    found = set()
    for short, kind in KINDS.items():
        schema = catalogue.definition(kind)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
        for part in ("metadata", "spec"):
            found |= {f"{short} {path}" for path in fields_of(schema["properties"][part], part)}
    return found


def rows() -> Iterator[list[str]]:
    """Yield the cells of the rows of the table whose first cell names fields."""
    _, _, section = DOCUMENT.read_text().partition("### Every field that a tenant writes")
    for line in section.partition("\n## ")[0].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("| `") else []
        if cells:
            yield cells


def expanded(pattern: str) -> Iterator[str]:
    """Yield the fields a pattern of the table stands for: groups in braces, and the short names of roles."""
    kind, _, path = pattern.partition(" ")
    for alias, meanings in ALIASES.items():
        if path.startswith(alias):
            for meaning in meanings:
                yield from expanded(f"{kind} {meaning}{path.removeprefix(alias)}")
            return
    parts = _GROUP.split(path)
    choices = [part.split(",") if index % 2 else [part] for index, part in enumerate(parts)]
    yield from (f"{kind} {''.join(choice)}" for choice in itertools.product(*choices))


def in_the_table() -> Counter[str]:
    return Counter(
        field for cells in rows() for pattern in re.findall(r"`([^`]+)`", cells[0]) for field in expanded(pattern)
    )


def test_every_field_is_in_a_row() -> None:
    missing = sorted(written_by_tenants() - in_the_table().keys())
    assert not missing, f"say in {DOCUMENT.name} where these end, what is allowed and how they are encoded"


def test_no_row_speaks_of_a_field_that_is_gone_or_of_one_twice() -> None:
    table = in_the_table()
    assert sorted(table.keys() - written_by_tenants()) == []
    assert [field for field, count in table.items() if count > 1] == []


def test_every_row_says_where_it_ends_what_is_allowed_and_how_it_is_encoded() -> None:
    found = list(rows())
    assert len(found) > 30
    assert all(len(cells) == 4 and all(cells) for cells in found)
