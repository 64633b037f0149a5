"""The arguments and the help of `modelplane top`."""

from __future__ import annotations

import argparse

from modelplane_cli.parsers import arguments, look

HOLDERS = ("namespace", "deployment")

_EPILOG = """\
examples:
  modelplane top examples/quickstart
      who holds how many devices, the largest first
  modelplane top fleet/ --by namespace
      the same for each namespace
  modelplane top --context prod -o json
      the same of a live control plane, for a program

HELD counts the devices of admitted replicas, and SHARE is their part of all devices of that kind. PER HOUR is the part
of the price of the nodes: one of eight GPUs costs an eighth of its node. It is `-` where no class has a price.

exit codes: 0 success, 2 bad input, 3 internal error
"""


def parser() -> argparse.ArgumentParser:
    """Return the arguments of the command."""
    made = arguments.parser("top", "Show who holds the devices of a fleet, by deployment or namespace.", _EPILOG)
    look.add(made)
    made.add_argument("--by", choices=HOLDERS, default=HOLDERS[1], help="groups (default: deployment)")
    return made
