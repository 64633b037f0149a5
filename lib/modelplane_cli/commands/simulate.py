"""`modelplane simulate`: what a drain, a loss, a scaling or an addition would do, in steps."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any

from modelplane.errors import InvalidInput
from modelplane_cli import exits
from modelplane_cli.commands import sources
from modelplane_cli.commands.stage import Stage
from modelplane_cli.documents import reading
from modelplane_cli.output import manifests, notes, simulation_text
from modelplane_cli.planning import headroom, simulation
from modelplane_cli.planning.happenings import Addition, Drain, Happening, Loss, Scaling
from modelplane_cli.planning.headroom import Headroom
from modelplane_cli.planning.rehearsal import Rehearsal
from modelplane_cli.planning.replicas import Deployment
from modelplane_cli.planning.simulation import Simulation

_EPILOG = """\
examples:
  modelplane simulate fleet/ --drain eks-eu
      a NoExecute taint drain=true: successors first, one at a time, and who has nowhere to go
  modelplane simulate fleet/ --lose eks-eu
      the cluster is gone for good: its workloads stop and its InferenceCluster is deleted. While a cluster merely does
      not answer, nothing is moved
  modelplane simulate fleet/ --lose-label modelplane.ai/region=eu-west-1
      a whole region at once
  modelplane simulate fleet/ --scale ml-team/qwen3-8b=6 --add new-model.yaml --drain gke-us
      one after the other, in the order given; --add applies on top, as kubectl apply does
  modelplane simulate live.yaml --headroom
      which clusters can be lost with everything still placed: one, any one, any two, the largest set

Every step runs the real functions until nothing moves any more; what they compose is assumed to come up. "Lost" are
replicas that ceased to serve before another served in their stead.

exit codes: 0 all fits and nobody's decision interrupts anything (with --headroom: any one cluster may be lost),
1 something would have no place or be interrupted, 2 bad input, 3 a bug
"""


class _Happen(argparse.Action):
    """Keeps what happens in the order of the command line."""

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
    made = argparse.ArgumentParser(
        prog="modelplane simulate",
        description="Say what would happen to a fleet, in steps.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    sources.add(made)
    for option, metavar, what in (
        ("--drain", "CLUSTER", "move all replicas off a cluster"),
        ("--lose", "CLUSTER", "lose a cluster for good"),
        ("--lose-label", "KEY=VALUE", "lose all clusters with a label at once"),
        ("--scale", "NAMESPACE/NAME=N", "let a ModelDeployment have N replicas"),
        ("--add", "PATH", "apply further documents"),
    ):
        made.add_argument(option, metavar=metavar, action=_Happen, dest="happenings", help=what)
    made.add_argument("--headroom", action="store_true", help="find the largest loss that still fits")
    made.add_argument("-o", "--output", choices=("text", "yaml", "json"), default="text", help="default: text")
    made.add_argument("-n", "--namespace", default="default", help="of documents that name none (default: default)")
    return made


def main(arguments: Sequence[str]) -> int:
    """Return the exit code of `modelplane simulate`."""
    made = parser()
    options = made.parse_args(list(arguments))
    if not options.happenings and not options.headroom:
        made.error("say what happens: --drain, --lose, --lose-label, --scale, --add or --headroom")
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
    _show(found, room, options)
    for world in found.worlds:
        notes.bugs(world)
    if any(world.settled.record.bugs for world in found.worlds):
        return exits.BUG
    fits = found.fits if room is None else all(step.fits for step in found.steps) and room.any_clusters > 0
    return exits.FINE if fits else exits.NO


def _headroom(rehearsal: Rehearsal, stage: Stage) -> Headroom:
    try:
        return headroom.of(rehearsal, stage.told)
    finally:
        stage.told.done()


def _show(found: Simulation, room: Headroom | None, options: argparse.Namespace) -> None:
    if options.output != "text":
        encoded = simulation.encode(found)
        if room is not None:
            encoded["headroom"] = headroom.encode(room)
        sys.stdout.write(manifests.answer(encoded, options.output))
    elif room is None:
        sys.stdout.write(simulation_text.text(found))
    else:
        steps = simulation_text.text(found) + "\n" if found.steps else ""
        sys.stdout.write(steps + simulation_text.headroom(room))
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
    "--lose-label": _loss_by_label,
    "--scale": _scaling,
}
