"""The arguments and the help of `modelplane validate`."""

from __future__ import annotations

import argparse

from modelplane_cli.parsers import arguments, sources

_EPILOG = """\
examples:
  modelplane validate examples/quickstart
      print one line for each problem: file, line, document, field, and the correction
  modelplane validate clusters/ models/ -o json
      print the problems as JSON
  modelplane validate clusters/ models/ -o markdown
      print them as a comment for a pull request
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
    made.add_argument(
        "-o", "--output", choices=("text", "yaml", "json", "markdown"), default="text", help="default: text"
    )
    sources.add_namespace(made)
    return made
