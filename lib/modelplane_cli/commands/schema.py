"""`modelplane schema`: the JSON Schema of a kind for editors, and of a command's answer for programs."""

from __future__ import annotations

import difflib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

from modelplane.api import catalogue
from modelplane.errors import InvalidInput
from modelplane.structural import json_schema
from modelplane_cli import exits
from modelplane_cli.parsers import schema as schema_parser

Json: TypeAlias = Any

_EVERY = "modelplane.json"


def main(arguments: Sequence[str]) -> int:
    """Return the exit code of `modelplane schema`."""
    made = schema_parser.parser()
    options = made.parse_args(list(arguments))
    if sum(one is not None for one in (options.kind, options.output, options.directory)) > 1:
        made.error("give one of KIND, --output COMMAND and --directory DIR")
    try:
        if options.directory is not None:
            _write(options.directory)
        elif options.output is not None:
            sys.stdout.write(_text(_answer(options.output)))
        else:
            sys.stdout.write(_text(_every() if options.kind is None else _kind(options.kind)))
    except InvalidInput as error:
        print(f"modelplane schema: {error}", file=sys.stderr)
        return exits.BAD_INPUT
    sys.stdout.flush()
    return exits.FINE


def _kind(word: str) -> dict[str, Json]:
    """Return the schema of the kind that is meant. Raises: InvalidInput where there is none."""
    known = _words()
    kind = known.get(word.lower().partition(".")[0])
    if kind is None:
        raise InvalidInput(f"no kind {word}; {_suggestion(word.lower(), known)}")
    return json_schema.of_kind(catalogue.derived(kind))


def _words() -> dict[str, str]:
    """Return the kinds by each of their names, as kubectl takes them."""
    found = {}
    for kind in catalogue.kinds():
        named = catalogue.derived(kind)["spec"]["names"]
        for word in (kind.lower(), named["plural"], named["singular"], *named.get("shortNames", ())):
            found[str(word)] = kind
    return found


def _suggestion(word: str, known: dict[str, str]) -> str:
    close = difflib.get_close_matches(word, known, n=1)
    return f"did you mean {known[close[0]]}?" if close else f"there are {', '.join(catalogue.kinds())}"


def _every() -> dict[str, Json]:
    return json_schema.of_kinds(catalogue.derived(kind) for kind in catalogue.kinds())


def _answer(command: str) -> dict[str, Json]:
    """Return the schema of a command's answer. Raises: InvalidInput where the command has none."""
    from modelplane_cli.output import models  # noqa: PLC0415 - the schema of a kind needs no pydantic

    if command not in models.ANSWERS:
        close = difflib.get_close_matches(command, models.ANSWERS, n=1)
        hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(models.ANSWERS)}"
        raise InvalidInput(f"no command {command} answers with -o json; {hint}")
    return models.schema(command)


def _write(folder: Path) -> None:
    """Write a file for each kind and one for all; print the paths. Raises: InvalidInput where it cannot."""
    made = {_EVERY: _every()}
    for kind in catalogue.kinds():
        schema = json_schema.of_kind(catalogue.derived(kind))
        version = str(schema["properties"]["apiVersion"]["const"]).rpartition("/")[2]
        made[f"{kind.lower()}_{version}.json"] = schema
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, schema in made.items():
            (folder / name).write_text(_text(schema), encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"{error.filename or folder}: cannot be written: {error.strerror}") from None
    print("\n".join(str(folder / name) for name in sorted(made)))


def _text(schema: dict[str, Json]) -> str:
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
