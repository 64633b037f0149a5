"""`modelplane fit`: the memory of a model, and the topologies and classes that hold it."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from modelplane.errors import InvalidInput
from modelplane.sizing import catalogue
from modelplane_cli import exits
from modelplane_cli.output import fit_text, screen
from modelplane_cli.parsers import fit as fit_parser
from modelplane_cli.planning import fitting, gpus
from modelplane_cli.planning.fitting import Question
from modelplane_cli.planning.gpus import Offer


def main(arguments: Sequence[str]) -> int:
    """Return the exit code of `modelplane fit`."""
    made = fit_parser.parser()
    options = made.parse_intermixed_args(list(arguments))
    if options.models:
        print("\n".join(sorted(catalogue.read(), key=str.lower)))
        return exits.FINE
    if options.model is None:
        made.error("give a MODEL, or --models for the catalogue")
    offers = _of_paths(options.paths) if options.paths else gpus.well_known()
    if offers is None:
        return exits.BAD_INPUT
    question = Question(
        options.model,
        context=options.context,
        concurrency=options.concurrency,
        precision=options.precision,
        cache=options.cache,
    )
    try:
        if options.gpu is not None:
            offers = gpus.of_kind(offers, options.gpu)
        answer = fitting.answer(question, offers)
    except InvalidInput as error:
        print(f"modelplane fit: {error}", file=sys.stderr)
        return exits.BAD_INPUT
    if options.output == "text":
        print("\n".join(fit_text.lines(answer, screen.of(sys.stdout), everything=options.all)))
    else:
        from modelplane_cli.output import manifests  # noqa: PLC0415 - tables need no YAML

        sys.stdout.write(manifests.answer(answer, options.output))
    return exits.FINE if any(one["topologies"] for one in answer["classes"]) else exits.NO


def _of_paths(paths: Sequence[str]) -> list[Offer] | None:
    """Return the devices of documents, None where one cannot be read or none has a memory. Problems are reported."""
    from modelplane_cli.documents import reading  # noqa: PLC0415 - YAML loads only where there are documents
    from modelplane_cli.output import problem_lines  # noqa: PLC0415 - as said

    given = reading.read(paths)
    offers, refused = gpus.of_documents(given.documents)
    problems = (*given.problems, *refused)
    problem_lines.write(problems)
    if reading.has_errors(problems):
        return None
    if not offers:
        said = f"no InferenceClass with the memory of a device is in {', '.join(paths)}"
        print(f"modelplane fit: {said}", file=sys.stderr)
        return None
    return offers
