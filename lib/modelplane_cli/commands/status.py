"""`modelplane status`: what is not as wanted, worst first."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from modelplane_cli import exits
from modelplane_cli.commands import arguments, sources
from modelplane_cli.commands.stage import Stage
from modelplane_cli.output import manifests, screen, situation_text
from modelplane_cli.planning import situation
from modelplane_cli.simulator import offline

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
    return made


def main(arguments: Sequence[str]) -> int:
    """Return the exit code of `modelplane status`."""
    options = parser().parse_args(list(arguments))
    stage = Stage.empty()
    objects = stage.objects(sources.read(options), options.namespace or "default")
    if objects is None:
        return exits.BAD_INPUT
    if not situation.has_status(objects, stage.kinds):
        said = "no document has a status, so nothing is known of what runs"
        wanted = "give --context, or what `kubectl get -o yaml` prints; `modelplane plan` shows what would be"
        print(f"modelplane status: {said}; {wanted}", file=sys.stderr)
        return exits.BAD_INPUT
    found = situation.of(offline.unsettled(objects, stage.kinds), options.namespace)
    if options.output == "table":
        sys.stdout.write(situation_text.text(found, screen.of(sys.stdout)))
    else:
        sys.stdout.write(manifests.answer(situation.encode(found), options.output))
    sys.stdout.flush()
    return exits.FINE if found.is_as_wanted else exits.NO
