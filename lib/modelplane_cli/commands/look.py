"""The settled world of the commands that look at a fleet and compare nothing."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any

from modelplane_cli import exits
from modelplane_cli.commands import sources
from modelplane_cli.commands.stage import Stage
from modelplane_cli.output import manifests, notes, screen
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
    if options.output == "table":
        sys.stdout.write(text(rehearsal.store, screen.of(sys.stdout)))
    else:
        sys.stdout.write(manifests.answer(encode(rehearsal.store), options.output))
    sys.stdout.flush()
    notes.bugs(act.world)
    return exits.BUG if act.world.settled.record.bugs else exits.FINE
