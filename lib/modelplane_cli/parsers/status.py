"""The arguments and the help of `modelplane status`."""

from __future__ import annotations

import argparse

from modelplane_cli.parsers import arguments, reader, sources

_EPILOG = """\
examples:
  modelplane status --context prod
      one line where all is as wanted; otherwise what is not, why, since when, and what to explain next
  modelplane status --context prod -n ml-team
      the same for one namespace, and the clusters that its replicas are on
  kubectl get modelplane -A -o yaml | modelplane status -
      the same of documents that carry a status
  modelplane status --context prod -o json
      the same for a program

The conditions are those that the control plane wrote; nothing is rehearsed. `outage`: requests of a service are not
answered, or a cluster with replicas does not answer. `degraded`: less runs than is wanted. `waiting`: it is on its way.

exit codes: 0 all is as wanted, 1 it is not, 2 bad input
"""


def parser() -> argparse.ArgumentParser:
    """Return the arguments of the command."""
    made = arguments.parser("status", "Show what is not as wanted, why, and since when, worst first.", _EPILOG)
    sources.add(made)
    made.add_argument("-o", "--output", choices=("table", "yaml", "json"), default="table", help="default: table")
    made.add_argument("-n", "--namespace", help="only this namespace and the clusters it uses (default: all)")
    reader.add(made)
    return made
