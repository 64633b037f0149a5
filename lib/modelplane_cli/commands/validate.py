"""`modelplane validate`: the problems that the API server or a function would report, without an API server."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from modelplane_cli import exits
from modelplane_cli.checks import acceptance, advice, habits, sizes, unknown_names
from modelplane_cli.checks.acceptance import Checked
from modelplane_cli.commands import arguments, sources
from modelplane_cli.documents import reading
from modelplane_cli.documents.reading import Problem
from modelplane_cli.output import manifests
from modelplane_cli.simulator import definitions

_EPILOG = """\
examples:
  modelplane validate examples/quickstart
      print one line for each problem: file, line, document, field, and the correction
  modelplane validate clusters/ models/ -o json
      print the problems as JSON
  helm template my-chart | modelplane validate -
      check the output of a chart

Kinds of modelplane.ai are checked against their schema and its rules: unknown fields, types, bounds, defaults and every
x-kubernetes-validations rule. For other kinds only the identity is checked. Documents without errors are then checked
together. A refusal of a function (a selector that does not compile, a flag that contradicts the topology) is an error.
A name that no document has (and that the control plane may have), a selector that narrowly misses a device of the given
InferenceClasses, a class with the nominal memory size of its product, memory in bytes, and an image without a tag are
warnings, with the value that works. So is a model of the catalogue (see `modelplane fit`) that no matching class can
hold, with the smallest topology that does. `modelplane plan` shows whether all replicas can be placed.

exit codes: 0 no document would be refused, 2 a document would be refused
"""


def parser() -> argparse.ArgumentParser:
    """Return the arguments of the command."""
    made = arguments.parser("validate", "Report the documents that the API server or a function would refuse.", _EPILOG)
    sources.add(made)
    made.add_argument("-o", "--output", choices=("text", "yaml", "json"), default="text", help="default: text")
    sources.add_namespace(made)
    return made


def main(arguments: Sequence[str]) -> int:
    """Return the exit code of `modelplane validate`."""
    options = parser().parse_args(list(arguments))
    given = sources.read(options)
    kinds = definitions.builtin()
    checked = acceptance.check(given.documents, kinds, options.namespace)
    found = [*given.problems, *checked.problems, *advice.advise(checked), *habits.check(checked), *sizes.warn(checked)]
    if not reading.has_errors(found):
        found += _together(checked, kinds)
    problems = sorted(found, key=lambda problem: problem.order)
    if options.output != "text":
        sys.stdout.write(manifests.answer({"problems": [_encoded(problem) for problem in problems]}, options.output))
    else:
        for problem in problems:
            print(problem)
        count = len(given.documents)
        many = f"{len(problems)} {'problem' if len(problems) == 1 else 'problems'}" if problems else "no problem"
        print(f"{count} {'document' if count == 1 else 'documents'}, {many}", file=sys.stderr)
    return exits.BAD_INPUT if reading.has_errors(problems) else exits.FINE


def _together(checked: Checked, kinds: definitions.Definitions) -> list[Problem]:
    # protobuf and gRPC load only once each document is fine by itself
    from modelplane_cli.checks import function_refusals  # noqa: PLC0415 - as said

    return [*function_refusals.check(checked, kinds), *unknown_names.check(checked)]


def _encoded(problem: Problem) -> dict[str, str | int]:
    return {
        "file": problem.file,
        "line": problem.line,
        "document": problem.document,
        "object": problem.subject,
        "path": problem.path,
        "message": problem.message,
        "severity": problem.severity,
    }
