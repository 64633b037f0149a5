"""The arguments and the help of `modelplane plan`."""

from __future__ import annotations

import argparse

from modelplane_cli.parsers import arguments, reader, sources

FAILS = ("disruption", "unplaced", "any")

_EPILOG = """\
examples:
  modelplane plan examples/quickstart
      show the placements, the use of every pool, and the price of the nodes in use
  git worktree add ../main main && modelplane plan fleet/ --against ../main/fleet/
      show the changes of a pull request: created, moved, rewritten, removed, and the reasons. PATH is the whole new
      state: what only --against has is deleted. To add documents to a state, use `modelplane simulate --add`
  kubectl get modelplane,objects -A -o yaml > live.yaml && modelplane plan live.yaml
      show the next actions of the functions on a live control plane; objects with a status are taken as observed
  modelplane plan fleet/ --against live.yaml -o json
      print the plan as JSON
  modelplane plan fleet/ --against ../main/fleet/ -o markdown --exit-code disruption
      print a comment for a pull request, and fail only when something that serves is interrupted

The command runs the real functions and assumes that composed workloads come up. After a change it prints a summary, the
changed replicas and routes, and the pools whose use changes; --all shows the rest. The column BEFORE in the table of
pools shows what the documents (or --against) hold already. A model of the catalogue (see `modelplane fit`) that cannot
fit where it is placed is a warning on standard error.

exit codes: 0 all replicas are placed, none is interrupted, and every service has endpoints, 1 a replica is not placed
or would be interrupted, or a group of a service has no endpoint, 2 bad input, 3 internal error

--exit-code chooses the reasons for 1:
  disruption  a replica is interrupted or lost, or a group of a service loses all of its endpoints
  unplaced    a replica has no placement, must move but cannot, or is refused, or a group of a service that had no
              endpoint has none
  any         both (default)
"""


def parser() -> argparse.ArgumentParser:
    """Return the arguments of the command."""
    made = arguments.parser(
        "plan", "Show the placement of every replica, the use and cost of pools, and the changes.", _EPILOG
    )
    sources.add(made)
    made.add_argument("--against", metavar="PATH", nargs="+", help="the current state, with which PATH is compared")
    made.add_argument("--all", action="store_true", help="also show the replicas and pools without a change")
    made.add_argument(
        "-o",
        "--output",
        choices=("table", "yaml", "json", "markdown"),
        default="table",
        help="default: table; markdown is a comment for a pull request",
    )
    made.add_argument("--exit-code", choices=FAILS, default="any", help="what makes the command fail (default: any)")
    sources.add_namespace(made)
    reader.add(made)
    return made
