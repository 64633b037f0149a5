"""`modelplane status`: what is not as wanted, worst first."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from modelplane_cli import exits
from modelplane_cli.commands import sources
from modelplane_cli.commands.stage import Stage
from modelplane_cli.output import manifests, screen, situation_text
from modelplane_cli.parsers import status as status_parser
from modelplane_cli.planning import situation
from modelplane_cli.simulator import offline


def main(arguments: Sequence[str]) -> int:
    """Return the exit code of `modelplane status`."""
    options = status_parser.parser().parse_args(list(arguments))
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
