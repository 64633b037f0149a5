"""Names of objects in files, read as text: nobody waits for a parser while a key is pressed.

An object is found where its kind stands at the beginning of a line. One that is written otherwise, in JSON or inside a
List, is not proposed; the command reads it all the same.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

SUFFIXES = (".yaml", ".yml")
FILES_MAX, BYTES_MAX = 2_000, 16 * 1024 * 1024
"""Limits of what one completion reads."""

_BREAK = re.compile(r"^---.*$", re.MULTILINE)
_KIND = re.compile(r"^kind:[ \t]*[\"']?([A-Za-z]+)", re.MULTILINE)
_METADATA = re.compile(r"^metadata:[ \t]*(\{.*\}|\n(?:[ \t]+.*\n?|[ \t]*\n)*)", re.MULTILINE)
_FIELD = r"(?:^{indent}|[{{,][ \t]*){name}:[ \t]*[\"']?([A-Za-z0-9.-]+)"


class Written(NamedTuple):
    """The identity of an object as its file says it. `namespace` is empty where none is written."""

    kind: str
    namespace: str
    name: str


def objects(paths: Iterable[str]) -> Iterator[Written]:
    """Yield the objects of the files and directories that can be read, in their order."""
    left = BYTES_MAX
    for path in itertools.islice(_files(paths), FILES_MAX):
        try:
            with path.open("rb") as file:
                found = file.read(left)
        except OSError:
            continue
        left -= len(found)
        for document in _BREAK.split(found.decode("utf-8", errors="replace")):
            yield from _object(document)


def _object(document: str) -> Iterator[Written]:
    kind, metadata = _KIND.search(document), _METADATA.search(document)
    if kind is None or metadata is None:
        return
    block = metadata[1].lstrip("\n")
    indent = block[: len(block) - len(block.lstrip(" \t"))]
    name, namespace = (_field(block, indent, one) for one in ("name", "namespace"))
    if name:
        yield Written(kind[1], namespace, name)


def _field(block: str, indent: str, name: str) -> str:
    found = re.search(_FIELD.format(indent=indent, name=name), block, re.MULTILINE)
    return found[1] if found else ""


def _files(paths: Iterable[str]) -> Iterator[Path]:
    for path in paths:
        if os.path.isdir(path):
            for folder, folders, names in os.walk(path):
                folders[:] = sorted(one for one in folders if not one.startswith("."))
                every = (Path(folder, name) for name in sorted(names) if name.endswith(SUFFIXES))
                yield from (file for file in every if file.is_file())  # a pipe would be waited for
        elif os.path.isfile(path):
            yield Path(path)
