"""`modelplane free`: the free devices of a fleet."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from modelplane_cli.commands import arguments, look
from modelplane_cli.output import usage_text
from modelplane_cli.planning import usage
from modelplane_cli.planning.usage import By

_EPILOG = """\
examples:
  modelplane free examples/quickstart
      what is free of each kind of device, idle pools included
  modelplane free fleet/ --by region
      the same in each region (the label modelplane.ai/region of clusters)
  modelplane free fleet/ --by cluster
      where is it free?
  modelplane free --context prod --by pool -o json
      every pool of a live control plane, for a program

FREE is how many more devices can be claimed. It is less than TOTAL - USED where devices share a physical one, or where
whole nodes are taken. IDLE NODES carry nothing, so that a replica which needs all devices of a node fits. NODES (+N)
can grow by N. The documents are settled first, as in `modelplane plan`: what they want is placed.

exit codes: 0 success, 2 bad input, 3 internal error
"""


def parser() -> argparse.ArgumentParser:
    """Return the arguments of the command."""
    made = arguments.parser("free", "Show the free devices of a fleet by class, region, cluster or pool.", _EPILOG)
    look.add(made)
    made.add_argument("--by", choices=[str(by) for by in By], default=str(By.CLASS), help="groups (default: class)")
    return made


def main(arguments: Sequence[str]) -> int:
    """Return the exit code of `modelplane free`."""
    options = parser().parse_args(list(arguments))
    by = By(options.by)
    return look.run(
        options,
        lambda store, screen: usage_text.free(usage.free(store, by), by, screen),
        lambda store: usage.encode_free(usage.free(store, by), by),
    )
