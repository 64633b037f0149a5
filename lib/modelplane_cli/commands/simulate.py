"""`modelplane simulate`: the effects of a drain, a loss, a scaling or an addition, in steps."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any

from modelplane.errors import InvalidInput
from modelplane_cli import exits
from modelplane_cli.commands import arguments, sources
from modelplane_cli.commands.stage import Stage
from modelplane_cli.documents import reading
from modelplane_cli.output import manifests, notes, screen, simulation_text
from modelplane_cli.planning import headroom, moves, simulation
from modelplane_cli.planning.happenings import Addition, Drain, Happening, Loss, Scaling, Silence
from modelplane_cli.planning.headroom import Headroom
from modelplane_cli.planning.moves import Defragmentation
from modelplane_cli.planning.rehearsal import Rehearsal
from modelplane_cli.planning.replicas import Deployment
from modelplane_cli.planning.simulation import Simulation

_EPILOG = """\
examples:
  modelplane simulate fleet/ --drain eks-eu
      a NoExecute taint drain=true: successors first, one at a time, and who has nowhere to go
  modelplane simulate fleet/ --lose eks-eu
      the cluster is gone for good: its workloads stop and its InferenceCluster is deleted
  modelplane simulate fleet/ --unreachable eks-eu --scale ml-team/qwen3-8b=6
      the cluster does not answer for a while: what runs there is held, and nothing new is placed there
  modelplane simulate fleet/ --lose-label modelplane.ai/region=eu-west-1
      a whole region at once
  modelplane simulate fleet/ --scale ml-team/qwen3-8b=6 --add new-model.yaml --drain gke-us
      one after the other, in the order given; --add applies on top, as kubectl apply does
  modelplane simulate live.yaml --headroom
      which clusters can be lost with everything still placed: one, any one, any two, the largest set
  modelplane simulate live.yaml --defragment
      which replicas would have to move so that what is missing fits: a table of the moves, one after the other, each
      successor placed while its predecessor stands, and what then fits. Nothing is moved by it
  modelplane simulate fleet/ --drain eks-eu --defragment
      the same after a drain

Every step runs the real functions until nothing moves any more; what they compose is assumed to come up. "Lost" are
replicas that ceased to serve before another served in their stead.

exit codes: 0 all fits and nobody's decision interrupts anything (with --headroom: any one cluster may be lost; with
--defragment: all fits after the moves),
1 something would have no place or be interrupted, or a group of a service would have no endpoint, 2 bad input, 3 a bug
"""


class _Happen(argparse.Action):
    """The events in the order of the command line."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Append the option and its value."""
        namespace.happenings = [*(getattr(namespace, "happenings", None) or []), (option_string, values)]


def parser() -> argparse.ArgumentParser:
    """Return the arguments of the command."""
    made = arguments.parser(
        "simulate", "Show the effects of events on a fleet, step by step.", _EPILOG, allow_abbrev=False
    )
    sources.add(made)
    for option, metavar, what in (
        ("--drain", "CLUSTER", "move all replicas off a cluster"),
        ("--lose", "CLUSTER", "lose a cluster for good"),
        ("--unreachable", "CLUSTER", "let a cluster not answer for a while"),
        ("--lose-label", "KEY=VALUE", "lose all clusters with a label at once"),
        ("--scale", "NAMESPACE/NAME=N", "scale a ModelDeployment to N replicas"),
        ("--add", "PATH", "apply further documents"),
    ):
        made.add_argument(option, metavar=metavar, action=_Happen, dest="happenings", help=what)
    made.add_argument("--headroom", action="store_true", help="find the largest loss that still fits")
    made.add_argument(
        "--defragment", action="store_true", help="find the smallest moves of replicas by which what is missing fits"
    )
    made.add_argument("--all", action="store_true", help="also show what does not change, and every stage of a step")
    made.add_argument("-o", "--output", choices=("text", "yaml", "json"), default="text", help="default: text")
    sources.add_namespace(made)
    return made


def main(arguments: Sequence[str]) -> int:
    """Return the exit code of `modelplane simulate`."""
    made = parser()
    options = made.parse_args(list(arguments))
    if not options.happenings and not options.headroom and not options.defragment:
        made.error(
            "give an event: --drain, --lose, --unreachable, --lose-label, --scale, --add, --headroom or --defragment"
        )
    stage = Stage.empty()
    objects = stage.objects(sources.read(options), options.namespace)
    if objects is None:
        return exits.BAD_INPUT
    rehearsal = stage.rehearsal(objects)
    try:
        happenings = [_happening(stage, options, *given) for given in options.happenings or ()]
        found = simulation.run(rehearsal, happenings, stage.settle)
    except InvalidInput as error:
        print(f"modelplane simulate: {error}", file=sys.stderr)
        return exits.BAD_INPUT
    room = _headroom(rehearsal, stage) if options.headroom else None
    tidied = moves.defragmented(moves.scene(rehearsal.store)) if options.defragment else None
    _show(found, room, tidied, options)
    for world in found.worlds:
        notes.bugs(world)
    if any(world.settled.record.bugs for world in found.worlds):
        return exits.BUG
    return exits.FINE if _fits(found, room, tidied) else exits.NO


def _fits(found: Simulation, room: Headroom | None, tidied: Defragmentation | None) -> bool:
    """Return whether the answer is yes: what is missing at the end is what moves are asked for."""
    if room is None and tidied is None:
        return found.fits
    if tidied is None:
        steps_fit = all(step.fits for step in found.steps)
    else:
        steps_fit = tidied.fits and all(step.is_loss or not step.lost for step in found.steps)
    return steps_fit and (room is None or room.any_clusters > 0)


def _headroom(rehearsal: Rehearsal, stage: Stage) -> Headroom:
    try:
        return headroom.of(rehearsal, stage.told)
    finally:
        stage.told.done()


def _show(
    found: Simulation, room: Headroom | None, tidied: Defragmentation | None, options: argparse.Namespace
) -> None:
    if options.output != "text":
        encoded = simulation.encode(found)
        if room is not None:
            encoded["headroom"] = headroom.encode(room)
        if tidied is not None:
            encoded["defragment"] = moves.encode(tidied)
        sys.stdout.write(manifests.answer(encoded, options.output))
    else:
        reader = screen.of(sys.stdout)
        parts = (
            [simulation_text.text(found, reader, all_rows=options.all)]
            if found.steps or (room is None and tidied is None)
            else []
        )
        parts += [] if room is None else [simulation_text.headroom(room, reader)]
        parts += [] if tidied is None else [simulation_text.defragmentation(tidied, reader)]
        sys.stdout.write("\n".join(parts))
    sys.stdout.flush()


# --- what the options say ---------------------------------------------------------------------------------------------


def _happening(stage: Stage, options: argparse.Namespace, option: str, value: str) -> Happening:
    """Return what an option lets happen. Raises: InvalidInput when it cannot be understood."""
    if option == "--add":
        objects = stage.objects(reading.read([value]), options.namespace)
        if objects is None:
            raise InvalidInput(f"--add {value}: nothing is added while its documents have problems")
        return Addition(value, objects)
    return _SIMPLE[option](value, options.namespace)


def _loss_by_label(value: str, _namespace: str) -> Happening:
    key, equals, wanted = value.partition("=")
    if not key or not equals:
        raise InvalidInput(f"--lose-label {value}: write KEY=VALUE, for example modelplane.ai/region=eu-west-1")
    return Loss((), (key, wanted))


def _scaling(value: str, namespace: str) -> Happening:
    target, _, count = value.rpartition("=")
    if not target or not count.isdecimal():
        raise InvalidInput(f"--scale {value}: write NAMESPACE/NAME=N, for example ml-team/qwen3-8b=4")
    before, slash, name = target.partition("/")
    return Scaling(Deployment(before, name) if slash else Deployment(namespace, target), int(count))


_SIMPLE: dict[str, Callable[[str, str], Happening]] = {
    "--drain": lambda value, _namespace: Drain(value),
    "--lose": lambda value, _namespace: Loss((value,)),
    "--unreachable": lambda value, _namespace: Silence(value),
    "--lose-label": _loss_by_label,
    "--scale": _scaling,
}
