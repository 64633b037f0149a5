"""Objects as YAML or JSON text that any Kubernetes client reads back as the same objects.

What may never happen here: text that depends on the order in which objects came to be, or a plain scalar that another
reader takes for a number or a boolean.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import yaml

from modelplane_cli.documents import scalars

Json: TypeAlias = Any

try:
    from yaml import CSafeDumper as _BaseDumper
except ImportError:  # pragma: no cover - PyYAML built without libyaml
    from yaml import SafeDumper as _BaseDumper  # type: ignore[assignment]  # the other of two


class _Dumper(_BaseDumper):
    """Quotes every text that kubectl would not read as text, and never writes aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        """Return that no value is written as a reference to another."""
        return True


def _text(dumper: _Dumper, value: str) -> yaml.Node:
    if "\n" in value and not any(line != line.rstrip() for line in value.split("\n")):
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|")
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=None if _is_plain(value) else "'")


def _is_plain(value: str) -> bool:
    """Return whether kubectl reads the unquoted text as the same text."""
    try:
        return isinstance(scalars.resolve(value), str)
    except ValueError:
        return False


_Dumper.add_representer(str, _text)


def to_yaml(objects: Iterable[Mapping[str, Json]]) -> str:
    """Return the objects as a YAML stream, keys sorted."""
    return "".join(f"---\n{one_yaml(resource)}" for resource in objects)


def one_yaml(resource: Mapping[str, Json]) -> str:
    """Return one object as a YAML document without its separator."""
    text: str = yaml.dump(
        _plain(resource), Dumper=_Dumper, sort_keys=True, allow_unicode=True, width=100_000, default_flow_style=False
    )
    return text


def to_json(objects: Iterable[Mapping[str, Json]]) -> str:
    """Return the objects as one `v1 List`, as `kubectl get -o json` does."""
    whole = {"apiVersion": "v1", "kind": "List", "items": [_plain(resource) for resource in objects]}
    return json.dumps(whole, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def answer(value: Json, form: str) -> str:
    """Return the answer of a command for programs, as YAML or JSON (`form`), with keys in the order of its model."""
    if form == "json":
        return json.dumps(_plain(value), indent=2, ensure_ascii=False) + "\n"
    text: str = yaml.dump(
        _plain(value), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100_000, default_flow_style=False
    )
    return text


def _plain(value: Json) -> Json:
    """Return `value` in the types that every emitter knows."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, str) else value
