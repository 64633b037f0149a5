"""The arguments and the help of `modelplane render`."""

from __future__ import annotations

import argparse
from pathlib import Path

from modelplane_cli.parsers import arguments, sources

ASSUMPTIONS = ("ready", "nothing")

_EPILOG = """\
examples:
  modelplane render examples/quickstart
      show the resulting objects as a tree: placements, objects on each cluster, endpoints, the URL
  modelplane render examples/quickstart -o yaml > world.yaml
      print them as manifests with status; the order of documents does not matter
  modelplane render world.yaml examples/more
      continue from an earlier result; objects with a status are taken as observed
  kubectl get modelplane,objects -A -o yaml | modelplane render -
      show the next actions of the functions on a live control plane; nothing observed is assumed
  modelplane render examples/quickstart --by-cluster out
      write bare manifests to out/<cluster>/<kind>-<namespace>-<name>.yaml and out/control-plane/...
  modelplane render examples/quickstart --assume nothing
      show the state before any workload has come up

The command assumes that composed workloads come up, unless the documents contain another observed status. Assumed
addresses end in .assumed.invalid. Secrets are never printed. Data goes to standard output, and messages go to standard
error.

exit codes: 0 everything is placed and ready, 1 something is not placed or not ready, 2 bad input, 3 internal error
"""


def parser() -> argparse.ArgumentParser:
    """Return the arguments of the command."""
    made = arguments.parser(
        "render", "Run all composition functions over documents, as Crossplane does, and print the objects.", _EPILOG
    )
    sources.add(made)
    made.add_argument("-o", "--output", choices=("tree", "yaml", "json"), default="tree", help="default: tree")
    sources.add_namespace(made)
    made.add_argument(
        "--by-cluster", metavar="DIR", type=Path, help="write bare manifests, with a folder for each cluster"
    )
    made.add_argument(
        "--assume",
        choices=ASSUMPTIONS,
        default=ASSUMPTIONS[0],
        help="whether composed workloads come up (default: ready)",
    )
    return made
