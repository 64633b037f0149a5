"""YAML and JSON text read the way `kubectl` reads it, with the line of every field.

What may never happen here: a value that the API server would see differently (a timestamp, a `1:30`), a key that
silently wins over its double, or an input that costs far more than its size (aliases that multiply, nesting without
end).
Source: sigs.k8s.io/yaml (YAML 1.1 scalars as goyaml v2 resolves them, keys are strings, duplicate keys refused).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import yaml
from yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from kubecel import caches
from modelplane_cli.documents import scalars

try:
    from yaml.cyaml import CParser as _Parser  # type: ignore[attr-defined]  # the stubs lack it
except ImportError:  # pragma: no cover - PyYAML built without libyaml: the same events, about ten times slower
    from yaml.composer import Composer
    from yaml.parser import Parser
    from yaml.reader import Reader
    from yaml.resolver import Resolver
    from yaml.scanner import Scanner

    class _Parser(Reader, Scanner, Parser, Composer, Resolver):  # type: ignore[no-redef]  # the other of two
        """The pure Python event parser."""

        def __init__(self, stream: str) -> None:
            Reader.__init__(self, stream)
            Scanner.__init__(self)
            Parser.__init__(self)
            Composer.__init__(self)
            Resolver.__init__(self)


Json: TypeAlias = Any
Path: TypeAlias = tuple[str | int, ...]

MAX_DEPTH = 100
"""Nesting of maps and lists; the API server itself stops well below that."""
MAX_COPIED_NODES = 200_000
"""Nodes that aliases may add to one file; an anchor used twice is fine, a bomb is not."""

_TOO_DEEP = f"nested deeper than {MAX_DEPTH} levels"

# What a plain `<<` stands for; a quoted one is a key like any other. Compared by identity.
_MERGE = "".join(("<", "<"))

_CORE_TAGS = {
    "tag:yaml.org,2002:str",
    "tag:yaml.org,2002:int",
    "tag:yaml.org,2002:float",
    "tag:yaml.org,2002:bool",
    "tag:yaml.org,2002:null",
}


class TextError(Exception):
    """The text is not a document; `line` counts from 1."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines of one value (`line`) and of what is inside it, by key or index."""

    line: int
    inside: dict[str | int, Lines] | None = None

    def of(self, path: Path) -> int:
        """Return the line of the deepest part of `path` that is written in the text."""
        here = self
        for part in path:
            child = here.inside.get(part) if here.inside else None
            if child is None:
                break
            here = child
        return here.line


@dataclass(frozen=True, slots=True)
class Parsed:
    """One document of a text: its value and, on demand, its lines."""

    value: Json
    line: int
    lines: Callable[[], Lines]


def read(text: str) -> Iterator[Parsed]:
    """Yield the documents of `text`, empty ones left out.

    Raises: TextError at the first document that cannot be read; those before it have been yielded.
    Cost: linear, about 4 MB of YAML per second with libyaml.
    """
    if text.lstrip("\ufeff \t\r\n")[:1] in ("{", "["):
        try:
            value = scalars.whole(_json(text.lstrip("\ufeff")))
        except (json.JSONDecodeError, RecursionError):
            pass  # not JSON after all: a YAML flow mapping, several documents, or too deep; YAML says which
        else:
            yield Parsed(value, 1, caches.bounded(lambda: _lines_of(text), 1))  # each problem asks for its line
            return
    yield from _Builder(text).documents()


def _json(text: str) -> Json:
    return json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant, parse_int=_json_integer)


def _json_integer(digits: str) -> int:
    try:
        return scalars.integer(digits) if len(digits) > scalars.DIGITS_MAX else int(digits)
    except ValueError as error:
        raise TextError(str(error), 1) from None


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [key for key, _ in pairs]
        double = next(name for name, count in Counter(names).items() if count > 1)
        raise TextError(f"the key {double!r} is given twice in one object; keep one of the two", 1)
    return found


def _no_constant(name: str) -> Json:
    raise TextError(f"{name} is not a JSON number; quote it if it is text", 1)


def _lines_of(text: str) -> Lines:
    """Return the lines of a JSON text, as far as YAML can read it too."""
    try:
        return next(_Builder(text).documents()).lines()
    except (TextError, StopIteration):
        return Lines(1)


@dataclass(slots=True)
class _Frame:
    """A map or list that is being filled."""

    value: Json
    inside: dict[str | int, Lines]
    line: int
    anchor: str | None
    size_before: int
    key: str | None = None
    key_line: int = 0
    merges: list[tuple[Json, Lines, int]] | None = None


class _Builder:
    """Events to values, without recursion, so that nesting is bounded by us and not by the stack."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._stack: list[_Frame] = []
        self._anchors: dict[str, tuple[Json, Lines, int]] = {}
        self._resolved: dict[str, Json] = {}
        self._copied = 0
        self._size = 0
        self._root: tuple[Json, Lines] | None = None

    def documents(self) -> Iterator[Parsed]:
        """Yield each document that is not empty."""
        try:
            parser = _Parser(self._text)
            while parser.check_event():
                event = parser.get_event()
                kind = type(event)
                if kind is DocumentStartEvent:
                    self._root, self._anchors = None, {}
                elif kind is DocumentEndEvent:
                    if self._root is not None and self._root[0] is not None:
                        value, lines = self._root
                        yield Parsed(value, lines.line, lambda lines=lines: lines)  # type: ignore[misc]  # a default binds now
                else:
                    self._take(kind, event)
        except yaml.MarkedYAMLError as error:
            raise _not_yaml(error, self._text.splitlines()) from None
        except yaml.reader.ReaderError as error:
            line = self._text.count("\n", 0, error.position) + 1
            raise TextError(f"not YAML: character #x{error.character:04x} is not allowed in a document", line) from None

    def _take(self, kind: type, event: Any) -> None:
        if kind is ScalarEvent:
            self._size += 1
            line = event.start_mark.line + 1
            value = _MERGE if self._is_merge(event) else self._scalar(event, line)
            if event.anchor:
                self._anchors[event.anchor] = (value, Lines(line), 1)
            self._put(value, Lines(line))
        elif kind is MappingStartEvent or kind is SequenceStartEvent:
            self._open(kind is MappingStartEvent, event)
        elif kind is MappingEndEvent or kind is SequenceEndEvent:
            self._close()
        elif kind is AliasEvent:
            self._alias(event)

    def _is_merge(self, event: Any) -> bool:
        """Return whether a scalar is a plain `<<` where a map waits for its next key."""
        if event.value != "<<" or not event.implicit[0] or not self._stack:
            return False
        frame = self._stack[-1]
        return isinstance(frame.value, dict) and frame.key is None

    def _scalar(self, event: Any, line: int) -> Json:
        text: str = event.value
        tag: str | None = event.tag
        if tag and tag != "!" and tag not in _CORE_TAGS:
            raise TextError(f"the tag {tag} has no meaning in a Kubernetes document; write the plain value", line)
        if tag in ("!", "tag:yaml.org,2002:str") or (not tag and not event.implicit[0]):
            return text
        if text in self._resolved:
            return self._resolved[text]
        try:
            value = scalars.resolve(text)
        except ValueError as error:
            raise TextError(str(error), line) from None
        self._resolved[text] = value
        return value

    def _open(self, is_map: bool, event: Any) -> None:  # noqa: FBT001 - which of two events came
        line = event.start_mark.line + 1
        if len(self._stack) >= MAX_DEPTH:
            raise TextError(_TOO_DEEP, line)
        if event.tag and event.tag not in ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq", "!"):
            raise TextError(f"the tag {event.tag} has no meaning in a Kubernetes document; remove it", line)
        self._size += 1
        self._stack.append(_Frame({} if is_map else [], {}, line, event.anchor, self._size - 1))

    def _close(self) -> None:
        frame = self._stack.pop()
        if frame.merges:
            _merge(frame)
        lines = Lines(frame.line, frame.inside)
        if frame.anchor:
            self._anchors[frame.anchor] = (frame.value, lines, self._size - frame.size_before)
        self._put(frame.value, lines)

    def _alias(self, event: Any) -> None:
        line = event.start_mark.line + 1
        known = self._anchors.get(event.anchor)
        if known is None:
            raise TextError(f"the alias *{event.anchor} has no anchor before it", line)
        value, lines, size = known
        self._size += size
        self._copied += size
        if self._copied > MAX_COPIED_NODES:
            raise TextError(
                f"aliases add more than {MAX_COPIED_NODES} values to this file: write them out, or split the file", line
            )
        self._put(_copy(value), Lines(line, lines.inside))

    def _put(self, value: Json, lines: Lines) -> None:
        if not self._stack:
            self._root = (value, lines)
            return
        frame = self._stack[-1]
        if isinstance(frame.value, list):
            frame.inside[len(frame.value)] = lines
            frame.value.append(value)
        elif frame.key is None:
            frame.key = value if value is _MERGE else _key(value, lines.line)
            frame.key_line = lines.line
        else:
            self._put_entry(frame, value, lines)

    def _put_entry(self, frame: _Frame, value: Json, lines: Lines) -> None:
        key, frame.key = frame.key, None
        assert key is not None  # noqa: S101 - _put saw a key
        if key is _MERGE:
            if frame.merges is None:
                frame.merges = []
            frame.merges.append((value, lines, frame.key_line))
            return
        if key in frame.value:
            first = frame.inside[key].line
            is_object = key in ("apiVersion", "kind")
            mend = "write --- between two objects" if is_object else "keep one of the two"
            raise TextError(
                f"the key {key!r} is given twice in one map (first on line {first}); {mend}", frame.key_line
            )
        frame.value[key] = value
        frame.inside[key] = Lines(frame.key_line, lines.inside)


def _not_yaml(error: yaml.MarkedYAMLError, lines: list[str]) -> TextError:
    """Return libyaml's complaint on one line: what it found, and where the construct began that it was reading.

    The end of a text counts as a line of its own to libyaml; people see only `lines`.
    """
    last = len(lines)
    mark = error.problem_mark or error.context_mark
    line = min(mark.line + 1, last) if mark else 1
    said = str(error.problem or error.context)
    if said == "exceeded maximum nesting depth":  # libyaml from 0.2.6 on; it reads ahead of its events, so before us
        return TextError(_TOO_DEEP, line)
    if error.context and error.problem:
        began = f" (line {min(error.context_mark.line + 1, last)})" if error.context_mark else ""
        said = f"{error.context}{began} {error.problem}"
    if mark is not None and mark.line < last and lines[mark.line][mark.column :].startswith("\t"):
        said = "a tab is used for indentation, and YAML requires spaces; indent with spaces"
    return TextError(f"not YAML: {said}", line)


def _key(value: Json, line: int) -> str:
    """Return a map key as JSON has it: text; a number or boolean is written out, as kubectl does."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    raise TextError("a key of a map must be text", line)


def _merge(frame: _Frame) -> None:
    """Fill `<<` merges in: what is written in the map itself wins, then the first merge that has the key."""
    for value, lines, line in frame.merges or ():
        sources = value if isinstance(value, list) else [value]
        for index, source in enumerate(sources):
            if not isinstance(source, dict):
                raise TextError("<< takes a map, or a list of maps", line)
            inside = lines.inside or {}
            if isinstance(value, list):
                inside = (inside.get(index) or Lines(line)).inside or {}
            for key, item in source.items():
                if key not in frame.value:
                    frame.value[key] = item
                    frame.inside[key] = Lines(line, (inside.get(key) or Lines(line)).inside)


def _copy(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_copy(item) for item in value]
    return value
