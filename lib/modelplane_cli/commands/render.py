"""`modelplane render`: the objects that all composition functions produce from documents, at the fixed point."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from modelplane_cli import exits
from modelplane_cli.checks import acceptance
from modelplane_cli.commands import sources
from modelplane_cli.documents import reading
from modelplane_cli.output import by_cluster, manifests, notes, outline, problem_lines, progress, tree
from modelplane_cli.parsers import render as render_parser
from modelplane_cli.simulator import definitions, offline, verdict
from modelplane_cli.simulator.offline import Assume, World
from modelplane_cli.simulator.pipeline import Function


def main(arguments: Sequence[str]) -> int:
    """Return the exit code of `modelplane render`."""
    options = render_parser.parser().parse_args(list(arguments))
    given = sources.read(options)
    kinds = definitions.builtin()
    checked = acceptance.check(given.documents, kinds, options.namespace)
    problems = (*given.problems, *checked.problems)
    problem_lines.write(problems)
    if reading.has_errors(problems):
        return exits.BAD_INPUT
    told = progress.Progress()
    try:
        world = offline.build(checked.objects, kinds, _function(), Assume(options.assume), told)
    finally:
        told.done()
    return _show(world, options)


def _function() -> Function:
    from modelplane_functions import responder  # noqa: PLC0415 - protobuf and gRPC load only once the input is good

    return responder.answer


def _show(world: World, options: argparse.Namespace) -> int:
    if options.output == "tree":
        outline.printed(tree.trees(world))
    else:
        write = manifests.to_yaml if options.output == "yaml" else manifests.to_json
        sys.stdout.write(write(world.objects()))
    sys.stdout.flush()
    notes.world(world, failures_shown_elsewhere=options.output == "tree")
    if options.by_cluster is not None and not _written(world, options.by_cluster):
        return exits.BAD_INPUT
    if world.settled.record.bugs:
        return exits.BUG
    return exits.NO if verdict.failures(world) else exits.FINE


def _written(world: World, folder: Path) -> bool:
    """Return whether the manifests could be written. Report the folder and the files of earlier runs."""
    try:
        written = by_cluster.write(world, folder)
    except OSError as error:
        print(f"{error.filename or folder}: cannot be written: {error.strerror}", file=sys.stderr)
        return False
    print(f"wrote {len(written.files)} manifests to {folder}", file=sys.stderr)
    for path in written.stale:
        print(f"stale: {path} was not written by this run; delete it if an earlier run wrote it", file=sys.stderr)
    return True
