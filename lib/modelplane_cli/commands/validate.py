"""`modelplane validate`: the problems that the API server or a function would report, without an API server."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from modelplane_cli import exits
from modelplane_cli.checks import (
    acceptance,
    advice,
    habits,
    idle_overrides,
    scalers,
    shared_hosts,
    sizes,
    tokens,
    unknown_names,
)
from modelplane_cli.checks.acceptance import Checked
from modelplane_cli.commands import sources
from modelplane_cli.documents import reading
from modelplane_cli.documents.reading import Problem
from modelplane_cli.output import manifests, problems_markdown
from modelplane_cli.parsers import validate as validate_parser
from modelplane_cli.simulator import definitions


def main(arguments: Sequence[str]) -> int:
    """Return the exit code of `modelplane validate`."""
    options = validate_parser.parser().parse_args(list(arguments))
    given = sources.read(options)
    kinds = definitions.builtin()
    checked = acceptance.check(given.documents, kinds, options.namespace)
    found = [*given.problems, *checked.problems, *advice.advise(checked), *habits.check(checked), *sizes.warn(checked)]
    found += tokens.check(checked)
    if not reading.has_errors(found):
        found += _together(checked, kinds)
    problems = sorted(found, key=lambda problem: problem.order)
    if options.output == "markdown":
        sys.stdout.write(problems_markdown.text(problems, len(given.documents)))
    elif options.output != "text":
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

    refused = function_refusals.check(checked, kinds)
    found = [*refused, *unknown_names.check(checked), *scalers.check(checked), *shared_hosts.check(checked)]
    return [*found, *idle_overrides.check(checked, refused)]


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
