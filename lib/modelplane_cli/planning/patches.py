"""JSON Patch operations (RFC 6902) on the documents of people, and what each makes of its document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane_cli.simulator.store import Key

Json: TypeAlias = Any
Path: TypeAlias = tuple[str | int, ...]

APPEND = "-"
"""The place after the last item of a list, in a JSON Pointer."""

REMOVE, _ADD, _REPLACE = "remove", "add", "replace"


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of a JSON Patch (RFC 6902) on the document `key`; `value` means nothing where `op` is remove."""

    key: Key
    op: str
    path: Path
    value: Json = None

    @property
    def pointer(self) -> str:
        """Return the path as a JSON Pointer (RFC 6901)."""
        return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in self.path)


@dataclass(frozen=True, slots=True)
class Edit:
    """`value` at `path` of a document, whatever is there and whatever is missing above it; None takes it away."""

    key: Key
    path: Path
    value: Json


def patched(document: Mapping[str, Json], operation: Operation) -> dict[str, Json]:
    """Return the document with one operation made; the given one stays as it is."""
    made: dict[str, Json] = _patched(document, operation.path, operation)
    return made


def _patched(node: Json, path: Path, operation: Operation) -> Json:
    head, rest = path[0], path[1:]
    if isinstance(node, Mapping):
        kept = {key: value for key, value in node.items() if rest or operation.op != REMOVE or key != head}
        if rest:
            kept[str(head)] = _patched(node[str(head)], rest, operation)
        elif operation.op != REMOVE:
            kept[str(head)] = operation.value
        return kept
    items = list(node)
    if head == APPEND:
        return [*items, operation.value]
    position = int(head)
    if rest:
        items[position] = _patched(items[position], rest, operation)
    elif operation.op == REMOVE:
        del items[position]
    else:
        items[position] = operation.value
    return items


def operation(document: Mapping[str, Json], edit: Edit) -> Operation:
    """Return the operation that JSON Patch allows: what is missing above a value is added together with it."""
    node: Json = document
    for position, part in enumerate(edit.path):
        there = node.get(str(part)) if isinstance(node, Mapping) else None if part == APPEND else node[int(part)]
        if there is None:
            value = edit.value
            for below in reversed(edit.path[position + 1 :]):
                value = [value] if below == APPEND else {str(below): value}
            return Operation(edit.key, _ADD, edit.path[: position + 1], value)
        node = there
    if edit.value is None:
        return Operation(edit.key, REMOVE, edit.path)
    return Operation(edit.key, _REPLACE, edit.path, edit.value)
