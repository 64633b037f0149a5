"""The documents of files, directories and standard input, with their positions and syntax errors.

What may never happen here: a document that is skipped in silence, or a problem without file and line.
"""

from __future__ import annotations

import codecs
import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane.errors import InvalidInput, dotted
from modelplane_cli.documents import yamltext
from modelplane_cli.documents.yamltext import Lines, Path

Json: TypeAlias = Any

STDIN = "-"
SUFFIXES = (".yaml", ".yml", ".json")
MAX_BYTES = 64 * 1024 * 1024
"""The maximum size of a file. A larger file is a mistake."""
MAX_DOCUMENTS = 20_000
"""The maximum number of documents in all files, as of ten thousand clusters. Each takes some milliseconds."""

_CHART = "Chart.yaml"
_KUSTOMIZATIONS = frozenset({"kustomization.yaml", "kustomization.yml"})
"""Files of programs that write objects. What these programs write is read from standard input."""

NOT_AN_OBJECT = "is not a Kubernetes object: give apiVersion, kind, metadata"

TOO_MANY = f"exceeds the limit of {MAX_DOCUMENTS} documents; give fewer files, or split it"

ERROR = "error"
WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem of the input. `document` counts from 1 inside its file. 0 is the file as a whole."""

    file: str
    line: int
    document: int
    path: str
    message: str
    subject: str = ""
    severity: str = ERROR

    def __str__(self) -> str:
        """Return `file:line: document N (Kind ns/name): field: message`."""
        where = f"{self.file}:{self.line}" if self.line else self.file
        which = f"document {self.document}" if self.document else ""
        if self.subject:
            which = f"{which} ({self.subject})" if which else self.subject
        mild = f"{self.severity}: " if self.severity != ERROR else ""
        # A selector's message shows the expression and a caret below; what follows the first line is for wider places.
        said = self.message.partition("\n")[0]
        return ": ".join(part for part in (where, which, self.path, mild + said) if part)

    @property
    def order(self) -> tuple[str, int, int, str, str]:
        """Return the sort key: by file, document and line."""
        return (self.file, self.document, self.line, self.path, self.message)


@dataclass(frozen=True, slots=True)
class Document:
    """A Kubernetes object as it was written. `inside` is its path when it was an item of a List."""

    data: dict[str, Json]
    file: str
    index: int
    lines: Callable[[], Lines]
    inside: Path = ()

    @property
    def subject(self) -> str:
        """Return `Kind namespace/name`, as far as the document says."""
        metadata = self.data.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        name = "/".join(str(metadata[part]) for part in ("namespace", "name") if metadata.get(part))
        return " ".join(part for part in (str(self.data.get("kind") or ""), name) if part)

    def problem(self, message: str, path: Path = (), severity: str = ERROR) -> Problem:
        """Return a problem of this document at `path`."""
        line = self.lines().of((*self.inside, *path))
        return Problem(self.file, line, self.index, dotted(path), message, self.subject, severity)


@dataclass(frozen=True, slots=True)
class Input:
    """The documents that were read, and the problems of the others."""

    documents: tuple[Document, ...]
    problems: tuple[Problem, ...]


def has_errors(problems: Iterable[Problem]) -> bool:
    """Return whether any problem is more than a warning."""
    return any(problem.severity == ERROR for problem in problems)


def parsed(name: str, text: str) -> Input:
    """Return the documents of a text. `name` is its source in messages."""
    documents: list[Document] = []
    problems: list[Problem] = []
    _parse(name, text, documents, problems)
    return Input(tuple(documents), tuple(problems))


def read(paths: Sequence[str]) -> Input:
    """Return the documents of `paths` (files, directories, `-`) in order of path and position."""
    documents: list[Document] = []
    problems: list[Problem] = []
    for name in _unique(_files(paths, problems)):
        text = _text(name, problems)
        if text is not None:
            _parse(_shown(name), text, documents, problems)
        if len(documents) > MAX_DOCUMENTS:
            return Input((), (Problem(_shown(name), 0, 0, "", TOO_MANY),))
    if not documents and not has_errors(problems):
        where = ", ".join(paths)
        problems.append(
            Problem(where, 0, 0, "", "holds no documents: give a file or a directory with .yaml, .yml or .json files")
        )
    return Input(tuple(documents), tuple(problems))


def _files(paths: Iterable[str], problems: list[Problem]) -> Iterator[str]:
    for path in paths:
        if path == STDIN or os.path.isfile(path) or (os.path.exists(path) and not os.path.isdir(path)):
            yield path
        elif os.path.isdir(path):
            yield from _inside(path, problems)
        else:
            problems.append(
                Problem(path or "''", 0, 0, "", "does not exist; give a file, a directory or - for standard input")
            )


def _inside(folder: str, problems: list[Problem]) -> list[str]:
    """Return the YAML and JSON files under `folder`, sorted; without hidden ones, with those of linked folders.

    A pipe among them would be waited for, perhaps for ever; one that is given by itself has somebody who writes.
    """
    found: list[str] = []
    seen: set[str] = set()

    def refuse(error: OSError) -> None:
        problems.append(Problem(str(error.filename), 0, 0, "", f"cannot be read: {error.strerror}"))

    for here, folders, files in os.walk(folder, onerror=refuse, followlinks=True):
        if _CHART in files:
            folders.clear()
            problems.append(
                _skipped(here, f"is a Helm chart and skipped; give its output: helm template {here} | ... -")
            )
            continue
        for name in sorted(_KUSTOMIZATIONS.intersection(files)):
            files.remove(name)
            said = f"is a file of kustomize and skipped; for its output: kustomize build {here} | ... -"
            problems.append(_skipped(os.path.join(here, name), said))
        folders[:] = [name for name in sorted(folders) if not name.startswith(".") and _is_new(here, name, seen)]
        found += [os.path.join(here, name) for name in files if name.endswith(SUFFIXES) and not name.startswith(".")]
    pipes = [name for name in found if _is_pipe(name)]
    problems += [Problem(_shown(name), 0, 0, "", "is a pipe in a folder; give it by itself") for name in pipes]
    return sorted(set(found).difference(pipes))


def _skipped(path: str, message: str) -> Problem:
    return Problem(_shown(path), 0, 0, "", message, severity=WARNING)


def _is_pipe(name: str) -> bool:
    try:
        return stat.S_ISFIFO(os.stat(name).st_mode)
    except OSError:
        return False  # a link to nothing, say, which whoever reads it will say


def _is_new(here: str, name: str, seen: set[str]) -> bool:
    """Return whether a folder is new, and no link to one of its parents. Links may form a cycle."""
    real, inside = os.path.realpath(os.path.join(here, name)), os.path.realpath(here)
    if real in seen or os.path.commonpath((real, inside)) == real:
        return False
    seen.add(real)
    return True


def _unique(names: Iterable[str]) -> Iterator[str]:
    """Yield each file once: a directory and one of its files may both be given."""
    seen: set[str] = set()
    for name in names:
        real = name if name == STDIN else os.path.realpath(name)
        if real not in seen:
            seen.add(real)
            yield name


def text(name: str) -> str:
    """Return the text of one file.

    Raises: InvalidInput when it cannot be read.
    """
    problems: list[Problem] = []
    found = _text(name, problems)
    if found is None:
        raise InvalidInput(str(problems[0]))
    return found


def _text(name: str, problems: list[Problem]) -> str | None:
    shown = _shown(name)
    try:
        raw = sys.stdin.buffer.read(MAX_BYTES + 1) if name == STDIN else _bytes(name)
    except OSError as error:
        problems.append(Problem(shown, 0, 0, "", f"cannot be read: {error.strerror or error}"))
        return None
    if len(raw) > MAX_BYTES:
        problems.append(Problem(shown, 0, 0, "", f"is larger than {MAX_BYTES // 2**20} MiB; split it"))
        return None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        problems.append(Problem(shown, line, 0, "", _not_text(raw, error.start)))
        return None


def _not_text(raw: bytes, at: int) -> str:
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "is UTF-16 text; save it as UTF-8"
    binary = ", it looks like a binary file" if b"\0" in raw else ""
    return f"is not UTF-8 text: byte 0x{raw[at]:02x}{binary}"


def _bytes(name: str) -> bytes:
    with open(name, "rb") as file:
        mode = os.fstat(file.fileno()).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
            raise OSError(0, "not a file, a directory or a pipe")
        return file.read(MAX_BYTES + 1)


def _shown(name: str) -> str:
    return "<stdin>" if name == STDIN else os.path.normpath(name)


_ACTION = re.compile(r"\{\{-?[ \t]*[.$a-z/]")
_TEMPLATE = "; it looks like a template of Helm, whose output is read: helm template CHART | modelplane COMMAND -"


def _parse(shown: str, text: str, documents: list[Document], problems: list[Problem]) -> None:
    index = 0
    try:
        for index, parsed in enumerate(yamltext.read(text), 1):
            whole = Document(parsed.value, shown, index, parsed.lines)
            if len(documents) > MAX_DOCUMENTS:
                return
            if isinstance(parsed.value, dict):
                documents.extend(_items(whole, problems))
            else:
                problems.append(
                    Problem(
                        shown, parsed.line, index, "", "is not a Kubernetes object: give apiVersion, kind, metadata"
                    )
                )
    except yamltext.TextError as error:
        hint = _TEMPLATE if _ACTION.search(text) else ""
        problems.append(Problem(shown, error.line, index + 1, "", error.message + hint))


def _items(document: Document, problems: list[Problem]) -> Iterator[Document]:
    """Yield the document, or its items when it is a List as `kubectl get -o yaml` writes it."""
    data = document.data
    if not (data.get("kind") == "List" or (str(data.get("kind", "")).endswith("List") and "items" in data)):
        yield document
        return
    items = data.get("items")
    if not isinstance(items, list):
        problems.append(document.problem("must be a list of objects", ("items",)))
        return
    for position, item in enumerate(items):
        at: Path = ("items", position)
        if isinstance(item, dict):
            typed = {**_listed(data, item), **item}
            yield from _items(
                Document(typed, document.file, document.index, document.lines, (*document.inside, *at)), problems
            )
        else:
            problems.append(document.problem(NOT_AN_OBJECT, at))


def _listed(data: dict[str, Json], item: dict[str, Json]) -> dict[str, Json]:
    """Return the kind and the version that an item has from its list: the API server leaves them out of a NodeList."""
    kind = str(data["kind"]).removesuffix("List")
    if not kind or "kind" in item or "apiVersion" in item:
        return {}
    return {"apiVersion": data.get("apiVersion"), "kind": kind}


NAME = re.compile(r"(?!\.\.?$)[^/%\x00-\x20\x7f]{1,253}")
"""A name that the API server accepts as a path segment for any kind. It may become a file name."""
KIND = re.compile(r"[A-Z][A-Za-z0-9]{0,62}")
API_VERSION = re.compile(r"(?:[a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?v[a-z0-9]{1,62}")
