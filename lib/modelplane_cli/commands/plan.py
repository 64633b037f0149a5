"""`modelplane plan`: the placement of every replica, the use and cost of pools, and the changes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from modelplane_cli import exits
from modelplane_cli.commands import sources
from modelplane_cli.commands.stage import Objects, Stage
from modelplane_cli.documents import reading
from modelplane_cli.output import manifests, notes, plan_text
from modelplane_cli.planning import amendments, capacity, corrections, plan
from modelplane_cli.planning import rehearsal as rehearsals
from modelplane_cli.planning.plan import Plan
from modelplane_cli.planning.rehearsal import Act, Rehearsal
from modelplane_cli.simulator import assumption
from modelplane_cli.simulator.store import Key, controller_of

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

The command runs the real functions and assumes that composed workloads come up. The column BEFORE in the table of
pools shows what the documents (or --against) hold already.

exit codes: 0 all replicas are placed and none is interrupted, 1 a replica is not placed or would be interrupted,
2 bad input, 3 internal error
"""


def parser() -> argparse.ArgumentParser:
    """Return the arguments of the command."""
    made = argparse.ArgumentParser(
        prog="modelplane plan",
        description="Show the placement of every replica, the use and cost of pools, and the changes.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    sources.add(made)
    made.add_argument("--against", metavar="PATH", nargs="+", help="the current state, with which PATH is compared")
    made.add_argument("-o", "--output", choices=("table", "yaml", "json"), default="table", help="default: table")
    sources.add_namespace(made)
    return made


def main(arguments: Sequence[str]) -> int:
    """Return the exit code of `modelplane plan`."""
    options = parser().parse_args(list(arguments))
    stage = Stage.empty()
    wanted, live = sources.both(options)
    objects = stage.objects(wanted, options.namespace)
    against = live if options.against is None else reading.read(options.against)
    is_change = options.against is not None or bool(options.paths and live.documents)
    there = stage.objects(against, options.namespace) if is_change else objects
    if objects is None or there is None:
        return exits.BAD_INPUT
    rehearsal = stage.rehearsal(there)
    acts: list[Act] = [stage.settle(rehearsal)] if is_change else []
    before = capacity.pools(rehearsal.store)
    if is_change:
        _replace(rehearsal, there, objects)
    acts.append(stage.settle(rehearsal))
    act = rehearsals.joined(acts) if is_change else acts[0]
    written = amendments.written(wanted.documents, options.namespace, objects)
    made = corrections.corrected(rehearsal, plan.of(act, before, documents=written), written)
    _show(made, options, with_changes=bool(act.before) or is_change)
    for one in acts:
        notes.bugs(one.world)
    if any(one.world.settled.record.bugs for one in acts):
        return exits.BUG
    return exits.FINE if made.fits else exits.NO


def _replace(rehearsal: Rehearsal, there: Objects, objects: Objects) -> None:
    """Replace what authors wrote by `objects`. The functions derive the composed objects."""
    kept = {key for key in objects if _is_wanted(key, objects)}
    for key in sorted(key for key in there if _is_wanted(key, there) and key not in kept):
        rehearsal.remove(key)
    for key in sorted(kept):
        rehearsal.apply(_written(objects, key), key)


def _is_wanted(key: Key, objects: Objects) -> bool:
    return controller_of(objects[key]) is None


def _written(objects: Objects, key: Key) -> dict[str, object]:
    """Return the part of an object that its author wrote. A status is kept only on an observed object."""
    resource = dict(objects[key])
    if key.group == "modelplane.ai" or not assumption.is_observation(resource):
        resource.pop("status", None)
    return resource


def _show(made: Plan, options: argparse.Namespace, *, with_changes: bool) -> None:
    if options.output == "table":
        sys.stdout.write(plan_text.text(made, with_changes=with_changes))
    else:
        sys.stdout.write(manifests.answer(plan.encode(made), options.output))
    sys.stdout.flush()
