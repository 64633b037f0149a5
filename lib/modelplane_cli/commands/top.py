"""`modelplane top`: who holds the devices of a fleet."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from modelplane_cli.commands import arguments, look
from modelplane_cli.output import usage_text
from modelplane_cli.planning import usage
from modelplane_cli.planning.usage import Whose

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
    choices = [str(whose) for whose in Whose]
    made.add_argument("--by", choices=choices, default=str(Whose.DEPLOYMENT), help="groups (default: deployment)")
    return made


def main(arguments: Sequence[str]) -> int:
    """Return the exit code of `modelplane top`."""
    options = parser().parse_args(list(arguments))
    whose = Whose(options.by)
    return look.run(
        options,
        lambda store, screen: usage_text.top(usage.top(store, whose), whose, screen),
        lambda store: usage.encode_top(usage.top(store, whose), whose),
    )
