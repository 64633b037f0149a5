"""The arguments and the help of `modelplane init`."""

from __future__ import annotations

import argparse

from modelplane_cli.parsers import arguments

_EPILOG = """\
examples:
  modelplane init fleet
      ask a few questions, then write fleet/fleet.yaml and fleet/model.yaml
  modelplane init fleet --model Qwen3-32B --gpu H100
      ask nothing: what no option says gets its default
  modelplane init fleet --model acme/own-7b --gpu "A100 80GB" --gpus 2 --nodes 4 --region eu
      a model that is not in the catalogue needs the number of its GPUs

Without a terminal nothing is asked: --model and --gpu are required then. What is written is checked first, as
`modelplane validate` does, and its plan is printed. No file is overwritten.

exit codes: 0 written, and the model has a place, 1 written, and it has none, 2 bad input or a file exists
"""


def parser() -> argparse.ArgumentParser:
    """Return the arguments of the command."""
    made = arguments.parser("init", "Write a first fleet and a first model after a few questions.", _EPILOG)
    made.add_argument("directory", metavar="DIRECTORY", nargs="?", default=".", help="where to write (default: .)")
    made.add_argument(
        "--model", metavar="NAME", help="a Hugging Face repository, or a name of `modelplane fit --models`"
    )
    made.add_argument("--gpu", metavar="KIND", help="the GPUs of the nodes, such as H100 or 'A100 80GB'")
    made.add_argument("--gpus", metavar="N", help="GPUs of one replica (default: the fewest that hold the model)")
    made.add_argument("--gpus-per-node", metavar="N", help="GPUs of one node (default: 8)")
    made.add_argument("--nodes", metavar="N", help="nodes of the cluster (default: 2)")
    made.add_argument("--cluster", metavar="NAME", help="name of the cluster (default: first)")
    made.add_argument("--region", metavar="NAME", help="region of the cluster (default: none)")
    made.add_argument("--name", metavar="NAME", help="name of the model's service (default: from the model)")
    made.add_argument("-n", "--namespace", metavar="NS", help="namespace of the model (default: ml-team)")
    return made
