"""Common ancestors of the generated models, and how they become YAML."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

_PLAIN = re.compile(r"[A-Za-z](?:[A-Za-z0-9_./@+-]|:(?=[^\s:]))*")
_WORDS_OF_YAML = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})


class Wire(BaseModel):
    """One object of a document.

    Fields are given by their name in Python (`node_selector`) or in documents (`nodeSelector`). An unknown field is
    refused. A field that is None is left out of the document, and the API server sets its default.
    """

    model_config = ConfigDict(
        extra="forbid", alias_generator=to_camel, validate_by_name=True, validate_assignment=True, defer_build=True
    )


class ObjectMeta(Wire):
    """The metadata of every object: name, namespace of some kinds. Fields that the API server writes are kept."""

    model_config = ConfigDict(extra="allow")

    name: str | None = Field(default=None, description="Name of the object, unique in its namespace.")
    namespace: str | None = Field(default=None, description="Namespace; kinds of the whole fleet have none.")
    labels: dict[str, str] | None = Field(default=None, description="Labels, by which selectors find the object.")
    annotations: dict[str, str] | None = Field(default=None, description="Remarks of people and tools.")


class Document(Wire):
    """A whole object, with apiVersion and kind."""

    def to_dict(self) -> dict[str, Any]:
        """Return the object as it stands in a document; what is None is left out."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)

    def to_yaml(self) -> str:
        """Return the object as a YAML document."""
        return to_yaml([self])


def to_yaml(documents: Iterable[Document]) -> str:
    """Return the objects as a stream of YAML documents, which kubectl reads back as they are."""
    import yaml  # noqa: PLC0415 - not needed to read documents

    class Dumper(yaml.SafeDumper):
        """Quotes every text that some reader of YAML takes for something else."""

        def ignore_aliases(self, data: Any) -> bool:
            return True

    def text(dumper: yaml.SafeDumper, value: str) -> yaml.Node:
        if "\n" in value and _is_block(value):
            return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|")
        plain = _PLAIN.fullmatch(value) and value.lower() not in _WORDS_OF_YAML
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=None if plain else '"')

    Dumper.add_representer(str, text)
    made = (
        yaml.dump(one.to_dict(), Dumper=Dumper, sort_keys=False, allow_unicode=True, width=100_000) for one in documents
    )
    return "".join(f"---\n{one}" for one in made)


def _is_block(value: str) -> bool:
    """Return whether the text can stand as a block of lines: nothing invisible in it, no space at the end of a line."""
    lines = value.split("\n")
    return all(line.isprintable() and line == line.rstrip() for line in lines) and bool(lines[0])
