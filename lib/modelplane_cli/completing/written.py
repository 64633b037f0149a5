"""Names of objects in files, read as text: nobody waits for a parser while a key is pressed.

An object is found where its kind stands at the beginning of a line. One that is written otherwise, in JSON or inside a
List, is not proposed; the command reads it all the same.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterable, Iterator
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
            # neither Path nor a buffered file: a large fleet has a file for each cluster
            handle = os.open(path, os.O_RDONLY)
            try:
                found = os.read(handle, left)
            finally:
                os.close(handle)
        except OSError:
            continue
        left -= len(found)
        text = found.decode("utf-8", errors="replace")
        for document in _BREAK.split(text) if "\n---" in text else (text,):
            yield from _object(document)


def _object(document: str) -> Iterator[Written]:
    kind, metadata = _first(_KIND, "kind:", document), _first(_METADATA, "metadata:", document)
    if kind is None or metadata is None:
        return
    block = metadata[1].lstrip("\n")
    indent = block[: len(block) - len(block.lstrip(" \t"))]
    name, namespace = (_field(block, indent, one) for one in ("name", "namespace"))
    if name:
        yield Written(kind[1], namespace, name)


def _first(pattern: re.Pattern[str], word: str, document: str) -> re.Match[str] | None:
    """Return the first match that begins with the word at the beginning of a line. Cost: that of finding a text."""
    found = pattern.match(document)
    at = 0
    while found is None and (at := document.find(f"\n{word}", at) + 1):
        found = pattern.match(document, at)
    return found


def _field(block: str, indent: str, name: str) -> str:
    found = re.search(_FIELD.format(indent=indent, name=name), block, re.MULTILINE)
    return found[1] if found else ""


def _files(paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        if os.path.isdir(path):
            yield from _inside(path)
        elif os.path.isfile(path):
            yield path


def _inside(folder: str) -> Iterator[str]:
    """Yield the files of a folder, then those of its folders; nothing of one that cannot be read."""
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda one: one.name)
    except OSError:
        return
    # a pipe would be waited for
    yield from (one.path for one in entries if one.name.endswith(SUFFIXES) and one.is_file())
    for one in entries:
        if not one.name.startswith(".") and one.is_dir(follow_symlinks=False):
            yield from _inside(one.path)
