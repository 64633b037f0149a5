"""The arguments and the help of `modelplane fit`."""

from __future__ import annotations

import argparse

from modelplane_cli.parsers import arguments

PRECISIONS = ("bf16", "fp8", "int4")
CACHES = ("bf16", "fp8")

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
    made.add_argument("--precision", choices=PRECISIONS, help="of the weights (default: as published)")
    made.add_argument("--cache", choices=CACHES, default="bf16", help="of the cache (default: bf16)")
    made.add_argument("--gpu", metavar="KIND", help="only classes and GPUs with this in their name, for example H100")
    made.add_argument("--all", action="store_true", help="all topologies, and the reasons of those that do not hold")
    made.add_argument("--models", action="store_true", help="list the models of the catalogue")
    made.add_argument("-o", "--output", choices=("text", "yaml", "json"), default="text", help="default: text")
    return made
