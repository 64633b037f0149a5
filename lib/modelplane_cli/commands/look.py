"""The settled world of the commands that look at a fleet and compare nothing."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

from modelplane_cli import exits
from modelplane_cli.commands import answers, sources
from modelplane_cli.commands.stage import Stage
from modelplane_cli.output import notes
from modelplane_cli.output.screen import Screen
from modelplane_cli.simulator.store import Store


def run(
    options: argparse.Namespace, text: Callable[[Store, Screen], str], encode: Callable[[Store], dict[str, Any]]
) -> int:
    """Return the exit code after the answer about the settled documents is printed."""
    stage = Stage.empty()
    objects = stage.objects(sources.read(options), options.namespace)
    if objects is None:
        return exits.BAD_INPUT
    rehearsal = stage.rehearsal(objects)
    act = stage.settle(rehearsal)
    answers.show(options.output, partial(text, rehearsal.store), partial(encode, rehearsal.store))
    notes.bugs(act.world)
    return exits.BUG if act.world.settled.record.bugs else exits.FINE
