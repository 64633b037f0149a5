"""JSON Patch as RFC 6902 has it, as far as it is used: an independent reading of what the command says to change."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

Json = Any


def apply(documents: Iterable[Json], operations: Iterable[Json]) -> list[Json]:
    """Return the documents with the operations made, each on the one document it names."""
    made = copy.deepcopy(list(documents))
    for operation in operations:
        (document,) = [one for one in made if _is(one, operation["document"])]
        _make(document, operation)
    return made


def _is(document: Json, wanted: Json) -> bool:
    metadata = document["metadata"]
    found = {"kind": document["kind"], "name": metadata["name"]}
    if metadata.get("namespace"):
        found["namespace"] = metadata["namespace"]
    return bool(found == wanted)


def _make(document: Json, operation: Json) -> None:
    assert operation["path"].startswith("/")
    *above, last = [part.replace("~1", "/").replace("~0", "~") for part in operation["path"].split("/")[1:]]
    node = document
    for part in above:
        node = node[int(part)] if isinstance(node, list) else node[part]
    if isinstance(node, list):
        _make_in_list(node, last, operation)
        return
    exists = last in node
    assert exists or operation["op"] == "add", f"{operation['op']} of {operation['path']}, which is not there"
    if operation["op"] == "remove":
        del node[last]
    else:
        node[last] = copy.deepcopy(operation["value"])


def _make_in_list(node: list[Json], last: str, operation: Json) -> None:
    if operation["op"] == "add":
        node.insert(len(node) if last == "-" else int(last), copy.deepcopy(operation["value"]))
        return
    assert int(last) < len(node)
    if operation["op"] == "remove":
        del node[int(last)]
    else:
        node[int(last)] = copy.deepcopy(operation["value"])
