"""`modelplane plan`: the placement of every replica, the use and cost of pools, and the changes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace

from modelplane import names
from modelplane.api import inference_cluster, replica
from modelplane_cli import exits
from modelplane_cli.checks import habits, sizes, tokens, unknown_names
from modelplane_cli.commands import replacement, sources
from modelplane_cli.commands.stage import Objects, Stage
from modelplane_cli.documents import reading
from modelplane_cli.output import manifests, notes, plan_markdown, plan_text, problem_lines, screen
from modelplane_cli.parsers import plan as plan_parser
from modelplane_cli.planning import amendments, capacity, corrections, plan, routes
from modelplane_cli.planning import rehearsal as rehearsals
from modelplane_cli.planning.plan import Plan
from modelplane_cli.planning.rehearsal import Act
from modelplane_cli.simulator.store import Store

FAILS: dict[str, Callable[[Plan], bool]] = {
    "disruption": lambda made: made.disrupts,
    "unplaced": lambda made: made.lacks,
    "any": lambda made: not made.fits,
}


def main(arguments: Sequence[str]) -> int:
    """Return the exit code of `modelplane plan`."""
    options = plan_parser.parser().parse_args(list(arguments))
    stage = Stage.empty()
    wanted, live = sources.both(options)
    checked = stage.checked(wanted, options.namespace)
    objects = None if checked is None else checked.objects
    against = live if options.against is None else reading.read(options.against)
    is_change = options.against is not None or bool(options.paths and live.documents)
    there = stage.objects(against, options.namespace) if is_change else objects
    if checked is None or objects is None or there is None:
        return exits.BAD_INPUT
    problem_lines.write(unknown_names.check(checked))
    rehearsal = stage.rehearsal(there)
    acts: list[Act] = [stage.settle(rehearsal)] if is_change else []
    before, routes_before = capacity.pools(rehearsal.store), routes.of(rehearsal.store)
    refused: tuple[str, ...] = ()
    if is_change:
        gone = {key.name for key in there if key.kind == inference_cluster.KIND and key not in objects}
        refused = plan.refusals(gone, acts[0].after.values())
        replacement.replace(rehearsal, there, objects)
    acts.append(stage.settle(rehearsal))
    act = rehearsals.joined(acts) if is_change else acts[0]
    written = amendments.written(wanted.documents, options.namespace, objects)
    found = plan.of(act, before, documents=written, routes_before=routes_before)
    made = replace(corrections.corrected(rehearsal, found, written), refused=refused)
    problem_lines.write(
        [*habits.check(checked), *tokens.check(checked), *sizes.warn(checked, _placed(rehearsal.store))]
    )
    _show(made, options, is_change=bool(act.before) or is_change)
    for one in acts:
        notes.bugs(one.world)
    if any(one.world.settled.record.bugs for one in acts):
        return exits.BUG
    return exits.NO if FAILS[options.exit_code](made) else exits.FINE


def _placed(store: Store) -> Objects:
    return {key: store.get(key) or {} for key in store.of_kind(names.GROUP, replica.KIND)}


def _show(made: Plan, options: argparse.Namespace, *, is_change: bool) -> None:
    if options.output == "markdown":
        sys.stdout.write(plan_markdown.text(made, is_change=is_change))
    elif options.output == "table":
        shown = plan_text.text(made, screen.of(sys.stdout), is_change=is_change, all_rows=options.all)
        sys.stdout.write(shown)
    else:
        sys.stdout.write(manifests.answer(plan.encode(made), options.output))
    sys.stdout.flush()
