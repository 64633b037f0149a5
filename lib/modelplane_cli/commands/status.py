"""`modelplane status`: what is not as wanted, worst first."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial

from modelplane_cli import exits
from modelplane_cli.commands import answers, sources
from modelplane_cli.commands.stage import Stage
from modelplane_cli.output import situation_text
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
    answers.show(options.output, partial(situation_text.text, found), partial(situation.encode, found))
    return exits.FINE if found.is_as_wanted else exits.NO
