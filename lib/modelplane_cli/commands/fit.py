"""`modelplane fit`: the memory of a model, and the topologies and classes that hold it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from modelplane.errors import InvalidInput
from modelplane.sizing import cache, catalogue, precision
from modelplane_cli import exits
from modelplane_cli.commands import arguments
from modelplane_cli.output import fit_text, screen
from modelplane_cli.planning import fitting, gpus
from modelplane_cli.planning.fitting import Question
from modelplane_cli.planning.gpus import Offer

_EPILOG = """\
examples:
  modelplane fit Qwen3-8B
      show its weights, its cache, and the smallest topology on each well-known GPU
  modelplane fit Llama-3.1-70B --context 32k --concurrency 64 --precision fp8 examples/classes
      show the classes of PATH that hold it with 64 requests of 32768 tokens each, the cheapest first
  modelplane fit DeepSeek-V3 --gpu H200 --all
      show every topology on one kind of GPU, and why the others do not hold it
  modelplane fit ./my-model/config.json -o json
      compute with a config.json of your own; a directory with one will do
  modelplane fit --models
      list the models of the catalogue

MODEL is computed from its published config.json. Without --context and --concurrency the load is one request of the
model's full context, which an engine demands at its start. k is 1024 tokens, M is 1024k. The answer holds for a worker
of any role, since each has the whole model. Weights and cache are exact; the memory beside them is an estimate.

exit codes: 0 some class holds it, 1 none does, 2 bad input or an architecture without a known formula
"""


def parser() -> argparse.ArgumentParser:
    """Return the arguments of the command."""
    made = arguments.parser(
        "fit", "Show the memory that a model needs, and the topologies and classes that hold it.", _EPILOG
    )
    made.add_argument("model", metavar="MODEL", nargs="?", help="a model of the catalogue, or a config.json")
    made.add_argument(
        "paths", metavar="PATH", nargs="*", help="documents with InferenceClasses; well-known GPUs without"
    )
    made.add_argument("--context", metavar="TOKENS", help="tokens of one request with its answer, for example 32k")
    made.add_argument("--concurrency", metavar="N", help="requests at once (default: 1)")
    made.add_argument("--precision", choices=precision.ASKED, help="of the weights (default: as published)")
    made.add_argument(
        "--cache", choices=tuple(cache.ELEMENT_BYTES), default="bf16", help="of the cache (default: bf16)"
    )
    made.add_argument("--gpu", metavar="KIND", help="only classes and GPUs with this in their name, for example H100")
    made.add_argument("--all", action="store_true", help="all topologies, and the reasons of those that do not hold")
    made.add_argument("--models", action="store_true", help="list the models of the catalogue")
    made.add_argument("-o", "--output", choices=("text", "yaml", "json"), default="text", help="default: text")
    return made


def main(arguments: Sequence[str]) -> int:
    """Return the exit code of `modelplane fit`."""
    made = parser()
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
