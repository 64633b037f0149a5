"""The arguments and the help of `modelplane free`."""

from __future__ import annotations

import argparse

from modelplane_cli.parsers import arguments, look

GROUPS = ("class", "region", "cluster", "pool")

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
    made.add_argument("--by", choices=GROUPS, default=GROUPS[0], help="groups (default: class)")
    return made
