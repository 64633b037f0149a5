"""The documents of a command: files, directories, standard input, a live control plane."""

from __future__ import annotations

import argparse
from dataclasses import replace

from modelplane.errors import InvalidInput
from modelplane_cli.documents import live, reading
from modelplane_cli.documents.reading import Document, Input, Problem


def read(options: argparse.Namespace) -> Input:
    """Return all documents that the arguments name, files as if they were applied to the live control plane."""
    return both(options)[0]


def both(options: argparse.Namespace) -> tuple[Input, Input]:
    """Return the documents with the files applied, and those of the live control plane alone (none without one).

    A source that cannot be read is reported as a problem.
    """
    nothing = Input((), ())
    if options.context is None:
        if options.paths:
            return reading.read(options.paths), nothing
        missing = "nothing to read: give a file, a directory, - for standard input, or --context"
        return Input((), (Problem("PATH", 0, 0, "", missing),)), nothing
    try:
        there = reading.parsed(f"context {options.context}", live.text(options.context))
    except InvalidInput as error:
        return Input((), (Problem("kubectl", 0, 0, "", str(error)),)), nothing
    return (_applied(reading.read(options.paths), there) if options.paths else there), there


def _applied(files: Input, there: Input) -> Input:
    """Return the documents after the files are applied. An existing object keeps its status and its identity."""
    known = {_identity(one): one for one in there.documents}
    written = {_identity(one) for one in files.documents}
    kept = [one for one in there.documents if _identity(one) not in written]
    applied = [_onto(known.get(_identity(one)), one) for one in files.documents]
    return Input((*kept, *applied), (*there.problems, *files.problems))


def _onto(there: Document | None, file: Document) -> Document:
    if there is None:
        return file
    data = {**file.data, "metadata": {**there.data["metadata"], **file.data["metadata"]}}
    if "status" in there.data:
        data["status"] = there.data["status"]
    return replace(file, data=data)


def _identity(document: Document) -> tuple[str, ...]:
    data = document.data
    metadata = data.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    group = str(data.get("apiVersion") or "").rpartition("/")[0]
    return (group, *(str(value or "") for value in (data.get("kind"), metadata.get("namespace"), metadata.get("name"))))
