"""The arguments and the help of `modelplane report`."""

from __future__ import annotations

import argparse

from modelplane_cli.parsers import arguments, events, sources

FORMATS = ("json", "yaml")
PORT = 8484
ADDRESS = f"127.0.0.1:{PORT}"

_EPILOG = """\
examples:
  modelplane report fleet/ -o fleet.html
      draw the fleet as one page: clusters, pools, nodes and devices, who uses them, what waits and what would help
  modelplane report --context prod -o fleet.html
      the same of a live control plane, as its objects say it
  modelplane report fleet/ --drain eks-eu --lose gke-us -o drain.html
      add the moments after each event, as `modelplane simulate` has them; a slider moves through them
  modelplane report fleet/ --against ../main/fleet/ -o change.html
      show the fleet before and after a change
  modelplane report fleet/ --headroom -o fleet.html
      also say how many clusters can be lost with everything still placed
  modelplane report --serve --context prod
      serve the page at a local address; it follows the control plane (read only)
  modelplane report --serve fleet/
      the same for files, read again when they change
  modelplane report fleet/ -o json
      print the data of the page; `modelplane schema --output report` prints its schema

The page is one file: it loads nothing, needs no server, and prints. Documents that carry a status are drawn as they
are; others are rehearsed first, as `plan` does. With an event, `--against`, `--headroom`, or files applied to a
--context, all are rehearsed.

exit codes: 0 the page was written, 2 bad input, 3 internal error
"""


def parser() -> argparse.ArgumentParser:
    """Return the arguments of the command."""
    made = arguments.parser(
        "report",
        "Draw the fleet as one page: devices and who uses them, what waits and why, cost, and what events would do.",
        _EPILOG,
        allow_abbrev=False,
    )
    sources.add(made)
    made.add_argument(
        "-o",
        "--output",
        metavar="FILE|json|yaml",
        help="the file of the page, - for standard output; json and yaml print its data",
    )
    made.add_argument("--against", metavar="PATH", nargs="+", help="the current state, with which PATH is compared")
    events.add(made)
    made.add_argument("--headroom", action="store_true", help="find the largest loss that still fits")
    made.add_argument("--serve", action="store_true", help="serve the page, and follow what it shows")
    made.add_argument(
        "--listen",
        metavar="ADDRESS:PORT",
        default=ADDRESS,
        help=f"the address of --serve (default: {ADDRESS}; port 0 takes a free one)",
    )
    sources.add_namespace(made)
    return made
